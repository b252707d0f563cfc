"""Resampling of the calibration draw and of the test draw, for intervals of set sizes.

The steps are those of :mod:`core.conformal.set_sizes`.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import betainc, betaincinv, ndtri

from core.conformal.alpha import Alpha, check_thousandths
from core.conformal.threshold import rank
from core.records import FloatArray, IntArray

RESAMPLES = 2000
JUMP, STRETCH = 0.5, 1.35
"""If one rank makes more than the share JUMP of the change of size, c is STRETCH."""
CENTRAL = slice(50, -50)
"""The resampled thresholds between the 2.5% and 97.5% quantiles: 50 of 2,000 are left out at each end."""
REACH = 6
"""Ranks further than this many standard deviations from the threshold's rank get no weight."""
CHUNK = 1 << 22
"""The most numbers that are held in memory at once."""
SMALLEST = 1e-12
"""A variance below this share of the largest is a rounding error and counts as 0, so equal runs do not differ."""


@dataclass(frozen=True, slots=True)
class RankLaw:
    """The distribution of the threshold over draws of the calibration questions.

    ``rank`` is the threshold's rank k. ``weights`` are P(J | k) of the ranks ``first``, ``first`` + 1, …; ranks below 1
    count as 1, and ranks above n + 1 as n + 1. ``shrink`` is the c < 1 of step 2 (:mod:`core.conformal.set_sizes`).
    """

    rank: int
    first: int
    weights: FloatArray
    shrink: float


@lru_cache(maxsize=4096)
def rank_law(n: int, alpha: Alpha) -> RankLaw | None:
    """The threshold's distribution for n calibration questions at alpha thousandths; None if every set is full."""
    k = int(rank(n, check_thousandths(alpha)))
    if k > n:
        return None
    # The standard deviation of (n + 1)·U for U ~ Beta(k, n + 1 − k)
    spread = math.sqrt(k * (n + 1 - k) / (n + 2))
    reach = math.ceil(REACH * spread) + 1
    ranks = np.arange(k - reach, k + reach + 1)
    # P(J) = P((J − ½)/(n + 1) ≤ U < (J + ½)/(n + 1)): the levels nearer to J than to any other rank
    borders = np.clip((np.append(ranks, ranks[-1] + 1) - 0.5) / (n + 1), 0, 1)
    weights = np.diff(betainc(k, n + 1 - k, borders))
    weights /= weights.sum()
    # Cov(U_(i), U_(j)) ∝ i·(n + 1 − j) for i ≤ j. c² = wᵀ Cov w / Var(U_(k)): the variance of the weighted mean of
    # order statistics divided by that of the k-th alone.
    inside = np.clip(ranks, 1, n + 1).astype(np.float64)
    covariance = np.minimum.outer(inside, inside) * (n + 1 - np.maximum.outer(inside, inside))
    shrink = math.sqrt(float(weights @ covariance @ weights) / (k * (n + 1 - k)))
    weights.setflags(write=False)
    return RankLaw(k, int(ranks[0]), weights, shrink)


@lru_cache(maxsize=1024)
def drawn_ranks(n: int, k: int) -> FloatArray:
    """The places of 2,000 redrawn thresholds of rank k among n scores, increasing, in fractional ranks, (2000,)."""
    levels = (np.arange(RESAMPLES) + 0.5) / RESAMPLES
    drawn = np.asarray((n + 1) * betaincinv(k, n + 1 - k, levels), dtype=np.float64)
    drawn.setflags(write=False)
    return drawn


@lru_cache(maxsize=1024)
def shuffle(column: int) -> IntArray:
    """A seeded random order of the resamples, (2000,), different for each ``column``."""
    order = np.random.default_rng([0xB007, column]).permutation(RESAMPLES)
    order.setflags(write=False)
    return order


@lru_cache(maxsize=8)
def _normals(columns: int) -> FloatArray:
    """Standard normal quantiles at the levels ½/2000 … 1999½/2000, each column in its own order, (2000, columns)."""
    levels = np.stack([shuffle(column) + 0.5 for column in range(columns)], axis=1) / RESAMPLES
    normals = np.asarray(ndtri(levels), dtype=np.float64)
    normals.setflags(write=False)
    return normals


def normal_noise(covariance: FloatArray) -> FloatArray:
    """Normal noise with mean 0 and the given covariance (d, d), (2000, d)."""
    # Σ = V diag(λ) Vᵀ, so z (V √λ)ᵀ has the covariance Σ.
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.where(values > SMALLEST * values[-1], values, 0))
    return np.asarray(_normals(len(values)) @ root.T, dtype=np.float64)


def expected_sizes(sizes: FloatArray, n: int, alpha: Alpha, places: FloatArray) -> FloatArray:
    """The expected size s̃ of step 1 at each of r places, (r,), for sizes s (n + 1,) by rank.

    ``places`` (r,) are the places of the redrawn thresholds among the n scores, in ranks.
    """
    law = rank_law(n, alpha)
    if law is None:
        return np.full(len(places), sizes[-1])
    needed = np.arange(math.floor(places.min()), math.ceil(places.max()) + 1)
    shifts = law.first - law.rank + np.arange(len(law.weights))
    # s̃(x) = Σ_J P(J | k)·s(x + J − k) at every whole rank x that is needed, then linear between ranks
    smooth = sizes[np.clip(needed[:, None] + shifts, 1, n + 1) - 1] @ law.weights
    return np.asarray(np.interp(places, needed, smooth), dtype=np.float64)


@lru_cache(maxsize=2048)
def redrawn_places(n: int, alpha: Alpha, shrink: float) -> FloatArray:
    """The places of 2,000 redrawn thresholds, increasing, (2000,): k + c·(J − k) of step 2."""
    law = rank_law(n, alpha)
    if law is None:
        return np.full(RESAMPLES, n + 1.0)
    places = np.clip(law.rank + shrink * (drawn_ranks(n, law.rank) - law.rank), 1, n + 1)
    places.setflags(write=False)
    return places


def needed_ranks(n: int, alpha: Alpha) -> tuple[int, int]:
    """The first and last of the ranks 1 … n + 1 whose sizes :func:`expected_sizes` and :func:`shrinkage` use."""
    law = rank_law(n, alpha)
    if law is None:
        return n + 1, n + 1
    places = redrawn_places(n, alpha, STRETCH)  # those that reach furthest
    reach = law.rank - law.first + 1
    return max(1, math.floor(places[0]) - reach), min(n + 1, math.ceil(places[-1]) + reach)


def shrinkage(sizes: FloatArray, n: int, law: RankLaw | None) -> float:
    """The factor c of step 2, for sizes (n + 1,) by rank."""
    if law is None:
        return 1.0
    near = drawn_ranks(n, law.rank)[CENTRAL]
    steps = np.diff(sizes[max(math.floor(near[0]) - 1, 0) : math.ceil(near[-1])])
    jumps = len(steps) > 1 and steps.max() > JUMP * steps.sum()
    return STRETCH if jumps else law.shrink
