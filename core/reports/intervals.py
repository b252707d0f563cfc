"""Intervals of figures that have no formula in :mod:`core.conformal.coverage`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import stdtrit

from core.calibration.bins import ECE_BINS, edges, place
from core.calibration.inversion import interval, smoothed
from core.calibration.metrics import correct
from core.records import FloatArray, IntArray

RESAMPLES = 200


def size_interval(sizes: Sequence[int]) -> tuple[float, float]:
    """The 95 % interval of a mean set size, mean ± t · s/√m, from how many sets there are of 0 … k options."""
    counts = np.array(sizes)
    m = int(counts.sum())
    values = np.arange(len(counts))
    mean = float((counts * values).sum() / m)
    spread = float(np.sqrt((counts * (values - mean) ** 2).sum() / max(m - 1, 1) / m))
    reach = float(stdtrit(max(m - 1, 1), 0.975)) * spread
    return max(mean - reach, 0.0), min(mean + reach, float(len(counts) - 1))


def ece_interval(probabilities: FloatArray, labels: IntArray) -> tuple[float, float]:
    """The 95 % interval of the expected calibration error (:mod:`core.calibration.inversion`), seeded, from 0 on.

    Each bin's sum of (right − confidence) has the noise of a normal with the variance of its terms.
    """
    confidence = probabilities.max(axis=1)
    index = place(confidence, edges(confidence))
    gaps = correct(probabilities, labels) - confidence
    sums, squares = (np.bincount(index, weights=of, minlength=ECE_BINS).astype(np.float64) for of in (gaps, gaps**2))
    spread = np.sqrt(np.maximum(squares - sums**2 / len(gaps), 0))
    noise = spread * np.random.default_rng(0).normal(size=(RESAMPLES, ECE_BINS))
    shape = smoothed(sums, np.bincount(index, minlength=ECE_BINS).astype(np.float64))
    return interval(lambda tried: np.abs(tried).sum(axis=1) / len(gaps), sums, noise, shape)
