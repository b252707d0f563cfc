"""Binned calibration errors of the top option, and of each option separately.

``ECE`` is Σ (bin's share) · |accuracy − confidence|, and ``MCE`` is the largest of these gaps over the non-empty bins
(Naeini et al. 2015). Overconfidence and underconfidence are the parts of the ECE from bins whose confidence is above
and below their accuracy. Class-wise ECE treats each option's probability as a prediction that the option is true, and
is the mean over options of the ECE of that prediction (Kull et al. 2019, arXiv 1910.12656).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from core.calibration.bins import ECE_BINS, TopLabel, edges, place
from core.records import FloatArray, IntArray

Part = Callable[[FloatArray], FloatArray]
"""A function from gaps, or directions of gaps, to what they contribute to an error."""
PARTS: dict[str, Part] = {
    "ece": np.abs,
    "over": lambda gaps: np.maximum(-gaps, 0),
    "under": lambda gaps: np.maximum(gaps, 0),
}
"""For each error: what a bin's summed gaps contribute to it."""


def binned_error(sums: FloatArray, n: int, part: str = "ece") -> FloatArray:
    """``Σ_b |S_b| / n`` from the bins' summed gaps S (…, b) of n questions, (…). Every ECE is computed by this formula.

    ``over`` counts only bins whose gaps sum to less than 0, and ``under`` only bins whose gaps sum to more than 0.

    >>> float(binned_error(np.array([-1.0, 0.5]), 10))
    0.15
    """
    return np.asarray(PARTS[part](sums).sum(axis=-1) / n, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class TopErrors:
    """Errors of the top option, from 0 to 1; ``over`` and ``under`` sum to ``ece``."""

    ece: float
    mce: float
    over: float
    under: float


def top_errors(top: TopLabel, *, bins: int = ECE_BINS, by: str = "width") -> TopErrors:
    """All binned errors of the top option. Raises :class:`InputError` for invalid bins.

    >>> top_errors(TopLabel(np.array([0.9, 0.6]), np.array([0.0, 1.0])), bins=2)
    TopErrors(ece=0.25, mce=0.25, over=0.25, under=0.0)
    """
    index = place(top.confidence, edges(top.confidence, bins=bins, by=by))
    sums = np.bincount(index, weights=top.gap, minlength=bins).astype(np.float64)
    counts = np.bincount(index, minlength=bins)
    n = len(top)
    return TopErrors(
        ece=float(binned_error(sums, n)),
        mce=float((np.abs(sums[counts > 0]) / counts[counts > 0]).max()),
        over=float(binned_error(sums, n, "over")),
        under=float(binned_error(sums, n, "under")),
    )


def class_columns(
    probabilities: FloatArray, labels: IntArray, *, bins: int = ECE_BINS, by: str = "width"
) -> tuple[IntArray, FloatArray]:
    """The bin of every option of every question, (n, k), and the gaps y − p, (n, k).

    The bins of option j are numbered from j · bins. Raises :class:`InputError` for invalid bins.
    """
    k = probabilities.shape[1]
    placed = [place(p, edges(p, bins=bins, by=by)) for p in probabilities.T]
    return np.stack(placed, axis=1) + np.arange(k) * bins, np.eye(k)[labels] - probabilities
