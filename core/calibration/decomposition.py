"""The decomposition of the Brier score into reliability, resolution, uncertainty and a within-bin term.

Each option has bins b of its probability. p̄ and ȳ are means over a bin, and ȳ₀ is the mean over all questions. The
parts are those of Murphy (1973), plus the last one of Stephenson, Coelho & Jolliffe (2008), without which they do not
add up:

``reliability``  Σ (n_b/n)(p̄ − ȳ)²
``resolution``   Σ (n_b/n)(ȳ − ȳ₀)²
``uncertainty``  ȳ₀(1 − ȳ₀)
``within``       the mean over questions of (p − p̄)² − 2(p − p̄)(y − ȳ): what the bins hide

Summed over options, ``Brier = reliability − resolution + uncertainty + within``.
"""

from dataclasses import dataclass

import numpy as np

from core.calibration.bins import ECE_BINS
from core.calibration.errors import class_columns
from core.records import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class BrierParts:
    """Parts of the Brier score; lower ``reliability`` and higher ``resolution`` are better."""

    reliability: float
    resolution: float
    uncertainty: float
    within: float


def brier_parts(probabilities: FloatArray, labels: IntArray, *, bins: int = ECE_BINS, by: str = "width") -> BrierParts:
    """The parts of the Brier score of probabilities (n, k) with labels (n,).

    Raises :class:`InputError` for invalid bins.

    >>> brier_parts(np.array([[0.5, 0.5], [0.5, 0.5]]), np.array([0, 1]))
    BrierParts(reliability=0.0, resolution=0.0, uncertainty=0.5, within=0.0)
    """
    n, k = probabilities.shape
    index, gaps = class_columns(probabilities, labels, bins=bins, by=by)
    truth = gaps + probabilities  # gaps are y − p; all three (n, k)
    at = index.ravel()
    counts = np.maximum(np.bincount(at, minlength=k * bins), 1)
    p_mean = np.bincount(at, weights=probabilities.ravel(), minlength=k * bins) / counts
    y_mean = np.bincount(at, weights=truth.ravel(), minlength=k * bins) / counts
    base = truth.mean(axis=0)
    # p̄ − ȳ, ȳ − ȳ₀ and p − p̄ of the bin of each question and option, (n, k)
    off, away = p_mean[index] - y_mean[index], y_mean[index] - base
    inner = probabilities - p_mean[index]
    return BrierParts(
        reliability=float((off**2).sum() / n),
        resolution=float((away**2).sum() / n),
        uncertainty=float((base * (1 - base)).sum()),
        within=float((inner**2 - 2 * inner * (truth - y_mean[index])).sum() / n),
    )
