"""The lower end of a calibration error by cross-fitting.

The questions are divided into ten folds. Nine folds estimate the direction in which a bin is off, w₋ₖ(bin) in [−1, 1],
and the tenth measures by how much: the mean over questions of ``w₋ₖ(bin) · (correct − confidence)``. The direction
comes from other questions, so the expectation of this mean is at most the binned error, however noisy the bins are;
noise does not raise it. The lower end is the mean minus 1.96 standard errors.

The direction is a soft sign: the gap of the nine folds divided by 1.5 standard deviations of a calibrated model's gap,
clipped to ±1. Hard signs make the distribution of the mean irregular if most bins are calibrated and a few are far off:
6 to 10 of 100 such intervals then begin above the true error. Any two sets of nine folds share questions, so in a bin
whose direction is not clear the mean varies more than independent terms would. The variance of such terms is doubled,
which is exact for a calibrated bin.
"""

import numpy as np

from core.calibration.errors import Part
from core.conformal.clusters import covariance_of_mean, sums
from core.records import FloatArray, IntArray

FOLDS = 10
SOFTNESS = 1.5
CLEAR = 2.0
"""A bin has a clear direction if its gap is at least this many standard deviations of noise from 0."""
UNCLEAR = 2.0
"""The variance of terms is multiplied by this number in bins whose direction is not clear."""
REACH = 1.96
SEED = 0


def folds_of(index: IntArray, clusters: IntArray | None = None) -> IntArray:
    """The fold of each question, 0 to 9, (n,), drawn with a fixed seed; each bin is spread evenly over the folds.

    A cluster is in one fold, that of its first question.
    """
    if clusters is not None:
        _, first = np.unique(clusters, return_index=True)
        return folds_of(index[first])[clusters]
    shuffled = np.random.default_rng(SEED).permutation(len(index))
    order = shuffled[np.argsort(index[shuffled], kind="stable")]
    folds = np.empty(len(index), dtype=np.int64)
    folds[order] = np.arange(len(index)) % FOLDS
    return folds


def directions(rest: FloatArray, noise: FloatArray) -> FloatArray:
    """Soft signs in [−1, 1] of the nine folds' summed gaps ``rest``.

    ``noise`` is the standard deviation of a calibrated model's summed gaps over all folds.
    """
    # w = clip(rest / (1.5·noise·√(9/10)), −1, 1); the hard sign if there is no noise
    scale = SOFTNESS * noise * np.sqrt(1 - 1 / FOLDS)
    signs = np.sign(rest)
    return np.asarray(np.clip(np.divide(rest, scale, out=signs, where=scale > 0), -1, 1))


def widened(sums: FloatArray, noise: FloatArray) -> FloatArray:
    """√2 if the direction of a bin's summed gaps over all folds is not clear, else 1."""
    return np.where(np.abs(sums) < CLEAR * noise, np.sqrt(UNCLEAR), 1.0)


def lower_end(terms: FloatArray, spread: FloatArray, clusters: IntArray | None = None) -> float:
    """The mean of terms (n,) minus 1.96 standard errors, which are computed from ``spread`` (n,); at least 0."""
    n = len(terms)
    if n < 2:
        return 0.0
    if clusters is not None:
        error = float(np.sqrt(covariance_of_mean(spread[:, None], clusters)[0, 0]))
        return max(float(terms.mean()) - REACH * error, 0.0) if np.isfinite(error) else 0.0
    return max(float(terms.mean() - REACH * spread.std(ddof=1) / np.sqrt(n)), 0.0)


def summed_variance(index: IntArray, variance: FloatArray, *, bins: int, clusters: IntArray | None) -> FloatArray:
    """The variance of the summed gaps of each bin, (b,), from that of each gap; both arguments have the same shape.

    Gaps of a cluster are taken as perfectly correlated, which is the largest variance that they can have: the sum over
    clusters of (Σ standard deviations)².
    """
    if clusters is None:
        return np.bincount(index.ravel(), weights=variance.ravel(), minlength=bins).astype(np.float64)
    return np.asarray((clustered_deviations(index, variance, bins=bins, clusters=clusters) ** 2).sum(axis=0))


def clustered_deviations(index: IntArray, variance: FloatArray, *, bins: int, clusters: IntArray) -> FloatArray:
    """The summed standard deviations of each cluster's gaps in each bin, (g, b)."""
    spread = np.zeros((len(index), bins))
    columns = index.reshape(len(index), -1)
    np.put_along_axis(spread, columns, np.sqrt(variance).reshape(columns.shape), axis=1)
    return sums(spread, clusters)


class CrossFit:
    """Cross-fitted gaps of n questions, each in one bin of each of g groups: ``index`` and ``gaps`` are (n, g).

    ``noise`` (b,) holds the standard deviations of a calibrated model's summed gaps in the b bins of all groups.
    ``folds`` (n,) are the questions' folds.
    """

    def __init__(
        self, index: IntArray, gaps: FloatArray, noise: FloatArray, folds: IntArray, clusters: IntArray | None = None
    ) -> None:
        bins = len(noise)
        at = index * FOLDS + folds[:, None]
        # by_fold (b, 10): summed gaps by bin and fold; sums − by_fold are the sums of the other nine folds
        by_fold = np.bincount(at.ravel(), weights=gaps.ravel(), minlength=bins * FOLDS).reshape(bins, FOLDS)
        sums = by_fold.sum(axis=1, keepdims=True)
        self._directions = directions(sums - by_fold, noise[:, None])
        self._widened = widened(sums, noise[:, None])
        self._at, self._gaps, self._clusters = at, gaps, clusters

    def low(self, part: Part) -> float:
        """The lower end of this part of the error, in the units of a question's gap, as a mean over groups."""
        counted = part(self._directions)
        wide = counted * self._widened
        # terms (n,): the mean over groups of w₋ₖ(bin)·gap; spread (n,): the same with the widened directions
        terms, spread = ((weights.ravel()[self._at] * self._gaps).mean(axis=1) for weights in (counted, wide))
        return lower_end(terms, spread, self._clusters)
