"""Styles of runs in one figure: a colour as long as the palette has one, and beyond it the dash of a line.

The colours are the theme's first three and five more. Thin lines in them stand out from the page, and people with any
common colour blindness tell them apart (tests/charts/test_theme.py). The dash changes after every third run, so that
colour is not the only signal. No two of 24 runs, the most that can be compared, look alike.
"""

import math
from collections.abc import Sequence
from typing import Any

import altair as alt

from charts import theme

FIRST = (theme.LAC, theme.APS, theme.TRUTH)
COLORS = (*FIRST, *theme.MORE_RUNS)
"""Meanings whose colours runs take in turn."""
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [14, 4], [3, 6], [12, 3, 2, 3, 2, 3], [1, 4])


def color_scale(names: Sequence[str]) -> alt.Scale:
    """A scale from names to the theme's colours, which start again after the last of :data:`COLORS`."""
    return alt.Scale(domain=_domain(names))


def dash_scale(names: Sequence[str]) -> alt.Scale:
    """A scale from names to dashes: another one for every three names."""
    return scale(names, [DASHES[dash_place(i)] for i in range(len(names))])


def dash_place(i: int) -> int:
    """The place of run ``i``'s dash in :data:`DASHES`."""
    return i // len(FIRST) % len(DASHES)


def scale(names: Sequence[str], values: Sequence[Any]) -> alt.Scale:
    """A scale from each name to its value, whose legend is drawn as one with that of the colours."""
    by_name = dict(zip(names, values, strict=True))
    domain = _domain(names)
    return alt.Scale(domain=domain, range=[by_name.get(name, values[0]) for name in domain])


def _domain(names: Sequence[str]) -> list[str]:
    """The names, and among them unused ones that take the colours of the palette that are not for runs.

    The range of a colour scale is the whole palette, and Vega-Lite draws one legend of several scales only where they
    have the same domain.
    """
    skipped = len(theme.MEANINGS) - len(FIRST)
    domain: list[str] = []
    for start in range(0, len(names), len(COLORS)):
        block = names[start : start + len(COLORS)]
        domain += [*block[: len(FIRST)], *(f"(unused {start} {i})" for i in range(skipped)), *block[len(FIRST) :]]
    return domain


def legend(names: Sequence[str], *, narrow_limit: int = 250, half: bool = False, **more: Any) -> alt.Legend:
    """One legend of all names, for colour, dash and shape together; in a narrow window a name has ``narrow_limit``
    pixels and a row of its own. Beside a chart that takes ``half`` of the page, long names have rows of their own
    sooner."""
    is_short = max(map(len, names), default=0) <= SHORT
    columns = _columns(names)
    return alt.Legend(
        orient="top",
        title=None,
        values=list(names),
        columns=narrow(1, columns, below=HALF_WITH_LONG_NAMES if half and not is_short else NARROW),
        labelLimit=narrow(narrow_limit, 330),
        symbolStrokeWidth=2,
        symbolOpacity=1,
        **more,
    )


def _columns(names: Sequence[str]) -> int:
    return 4 if max(map(len, names), default=0) <= SHORT else 2


def legend_rows(names: Sequence[str], units: float) -> int:
    """The rows of the legend of all names in a drawing so many units wide."""
    return math.ceil(len(names) / (1 if units < NARROW else _columns(names)))


SHORT = 22
"""Letters of a name up to which four names stand in a row of a legend."""
NARROW = 600
"""Pixels of a window's width below which legends have one column and names are cut shorter."""
HALF_WITH_LONG_NAMES = 1400
"""The same for a legend of long names, where two names need the width of the chart."""


def narrow(there: int, elsewhere: int, *, below: int = NARROW) -> alt.ExprRef:
    """A number that is ``there`` in a window narrower than ``below`` pixels, and ``elsewhere`` in a wider one."""
    return alt.ExprRef(f"windowSize()[0] < {below} ? {there} : {elsewhere}")
