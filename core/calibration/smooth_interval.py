"""Smooth calibration error with its 95% interval, whose ends are computed as those of the binned error.

At a fixed width the smooth error is an integral of absolute values, as the binned error is a sum of them. Its upper end
is found by inversion (:mod:`core.calibration.inversion`), with models that are off at each confidence by the same
multiple of the noise there. Its lower end comes from cross-fitted directions at each confidence
(:mod:`core.calibration.crossfit`). The error itself is a fixed point: the width that equals the error at that width. So
are its ends: each is the width that equals the end at that width.

The smooth error is never smaller than the gap between the accuracy and the mean confidence of all questions, which
limits both ends (:func:`core.calibration.binned.whole_gap`). With clusters (:mod:`core.conformal.clusters`) the noise
is drawn for a cluster as a whole.
"""

from collections.abc import Callable

import numpy as np

from core.calibration.binned import binned_gaps, whole_gap
from core.calibration.bins import ECE_BINS, TopLabel, edges, place
from core.calibration.crossfit import FOLDS, directions, folds_of, lower_end, widened
from core.calibration.estimate import CalibrationEstimate, never_seen, unless_too_few
from core.calibration.inversion import MEDIAN, TAIL, multiple, normal_draws
from core.calibration.smooth import NARROWEST, cosines, densities_of, heated, integral, on_grid, smooth_error
from core.conformal.clusters import count
from core.records import FloatArray, IntArray

CELLS = 250
"""The number of cells of the grid on which the ends, and the errors of calibrated models, are computed."""
DRAWS = 500
HALVINGS = 10


def smooth_estimate(top: TopLabel, chance: FloatArray, clusters: IntArray | None = None) -> CalibrationEstimate:
    """The estimate of the smooth error of the top option; ``chance`` has a calibrated model's errors, one per draw."""
    value = smooth_error(top)
    ends = _Ends(top, clusters)
    units = count(clusters, len(top))
    largest = min(max(8 * value, 0.1), 1.0)
    high = _fixed_point(lambda width: ends.error(width, share=TAIL), largest)
    smallest, most = whole_gap("ece", binned_gaps(top, clusters=clusters))
    high = min(max(high, most), 1.0) or never_seen(units)
    by_chance = value <= np.quantile(chance, 1 - TAIL)
    low = 0.0 if by_chance else min(_fixed_point(ends.low, largest), smallest, high)
    excess = _fixed_point(lambda width: ends.error(width, share=MEDIAN), largest)
    excess = min(max(excess, low), high)
    return unless_too_few(CalibrationEstimate(value, low, high, len(top), float(chance.mean()), excess), clusters)


def _fixed_point(end: Callable[[float], float], largest: float) -> float:
    """The width that equals the end at that width, by bisection; 0 if it is below the narrowest width."""
    low, high = 0.0, 1.0 if end(largest) > largest else largest
    for _ in range(HALVINGS):
        middle = max((low + high) / 2, NARROWEST)
        if end(middle) < middle:
            high = middle
        else:
            low = middle
    return low


def _on_grid_by_cluster(confidence: FloatArray, values: FloatArray, clusters: IntArray) -> FloatArray:
    """The sums of values (n,) at the grid points for each cluster, (g, 251)."""
    left = np.minimum((np.clip(confidence, 0, 1) * CELLS).astype(np.int64), CELLS - 1)
    part = np.clip(confidence, 0, 1) * CELLS - left
    summed = np.zeros((count(clusters, len(values)), CELLS + 1))
    np.add.at(summed, (clusters, left), values * (1 - part))
    np.add.at(summed, (clusters, left + 1), values * part)
    return summed


class _Ends:
    """The ends of the smooth error's interval at a given width."""

    def __init__(self, top: TopLabel, clusters: IntArray | None) -> None:
        c, gap = top.confidence, top.gap
        self._n, self._confidence, self._gap, self._clusters = len(top), c, gap, clusters
        self._folds = folds_of(place(c, edges(c, bins=ECE_BINS)), clusters)
        self._by_fold = np.stack([on_grid(c, gap * (self._folds == fold), cells=CELLS) for fold in range(FOLDS)])
        # by_fold (10, 251): summed gaps at the grid points; noise (500, 251): normal, with variance Σ gap² at each
        if clusters is None:
            noise = normal_draws(CELLS + 1, DRAWS) * np.sqrt(np.maximum(on_grid(c, gap**2, cells=CELLS), 0))
            self._chance = np.maximum(on_grid(c, c * (1 - c), cells=CELLS), 0)
        else:
            # One normal number for each cluster, times the sums of its gaps at the grid points.
            noise = normal_draws(count(clusters, len(top)), DRAWS) @ _on_grid_by_cluster(c, gap, clusters)
            deviations = np.sqrt(np.maximum(c * (1 - c), 0))
            self._chance = cosines(_on_grid_by_cluster(c, deviations, clusters))  # (g, 251)
        self._noise = cosines(noise)
        self._tried: dict[float, tuple[FloatArray, FloatArray]] = {}

    def error(self, width: float, *, share: float) -> float:
        """The error at this width of the model whose samples show no more than was observed in this share of cases."""
        seen = float(integral(np.abs(densities_of(self._by_fold.sum(axis=0), width))))
        if width not in self._tried:
            smoothed = heated(self._noise, width)
            self._tried[width] = smoothed, smoothed.std(axis=0)
        noise, tried = self._tried[width]

        # ∫ |noise + t·sd| over [0, 1] for each draw, (500,)
        def law(t: float) -> FloatArray:
            return integral(np.abs(noise + t * tried))

        return multiple(law, seen, share=share) * float(integral(tried)) / self._n

    def low(self, width: float) -> float:
        """The lower end of the error at this width."""
        sums = densities_of(self._by_fold, width)  # (10, 251)
        whole = sums.sum(axis=0)
        if self._clusters is None:
            # The variance of Σ K_σ(t, cᵢ)·gapᵢ is Σ K_σ² c(1 − c), and K_σ² = K_{σ/√2} / (2σ√π).
            noise = np.sqrt(
                np.maximum(densities_of(self._chance, width / np.sqrt(2)), 0) / (2 * width * np.sqrt(np.pi))
            )
        else:
            noise = np.sqrt((heated(self._chance, width) ** 2).sum(axis=0))
        counted = directions(whole - sums, noise)
        terms, spread = (
            self._reached(weights, width) * self._gap for weights in (counted, counted * widened(whole, noise))
        )
        return lower_end(terms, spread, self._clusters)

    def _reached(self, counted: FloatArray, width: float) -> FloatArray:
        """``∫ K(t, c) w₋ₖ(t) dt`` at each question's confidence c and fold k, (n,)."""
        ends = counted.copy()
        ends[:, [0, -1]] /= 2  # the end points of the grid have half a cell each
        smoothed = densities_of(ends / CELLS, width)
        at = np.clip(self._confidence, 0, 1) * CELLS
        left = np.minimum(at.astype(np.int64), CELLS - 1)
        part = at - left
        return np.asarray(
            smoothed[self._folds, left] * (1 - part) + smoothed[self._folds, left + 1] * part, dtype=np.float64
        )
