"""The mean of losses with its 95% interval.

Losses are skewed, because a few questions have a very large loss. The interval mean ± t · s/√n then misses mostly on
one side. Hall's transformation removes the skewness first (Hall 1992, On the removal of skewness by transformation,
JRSS B 54). With γ the sample's skewness and x = (mean − μ)/s, ``T(x) = x + γx²/3 + γ²x³/27 + γ/6n`` is nearly normal
with mean 0 and variance 1/n. T increases with x, so its inverse turns the normal interval into one of μ:
``x = (3/γ) · (∛(1 + γ(T − γ/6n)) − 1)``. Student's t quantile is used instead of the normal one.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import stdtrit

from core.records import FloatArray

HARDLY_SKEWED = 1e-6


def skewed_mean_interval(values: FloatArray) -> tuple[float, float, float]:
    """The mean of values (n,) and the two ends of the 95% interval of the expectation.

    If the mean is infinite or there is a single value, there is no interval and both ends are NaN. If all values are
    equal, the interval has width 0.

    >>> skewed_mean_interval(np.array([1.0, np.inf]))
    (inf, nan, nan)
    >>> skewed_mean_interval(np.array([2.0, 2.0]))
    (2.0, 2.0, 2.0)
    """
    n, mean = len(values), float(np.mean(values))
    if n < 2 or not math.isfinite(mean):
        return mean, math.nan, math.nan
    off = values - mean
    spread = float(np.sqrt((off**2).mean()))
    if spread <= 1e-12 * abs(mean):
        return mean, mean, mean
    skewness = float(((off / spread) ** 3).mean())
    # The ends are μ = mean − s·x with T(x) = ± t_{n−1}/√n.
    reach = float(stdtrit(n - 1, 0.975)) / math.sqrt(n)
    deviation = spread * math.sqrt(n / (n - 1))
    return mean, mean - deviation * _inverse(reach, skewness, n), mean - deviation * _inverse(-reach, skewness, n)


def _inverse(t: float, skewness: float, n: int) -> float:
    """The x with T(x) = t, where T is Hall's transformation; x = t if there is almost no skewness."""
    if abs(skewness) < HARDLY_SKEWED:
        return t
    return (float(np.cbrt(1 + skewness * (t - skewness / (6 * n)))) - 1) * 3 / skewness
