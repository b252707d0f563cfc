"""A figure with its 95% interval: the type that every module and page uses."""

import math
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


def difference_shown(value: float, other: float, *, digits: int, exact: float) -> float:
    """A difference that stands beside its two terms: that of the terms as they are written with ``digits`` decimals, so
    that a person who subtracts finds it. It is ``exact`` where this is of other questions than the terms.

    >>> round(87.15 - 76.24, 1), difference_shown(87.15, 76.24, digits=1, exact=87.15 - 76.24)
    (10.9, 11.0)
    """
    if not abs(exact - (value - other)) <= 1e-9:  # also where one is NaN
        return exact
    return round(round(value, digits) - round(other, digits), digits)


def signed(value: float, digits: int) -> str:
    """A number with its sign, if it is not 0 when rounded, and with a minus sign rather than a hyphen.

    >>> signed(-0.5, 2), signed(0.25, 1), signed(-0.0001, 3)
    ('−0.50', '+0.2', '0.000')
    """
    size = f"{abs(value):.{digits}f}"
    return size if float(size) == 0 else f"{'−' if value < 0 else '+'}{size}"


def interval_text(low: float | None, high: float | None, *, digits: int = 3, form: str = "") -> str:
    """The ends of an interval as text, with ``digits`` decimals or in the format ``form``. Without an interval
    they are NaN, or None in JSON.

    >>> interval_text(0.1, 0.25), interval_text(float("nan"), float("nan"))
    ('0.100 to 0.250', 'no interval')
    """
    if low is None or high is None or math.isnan(low) or math.isnan(high):
        return "no interval"
    form = form or f".{digits}f"
    return f"{low:{form}} to {high:{form}}"
