"""The prediction sets of Ye et al. 2024 (arXiv 2401.12794) as their code computes them, in single precision.

Their logits are float32, and so is everything computed from them: the softmax, the scores, the cumulative sums and the
threshold. Two options whose scores differ in double precision may have equal scores in single precision, and an option
at the threshold may be in or out of the set. This sometimes changes the last digit of a published figure. An option is
in a LAC set if ``p ≥ 1 − q̂``, which rounds differently from ``1 − p ≤ q̂``. An option is in an APS set if its cumulative
sum from the top is at most q̂.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.conformal.alpha import Alpha
from core.conformal.threshold import threshold
from core.errors import InputError
from core.records import BoolArray, FloatArray, IntArray

Single = npt.NDArray[np.float32]
Order = Callable[[Single], IntArray]
"""Gives the increasing order of each row, which says how equal options are ranked."""

SCORES = ("lac", "aps")
"""The scores that their code computes."""


@dataclass(frozen=True, slots=True)
class SingleSets:
    """Sets ``members`` (m, k) with the ``calibration_scores`` (n,) of the true options and ``test_scores`` (m, k).

    The scores and the threshold are float64 numbers that hold float32 values exactly.
    """

    calibration_scores: FloatArray
    test_scores: FloatArray
    threshold: float
    members: BoolArray


def single_probabilities(probabilities: FloatArray) -> Single:
    """The float32 softmax of the logits that gave the probabilities (n, k), recovered from the probabilities.

    A softmax depends only on the logits' distances to the largest one. The logarithms of the probabilities give these
    distances far more precisely than float32 can hold, so after rounding to float32 they equal those of the logits. NaN
    means that a question lacks the option; it stays NaN.
    """
    with np.errstate(divide="ignore"):
        logs = np.log(np.asarray(probabilities, dtype=np.float64))
    # exp(z − max z) with z − max z = log p − max log p, rounded to float32 first
    raised = np.exp((logs - np.nanmax(logs, axis=1, keepdims=True)).astype(np.float32))
    return np.asarray(raised / np.nansum(raised, axis=1, keepdims=True), dtype=np.float32)


def stable_order(probabilities: Single) -> IntArray:
    """The increasing order of each row of (n, k), equal options in the order of their letters; NaN comes first."""
    return np.asarray(np.argsort(np.nan_to_num(probabilities, nan=-1.0), axis=1, kind="stable"))


def single_scores(name: str, probabilities: Single, *, order: Order = stable_order) -> Single:
    """Scores of all options, (n, k) from (n, k), in float32; APS ranks options from the end of ``order``.

    Raises :class:`InputError` for any score other than LAC and APS.
    """
    if name not in SCORES:
        raise InputError(f"Ye et al. 2024 have the scores {' and '.join(SCORES)}, got {name!r}")
    if name == "lac":
        return np.asarray(np.float32(1) - probabilities, dtype=np.float32)
    ranked = order(probabilities)[:, ::-1]
    running = np.cumsum(np.take_along_axis(probabilities, ranked, axis=1), axis=1, dtype=np.float32)
    scores = np.empty_like(running)
    np.put_along_axis(scores, ranked, running, axis=1)
    return scores


def single_sets(
    name: str,
    probabilities: FloatArray,
    labels: IntArray,
    *,
    calibration: IntArray,
    test: IntArray,
    alpha: Alpha,
    order: Order = stable_order,
) -> SingleSets:
    """The sets of the rows ``test`` of probabilities (n, k) at ``alpha`` thousandths.

    The rows ``calibration`` give the ``paper`` threshold, ``order`` ranks the options for APS. Raises
    :class:`InputError` as :func:`single_scores` and :func:`core.conformal.threshold.threshold` do.
    """
    p = single_probabilities(probabilities)
    scores = single_scores(name, p, order=order)
    true = scores[calibration, labels[calibration]]
    q = np.float32(threshold(true.astype(np.float64), alpha, method="paper"))
    members = p[test] >= np.float32(1) - q if name == "lac" else scores[test] <= q
    return SingleSets(true.astype(np.float64), scores[test].astype(np.float64), float(q), members)
