"""A figure with its 95 % interval, as every room and page has it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its 95 % interval, ``low`` to ``high``; all three are NaN where the figure is not defined."""

    value: float
    low: float
    high: float

    @property
    def ends(self) -> tuple[float, float]:
        """The interval alone."""
        return self.low, self.high
