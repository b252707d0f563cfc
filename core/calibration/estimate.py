"""A calibration figure with its interval, its bias, and the error beyond chance."""

import math
from dataclasses import dataclass, replace

from core.conformal.clusters import count, kish_number
from core.estimates import Estimate, interval_text
from core.records import IntArray

TAIL = 0.025
FEWEST = 10
"""With fewer questions, or clusters of them, an error has no interval and nothing is tested."""


@dataclass(frozen=True, slots=True)
class CalibrationEstimate(Estimate):
    """A figure of n questions with its 95% interval.

    A calibration error has two more numbers. ``bias`` is the error that chance alone produces: the mean error of a
    perfectly calibrated model with the same probabilities. ``excess`` is the error beyond chance, which lies within the
    interval. ``value`` is the observed error, chance included, and may lie above the interval. ``excess`` is None for
    the largest gap (MCE), whose value always lies within its interval, and without an interval. Both are None for other
    figures.

    ``infinite`` counts the questions whose loss is infinite, which makes a mean loss infinite; it then has no interval.
    Without an interval both ends are NaN, and ``reason`` says why.
    """

    n: int
    bias: float | None = None
    excess: float | None = None
    infinite: int = 0
    reason: str = ""

    def interval_text(self, *, digits: int = 3) -> str:
        """The interval as text, or why there is none.

        >>> CalibrationEstimate(0.5, 0.45, 0.55, 500).interval_text()
        '0.450 to 0.550'
        >>> CalibrationEstimate(0.5, float("nan"), float("nan"), 1, reason="1 question; 10 are needed").interval_text()
        'no interval: 1 question; 10 are needed'
        """
        text = interval_text(self.low, self.high, digits=digits)
        return f"{text}: {self.reason}" if self.reason else text

    def text(self, *, digits: int = 3) -> str:
        """The figure as text; for an error, the part beyond chance and its interval come before the observed error.

        >>> CalibrationEstimate(0.041, 0.009, 0.034, 500, bias=0.02, excess=0.021).text()
        '0.021 (0.009 to 0.034); seen 0.041, chance 0.020'
        >>> CalibrationEstimate(0.5, 0.45, 0.55, 500).text()
        '0.500 (0.450 to 0.550)'
        >>> CalibrationEstimate(float("inf"), float("nan"), float("nan"), 500, infinite=3).text()
        '∞ (3 of 500 with probability 0)'
        >>> CalibrationEstimate(float("nan"), float("nan"), float("nan"), 500, reason="frequencies have none").text()
        '– (frequencies have none)'
        """
        if self.infinite:
            return f"∞ ({self.infinite:,} of {self.n:,} with probability 0)"
        if math.isnan(self.value):
            return f"– ({self.reason})"
        if math.isnan(self.low) and self.bias is not None:
            return f"seen {self.value:.{digits}f}, chance {self.bias:.{digits}f} ({self.interval_text()})"
        first = self.value if self.excess is None else self.excess
        text = f"{first:.{digits}f} ({self.interval_text(digits=digits)})"
        if self.excess is not None:
            text += f"; seen {self.value:.{digits}f}"
        return text if self.bias is None else f"{text}, chance {self.bias:.{digits}f}"


def never_seen(n: float) -> float:
    """The upper 95% end of the share of a kind of question that none of n questions is of: 1 − .025^(1/n).

    If an upper end would be 0, an error this large, on questions of such a kind, can still not be excluded.
    """
    return float(-math.expm1(math.log(TAIL) / n))


def too_few(n: int, clusters: IntArray | None) -> str:
    """Why n questions are too few for the interval of an error or for a test; empty if they are enough.

    Clusters are fewer than they seem where some have most of the rows: then their sums say little about each other.
    """
    units = count(clusters, n)
    if units >= FEWEST:
        uneven = 2 * kish_number(clusters, n) < units
        return f"some of the {units:,} different questions have most of the {n:,} rows" if uneven else ""
    different = "" if clusters is None else "different "
    return f"{units} {different}question{'s' * (units != 1)}, and {FEWEST} are needed"


def unless_too_few(estimate: CalibrationEstimate, clusters: IntArray | None) -> CalibrationEstimate:
    """The estimate, without its interval if there are too few questions for it."""
    reason = too_few(estimate.n, clusters)
    return replace(estimate, low=math.nan, high=math.nan, excess=None, reason=reason) if reason else estimate
