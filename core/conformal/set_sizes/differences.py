"""95 % intervals of the difference of two runs' mean set sizes and UAccs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.conformal.alpha import check_thousandths
from core.conformal.set_sizes.by_rank import size_curve, sizes_at, uacc
from core.conformal.set_sizes.intervals import SetEstimates, quantile_interval
from core.conformal.set_sizes.resampling import CHUNK, RESAMPLES, expected_sizes, luck, normal_noise
from core.records import FloatArray


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
    noise = normal_noise(np.cov(values, ddof=min(1, m - 1)) / m)
    kept = [
        np.clip(expected_sizes(curve.size, curve.n, alpha, of) + noise[:, i], 0, curve.options)
        for i, (curve, of) in enumerate(zip(curves, places, strict=True))
    ]
    own = [float(one.mean()) for one in sizes]
    resampled = [
        uacc(float(side.right.mean()) + noise[:, 2 + i], kept[i], side.options) for i, side in enumerate(sides)
    ]
    at = [float(uacc(float(side.right.mean()), own[i], side.options)) for i, side in enumerate(sides)]
    return SetEstimates(
        quantile_interval(own[1] - own[0], kept[1] - kept[0]),
        quantile_interval(at[1] - at[0], resampled[1] - resampled[0]),
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
