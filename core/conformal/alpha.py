"""alpha, the share of questions whose set may miss the true option, as an integer number of thousandths.

Floating point gets ``ceil((n + 1) * (1 - 0.1))`` wrong for many n (``0.9 * 10 = 9.000000000000002``). So every
function below, and the browser, takes alpha as an integer from 1 to 999.
"""

import math
import numbers
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

from core.errors import InputError
from core.records import IntArray

THOUSAND = 1000
ALPHAS: IntArray = np.arange(1, THOUSAND, dtype=np.int64)
"""Every possible alpha: 1 to 999 thousandths."""
ALPHAS.setflags(write=False)


DENOMINATORS = ((1000, Fraction(1, 10**9)), (10**6, Fraction(1, 10**15)))
"""A number this close to a fraction with at most this denominator comes from it: other fractions are further away."""
Alpha = int | Fraction
"""alpha in thousandths: whole, or between two of them as a fraction, with which every rank is exact too."""

AnyAlpha = TypeVar("AnyAlpha", bound=Alpha)


def number(value: Any, what: str) -> float:
    """A number of Python or NumPy as a float; one in single precision is the decimal that it prints.

    Raises :class:`InputError` for text, truth values, None and everything else.
    """
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        raise InputError(f"{what} must be a number, got {str(value)[:80]!r} ({type(value).__name__})")
    try:
        return float(str(value)) if type(value).__module__ == "numpy" else float(value)
    except OverflowError:
        raise InputError(f"{what} is too large: {str(value)[:20]}…") from None


def thousandths(alpha: float, what: str = "alpha") -> int:
    """alpha, or ``what`` else is counted so, as a whole number of thousandths, from 1 to 999.

    Raises :class:`InputError` if it is not a number, is outside (0, 1) or falls between two thousandths.

    >>> thousandths(0.1)
    100
    """
    alpha = number(alpha, what)
    if not math.isfinite(alpha) or not 0 < alpha < 1:
        raise InputError(f"{what} must lie in (0, 1), got {alpha:g}")
    count = round(alpha * THOUSAND)
    if not 1 <= count < THOUSAND or abs(alpha * THOUSAND - count) > 1e-6:
        raise InputError(f"{what} counts in thousandths from 0.001 to 0.999, got {alpha!r}")
    return count


def exact_alpha(alpha: Any) -> Alpha:
    """alpha in thousandths: a whole number of them where :func:`thousandths` takes alpha, else an exact fraction.

    A float is the fraction with a small denominator that it comes from, such as 1/3 or 1 − 2/3, if there is one, and
    otherwise the decimal that Python prints. A ``Fraction`` or ``Decimal`` is what it says. Raises :class:`InputError`
    as :func:`thousandths` does.

    >>> exact_alpha(0.1), exact_alpha(1 / 3), exact_alpha(0.0125)
    (100, Fraction(1000, 3), Fraction(25, 2))
    """
    if isinstance(alpha, (Fraction, Decimal)):
        value = Fraction(alpha) if isinstance(alpha, Fraction) or alpha.is_finite() else Fraction(0)
    else:
        given = number(alpha, "alpha")
        value = Fraction(repr(given)) if math.isfinite(given) else Fraction(0)
        for most, within in DENOMINATORS:
            near = value.limit_denominator(most)
            if abs(near - value) <= within:
                value = near
                break
    if not 0 < value < 1:
        raise InputError(f"alpha must lie in (0, 1), got {str(alpha)[:40]}")
    count = value * THOUSAND
    return int(count) if count.denominator == 1 else count


def alpha_text(alpha: float) -> str:
    """alpha with three decimals, or with all that it has.

    >>> alpha_text(0.1), alpha_text(0.0125)
    ('0.100', '0.0125')
    """
    return f"{alpha:.3f}" if round(alpha, 3) == alpha else f"{alpha:.6g}"


def check_thousandths(alpha: AnyAlpha) -> AnyAlpha:
    """Return alpha if it is a whole number from 1 to 999, or a fraction between 0 and 1000; raises
    :class:`InputError` otherwise."""
    if isinstance(alpha, Fraction) and 0 < alpha < THOUSAND:
        return alpha
    if not 1 <= alpha < THOUSAND or alpha != int(alpha):
        raise InputError(f"alpha in thousandths must be a whole number from 1 to 999, got {alpha}")
    return alpha if isinstance(alpha, Fraction) else int(alpha)  # type: ignore[return-value]
