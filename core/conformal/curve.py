"""Coverage and set sizes at every alpha, computed in one pass.

The scores are sorted once and then looked up. A set has at least j options if and only if the j-th smallest score of
its row is at most the threshold. So coverage, mean size and the histogram of sizes at all 999 alphas are binary
searches in sorted columns, and no set is ever built.
"""

from dataclasses import dataclass

import numpy as np

from core.conformal.alpha import ALPHAS
from core.conformal.scores import true_scores
from core.conformal.sets import check_empty
from core.conformal.threshold import rank, threshold
from core.errors import InputError
from core.records import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class AlphaCurve:
    """Figures at each of a alphas (in thousandths).

    All arrays are (a,), except ``histogram`` (a, k + 1), which counts the sets of size 0 … k.
    """

    alphas: IntArray
    thresholds: FloatArray
    coverage: FloatArray
    mean_set_size: FloatArray
    histogram: IntArray

    @property
    def empty_rate(self) -> FloatArray:
        """The share of empty sets, (a,)."""
        return np.asarray(self.histogram[:, 0] / self.histogram[0].sum(), dtype=np.float64)


def thresholds(calibration_scores: FloatArray, *, alphas: IntArray = ALPHAS, method: str = "exact") -> FloatArray:
    """The threshold at each alpha, (a,). Raises :class:`InputError` if there are no calibration scores."""
    if method != "exact":
        return np.array([threshold(calibration_scores, int(a), method=method) for a in alphas])
    n = len(calibration_scores)
    if n == 0:
        raise InputError("there are no calibration scores; a threshold needs at least one calibration question")
    ranks = np.asarray(rank(n, alphas))
    ordered = np.append(np.sort(calibration_scores), np.inf)
    return np.asarray(ordered[np.minimum(ranks, n + 1) - 1], dtype=np.float64)


def alpha_curve(
    calibration_scores: FloatArray,
    test_scores: FloatArray,
    test_labels: IntArray,
    *,
    alphas: IntArray = ALPHAS,
    method: str = "exact",
    empty: str = "allow",
    test_top: IntArray | None = None,
) -> AlphaCurve:
    """Threshold, coverage, mean size and the histogram of sizes at each alpha.

    ``calibration_scores`` (n,) are the scores of the true options, ``test_scores`` (m, k) the scores of all options and
    ``test_labels`` (m,) the true options. With ``empty="top1"`` an empty set gets the option ``test_top`` (m,).

    Raises :class:`InputError` if there are no test questions, or if ``empty`` is ``"top1"`` without ``test_top``.
    """
    m, k = test_scores.shape
    if m == 0:
        raise InputError("there are no test questions; coverage needs at least one")
    q = thresholds(calibration_scores, alphas=alphas, method=method)
    true = true_scores(test_scores, test_labels)
    covered = np.searchsorted(np.sort(true), q, side="right")
    # columns (k, m): row j holds each question's (j+1)-th smallest score, sorted over the questions.
    columns = np.sort(np.sort(test_scores, axis=1).T, axis=1)
    at_least = np.zeros((len(q), k + 2), dtype=np.int64)  # (a, k + 2): questions with at least j options in the set
    at_least[:, 0] = m
    for j in range(k):
        at_least[:, j + 1] = np.searchsorted(columns[j], q, side="right")
    if check_empty(empty) == "top1":
        if test_top is None:
            raise InputError("filling empty sets with the top option needs the top options")
        # A set is empty if the row's smallest score exceeds q. Filled with its top option, it covers if that is true.
        right = test_top == test_labels
        lowest = np.sort(test_scores.min(axis=1)[right])
        covered = covered + (right.sum() - np.searchsorted(lowest, q, side="right"))
        at_least[:, 1] = m
    histogram = at_least[:, :-1] - at_least[:, 1:]  # #{size = j} = #{size ≥ j} − #{size ≥ j + 1}
    return AlphaCurve(alphas, q, covered / m, at_least[:, 1:].sum(axis=1) / m, histogram)
