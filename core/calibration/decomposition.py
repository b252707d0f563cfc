"""The Brier score in parts: how far off its bins are, how unlike each other, and how hard the questions.

For each option and its bins b of probability, with means p̄, ȳ over a bin and ȳ₀ over all questions (Murphy 1973;
Stephenson, Coelho & Jolliffe 2008 for the last term, without which the parts do not add up):

``reliability`` Σ (n_b/n)(p̄ − ȳ)² · ``resolution`` Σ (n_b/n)(ȳ − ȳ₀)² · ``uncertainty`` ȳ₀(1 − ȳ₀) ·
``within`` mean over questions of (p − p̄)² − 2(p − p̄)(y − ȳ), what bins hide; summed over options,
``Brier = reliability − resolution + uncertainty + within``.
"""

from __future__ import annotations

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
    """The parts over probabilities (n, k) and labels (n,).

    >>> brier_parts(np.array([[0.5, 0.5], [0.5, 0.5]]), np.array([0, 1]))
    BrierParts(reliability=0.0, resolution=0.0, uncertainty=0.5, within=0.0)
    """
    n, k = probabilities.shape
    index, gaps = class_columns(probabilities, labels, bins=bins, by=by)
    truth = gaps + probabilities
    at = index.ravel()
    counts = np.maximum(np.bincount(at, minlength=k * bins), 1)
    p_mean = np.bincount(at, weights=probabilities.ravel(), minlength=k * bins) / counts
    y_mean = np.bincount(at, weights=truth.ravel(), minlength=k * bins) / counts
    base = truth.mean(axis=0)
    off, away = p_mean[index] - y_mean[index], y_mean[index] - base
    inner = probabilities - p_mean[index]
    return BrierParts(
        reliability=float((off**2).sum() / n),
        resolution=float((away**2).sum() / n),
        uncertainty=float((base * (1 - base)).sum()),
        within=float((inner**2 - 2 * inner * (truth - y_mean[index])).sum() / n),
    )
