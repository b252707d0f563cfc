"""Intervals of figures that have no formula in :mod:`core.conformal.coverage`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import stdtrit

from core.calibration.bins import ECE_BINS, edges, place
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
    """The basic 95 % bootstrap interval of the expected calibration error, seeded, not below 0.

    A resample's ECE is larger than that of its sample by what noise adds to an absolute value; the basic interval
    turns the percentiles about the estimate and so takes that off. Each bin's sum of (right − confidence) is resampled
    as a normal with the variance of its terms.
    """
    confidence = probabilities.max(axis=1)
    index = place(confidence, edges(confidence))
    gaps = correct(probabilities, labels) - confidence
    sums = np.bincount(index, weights=gaps, minlength=ECE_BINS)
    squares = np.bincount(index, weights=gaps**2, minlength=ECE_BINS)
    spread = np.sqrt(np.maximum(squares - sums**2 / len(gaps), 0))
    drawn = sums + spread * np.random.default_rng(0).normal(size=(RESAMPLES, ECE_BINS))
    values = np.abs(drawn).sum(axis=1) / len(gaps)
    estimate = float(np.abs(sums).sum() / len(gaps))
    low, high = np.quantile(values, [0.025, 0.975])
    return max(2 * estimate - float(high), 0.0), max(2 * estimate - float(low), 0.0)
