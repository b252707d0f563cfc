"""alpha, the share of questions whose set may miss the true option, as an integer number of thousandths.

Floating point gets ``ceil((n + 1) * (1 - 0.1))`` wrong for many n (``0.9 * 10 = 9.000000000000002``). So every
function below, and the browser, takes alpha as an integer from 1 to 999.
"""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np

from core.errors import InputError
from core.records import IntArray

THOUSAND = 1000
ALPHAS: IntArray = np.arange(1, THOUSAND, dtype=np.int64)
"""Every possible alpha: 1 to 999 thousandths."""
ALPHAS.setflags(write=False)


def number(value: Any, what: str) -> float:
    """A number of Python or NumPy as a float; one in single precision is the decimal that it prints.

    Raises :class:`InputError` for text, truth values, None and everything else.
    """
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        raise InputError(f"{what} must be a number, got {str(value)[:80]!r} ({type(value).__name__})")
    return float(str(value)) if type(value).__module__ == "numpy" else float(value)


def thousandths(alpha: float) -> int:
    """alpha as a whole number of thousandths, from 1 to 999.

    Raises :class:`InputError` if alpha is not a number, is outside (0, 1) or falls between two thousandths.

    >>> thousandths(0.1)
    100
    """
    alpha = number(alpha, "alpha")
    if not math.isfinite(alpha) or not 0 < alpha < 1:
        raise InputError(f"alpha must lie in (0, 1), got {alpha:g}")
    count = round(alpha * THOUSAND)
    if not 1 <= count < THOUSAND or abs(alpha * THOUSAND - count) > 1e-6:
        raise InputError(f"alpha counts in thousandths from 0.001 to 0.999, got {alpha!r}")
    return count


def check_thousandths(alpha: int) -> int:
    """Return alpha if it is a whole number from 1 to 999; raises :class:`InputError` otherwise."""
    if not 1 <= alpha < THOUSAND or alpha != int(alpha):
        raise InputError(f"alpha in thousandths must be a whole number from 1 to 999, got {alpha}")
    return int(alpha)
