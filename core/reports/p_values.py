"""The text of p-values, on every page and in every command."""

import math

SMALLEST = 0.001
"""A smaller p-value is not written out."""


def p_text(p: float) -> str:
    """A p-value for a table: three decimals, ``< 0.001`` for a smaller one, and a dash where it is undefined (NaN).

    >>> p_text(0.0412), p_text(9.8e-82), p_text(1), p_text(float("nan"))
    ('0.041', '< 0.001', '1.000', '–')
    """
    if math.isnan(p):
        return "–"
    return f"{p:.3f}" if p >= SMALLEST else f"< {SMALLEST}"


def p_said(p: float) -> str:
    """A p-value for a sentence.

    >>> p_said(0.0412), p_said(9.8e-82)
    ('p = 0.041', 'p < 0.001')
    """
    text = p_text(p)
    return f"p {text}" if text.startswith("<") else f"p = {text}"
