"""A figure with its 95% interval: the type that every module and page uses."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its 95% interval, ``low`` to ``high``; all three are NaN if the figure is not defined."""

    value: float
    low: float
    high: float

    @property
    def ends(self) -> tuple[float, float]:
        """The two ends of the interval."""
        return self.low, self.high
