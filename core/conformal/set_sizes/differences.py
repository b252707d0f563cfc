"""95% intervals of the differences between two runs' mean set sizes and UAccs.

Where the sets, or the answers, of two runs differ on few questions, the normal noise of the test draw is too small, and
where they differ on none the interval would be a point. Each run's mean then gets the noise of one further question, on
which this run alone has a set larger by one option, or is right alone. For a difference of shares, that is the interval
of Bonett & Price (2012, doi 10.3102/1076998611411915).
"""

from dataclasses import dataclass

import numpy as np

from core.conformal.alpha import check_thousandths
from core.conformal.clusters import count, covariance_of_mean, effective_number, few_clusters, kish_number, sums, within
from core.conformal.set_sizes.by_rank import size_curve, sizes_at, uacc
from core.conformal.set_sizes.intervals import SetEstimates, quantile_interval
from core.conformal.set_sizes.resampling import CHUNK, RESAMPLES, expected_sizes, normal_noise, rank_law
from core.records import FloatArray, IntArray

FEW = 10
"""On fewer different questions than this, the noise of further ones is added."""


@dataclass(frozen=True, slots=True)
class PairedRun:
    """One of two runs on the questions that both have, in the same order.

    ``calibration`` (n,) are the scores of the true options of the questions that both runs calibrate on, and ``alone``
    (a,) those of the questions that only this run calibrates on. ``test`` (m, k) are all scores of the shared test
    questions, and ``right`` (m,) says whether the run's top option is correct there. ``options`` is the k of UAcc.
    """

    calibration: FloatArray
    alone: FloatArray
    test: FloatArray
    right: FloatArray
    options: int


def difference_intervals(
    first: PairedRun, second: PairedRun, alpha: int, *, clusters: IntArray | None = None, seed: int = 0
) -> SetEstimates:
    """Mean set size and UAcc of the second run minus those of the first; each run has one exact threshold at alpha.

    ``clusters`` (n + m,) are those of the shared calibration questions, then of the test questions.

    alpha is in thousandths. The same questions are redrawn for both runs, with a seed. Redrawn shared calibration
    questions give both thresholds, and the noise of the test questions has the joint covariance of both runs' sizes and
    correctness. Questions that only one run calibrates on are redrawn for that run alone.
    """
    check_thousandths(alpha)
    sides = (first, second)
    places = _paired_places(sides, alpha, seed, clusters)
    curves, sizes = [], []
    for side in sides:
        by_rank = np.append(np.sort(np.concatenate([side.calibration, side.alone])), np.inf)
        law = rank_law(len(by_rank) - 1, alpha)
        limit = by_rank[-1 if law is None else law.rank - 1]
        sizes.append(sizes_at(side.test, np.array([[limit]]))[0].astype(np.float64))
        curves.append(size_curve(by_rank, side.test, side.right, options=side.options))
    # noise (2000, 4): of the mean set sizes of both runs, then of their accuracies
    noise = noise_of_means(np.stack(sizes), np.stack([first.right, second.right]), tested(clusters, len(first.right)))
    # Steps 2 and 3 of :mod:`core.conformal.set_sizes`: s̃ at the redrawn place, plus the noise of the test draw, (2000,)
    redrawn = [
        np.clip(expected_sizes(curve.size, curve.n, alpha, at_places) + noise[:, i], 0, curve.options)
        for i, (curve, at_places) in enumerate(zip(curves, places, strict=True))
    ]
    own = [float(run_sizes.mean()) for run_sizes in sizes]
    resampled = [
        uacc(float(side.right.mean()) + noise[:, 2 + i], redrawn[i], side.options) for i, side in enumerate(sides)
    ]
    at = [float(uacc(float(side.right.mean()), own[i], side.options)) for i, side in enumerate(sides)]
    return SetEstimates(
        quantile_interval(own[1] - own[0], redrawn[1] - redrawn[0]),
        quantile_interval(at[1] - at[0], resampled[1] - resampled[0]),
    )


def tested(clusters: IntArray | None, m: int) -> IntArray | None:
    """The clusters of the last m of these rows."""
    return None if clusters is None else within(clusters, np.arange(len(clusters) - m, len(clusters)))


def noise_of_means(sizes: FloatArray, right: FloatArray, clusters: IntArray | None) -> FloatArray:
    """The noise of the test draw in the mean set sizes of r runs, then in their accuracies, (2000, 2r).

    ``sizes`` and ``right`` are (r, m), ``clusters`` (m,). The noise has the joint covariance of these 2r means.
    """
    values = np.concatenate([sizes, right])
    m = values.shape[1]
    further = np.concatenate([_further(sizes, clusters), _further(right, clusters)])
    if clusters is None:
        covariance = np.cov(values, ddof=min(1, m - 1)) / m
    else:
        # A variance from few clusters is uncertain.
        widened = few_clusters(max(2, kish_number(clusters, m))) ** 2
        covariance = widened * np.nan_to_num(covariance_of_mean(values.T, clusters))
    return normal_noise(covariance + np.diag(further) if further.any() else covariance)


def _further(values: FloatArray, clusters: IntArray | None) -> FloatArray:
    """The variance of each run's mean (r,) by one further question: where its values (r, m) differ from those of some
    other run on fewer than ten questions, or clusters, otherwise 0."""
    r, m = values.shape
    few = np.zeros(r)
    for i in range(r):
        changed = (values != values[i]).astype(np.float64)
        apart = np.delete((sums(changed.T, clusters) > 0).sum(axis=0), i)
        few[i] = (apart < FEW).any()
    return few / count(clusters, m) ** 2


def spread_of_places(scores: FloatArray, clusters: IntArray | None, limit: float) -> float:
    """How many times wider the places of redrawn thresholds spread because calibration scores (n,) are clustered."""
    if clusters is None:
        return 1.0
    return float((len(scores) / effective_number((scores <= limit).astype(np.float64), clusters)) ** 0.5)


def _paired_places(
    sides: tuple[PairedRun, PairedRun], alpha: int, seed: int, clusters: IntArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """The places of both runs' redrawn thresholds among their scores, measured in ranks, (2000,) each.

    This is a paired bootstrap. n + 1 questions are drawn from the n questions and one more whose score is infinite for
    both runs, so that rank n + 1 can occur. The drawn ranks are sorted, and a place is the weighted mean of those
    around the k-th, with the weights P(J | k) of step 1 (:mod:`core.conformal.set_sizes`). It is not the k-th alone,
    because the figures are means over J too; if the models are similar, the difference of such means varies much less
    than that of two single thresholds. The j-th smallest drawn rank is j·(n + 1)/(n + 2) + ½ on average. This mean is
    subtracted, so that the places are centred at the rank k of each run.
    """
    rng = np.random.default_rng([seed, 0xB007])
    shared = len(sides[0].calibration)
    places = (np.empty(RESAMPLES), np.empty(RESAMPLES))
    largest = shared + 1 + max(len(side.alone) for side in sides)
    together = None if clusters is None else within(clusters, np.arange(shared))
    for rows in np.array_split(np.arange(RESAMPLES), max(1, RESAMPLES * largest // CHUNK)):
        # drawn (r, shared + 1): indices of shared questions; the index ``shared`` is the infinite score
        drawn = rng.integers(0, shared + 1, (len(rows), shared + 1), dtype=np.int32)
        for side, into in zip(sides, places, strict=True):
            scores = np.concatenate([side.calibration, side.alone])
            n = len(scores)
            law = rank_law(n, alpha)
            if law is None:
                into[rows] = n + 1
                continue
            ranks = np.empty(n + 1, dtype=np.int32)
            ranks[np.argsort(scores, kind="stable")] = np.arange(1, n + 1)
            ranks[n] = n + 1
            # own (r, a): redrawn ranks of this run's other questions; ranks_drawn (r, n + 1): all of them, sorted
            own = ranks[shared:n][rng.integers(0, max(n - shared, 1), (len(rows), n - shared), dtype=np.int32)]
            ranks_drawn = np.sort(np.concatenate([np.append(ranks[:shared], ranks[n])[drawn], own], axis=1), axis=1)
            near = np.clip(law.first + np.arange(len(law.weights)), 1, n + 1)
            mean = near * (n + 1) / (n + 2) + 0.5
            wider = spread_of_places(
                side.calibration, together, float(np.partition(scores, law.rank - 1)[law.rank - 1])
            )
            # place = k + Σ_j P(j | k)·(R_(j) − E R_(j))
            into[rows] = np.clip(law.rank + wider * ((ranks_drawn[:, near - 1] - mean) @ law.weights), 1, n + 1)
    return places
