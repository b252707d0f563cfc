"""A calibration figure with its interval, its bias, and the error beyond chance."""

from __future__ import annotations

from dataclasses import dataclass

from core.estimates import Estimate


@dataclass(frozen=True, slots=True)
class CalibrationEstimate(Estimate):
    """A figure of n questions with its 95% interval.

    A calibration error has two more numbers. ``bias`` is the error that chance alone produces: the mean error of a
    perfectly calibrated model with the same probabilities. ``excess`` is the error beyond chance, which lies within the
    interval. ``value`` is the observed error, chance included, and may lie above the interval. ``excess`` is None for
    the largest gap (MCE), whose value always lies within its interval. Both are None for other figures.

    ``infinite`` counts the questions whose loss is infinite, which makes a mean loss infinite; it then has no interval
    (NaN).
    """

    n: int
    bias: float | None = None
    excess: float | None = None
    infinite: int = 0

    def text(self, *, digits: int = 3) -> str:
        """The figure as text; for an error, the part beyond chance and its interval come before the observed error.

        >>> CalibrationEstimate(0.041, 0.009, 0.034, 500, bias=0.02, excess=0.021).text()
        '0.021 (0.009 to 0.034); seen 0.041, luck 0.020'
        >>> CalibrationEstimate(0.5, 0.45, 0.55, 500).text()
        '0.500 (0.450 to 0.550)'
        >>> CalibrationEstimate(float("inf"), float("nan"), float("nan"), 500, infinite=3).text()
        '∞ (3 of 500 with probability 0)'
        """
        if self.infinite:
            return f"∞ ({self.infinite:,} of {self.n:,} with probability 0)"
        first = self.value if self.excess is None else self.excess
        said = f"{first:.{digits}f} ({self.low:.{digits}f} to {self.high:.{digits}f})"
        if self.excess is not None:
            said += f"; seen {self.value:.{digits}f}"
        return said if self.bias is None else f"{said}, luck {self.bias:.{digits}f}"
