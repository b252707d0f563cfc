"""Intervals of errors that are sums (or a largest one) of bins' absolute gaps, by inverting a test.

Noise raises an absolute value most where the gap is small, so a resample's error is no guide to how far the sample's
own was raised. Instead models are tried that are off in the shape of this one, only by less or by more: an interval
holds the errors of those that would show what was seen within the inner 95 % of their samples. The shape is that of
the bins' gaps, smoothed over neighbours, for what is seen of it has noise of its own.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from core.records import FloatArray

KERNEL = np.array([0.1, 0.2, 0.4, 0.2, 0.1])
"""Weights of a bin's neighbours in its smoothed gap."""
HALVINGS = 12
"""An end is found to within this many halvings of the largest error that is tried."""
TAIL = 0.025

Error = Callable[[FloatArray], FloatArray]
"""From rows of bins' summed gaps (r, b) to r errors."""


def smoothed(sums: FloatArray, counts: FloatArray) -> FloatArray:
    """Bins' summed gaps (…, b) with each bin's mean gap averaged over its neighbours; ``counts`` (…, b) of the bins."""

    def average(row: FloatArray) -> FloatArray:
        return np.convolve(np.pad(row, 2), KERNEL, "valid")

    weight = np.apply_along_axis(average, -1, counts)
    means = np.apply_along_axis(average, -1, sums) / np.where(weight > 0, weight, 1)
    return np.asarray(means * counts, dtype=np.float64)


def interval(error: Error, sums: FloatArray, noise: FloatArray, shape: FloatArray) -> tuple[float, float]:
    """The 95 % interval of an error, from 0 on.

    ``sums`` (b,) are the bins' summed gaps that were seen, ``noise`` (r, b) what r resamples differ from them,
    ``shape`` (b,) the gaps of the models that are tried; where they make no such error, those that were seen are tried.
    """
    seen, unit = (float(error(gaps[None])[0]) for gaps in (sums, shape))
    if unit == 0:
        shape, unit = sums, seen
    if seen == 0:
        return 0.0, 0.0
    # A sample's error is its model's, less that of its noise at most: no model beyond this shows as little as was seen.
    largest = seen + max(float(error(noise).max()), float(error(-noise).max()))

    def most(place: int) -> float:
        """The largest of the tried errors at whose models what was seen is not below that quantile of their samples."""
        below, above = 0.0, largest / unit
        for _ in range(HALVINGS):
            middle = (below + above) / 2
            reached = np.partition(error(middle * shape + noise), place)[place] <= seen
            below, above = (middle, above) if reached else (below, middle)
        return below * unit

    tail = round(TAIL * (len(noise) - 1))
    return most(len(noise) - 1 - tail), most(tail)
