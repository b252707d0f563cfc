"""The data of a reliability diagram: each bin's accuracy, and the range in which a calibrated model's accuracy would
lie by chance."""

from dataclasses import dataclass

import numpy as np

from core.calibration.bins import ECE_BINS, TopLabel, edges, place
from core.calibration.consistency import DRAWS, calibrated_sums
from core.conformal.clusters import within
from core.conformal.coverage import clustered_share_interval
from core.records import IntArray

BAND = (0.025, 0.975)


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """One bin, ``low < confidence ≤ high``, with n questions.

    ``confidence`` and ``accuracy`` are means over the bin. ``accuracy_low`` and ``accuracy_high`` are the exact 95%
    interval of the accuracy. 95% of a perfectly calibrated model's accuracies lie between ``consistent_low`` and
    ``consistent_high``. All six are NaN if the bin is empty.
    """

    low: float
    high: float
    n: int
    confidence: float
    accuracy: float
    accuracy_low: float
    accuracy_high: float
    consistent_low: float
    consistent_high: float


def reliability(
    top: TopLabel,
    *,
    rng: np.random.Generator,
    bins: int = ECE_BINS,
    by: str = "width",
    draws: int = DRAWS,
    clusters: IntArray | None = None,
) -> tuple[ReliabilityBin, ...]:
    """The bins of the reliability diagram of the top option's confidence. Questions of a cluster count as one unit.

    Raises :class:`InputError` for invalid bins.
    """
    ends = edges(top.confidence, bins=bins, by=by)
    index = place(top.confidence, ends)
    counts = np.bincount(index, minlength=bins)
    sums = np.bincount(index, weights=top.confidence, minlength=bins)
    hits = np.bincount(index, weights=top.correct, minlength=bins)
    # calibrated_sums are Σ (correct − confidence), so adding Σ confidence gives the numbers of right answers,
    # (draws, bins).
    drawn = calibrated_sums(top, index, bins=bins, draws=draws, rng=rng, clusters=clusters) + sums
    lowest, highest = np.quantile(drawn, BAND, axis=0)
    drawn_bins = []
    for b in range(bins):
        n = int(counts[b])
        share = np.array([sums[b], hits[b], lowest[b], highest[b]]) / n if n else np.full(4, np.nan)
        rows = np.flatnonzero(index == b)
        interval = clustered_share_interval(top.correct[rows], within(clusters, rows)) if n else (np.nan, np.nan)
        drawn_bins.append(
            ReliabilityBin(
                low=float(ends[b]),
                high=float(ends[b + 1]),
                n=n,
                confidence=float(share[0]),
                accuracy=float(share[1]),
                accuracy_low=interval[0],
                accuracy_high=interval[1],
                consistent_low=float(share[2]),
                consistent_high=float(share[3]),
            )
        )
    return tuple(drawn_bins)
