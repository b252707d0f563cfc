"""The streams of the Stream lab, as the browser makes them and follows them, in Python."""

from dataclasses import dataclass

import numpy as np

from core.conformal.alpha import check_thousandths
from core.conformal.draws import ORDER, SMOOTHING, hashes, uniforms
from core.conformal.threshold import exact
from core.errors import InputError
from core.records import BoolArray, FloatArray, IntArray
from core.reports.stream_lab import LONGEST, SHORTEST, StreamPool, StreamQuestions
from tests.reference.adaptive import AdaptiveSets, adaptive_sets
from tests.reference.exchangeability import Capital, online_p_values, simple_jumper

FIRST_ONCE, SECOND_ONCE, FIRST_AGAIN, SECOND_AGAIN = range(4)
"""The draws of a stream's order: of each run, once each or with replacement."""


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
    """The figures of the three methods for a stream of T questions, at one alpha and one step.

    ``threshold`` is the fixed one, ``missed`` (T,) and ``sizes`` (T,) are those of its sets. ``adaptive_sizes`` (T,)
    belong to the ``adaptive`` sets. ``capital`` is that of the bets.
    """

    threshold: float
    missed: BoolArray
    sizes: IntArray
    adaptive: AdaptiveSets
    adaptive_sizes: IntArray
    capital: Capital


def question_stream(pool: StreamPool, *, change: int | None = None, order: int = 0, length: int = 0) -> QuestionStream:
    """A stream: ``change`` questions of the first run, then those of the second.

    Without a ``change``, all questions of the first run come before it, or half of the ``length``.

    With ``length`` 0 each question comes once; a length from 100 to 10,000 is drawn with replacement. ``order`` is the
    seed of the random order. Order 0 leaves the first run its own calibration questions, and any other draws new ones.

    Raises :class:`InputError` for a length or a change outside of what there is.
    """
    if length and not SHORTEST <= length <= LONGEST:
        raise InputError(
            f"a stream can have from {SHORTEST} to {LONGEST:,} questions, not {length:,}; or 0 for each once"
        )
    most = length or len(pool.first.true) - pool.n
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
    questions = StreamQuestions(
        np.concatenate([part.options for part in parts]), np.concatenate([part.true for part in parts])
    )
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

    Raises :class:`InputError` as :func:`adaptive_sets` does.
    """
    limit = exact(stream.calibration, check_thousandths(alpha))
    questions = stream.questions
    adaptive = adaptive_sets(stream.calibration, questions.true, alpha=alpha, gamma=gamma)
    return StreamFigures(
        threshold=limit,
        missed=questions.true > limit,
        sizes=(questions.options <= limit).sum(axis=1),
        adaptive=adaptive,
        adaptive_sizes=(questions.options <= adaptive.thresholds[:, None]).sum(axis=1),
        capital=simple_jumper(online_p_values(stream.calibration, questions.true, stream.u)),
    )


def window_coverage(missed: BoolArray, window: int) -> FloatArray:
    """The coverage of the last ``window`` questions after each of T, (T,): NaN until there are this many."""
    coverage = np.full(len(missed), np.nan)
    if window > len(missed):
        return coverage
    hits = np.concatenate([[0], np.cumsum(~missed)])
    coverage[window - 1 :] = (hits[window:] - hits[: len(hits) - window]) / window
    return coverage
