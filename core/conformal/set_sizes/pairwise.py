"""Intervals of the differences between several runs' mean set sizes and UAccs, which hold together.

Calibration and test questions are redrawn as for two runs (:mod:`core.conformal.set_sizes.differences`), the same ones
for all runs. The interval of one pair holds the 2.5% and 97.5% quantiles of these resamples. For all pairs together it
is stretched at both ends to the level 1 − 0.05 / pairs (Bonferroni), by the ratio of the normal quantiles, because the
resamples are too few for quantiles that far out.
"""

import numpy as np
from scipy.special import ndtri

from core.conformal.alpha import check_thousandths
from core.conformal.clusters import within
from core.conformal.pairwise import SharedRuns, filled_scores
from core.conformal.set_sizes.by_rank import SizeCurve, size_curve, thresholds_by_rank, uacc
from core.conformal.set_sizes.differences import noise_of_means, spread_of_places, tested
from core.conformal.set_sizes.intervals import quantile_interval
from core.conformal.set_sizes.resampling import RESAMPLES, RankLaw, expected_sizes, rank_law
from core.estimates import Estimate
from core.records import FloatArray, IntArray

REACH = 16
"""Ranks further than this many standard deviations from the threshold's rank are all drawn, or none of them."""
PART = 500
"""Resamples that are drawn at a time."""


def together(pairs: int) -> float:
    """The normal quantile of an interval that holds with ``pairs`` − 1 others in 95% of draws (Bonferroni).

    >>> round(together(1), 3), round(together(66), 3)
    (1.96, 3.368)
    """
    return float(-ndtri(0.025 / pairs))


def difference_intervals_of_pairs(
    runs: SharedRuns, alpha: int, *, empty: str = "allow", seed: int = 0
) -> tuple[list[Estimate], list[Estimate]]:
    """For each of ``runs.pairs``, the second run's mean set size, and its UAcc, minus the first run's.

    Together, the intervals of the pairs hold in 95% of draws of calibration and test questions; with one pair that is
    its own 95% interval. alpha is in thousandths; every run has one exact threshold.
    """
    check_thousandths(alpha)
    own = [runs.calibration[s, i] for i, s in enumerate(runs.setting)]
    tests = [runs.test[s, i] for i, s in enumerate(runs.setting)]
    curves, sizes = [], []
    for scores, alone, test, right, options in zip(own, runs.alone, tests, runs.right, runs.options, strict=True):
        by_rank = thresholds_by_rank(np.concatenate([scores, alone]), alpha)
        curves.append(size_curve(by_rank, test, right, options=options, empty=empty))
        law = rank_law(len(by_rank) - 1, alpha)
        limit = by_rank[-1 if law is None else law.rank - 1]
        sizes.append((filled_scores(test, empty) <= limit).sum(axis=1).astype(np.float64))
    # noise (2000, 2r): of all runs' mean set sizes, then of their accuracies
    noise = noise_of_means(np.stack(sizes), runs.right, tested(runs.clusters, runs.right.shape[1]))
    places = _places(own, runs.alone, alpha, seed, runs.clusters)
    redrawn = [
        _redrawn_sizes(curve, alpha, at, noise[:, i]) for i, (curve, at) in enumerate(zip(curves, places, strict=True))
    ]
    shares = runs.right.mean(axis=1)
    many = len(curves)
    kept_uacc = [uacc(shares[i] + noise[:, many + i], redrawn[i], options) for i, options in enumerate(runs.options)]
    at = [float(run_sizes.mean()) for run_sizes in sizes]
    at_uacc = [float(uacc(shares[i], at[i], options)) for i, options in enumerate(runs.options)]
    stretch = together(len(runs.pairs)) / together(1)
    return (
        [_stretched(at[j] - at[i], redrawn[j] - redrawn[i], stretch) for i, j in runs.pairs],
        [_stretched(at_uacc[j] - at_uacc[i], kept_uacc[j] - kept_uacc[i], stretch) for i, j in runs.pairs],
    )


def _redrawn_sizes(curve: SizeCurve, alpha: int, places: FloatArray, noise: FloatArray) -> FloatArray:
    """The mean set size of each resample, (2000,)."""
    return np.clip(expected_sizes(curve.size, curve.n, alpha, places) + noise, 0, curve.options)


def _stretched(value: float, resampled: FloatArray, stretch: float) -> Estimate:
    estimate = quantile_interval(value, resampled)
    return Estimate(
        estimate.value,
        estimate.value - stretch * (estimate.value - estimate.low),
        estimate.value + stretch * (estimate.high - estimate.value),
    )


def _places(
    own: list[FloatArray], alone: tuple[FloatArray, ...], alpha: int, seed: int, clusters: IntArray | None = None
) -> list[FloatArray]:
    """The places of all runs' redrawn thresholds among their scores, measured in ranks, (2000,) each.

    The same as ``_paired_places`` of :mod:`core.conformal.set_sizes.differences`, for any number of runs. The weighted
    mean of drawn ranks R_(j) needs no sorting: with N(a) the number of drawn ranks at most a,

        R_(j) = 1 + #{a: N(a) < j}, so Σ_j P(j | k)·R_(j) = 1 + Σ_a Σ_j P(j | k)·[j > N(a)],

    and the inner sum is looked up. It is 1 far below the rank k and 0 far above.
    """
    rng = np.random.default_rng([seed, 0xB007])
    shared = len(own[0])
    every = [np.concatenate([scores, more]) for scores, more in zip(own, alone, strict=True)]
    ranks = [_ranks(scores) for scores in every]
    together = None if clusters is None else within(clusters, np.arange(shared))
    widths = []
    for scores, all_scores in zip(own, every, strict=True):
        law = rank_law(len(all_scores), alpha)
        limit = np.inf if law is None else float(np.partition(all_scores, law.rank - 1)[law.rank - 1])
        widths.append(spread_of_places(scores, together, limit))
    places = [np.empty(RESAMPLES) for _ in own]
    for start in range(0, RESAMPLES, PART):
        # drawn (shared + 1, r): how often each shared question is drawn; the last one's score is infinite for all runs
        drawn = _counts(rng, shared + 1, shared + 1)
        for run_ranks, width, into in zip(ranks, widths, places, strict=True):
            n = len(run_ranks)
            further = _counts(rng, n - shared, n - shared)
            law = rank_law(n, alpha)
            into[start : start + PART] = (
                n + 1.0 if law is None else _place(law, n, run_ranks, np.concatenate([drawn[:shared], further]), width)
            )
    return places


def _ranks(scores: FloatArray) -> IntArray:
    """The rank 1 … n of each score."""
    ranks = np.empty(len(scores), dtype=np.int64)
    ranks[np.argsort(scores, kind="stable")] = np.arange(1, len(scores) + 1)
    return ranks


def _counts(rng: np.random.Generator, questions: int, draws: int) -> FloatArray:
    """How often each of the questions is drawn in each resample, (questions, 500)."""
    if questions == 0:
        return np.zeros((0, PART))
    drawn = rng.integers(0, questions, (PART, draws))
    flat = np.bincount((drawn + questions * np.arange(PART)[:, None]).ravel(), minlength=PART * questions)
    return np.ascontiguousarray(flat.reshape(PART, questions).T, dtype=np.float64)


def _place(law: RankLaw, n: int, ranks: IntArray, drawn: FloatArray, width: float) -> FloatArray:
    """The places of redrawn thresholds, (500,): k + Σ_j P(j | k)·(R_(j) − E R_(j)), whose distance from k is multiplied
    by ``width``."""
    near = np.clip(law.first + np.arange(len(law.weights)), 1, n + 1)
    mean = near * (n + 1) / (n + 2) + 0.5
    # beyond[x] = Σ_j P(j | k)·[j > x] for x = 0 … n + 1
    beyond = 1 - np.cumsum(np.bincount(near, weights=law.weights, minlength=n + 2))
    spread = REACH * (law.rank * max(n + 1 - law.rank, 1) / (n + 2)) ** 0.5 + REACH
    low, high = max(1, int(law.rank - spread)), min(n, int(law.rank + spread))
    order = np.argsort(ranks, kind="stable")  # the question at each rank
    below = (ranks < low).astype(np.float64) @ drawn
    counted = below + np.cumsum(drawn[order[low - 1 : high]], axis=0)  # N(a) for a = low … high
    mean_rank = low + beyond[counted.astype(np.int64)].sum(axis=0)
    moved = mean_rank - law.weights @ mean
    return np.asarray(np.clip(law.rank + (moved if width == 1 else width * moved), 1, n + 1), dtype=np.float64)
