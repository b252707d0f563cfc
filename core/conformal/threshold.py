"""The threshold q̂: the largest score with which an option stays in the set.

``exact`` is the threshold for which the guarantee holds: the ⌈(n+1)(1−alpha)⌉-th smallest calibration score. If that
rank is larger than n, the threshold is infinity and every option stays. The two others reproduce published tools and
guarantee less:

``paper``  ``numpy.quantile(scores, ⌈(n+1)(1−alpha)⌉/n, method="higher")``, which is the next order statistic for
           most n (LLM-Uncertainty-Bench, Ye et al. 2024)
``bluq``   the same level cut off at 1, with numpy's linear interpolation (BLUQ)
"""

from collections.abc import Callable

import numpy as np

from core.conformal.alpha import THOUSAND, Alpha, check_thousandths
from core.errors import InputError
from core.records import FloatArray, IntArray


def rank(n: int, alpha: Alpha | IntArray) -> int | IntArray:
    """``⌈(n+1)(1−alpha)⌉`` without rounding, 1-based; alpha in thousandths, one value or an array of whole ones.

    >>> rank(9, 100)
    9
    >>> rank(8, 100)
    9
    """
    return -(-(n + 1) * (THOUSAND - alpha) // THOUSAND)


def exact(calibration_scores: FloatArray, alpha: Alpha) -> float:
    """The ⌈(n+1)(1−alpha)⌉-th smallest of n scores; infinity if that rank is larger than n.

    >>> exact(np.array([0.3, 0.1, 0.2]), 500), exact(np.array([0.3, 0.1, 0.2]), 100)
    (0.2, inf)
    """
    n = len(calibration_scores)
    k = int(rank(n, alpha))
    return float("inf") if k > n else float(np.partition(calibration_scores, k - 1)[k - 1])


def paper(calibration_scores: FloatArray, alpha: Alpha) -> float:
    """numpy's ``higher`` quantile at level rank / n; infinity if that level is above 1."""
    n = len(calibration_scores)
    level = int(rank(n, alpha)) / n
    return float("inf") if level > 1 else float(np.quantile(calibration_scores, level, method="higher"))


def bluq(calibration_scores: FloatArray, alpha: Alpha) -> float:
    """numpy's linearly interpolated quantile at level min(rank / n, 1)."""
    n = len(calibration_scores)
    return float(np.quantile(calibration_scores, min(int(rank(n, alpha)) / n, 1.0)))


THRESHOLDS: dict[str, Callable[[FloatArray, Alpha], float]] = {"exact": exact, "paper": paper, "bluq": bluq}
"""Every threshold function, by name."""


def threshold(calibration_scores: FloatArray, alpha: Alpha, *, method: str = "exact") -> float:
    """The threshold of calibration scores (n,) at alpha (thousandths).

    Raises :class:`InputError` for no scores, scores that are not numbers, an alpha outside 1 … 999, or an
    unknown method.
    """
    if method not in THRESHOLDS:
        raise InputError(f"unknown threshold {method!r}; choose from {', '.join(THRESHOLDS)}")
    if len(calibration_scores) == 0:
        raise InputError("there are no calibration scores; a threshold needs at least one calibration question")
    if np.isnan(calibration_scores).any():
        raise InputError("a calibration score is not a number; every score must be one")
    return THRESHOLDS[method](calibration_scores, check_thousandths(alpha))


def full_set_message(n: int, alpha: Alpha) -> str:
    """A sentence that says why every option is in every set; empty if that is not so.

    >>> full_set_message(5, 100)
    "With 5 calibration questions, alpha can't be smaller than 0.167; below that, every option stays in every set."
    """
    if int(rank(n, alpha)) <= n:
        return ""
    smallest = f"{-(-THOUSAND // (n + 1)) / THOUSAND:.3f}" if isinstance(alpha, int) else f"1/{n + 1}"
    return (
        f"With {n} calibration question{'s' if n != 1 else ''}, alpha can't be smaller than {smallest}; "
        "below that, every option stays in every set."
    )
