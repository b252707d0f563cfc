"""Mean set size as a function of the threshold's rank among the calibration scores."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.conformal.alpha import Alpha
from core.conformal.clusters import few_clusters, kish_number
from core.conformal.probabilities import row_blocks
from core.conformal.set_sizes.resampling import CHUNK
from core.conformal.sets import check_empty
from core.conformal.threshold import rank, threshold
from core.errors import InputError
from core.records import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class SizeCurve:
    """Set sizes of m test questions for each rank J = 1 … n + 1 of the threshold among n calibration scores.

    ``size``, ``square`` and ``size_if_right`` (n + 1,) are the means over questions, at each rank, of the set size, of
    its square, and of size × right; right is 1 for a question whose top option is true, otherwise 0. ``options`` is the
    k of UAcc. ``covariances`` (n + 1, 2, 2) of mean size and accuracy are given if rows repeat questions; otherwise
    they follow from the means. ``worth`` is then how many questions the m rows are.

    ``choices`` belong to a tuned score: the sizes by rank, (n + 1,), with the parameters that other questions to tune
    on would choose, and the shares of draws in which they do (:func:`core.conformal.tuning.redrawn_choices`).
    """

    n: int
    m: int
    options: int
    accuracy: float
    size: FloatArray
    square: FloatArray
    size_if_right: FloatArray
    covariances: FloatArray | None = None
    worth: int | None = None
    choices: tuple[tuple[float, FloatArray], ...] = ()


def thresholds_by_rank(calibration_scores: FloatArray, alpha: Alpha, *, method: str = "exact") -> FloatArray:
    """The threshold at each rank 1 … n + 1, (n + 1,), from scores of true options (n,).

    The exact threshold of rank J is the J-th smallest score, and infinity for rank n + 1. A published threshold
    (:mod:`core.conformal.threshold`) differs from the score at its rank; it is shifted by the same number of ranks at
    every J. Raises :class:`InputError` if there are no calibration scores.
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
    place = min(level, 1.0) * (n - 1)  # numpy's position of a quantile among the sorted scores, from 0
    if method == "paper":
        place = math.ceil(place - 1e-9)
    own = min(int(rank(n, alpha)), n)
    thresholds = np.interp(place + np.arange(1, n + 2) - own, np.arange(n), ordered)
    thresholds[own - 1] = threshold(calibration_scores, alpha, method=method)  # bit-equal to the threshold of the sets
    return np.asarray(thresholds, dtype=np.float64)


def size_curve(
    thresholds: FloatArray,
    test_scores: FloatArray,
    right: FloatArray,
    *,
    options: int,
    empty: str = "allow",
    clusters: IntArray | None = None,
) -> SizeCurve:
    """The sizes of m sets at each of the thresholds (n + 1,), from ``test_scores`` (m, k) and ``right`` (m,).

    The thresholds increase with their rank.
    A set has at least j options if and only if the j-th smallest score of its row is at most the threshold. So each
    score of a sorted row is counted from the first threshold on that admits it. With ``empty="top1"`` an empty set
    counts as one option. ``clusters`` (m,) number the questions that rows repeat (:mod:`core.conformal.clusters`).
    Raises :class:`InputError` if there are no test questions.
    """
    m = len(test_scores)
    if m == 0:
        raise InputError("there are no test questions; a mean set size needs at least one")
    fill = check_empty(empty) == "top1"
    n, k = len(thresholds) - 1, test_scores.shape[1]
    # Σ over sets of s = Σ_j #{s ≥ j}, and of s² = Σ_j (2j − 1)·#{s ≥ j}, because 1 + 3 + … + (2s − 1) = s².
    odd = 2.0 * np.arange(k) + 1
    size, square, size_if_right = np.zeros((3, n + 2))
    for block in row_blocks(m, k):
        rising, is_right = np.sort(test_scores[block], axis=1), right[block] == 1
        # (b, k): the place of the first threshold that admits each score; n + 1 for NaN, which none admits
        first = np.searchsorted(thresholds, rising)
        if fill:
            first[:, 0] = 0
        size += np.bincount(first.ravel(), minlength=n + 2)
        square += np.bincount(first.ravel(), weights=np.tile(odd, len(first)), minlength=n + 2)
        size_if_right += np.bincount(first[is_right].ravel(), minlength=n + 2)
    size, square, size_if_right = (np.cumsum(counted)[: n + 1] for counted in (size, square, size_if_right))
    return SizeCurve(
        n=n,
        m=m,
        options=options,
        accuracy=float(right.mean()),
        size=size / m,
        square=square / m,
        size_if_right=size_if_right / m,
        covariances=None if clusters is None else _covariances(thresholds, test_scores, right, clusters, empty),
        worth=None if clusters is None else kish_number(clusters, m),
    )


def total_sizes(thresholds: FloatArray, blocks: Iterable[FloatArray], *, empty: str = "allow") -> FloatArray:
    """The summed sizes of all sets at each of r rising thresholds, (r,), from scores in blocks of rows (b, k)."""
    lowest, highest, r = thresholds[0], thresholds[-1], len(thresholds)
    counts = np.zeros(r)
    for scores in blocks:
        counts[0] += (scores <= lowest).sum()
        between = scores[(scores > lowest) & (scores <= highest)]
        counts += np.bincount(np.searchsorted(thresholds, between), minlength=r)
        if check_empty(empty) == "top1":  # an empty set has one option, until the smallest score is admitted
            smallest = np.searchsorted(thresholds, np.fmin.reduce(scores, axis=1))
            counts[0] += len(scores)
            counts -= np.bincount(smallest, minlength=r + 1)[:r]
    return np.cumsum(counts)


def _covariances(
    thresholds: FloatArray, test_scores: FloatArray, right: FloatArray, clusters: IntArray, empty: str
) -> FloatArray:
    """The covariance of mean size and accuracy at each threshold, from the clusters' sums, (n + 1, 2, 2).

    It is that of :func:`core.conformal.clusters.covariance_of_mean`, widened for a variance of few clusters
    (:func:`core.conformal.clusters.few_clusters`).
    """
    order = np.argsort(clusters, kind="stable")
    m, starts = len(order), np.flatnonzero(np.diff(clusters[order], prepend=-1))
    g = len(starts)
    rights = np.add.reduceat(right[order] - right.mean(), starts)
    covariances = np.empty((len(thresholds), 2, 2))
    for rows in np.array_split(np.arange(len(thresholds)), max(1, len(thresholds) * m // CHUNK)):
        sizes = sizes_at(test_scores[order], thresholds[rows, None], empty=empty).astype(np.float64)
        of_sizes = np.add.reduceat(sizes - sizes.mean(axis=1, keepdims=True), starts, axis=1)  # (r, g)
        covariances[rows, 0, 0] = (of_sizes**2).sum(axis=1)
        covariances[rows, 0, 1] = covariances[rows, 1, 0] = of_sizes @ rights
    covariances[:, 1, 1] = rights @ rights
    return covariances * (few_clusters(max(2, kish_number(clusters, m))) ** 2 * g / (g - 1) / m**2 if g > 1 else np.nan)


def sizes_at(
    scores: FloatArray, limits: FloatArray, strata: IntArray | None = None, *, empty: str = "allow"
) -> npt.NDArray[np.int16]:
    """The size of each of m sets under each of r thresholds, (r, m): ``scores`` (m, k) and ``limits`` (r, strata).

    ``strata`` (m, k) numbers the stratum of each option; without it all options are in stratum 0.
    """
    sizes = np.zeros((len(limits), len(scores)), dtype=np.int16)
    for j, column in enumerate(scores.T):
        sizes += column[None, :] <= (limits[:, :1] if strata is None else limits[:, strata[:, j]])
    return np.maximum(sizes, 1) if check_empty(empty) == "top1" else sizes


def uacc(accuracy: float | FloatArray, size: float | FloatArray, options: int) -> FloatArray:
    """Accuracy · √k / mean set size, for one value or an array; NaN if every set is empty."""
    sizes = np.asarray(size, dtype=np.float64)
    above = np.clip(accuracy, 0, 1) * math.sqrt(options)
    return np.asarray(above / np.where(sizes > 0, sizes, np.nan), dtype=np.float64)
