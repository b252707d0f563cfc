"""95 % intervals of what is counted from prediction sets: mean set size and UAcc.

A mean set size has two sources of luck. The test questions are a sample, and so are the calibration questions, which
set the threshold that every set shares. An interval from the test sets alone takes the threshold for granted; it held
the expected size in 50 to 61 of 100 simulations instead of 95. These intervals redraw both samples.

The redrawn threshold needs no resampling. Over draws of n calibration scores without ties the k-th smallest of them
lies at the level U ~ Beta(k, n + 1 − k) (:mod:`core.conformal.coverage`), so among the scores at hand it takes the rank
J ≈ (n + 1)·U; rank n + 1 is the endless threshold. With s(J) the mean set size at the J-th smallest score:

1. What the interval is of, the size that new calibration questions give on average, is the mean of s over that luck,
   s̃(k) = Σ_J P(J | k)·s(J): Harrell and Davis' weighting (1982, doi 10.1093/biomet/69.3.635). Where APS is close to
   full sets, s jumps and s̃ does not: with s alone the interval would miss the mean of a skewed law.
2. The luck of the calibration draw is s̃(k + c·(J − k)). The weighting makes s̃ less variable than s by the factor
   c < 1, the ratio of the two standard deviations where s is linear in the level. Where a single rank makes more than
   half of the change of s over the luck, as APS does just below full sets, the law is skewed and c is 1.35 instead:
   with less the interval held the expected size in 88 of 100 simulations. The two cases lie far apart (shares of at
   most .4 for smooth laws, at least .7 there), and 1.35 was chosen by simulation (``tests/simulation/set_sizes.py``).
3. The luck of the test draw is normal noise with the covariance that size and accuracy have over the test questions.

The ends are the 2.5 % and 97.5 % quantiles of 2,000 such resamples. Levels and noise are spread evenly over their laws
(Latin hypercube sampling, McKay et al. 1979) instead of drawn, so that the same run always has the same interval.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy.special import betainc, betaincinv, ndtri

from core.conformal.alpha import check_thousandths
from core.conformal.sets import check_empty
from core.conformal.threshold import rank, threshold
from core.errors import InputError
from core.records import FloatArray, IntArray

RESAMPLES = 2000
TAILS = (0.025, 0.975)
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
DIGITS = 12
FIRST_STRATUM = 16
"""Shuffles below are for the noise of test questions."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its 95 % interval; all NaN where it is not defined."""

    value: float
    low: float
    high: float

    @property
    def ends(self) -> tuple[float, float]:
        """The interval alone."""
        return self.low, self.high


@dataclass(frozen=True, slots=True)
class SetEstimates:
    """Mean set size in options, and UAcc = accuracy · √k / mean set size (Ye et al. 2024; may exceed 1)."""

    mean_set_size: Estimate
    uacc: Estimate


@dataclass(frozen=True, slots=True)
class SizeCurve:
    """Set sizes of m test questions against the rank J = 1 … n + 1 of the threshold among n calibration scores.

    ``size`` (n + 1,) is the mean set size at each rank, ``square`` that of its square, and ``size_if_right`` that of
    size × right, where ``right`` is 1 for a question whose top option is the truth. ``options`` is k of UAcc.
    """

    n: int
    m: int
    options: int
    accuracy: float
    size: FloatArray
    square: FloatArray
    size_if_right: FloatArray


@dataclass(frozen=True, slots=True)
class Luck:
    """The luck of a calibration draw: the threshold's rank, weights P(J | rank) of the ranks ``first`` and on, which
    are cut off at 1 and n + 1; ``shrink`` is c of the module's step 2."""

    rank: int
    first: int
    weights: FloatArray
    shrink: float


# ---------------------------------------------------------------- sizes by the threshold's rank


def thresholds_by_rank(calibration_scores: FloatArray, alpha: int, *, method: str = "exact") -> FloatArray:
    """The threshold that each rank 1 … n + 1 stands for, (n + 1,), from scores of true options (n,).

    The exact threshold of rank J is the J-th smallest score, and endless for n + 1. A published threshold
    (:mod:`core.conformal.threshold`) lies elsewhere than at its rank; it is as far from there at every rank.
    """
    ordered = np.sort(calibration_scores)
    n = len(ordered)
    if n == 0:
        raise InputError("there are no calibration scores; a threshold needs at least one calibration question")
    if method == "exact":
        return np.append(ordered, np.inf)
    level = int(rank(n, alpha)) / n
    if method == "paper" and level > 1:
        return np.full(n + 1, np.inf)
    place = min(level, 1.0) * (n - 1)  # numpy's place of a quantile, from 0
    if method == "paper":
        place = math.ceil(place - 1e-9)
    own = min(int(rank(n, alpha)), n)
    found = np.interp(place + np.arange(1, n + 2) - own, np.arange(n), ordered)
    found[own - 1] = threshold(calibration_scores, alpha, method=method)  # to the last digit, as sets are formed
    return np.asarray(found, dtype=np.float64)


def size_curve(
    thresholds: FloatArray, test_scores: FloatArray, right: FloatArray, *, options: int, empty: str = "allow"
) -> SizeCurve:
    """The sizes of m sets at each of the thresholds (n + 1,) of rising rank; ``test_scores`` (m, k), ``right`` (m,).

    A set has at least j options exactly where the j-th smallest score of its row is at most the threshold, so that
    sizes are binary searches in sorted columns. With ``empty="top1"`` an empty set counts one option.
    """
    m = len(test_scores)
    if m == 0:
        raise InputError("there are no test questions; a mean set size needs at least one")
    fill = check_empty(empty) == "top1"
    rows = np.sort(test_scores, axis=1)

    def at_least(columns: FloatArray) -> FloatArray:
        """How many sets have at least 1 … k options at each threshold, (k, n + 1)."""
        found = np.stack([np.searchsorted(np.sort(column), thresholds, side="right") for column in columns.T])
        if fill:
            found[0] = len(columns)
        return found.astype(np.float64)

    of_all, of_right = at_least(rows), at_least(rows[right == 1])
    odd = 2 * np.arange(len(of_all)) + 1  # 1 + 3 + … + (2s − 1) = s²
    return SizeCurve(
        n=len(thresholds) - 1,
        m=m,
        options=options,
        accuracy=float(right.mean()),
        size=of_all.sum(axis=0) / m,
        square=odd @ of_all / m,
        size_if_right=of_right.sum(axis=0) / m,
    )


# ---------------------------------------------------------------- the two kinds of luck


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
def _shuffle(column: int) -> IntArray:
    """A seeded order of the resamples, another for each number of a column, (2000,)."""
    order = np.random.default_rng([0xB007, column]).permutation(RESAMPLES)
    order.setflags(write=False)
    return order


@lru_cache(maxsize=8)
def _normals(columns: int) -> FloatArray:
    """Standard normal numbers at the levels ½/2000 … 1999½/2000, each column in its own order, (2000, columns)."""
    levels = np.stack([_shuffle(column) + 0.5 for column in range(columns)], axis=1) / RESAMPLES
    normals = np.asarray(ndtri(levels), dtype=np.float64)
    normals.setflags(write=False)
    return normals


def _noise(covariance: FloatArray) -> FloatArray:
    """Normal noise with a covariance (d, d), (2000, d)."""
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.where(values > SMALLEST * values[-1], values, 0))
    return np.asarray(_normals(len(values)) @ root.T, dtype=np.float64)


def expected(sizes: FloatArray, n: int, alpha: int, places: FloatArray) -> FloatArray:
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
def _places(n: int, alpha: int, shrink: float) -> FloatArray:
    """Where 2,000 redrawn thresholds lie, rising, (2000,): k + c·(J − k) of step 2."""
    of = luck(n, alpha)
    if of is None:
        return np.full(RESAMPLES, n + 1.0)
    places = np.clip(of.rank + shrink * (drawn_ranks(n, of.rank) - of.rank), 1, n + 1)
    places.setflags(write=False)
    return places


def _shrink(sizes: FloatArray, n: int, of: Luck | None) -> float:
    """c of step 2 for sizes (n + 1,) by rank."""
    if of is None:
        return 1.0
    near = drawn_ranks(n, of.rank)[CENTRAL]
    steps = np.diff(sizes[max(math.floor(near[0]) - 1, 0) : math.ceil(near[-1])])
    jumps = len(steps) > 1 and steps.max() > JUMP * steps.sum()
    return STRETCH if jumps else of.shrink


# ---------------------------------------------------------------- intervals of one run


def intervals(curve: SizeCurve, alpha: int) -> SetEstimates:
    """Mean set size and UAcc at alpha thousandths where one threshold is that of all questions."""
    of = luck(curve.n, alpha)
    at = curve.n if of is None else of.rank - 1
    size = float(curve.size[at])
    covariance = _covariance_of_means(
        curve.m,
        float(curve.square[at]) - size**2,
        float(curve.size_if_right[at]) - size * curve.accuracy,
        curve.accuracy * (1 - curve.accuracy),
    )
    places = _places(curve.n, alpha, _shrink(curve.size, curve.n, of))
    resampled = expected(curve.size, curve.n, alpha, places)
    return _estimates(resampled, size, curve.accuracy, covariance, curve.options)


@dataclass(frozen=True, slots=True)
class Strata:
    """Which threshold is for which option: numbers of strata from 0.

    ``calibration`` (n,) has those of the calibration questions, ``test`` (m, k) those of the test questions' options:
    all options of a question have its subject's number, or each option its own letter's.
    """

    calibration: IntArray
    test: IntArray


def strata_intervals(
    calibration_scores: FloatArray,
    test_scores: FloatArray,
    right: FloatArray,
    strata: Strata,
    alpha: int,
    *,
    options: int,
    empty: str = "allow",
) -> SetEstimates:
    """Mean set size and UAcc where each stratum has its own exact threshold.

    The thresholds of the strata are redrawn on their own, given how many questions each has. Sizes are those of the
    sets, not of their mean over the luck, because a stratum has no size of its own where letters have thresholds;
    between two calibration scores a redrawn threshold is interpolated.
    """
    codes = range(int(max(strata.calibration.max(initial=0), strata.test.max(initial=0))) + 1)
    drawn, limits = np.empty((RESAMPLES, len(codes))), np.empty(len(codes))
    for code in codes:
        own = calibration_scores[strata.calibration == code]
        n, of = len(own), luck(len(own), alpha)
        if of is None:
            drawn[:, code] = limits[code] = np.inf
            continue
        ordered, places = np.sort(own), _places(n, alpha, of.shrink)[_shuffle(FIRST_STRATUM + code)]
        between = np.interp(places, np.arange(1, n + 1), ordered)
        drawn[:, code] = np.where(places < n + 0.5, between, np.inf)
        limits[code] = ordered[of.rank - 1]
    sizes = sizes_at(test_scores, limits[None, :], strata.test, empty=empty)[0].astype(np.float64)
    resampled = np.concatenate(
        [
            sizes_at(test_scores, part, strata.test, empty=empty).mean(axis=1)
            for part in np.array_split(drawn, max(1, RESAMPLES * len(sizes) // CHUNK))
        ]
    )
    covariance = np.atleast_2d(np.cov(np.stack([sizes, right]), ddof=min(1, len(right) - 1))) / len(right)
    return _estimates(resampled, float(sizes.mean()), float(right.mean()), covariance, options)


def sizes_at(
    scores: FloatArray, limits: FloatArray, strata: IntArray | None = None, *, empty: str = "allow"
) -> npt.NDArray[np.int16]:
    """Options in each of m sets under each of r thresholds, (r, m): ``scores`` (m, k) and ``limits`` (r, strata).

    Without ``strata`` (m, k) there is one, of all options.
    """
    sizes = np.zeros((len(limits), len(scores)), dtype=np.int16)
    for j, column in enumerate(scores.T):
        sizes += column[None, :] <= (limits[:, :1] if strata is None else limits[:, strata[:, j]])
    return np.maximum(sizes, 1) if check_empty(empty) == "top1" else sizes


def _covariance_of_means(m: int, size: float, both: float, right: float) -> FloatArray:
    return np.array([[size, both], [both, right]]) / max(m - 1, 1)


def _estimates(
    resampled: FloatArray, size: float, accuracy: float, covariance: FloatArray, options: int
) -> SetEstimates:
    noise = _noise(covariance)
    sizes = np.clip(resampled + noise[:, 0], 0, options)
    return SetEstimates(
        _estimate(size, sizes), _estimate(uacc(accuracy, size, options), uacc(accuracy + noise[:, 1], sizes, options))
    )


def uacc(accuracy: float | FloatArray, size: float | FloatArray, options: int) -> FloatArray:
    """Accuracy · √k / mean set size, of one or many; NaN where every set is empty."""
    kept = np.asarray(size, dtype=np.float64)
    above = np.clip(accuracy, 0, 1) * math.sqrt(options)
    return np.asarray(above / np.where(kept > 0, kept, np.nan), dtype=np.float64)


def _estimate(value: float | FloatArray, resampled: FloatArray) -> Estimate:
    """The quantiles of the resamples; an interval that would leave its own figure out ends at it."""
    at = float(value)
    if not math.isfinite(at):
        return Estimate(math.nan, math.nan, math.nan)
    low, high = np.round(np.nanquantile(resampled, TAILS), DIGITS).tolist()
    return Estimate(at, min(low, at), max(high, at))


# ---------------------------------------------------------------- the difference of two runs


@dataclass(frozen=True, slots=True)
class PairedRun:
    """One of two runs on the questions that both have, in the same order.

    ``calibration`` (n,) are the scores of the true options of the calibration questions that both calibrate on,
    ``alone`` (a,) those of the questions that this run alone does; ``test`` (m, k) all scores of the shared test
    questions and ``right`` (m,) whether its top option is right there. ``options`` is k of UAcc.
    """

    calibration: FloatArray
    alone: FloatArray
    test: FloatArray
    right: FloatArray
    options: int


def difference_intervals(first: PairedRun, second: PairedRun, alpha: int, *, seed: int = 0) -> SetEstimates:
    """Mean set size and UAcc of the second run less the first's, each with one exact threshold at alpha thousandths.

    The same questions are redrawn for both runs, seeded: shared calibration questions give both thresholds, and the
    covariance over the shared test questions is that of both runs' sizes and answers. What only one run calibrates on
    is redrawn for it alone.
    """
    check_thousandths(alpha)
    sides = (first, second)
    places = _paired_places(sides, alpha, seed)
    curves, sizes = [], []
    for side in sides:
        by_rank = np.append(np.sort(np.concatenate([side.calibration, side.alone])), np.inf)
        of = luck(len(by_rank) - 1, alpha)
        limit = by_rank[-1 if of is None else of.rank - 1]
        sizes.append(sizes_at(side.test, np.array([[limit]]))[0].astype(np.float64))
        curves.append(size_curve(by_rank, side.test, side.right, options=side.options))
    values = np.stack([*sizes, first.right, second.right])
    m = values.shape[1]
    noise = _noise(np.cov(values, ddof=min(1, m - 1)) / m)
    kept = [
        np.clip(expected(curve.size, curve.n, alpha, of) + noise[:, i], 0, curve.options)
        for i, (curve, of) in enumerate(zip(curves, places, strict=True))
    ]
    own = [float(one.mean()) for one in sizes]
    resampled = [
        uacc(float(side.right.mean()) + noise[:, 2 + i], kept[i], side.options) for i, side in enumerate(sides)
    ]
    at = [float(uacc(float(side.right.mean()), own[i], side.options)) for i, side in enumerate(sides)]
    return SetEstimates(
        _estimate(own[1] - own[0], kept[1] - kept[0]), _estimate(at[1] - at[0], resampled[1] - resampled[0])
    )


def _paired_places(sides: tuple[PairedRun, PairedRun], alpha: int, seed: int) -> tuple[FloatArray, FloatArray]:
    """Where both runs' redrawn thresholds lie among their scores, counted in ranks, (2000,) each.

    n + 1 questions are drawn from the n and one whose score is endless for both, so that the rank n + 1 has its
    chance. What the luck's weights make of the ranks of the drawn ones is the place: the figures are means over the
    luck (step 1), and so is their difference, whose noise from question to question is far less than that of two single
    thresholds where the models are alike. On average the j-th smallest rank is j·(n + 1)/(n + 2) + ½, which is
    taken off, so that places lie around the runs' own.
    """
    rng = np.random.default_rng([seed, 0xB007])
    shared = len(sides[0].calibration)
    places = (np.empty(RESAMPLES), np.empty(RESAMPLES))
    largest = shared + 1 + max(len(side.alone) for side in sides)
    for rows in np.array_split(np.arange(RESAMPLES), max(1, RESAMPLES * largest // CHUNK)):
        drawn = rng.integers(0, shared + 1, (len(rows), shared + 1), dtype=np.int32)
        for side, into in zip(sides, places, strict=True):
            scores = np.concatenate([side.calibration, side.alone])
            n = len(scores)
            of = luck(n, alpha)
            if of is None:
                into[rows] = n + 1
                continue
            ranks = np.empty(n + 1, dtype=np.int32)
            ranks[np.argsort(scores, kind="stable")] = np.arange(1, n + 1)
            ranks[n] = n + 1
            own = ranks[shared:n][rng.integers(0, max(n - shared, 1), (len(rows), n - shared), dtype=np.int32)]
            found = np.sort(np.concatenate([np.append(ranks[:shared], ranks[n])[drawn], own], axis=1), axis=1)
            near = np.clip(of.first + np.arange(len(of.weights)), 1, n + 1)
            mean = near * (n + 1) / (n + 2) + 0.5
            into[rows] = np.clip(of.rank + (found[:, near - 1] - mean) @ of.weights, 1, n + 1)
    return places
