"""The lower end of a calibration error by cross-fitting.

The questions are parted into ten folds. Nine say in which direction a bin is off, w₋ₖ(bin) in [−1, 1], and the tenth
says by how much: the mean over questions of ``w₋ₖ(bin) · (correct − confidence)``. Because the direction comes from
other questions, the expectation of this mean is at most the binned error, however noisy the bins are: luck adds
nothing. The lower end is the mean less 1.96 standard errors.

The direction is a soft sign, the gap of the nine folds in units of the noise of a calibrated model over 1.5, cut off at
±1. Hard signs make the mean uneven where most bins are calibrated and a few are far off: of 100 such intervals 6 to 10
then begin above the truth. The folds share their questions, so in a bin whose direction is not clear the mean varies
more than independent terms would; there the terms' variance is doubled, which is exact for a calibrated bin.
"""

from __future__ import annotations

import numpy as np

from core.calibration.errors import Part
from core.records import FloatArray, IntArray

FOLDS = 10
SOFTNESS = 1.5
CLEAR = 2.0
"""A bin this many standard deviations of luck from 0 has a clear direction."""
UNCLEAR = 2.0
"""By how much the variance of terms is multiplied where the direction is not clear."""
REACH = 1.96
SEED = 0


def folds_of(index: IntArray) -> IntArray:
    """The fold of each question (n,), 0 to 9, drawn by a fixed seed, as many of a bin in each as can be."""
    shuffled = np.random.default_rng(SEED).permutation(len(index))
    order = shuffled[np.argsort(index[shuffled], kind="stable")]
    folds = np.empty(len(index), dtype=np.int64)
    folds[order] = np.arange(len(index)) % FOLDS
    return folds


def directions(rest: FloatArray, noise: FloatArray) -> FloatArray:
    """Soft signs of what nine folds show, ``rest``, whose noise in a calibrated model is ``noise`` over all folds."""
    scale = SOFTNESS * noise * np.sqrt(1 - 1 / FOLDS)
    signs = np.sign(rest)
    return np.asarray(np.clip(np.divide(rest, scale, out=signs, where=scale > 0), -1, 1))


def widened(sums: FloatArray, noise: FloatArray) -> FloatArray:
    """√2 where the direction of the sums of all folds is not clear, else 1."""
    return np.where(np.abs(sums) < CLEAR * noise, np.sqrt(UNCLEAR), 1.0)


def lower_end(terms: FloatArray, spread: FloatArray) -> float:
    """The mean of terms (n,) less 1.96 standard errors, those of ``spread`` (n,); 0 at least."""
    n = len(terms)
    if n < 2:
        return 0.0
    return max(float(terms.mean() - REACH * spread.std(ddof=1) / np.sqrt(n)), 0.0)


class CrossFit:
    """Cross-fitted gaps: questions in bins ``index`` (n, g), one for each of g groups, with ``gaps`` (n, g).

    ``noise`` (b,) are the standard deviations of a calibrated model's summed gaps in the b bins of all groups.
    """

    def __init__(self, index: IntArray, gaps: FloatArray, noise: FloatArray, folds: IntArray) -> None:
        bins = len(noise)
        at = index * FOLDS + folds[:, None]
        by_fold = np.bincount(at.ravel(), weights=gaps.ravel(), minlength=bins * FOLDS).reshape(bins, FOLDS)
        sums = by_fold.sum(axis=1, keepdims=True)
        self._directions = directions(sums - by_fold, noise[:, None])
        self._widened = widened(sums, noise[:, None])
        self._at, self._gaps = at, gaps

    def low(self, part: Part) -> float:
        """The lower end of the error of this part, in the units of a question's gap, a mean over groups."""
        counted = part(self._directions)
        wide = counted * self._widened
        terms, spread = ((of.ravel()[self._at] * self._gaps).mean(axis=1) for of in (counted, wide))
        return lower_end(terms, spread)
