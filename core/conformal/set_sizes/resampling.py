"""The two kinds of luck of a set size, redrawn: that of the calibration draw and that of the test draw.

The steps are those of :mod:`core.conformal.set_sizes`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import betainc, betaincinv, ndtri

from core.conformal.alpha import check_thousandths
from core.conformal.threshold import rank
from core.records import FloatArray, IntArray

RESAMPLES = 2000
JUMP, STRETCH = 0.5, 1.35
"""The share of the change that one rank makes, and c above it."""
CENTRAL = slice(50, -50)
"""The resampled thresholds between the 2.5 % and 97.5 % quantiles."""
REACH = 6
"""Standard deviations of the threshold's rank beyond which no weight lies."""
CHUNK = 1 << 22
"""Numbers that are held at a time."""
SMALLEST = 1e-12
"""A variance below this share of the largest is rounding: two runs that are equal differ by nothing."""


@dataclass(frozen=True, slots=True)
class Luck:
    """The luck of a calibration draw: the threshold's rank, weights P(J | rank) of the ranks ``first`` and on, which
    are cut off at 1 and n + 1; ``shrink`` is c of step 2 (:mod:`core.conformal.set_sizes`)."""

    rank: int
    first: int
    weights: FloatArray
    shrink: float


@lru_cache(maxsize=4096)
def luck(n: int, alpha: int) -> Luck | None:
    """The luck of drawing n calibration questions at alpha thousandths; None where every set is full."""
    k = int(rank(n, check_thousandths(alpha)))
    if k > n:
        return None
    spread = math.sqrt(k * (n + 1 - k) / (n + 2))
    reach = math.ceil(REACH * spread) + 1
    ranks = np.arange(k - reach, k + reach + 1)
    # P(J) is the probability of the levels nearer to J than to any other rank.
    borders = np.clip((np.append(ranks, ranks[-1] + 1) - 0.5) / (n + 1), 0, 1)
    weights = np.diff(betainc(k, n + 1 - k, borders))
    weights /= weights.sum()
    # Cov(U_(i), U_(j)) ∝ i·(n + 1 − j) for i ≤ j: the variance of the weighted mean of ranks over that of one.
    inside = np.clip(ranks, 1, n + 1).astype(np.float64)
    covariance = np.minimum.outer(inside, inside) * (n + 1 - np.maximum.outer(inside, inside))
    shrink = math.sqrt(float(weights @ covariance @ weights) / (k * (n + 1 - k)))
    weights.setflags(write=False)
    return Luck(k, int(ranks[0]), weights, shrink)


@lru_cache(maxsize=1024)
def drawn_ranks(n: int, k: int) -> FloatArray:
    """Where 2,000 redrawn thresholds of rank k of n lie among the scores, rising, not in whole ranks, (2000,)."""
    levels = (np.arange(RESAMPLES) + 0.5) / RESAMPLES
    drawn = np.asarray((n + 1) * betaincinv(k, n + 1 - k, levels), dtype=np.float64)
    drawn.setflags(write=False)
    return drawn


@lru_cache(maxsize=1024)
def shuffle(column: int) -> IntArray:
    """A seeded order of the resamples, another for each number of a column, (2000,)."""
    order = np.random.default_rng([0xB007, column]).permutation(RESAMPLES)
    order.setflags(write=False)
    return order


@lru_cache(maxsize=8)
def _normals(columns: int) -> FloatArray:
    """Standard normal numbers at the levels ½/2000 … 1999½/2000, each column in its own order, (2000, columns)."""
    levels = np.stack([shuffle(column) + 0.5 for column in range(columns)], axis=1) / RESAMPLES
    normals = np.asarray(ndtri(levels), dtype=np.float64)
    normals.setflags(write=False)
    return normals


def normal_noise(covariance: FloatArray) -> FloatArray:
    """Normal noise with a covariance (d, d), (2000, d)."""
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.where(values > SMALLEST * values[-1], values, 0))
    return np.asarray(_normals(len(values)) @ root.T, dtype=np.float64)


def expected_sizes(sizes: FloatArray, n: int, alpha: int, places: FloatArray) -> FloatArray:
    """The expected size s̃ of step 1 after each redrawn calibration, (r,), for sizes (n + 1,) by rank.

    ``places`` (r,) say where the redrawn thresholds lie among the n scores, counted in ranks.
    """
    of = luck(n, alpha)
    if of is None:
        return np.full(len(places), sizes[-1])
    needed = np.arange(math.floor(places.min()), math.ceil(places.max()) + 1)
    shifts = of.first - of.rank + np.arange(len(of.weights))
    smooth = sizes[np.clip(needed[:, None] + shifts, 1, n + 1) - 1] @ of.weights
    return np.asarray(np.interp(places, needed, smooth), dtype=np.float64)


@lru_cache(maxsize=2048)
def redrawn_places(n: int, alpha: int, shrink: float) -> FloatArray:
    """Where 2,000 redrawn thresholds lie, rising, (2000,): k + c·(J − k) of step 2."""
    of = luck(n, alpha)
    if of is None:
        return np.full(RESAMPLES, n + 1.0)
    places = np.clip(of.rank + shrink * (drawn_ranks(n, of.rank) - of.rank), 1, n + 1)
    places.setflags(write=False)
    return places


def shrinkage(sizes: FloatArray, n: int, of: Luck | None) -> float:
    """c of step 2 for sizes (n + 1,) by rank."""
    if of is None:
        return 1.0
    near = drawn_ranks(n, of.rank)[CENTRAL]
    steps = np.diff(sizes[max(math.floor(near[0]) - 1, 0) : math.ceil(near[-1])])
    jumps = len(steps) > 1 and steps.max() > JUMP * steps.sum()
    return STRETCH if jumps else of.shrink
