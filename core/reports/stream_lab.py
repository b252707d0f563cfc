"""Two runs as one stream of questions: those of the first run, and from a point on those of the second.

The first run's calibration questions calibrate. Its other questions come first, and from the change on come those of
the second run; all of them can test because none of them calibrates anything. The browser
(``app/components/stream_lab``) follows it in three ways side by side: the fixed threshold, adaptive conformal inference
and a betting test of exchangeability. ``tests/reference`` has the same in Python, to the bit.

A stream has each question once, in a random order: this keeps calibration and stream exchangeable up to the change. Or
it is of a given length, up to 10,000, and then all its questions, calibration too, are drawn with replacement from the
run's, so that a question can come several times. That is exchangeable as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from core.conformal.scores import score, true_scores
from core.conformal.tuning import tune
from core.errors import InputError
from core.records import FloatArray, IntArray
from core.reports.evaluation import Evaluation
from core.reports.repeated import one_row_each
from core.reports.scored_sets import check_score

LONGEST = 10_000
"""The questions of the longest stream. Each figure can then be computed again within a frame."""
SHORTEST = 100
LARGEST_GAMMA = 200
"""The largest step γ, in thousandths. The paper takes 0.005."""


def check_gamma(gamma: int) -> int:
    """Return the step if it is a whole number from 0 to 200 thousandths; raises :class:`InputError` otherwise."""
    if not 0 <= gamma <= LARGEST_GAMMA or gamma != int(gamma):
        raise InputError(f"the step gamma must be a whole number of thousandths from 0 to {LARGEST_GAMMA}, got {gamma}")
    return int(gamma)


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
    for run in (first, second):
        if run is not None:
            check_score(run, score_name)
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
    return {"n": pool.n, "first": _table(pool.first), "second": None if pool.second is None else _table(pool.second)}


def _table(questions: StreamQuestions) -> pa.Table:
    options = questions.options
    columns = {f"o{j}": np.ascontiguousarray(options[:, j]) for j in range(options.shape[1])}
    return pa.table({"s": questions.true, **columns})
