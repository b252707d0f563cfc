"""Two runs as one stream of questions: those of the first run, and from a point on those of the second.

The first run's calibration questions calibrate. Its other questions come first, and from the change on come those of
the second run, all of which can test because none of them calibrates anything. Three ways to go through the stream are
followed side by side: the fixed threshold, adaptive conformal inference (:mod:`core.conformal.adaptive`) and a betting
test of exchangeability (:mod:`core.conformal.exchangeability`). The browser computes the same figures, to the bit.

A stream has each question once, in a random order: this keeps calibration and stream exchangeable up to the change. Or
it is of a given length, up to 10,000, and then all its questions, calibration too, are drawn with replacement from the
run's, so that a question can come several times. That is exchangeable as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from core.conformal.adaptive import AdaptiveSets, adaptive_sets
from core.conformal.alpha import check_thousandths
from core.conformal.draws import ORDER, SMOOTHING, hashes, uniforms
from core.conformal.exchangeability import Capital, online_p_values, simple_jumper
from core.conformal.scores import score, true_scores
from core.conformal.threshold import exact
from core.conformal.tuning import tune
from core.errors import InputError
from core.records import BoolArray, FloatArray, IntArray
from core.reports.evaluation import Evaluation
from core.reports.repeated import one_row_each

LONGEST = 10_000
"""The questions of the longest stream. Each figure can then be computed again within a frame."""
SHORTEST = 100
FIRST_ONCE, SECOND_ONCE, FIRST_AGAIN, SECOND_AGAIN = range(4)
"""The draws of a stream's order: of each run, once each or with replacement."""


@dataclass(frozen=True, slots=True)
class StreamQuestions:
    """The scores of all options of n questions, ``options`` (n, k), and those of the true ones, ``true`` (n,)."""

    options: FloatArray
    true: FloatArray

    def take(self, rows: IntArray) -> StreamQuestions:
        """The questions of these rows, in their order."""
        return StreamQuestions(self.options[rows], self.true[rows])


@dataclass(frozen=True, slots=True)
class StreamPool:
    """The questions from which streams are made: ``first`` has ``n`` that calibrate and then the others of the first
    run. ``second`` has those of the second run, or is None for a stream without a change."""

    n: int
    first: StreamQuestions
    second: StreamQuestions | None


@dataclass(frozen=True, slots=True)
class QuestionStream:
    """T ``questions``: ``change`` of the first run, then those of the second. ``calibration`` (n,) are the scores that
    calibrate, and ``u`` (T,) the random numbers of the smoothed p-values."""

    calibration: FloatArray
    questions: StreamQuestions
    change: int
    u: FloatArray


@dataclass(frozen=True, slots=True)
class StreamFigures:
    """What the three ways make of a stream of T questions, at one alpha and one step.

    ``threshold`` is the fixed one, ``missed`` (T,) and ``sizes`` (T,) are those of its sets. ``adaptive_sizes`` (T,)
    belong to the ``adaptive`` sets. ``capital`` is that of the bets.
    """

    threshold: float
    missed: BoolArray
    sizes: IntArray
    adaptive: AdaptiveSets
    adaptive_sizes: IntArray
    capital: Capital


def stream_pool(first: Evaluation, second: Evaluation | None, score_name: str) -> StreamPool:
    """The questions of two runs by a score, whose parameters are tuned on questions of the first run that are then left
    out of the stream. If rows repeat questions, one row stands for each.

    Raises :class:`InputError` for an unknown score, runs whose questions have unlike numbers of options, and a first
    run without calibration or test questions.
    """
    if not (len(first.calibration) and len(first.test)):
        raise InputError(
            f"run {first.run_id} has {len(first.calibration)} calibration and {len(first.test)} test questions; a "
            "stream needs both"
        )
    if second is not None and second.k != first.k:
        raise InputError(
            f"the questions of the two runs have {first.k} and {second.k} options; choose two runs with the same number"
        )
    first, second = one_row_each(first), None if second is None else one_row_each(second)
    tuned = tune(score_name, first.option_probabilities, first.labels, first.calibration, seed=first.spec.seed)
    parts = []
    for run, shift in ((first, 0), (second, len(first.labels))):
        if run is None:
            continue
        # The random numbers of a randomised score differ between the runs, whose rows have the same places.
        places = np.arange(len(run.labels)) + shift
        options = score(
            score_name, run.option_probabilities, seed=first.spec.seed, parameters=tuned.parameters, places=places
        )
        parts.append(StreamQuestions(options, true_scores(options, run.labels)))
    before = parts[0].take(np.concatenate([tuned.calibration, first.test]))
    after = None if second is None else parts[1].take(np.sort(np.concatenate([second.calibration, second.test])))
    return StreamPool(len(tuned.calibration), before, after)


def stream_tables(pool: StreamPool) -> dict[str, Any]:
    """The data of the stream lab's component: a table for each run with ``s``, the true option's score, and
    ``o0 … o(k−1)``, those of all options (NaN for one that a question lacks); ``n`` of the first run calibrate."""
    return {
        "n": pool.n,
        "first": _table(pool.first),
        "second": None if pool.second is None else _table(pool.second),
    }


def _table(of: StreamQuestions) -> pa.Table:
    columns = {f"o{j}": np.ascontiguousarray(of.options[:, j]) for j in range(of.options.shape[1])}
    return pa.table({"s": of.true, **columns})


def longest_change(pool: StreamPool, *, length: int = 0) -> int:
    """The largest number of questions that can come before the change: all that are left, or the whole ``length``."""
    return length or len(pool.first.true) - pool.n


def question_stream(pool: StreamPool, *, change: int | None = None, order: int = 0, length: int = 0) -> QuestionStream:
    """A stream: ``change`` questions of the first run, then those of the second.

    Without a ``change``, all questions of the first run come before it, or half of the ``length``.

    With ``length`` 0 each question comes once; a length from 100 to 10,000 is drawn with replacement. ``order`` is the
    seed of the random order. Order 0 leaves the first run its own calibration questions, and any other draws them anew.

    Raises :class:`InputError` for a length or a change outside of what there is.
    """
    if length and not SHORTEST <= length <= LONGEST:
        raise InputError(
            f"a stream can have from {SHORTEST} to {LONGEST:,} questions, not {length:,}; or 0 for each once"
        )
    most = longest_change(pool, length=length)
    if pool.second is None:
        change = most
    elif change is None:
        change = length // 2 or most
    if not 0 <= change <= most:
        raise InputError(f"the change can come after 0 to {most:,} questions, not {change:,}")
    own = pool.first.take(_first_rows(pool, order, length))
    parts = [own.take(np.arange(pool.n, pool.n + change))]
    if pool.second is not None:
        count = len(pool.second.true)
        if length:
            rows = _drawn(length - change, count, order, SECOND_AGAIN)
        else:
            rows = np.argsort(hashes(np.arange(count), seed=order, purpose=ORDER, draw=SECOND_ONCE))
        parts.append(pool.second.take(rows))
    questions = StreamQuestions(*(np.concatenate([getattr(of, name) for of in parts]) for name in ("options", "true")))
    u = uniforms(np.arange(len(questions.true)), seed=order, purpose=SMOOTHING)
    return QuestionStream(own.true[: pool.n], questions, change, u)


def _first_rows(pool: StreamPool, order: int, length: int) -> IntArray:
    """The rows of the first run in their order: ``n`` that calibrate, then those of the stream."""
    count = len(pool.first.true)
    if length:
        return _drawn(pool.n + length, count, order, FIRST_AGAIN)
    shuffled = np.arange(count) if order else np.arange(pool.n, count)
    drawn = shuffled[np.argsort(hashes(shuffled, seed=order, purpose=ORDER, draw=FIRST_ONCE))]
    return drawn if order else np.concatenate([np.arange(pool.n), drawn])


def _drawn(size: int, count: int, order: int, draw: int) -> IntArray:
    """``size`` rows of ``count``, drawn with replacement: ⌊h · count / 2³²⌋ for a 32-bit hash h of each place."""
    drawn = hashes(np.arange(size), seed=order, purpose=ORDER, draw=draw).astype(np.int64)
    return np.asarray((drawn * count) >> 32, dtype=np.int64)


def stream_figures(stream: QuestionStream, *, alpha: int, gamma: int) -> StreamFigures:
    """Follow a stream in all three ways, at alpha and gamma in thousandths.

    Raises :class:`InputError` as :func:`core.conformal.adaptive.adaptive_sets` does.
    """
    limit = exact(stream.calibration, check_thousandths(alpha))
    asked = stream.questions
    adaptive = adaptive_sets(stream.calibration, asked.true, alpha=alpha, gamma=gamma)
    return StreamFigures(
        threshold=limit,
        missed=asked.true > limit,
        sizes=(asked.options <= limit).sum(axis=1),
        adaptive=adaptive,
        adaptive_sizes=(asked.options <= adaptive.thresholds[:, None]).sum(axis=1),
        capital=simple_jumper(online_p_values(stream.calibration, asked.true, stream.u)),
    )


def window_coverage(missed: BoolArray, window: int) -> FloatArray:
    """The coverage of the last ``window`` questions after each of T, (T,): NaN until there are so many."""
    found = np.full(len(missed), np.nan)
    if window > len(missed):
        return found
    hits = np.concatenate([[0], np.cumsum(~missed)])
    found[window - 1 :] = (hits[window:] - hits[: len(hits) - window]) / window
    return found
