"""The upper end of a calibration error, and the error beyond chance, by inverting a test.

Noise raises an absolute value most if the gap is small, so the errors of resamples do not tell how much noise raised
the error of the sample itself. Instead, models are tried in which every bin is off by the same multiple t of the bin's
noise. Of all models with the same true error, these show the smallest errors in samples: a bin's ``E|δ + s·z|`` is
convex in δ, so by Jensen's inequality ``Σ s·E|δ/s + z|`` is smallest, for a given ``Σ|δ|``, if δ/s is the same in every
bin. The upper end is the error of the model whose samples show no more than the observed error in 2.5% of cases. A
larger true error would almost never show so little. The error beyond chance is that of the model whose samples show
more than observed as often as less.
"""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from scipy.special import ndtri

from core.records import FloatArray

DRAWS = 2000
"""The number of draws of the noise with which each model is tried."""
TAIL = 0.025
MEDIAN = 0.5
STEPS = 40
PRECISION = 1e-3
"""The multiple of the noise is found with this precision."""

Law = Callable[[float], FloatArray]
"""A function from a multiple t of the noise to the errors that samples of that model show, (r,), increasing in t."""


@lru_cache(maxsize=8)
def normal_draws(columns: int, draws: int = DRAWS) -> FloatArray:
    """Standard normal draws (draws, columns), seeded, so they are the same at every call.

    Each column holds the normal quantiles at (i + ½)/draws in random order. This spreads the draws evenly, so each
    column has mean 0 and a variance close to 1.
    """
    rng = np.random.default_rng([0, columns, draws])
    quantiles = ndtri((np.arange(draws) + 0.5) / draws)
    drawn = rng.permuted(np.tile(quantiles, (columns, 1)), axis=1).T
    contiguous = np.ascontiguousarray(drawn)
    contiguous.setflags(write=False)
    return contiguous


def correlated(covariance: FloatArray, draws: int = DRAWS) -> FloatArray:
    """Normal draws (draws, b) with mean 0 and the given covariance (b, b)."""
    # Σ = V diag(λ) Vᵀ, so z (V √λ)ᵀ has the covariance Σ.
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(normal_draws(len(covariance), draws) @ (vectors * np.sqrt(np.maximum(values, 0))).T)


def multiple(law: Law, seen: float, *, share: float) -> float:
    """The multiple t ≥ 0 of the noise with which this share of samples shows no more than ``seen``.

    It is 0 if the share is smaller even at t = 0. The root of ``quantile_share(law(t)) − seen`` is found by the method
    of false position, in its Illinois variant.
    """

    def beyond(t: float) -> float:
        values = law(t)
        at = round(share * (len(values) - 1))
        return float(np.partition(values, at)[at]) - seen

    # Bracket the root: beyond(low) = below < 0 ≤ above = beyond(high).
    low, below = 0.0, beyond(0.0)
    if below >= 0:
        return 0.0
    high = 4.0
    while (above := beyond(high)) < 0:
        low, below, high = high, above, 2 * high
        if high > 1e9:  # there is no noise, so t has no effect
            return 0.0
    side = 0
    for _ in range(STEPS):
        # The line through both ends crosses 0 here. An end that is kept twice has its value halved (Illinois).
        middle = (low * above - high * below) / (above - below)
        gap = beyond(middle)
        if gap < 0:
            low, below = middle, gap
            above *= 0.5 if side < 0 else 1
            side = -1
        else:
            high, above = middle, gap
            below *= 0.5 if side > 0 else 1
            side = 1
        if high - low < PRECISION or abs(gap) < PRECISION * max(seen, 1e-12) / 10:
            return middle
    return (low + high) / 2
