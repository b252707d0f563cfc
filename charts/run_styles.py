"""Runs told apart in one figure: by colour as far as the palette goes, and by the dash of a line beyond it.

The colours are the theme's first three: thin lines in them stand out from the page, and people with any of the common
colour blindnesses tell them apart (tests/charts/test_theme.py). Three colours times eight dashes make 24 runs, the most
that can be compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from charts import theme

COLORS = (theme.LAC, theme.APS, theme.TRUTH)
"""Meanings whose colours runs take in turn, the first ones of the palette."""
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [14, 4], [3, 6], [12, 3, 2, 3, 2, 3], [1, 4])


def color_scale(names: Sequence[str]) -> alt.Scale:
    """A scale from names to the theme's colours, which start again after the last of :data:`COLORS`."""
    return alt.Scale(domain=_domain(names))


def dash_scale(names: Sequence[str]) -> alt.Scale:
    """A scale from names to dashes: another one each time that the colours start again."""
    return scale(names, [DASHES[i // len(COLORS) % len(DASHES)] for i in range(len(names))])


def scale(names: Sequence[str], values: Sequence[Any]) -> alt.Scale:
    """A scale from each name to its value, whose legend is drawn as one with that of the colours."""
    of = dict(zip(names, values, strict=True))
    domain = _domain(names)
    return alt.Scale(domain=domain, range=[of.get(name, values[0]) for name in domain])


def _domain(names: Sequence[str]) -> list[str]:
    """The names, and among them unused ones that take the colours of the palette that are not for lines.

    The range of a colour scale is the whole palette, and Vega-Lite draws one legend of several scales only where they
    have the same domain.
    """
    skipped = len(theme.MEANINGS) - len(COLORS)
    domain: list[str] = []
    for start in range(0, len(names), len(COLORS)):
        domain += [*names[start : start + len(COLORS)], *(f"(unused {start} {i})" for i in range(skipped))]
    return domain


def legend(names: Sequence[str], *, narrow_limit: int = 250, **more: Any) -> alt.Legend:
    """One legend of all names, for colour, dash and shape together; in a narrow window a name has ``narrow_limit``
    pixels."""
    return alt.Legend(
        orient="top",
        title=None,
        values=list(names),
        columns=narrow(1, 2),
        labelLimit=narrow(narrow_limit, 330),
        symbolStrokeWidth=2,
        symbolOpacity=1,
        **more,
    )


NARROW = 600
"""Pixels of a window's width below which legends have one column and names are cut shorter."""
HALF_NARROW = 1150
"""The same for a chart that takes half of the page."""


def narrow(there: int, elsewhere: int, *, below: int = NARROW) -> alt.ExprRef:
    """A number that is ``there`` in a window narrower than ``below`` pixels, and ``elsewhere`` in a wider one."""
    return alt.ExprRef(f"windowSize()[0] < {below} ? {there} : {elsewhere}")
