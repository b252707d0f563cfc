"""A published claim's models: something about each against its mean set size. Altair layers marks, lines and names."""

import math
from collections.abc import Sequence
from functools import partial
from itertools import product
from typing import Any

import altair as alt
import pandas as pd

from charts import theme
from charts.figure import Figure
from charts.measures import tips

LETTER = 6
MOST_ROOM = 110
"""Pixels of a letter, and the most that are left beside the outermost marks for their names."""
AT_THE_END = 16
"""A label of the axis this many pixels from its end stands beside its tick, not below it, and is not cut off."""
NAMED_MODELS = 6
"""Models that have their names beside them; where there are more, a hover names each."""
PLOT = (270, 136)
"""About the width of the plot in one of three columns, and the height between the highest and the lowest mark."""
ASIDE, HALF = 8, 5
"""Pixels between a mark and its name, and half a name's height."""
CLEAR = 3
"""A name is this many pixels nearer to its own mark than to others."""
ROUNDS = 3
IN_WORDS = "replace(replace(datum.label, 'G', ' B'), 'M', ' M')"
"""Numbers of parameters, as in 8 M and 70 B."""
WITHIN = "datum.value < 0 || datum.value > 1 ? '' : datum.label"
"""No label for a share that can't be: the axis goes on to make room for names."""

Place = tuple[float, float]
Side = tuple[bool, int]
Box = tuple[float, float, float, float]
SIDES: tuple[Side, ...] = tuple(product((False, True), (-9, 0, 9)))
"""Whether a name stands before its mark, and how many pixels below it."""


def claim(
    points: pd.DataFrame, name: str, x_title: str, *, log: bool = False, percent: bool = False, diagonal: bool = False
) -> Figure:
    """A claim's models: ``x`` and ``y`` (mean set size) with ``model`` beside each mark. ``percent``: ``x`` is a
    share."""
    named = 0 < len(points) <= NAMED_MODELS
    room = min(MOST_ROOM, 14 + LETTER * points["model"].str.len().max()) if named else 16
    across: dict[str, Any] = {"type": "log" if log else "linear", "zero": False, "nice": False, "padding": room}
    ticks: dict[str, Any] = {}
    if log:
        ticks = {"tickCount": 3, "format": "~s", "labelExpr": IN_WORDS}
    elif percent:
        ticks = {"tickCount": 5, "format": ".0%", "labelExpr": WITHIN}
    x = alt.X("x:Q", title=x_title, scale=alt.Scale(**across)).axis(labelFlush=AT_THE_END, **ticks)
    base = alt.Chart().encode(x, alt.Y("y:Q", title="Mean set size", scale=alt.Scale(zero=False, padding=22)))
    layers: list[alt.Chart] = []
    if diagonal and len(points):
        ends = [float(points[["x", "y"]].to_numpy().min()), float(points[["x", "y"]].to_numpy().max())]
        alike = base.mark_line(strokeDash=[4, 4], strokeWidth=1.5).properties(data=pd.DataFrame({"x": ends, "y": ends}))
        layers.append(theme.painted(alike, theme.OUT_OF_SET))
    hover = tips(("model", "Model"), ("written", x_title), ("y", "Mean set size", ".2f"))
    marks = base.mark_point(filled=True, size=90, opacity=0.95).encode(tooltip=hover, description="spoken:N")
    layers.append(theme.painted(marks, theme.LAC))
    if named:
        names = base.mark_text(
            align=alt.ExprRef("datum.before ? 'right' : 'left'"),
            dx=alt.ExprRef(f"datum.before ? {-ASIDE} : {ASIDE}"),
            dy=alt.ExprRef("datum.shift"),
            fontSize=11,
            limit=150,
            aria=False,
        ).encode(text="model:N")
        layers.append(theme.painted(names, theme.TRUTH))
    written = points["x"].map(counted_parameters if log else ("{:.1%}" if percent else "{:.2f}").format)
    spoken = [f"{a}: {x}, {y:.2f}" for a, x, y in zip(points["model"], written, points["y"], strict=True)]
    drawn = (_with_places_of_names(points, room, log=log) if named else points).assign(written=written, spoken=spoken)
    chart = alt.layer(*layers, data=drawn).properties(height=260)
    return Figure(points, chart, f"{x_title} against mean set size. {'; '.join(spoken[:20])}.", f"claim-{name}")


def counted_parameters(number: float) -> str:
    """A number of parameters in millions or billions.

    >>> counted_parameters(8_400_000), counted_parameters(7.24e9)
    ('8.4 M', '7.24 B')
    """
    return f"{number / 1e9:.3g} B" if number >= 1e9 else f"{number / 1e6:.3g} M"


def _with_places_of_names(points: pd.DataFrame, room: float, *, log: bool) -> pd.DataFrame:
    """The points with the place of each name: ``before`` its mark or behind it, ``shift`` pixels below the mark's
    centre. A name is nearer to its own mark than to any other, where that is possible, and meets no other name.
    """
    x, y = points["x"].map(math.log10) if log else points["x"], points["y"]
    across, up = (
        ((values - values.min()) / ((values.max() - values.min()) or 1) * size).tolist()
        for values, size in ((x, max(PLOT[0] - 2 * room, 0)), (y, PLOT[1]))
    )
    marks = list(zip(across, up, strict=True))
    widths = [LETTER * len(model) for model in points["model"]]
    sides = [SIDES[0]] * len(marks)
    for i in [*range(len(marks))] * ROUNDS:
        tried = [[*sides[:i], side, *sides[i + 1 :]] for side in SIDES]
        sides = min(tried, key=partial(_confusion, i, marks, widths))
    return points.assign(before=[before for before, _ in sides], shift=[shift for _, shift in sides])


def _confusion(i: int, marks: Sequence[Place], widths: Sequence[float], sides: Sequence[Side]) -> float:
    """Pixels by which the i-th name is too near to other marks, and by which it overlaps other names."""
    boxes = [_box(*place) for place in zip(marks, sides, widths, strict=True)]
    own = _distance(boxes[i], marks[i]) + CLEAR
    others = [j for j in range(len(marks)) if j != i]
    near = sum(max(own - _distance(boxes[i], marks[j]), 0) for j in others)
    return near + sum(_overlap(boxes[i], boxes[j]) for j in others)


def _box(mark: Place, side: Side, width: float) -> Box:
    """The left, right, lower and upper end of a name."""
    (x, y), (before, shift) = mark, side
    left = x - ASIDE - width if before else x + ASIDE
    return left, left + width, y - shift - HALF, y - shift + HALF


def _distance(box: Box, mark: Place) -> float:
    left, right, low, high = box
    return math.hypot(max(left - mark[0], mark[0] - right, 0), max(low - mark[1], mark[1] - high, 0))


def _overlap(box: Box, other: Box) -> float:
    """The smaller side of the rectangle that two boxes share."""
    return max(0, min(min(box[1], other[1]) - max(box[0], other[0]), min(box[3], other[3]) - max(box[2], other[2])))
