"""Maps from one number to the probability of a positive outcome: Platt's sigmoid and isotonic regression.

``Sigmoid``   σ(slope · x + intercept), fitted to Platt's (1999) targets (n₊ + 1)/(n₊ + 2) and 1/(n₋ + 2) instead of 1
              and 0
``Isotonic``  the non-decreasing function with the least squared error, by pooling adjacent violators (Ayer et al. 1955)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from core.conformal.logistic import logistic
from core.records import BoolArray, FloatArray


@dataclass(frozen=True, slots=True)
class Sigmoid:
    """``σ(slope · x + intercept)``."""

    slope: float
    intercept: float

    @classmethod
    def fit(
        cls, x: FloatArray, is_true: BoolArray, *, least_slope: float = -np.inf, most_slope: float = np.inf
    ) -> Sigmoid:
        """Fit on numbers (n,), usually log-odds, and outcomes (n,); the slope stays between the two bounds."""
        positive = int(is_true.sum())
        targets = np.where(is_true, (positive + 1) / (positive + 2), 1 / (len(x) - positive + 2))
        slope, intercept = logistic(x[:, None], targets)
        inside = float(np.clip(slope, least_slope, most_slope))
        if inside != slope:
            # The loss f(a, b) is convex, so min_b f(a, b) is convex in a. The best slope in an interval is therefore
            # the one nearest to the unconstrained minimum; the intercept is fitted again for it.
            (intercept,) = logistic(np.empty((len(x), 0)), targets, offset=inside * x)
        return cls(inside, float(intercept))

    def __call__(self, x: FloatArray) -> FloatArray:
        """The probability of a positive outcome at numbers (n,), (n,)."""
        return np.asarray(expit(self.slope * x + self.intercept), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Isotonic:
    """A non-decreasing function: ``heights`` at ``places``, linear between them and constant beyond the ends."""

    places: FloatArray
    heights: FloatArray

    @classmethod
    def fit(cls, x: FloatArray, is_true: BoolArray) -> Isotonic:
        """Fit on numbers (n,) and outcomes (n,); rows with equal x are averaged first."""
        from scipy.optimize import isotonic_regression  # imported here: it is slow, and every page imports this module

        places, index, counts = np.unique(x, return_inverse=True, return_counts=True)
        means = np.bincount(index, weights=is_true) / counts
        heights = isotonic_regression(means, weights=counts).x
        # Linear interpolation needs only the two ends of each constant stretch.
        ends = np.ones(len(heights), dtype=np.bool_)
        ends[1:-1] = (heights[1:-1] != heights[:-2]) | (heights[1:-1] != heights[2:])
        return cls(places[ends], heights[ends])

    def __call__(self, x: FloatArray) -> FloatArray:
        """The probability of a positive outcome at numbers (n,), (n,)."""
        return np.asarray(np.interp(x, self.places, self.heights), dtype=np.float64)
