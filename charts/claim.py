"""A published claim's models: something about each against its mean set size. Altair layers marks, lines and names."""

import math
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


def claim(
    points: pd.DataFrame, name: str, x_title: str, *, log: bool = False, percent: bool = False, diagonal: bool = False
) -> Figure:
    """A claim's models: ``x`` and ``y`` (mean set size) with ``model`` beside each mark. ``percent``: ``x`` is a
    share."""
    named = 0 < len(points) <= NAMED_MODELS
    room = min(MOST_ROOM, 14 + LETTER * points["model"].str.len().max()) if named else 16
    across: dict[str, Any] = {"type": "log" if log else "linear", "zero": False, "nice": False, "padding": room}
    ticks: dict[str, Any] = {"tickCount": 3 if log else 5, "format": "~s" if log else ".0%"} if log or percent else {}
    x = alt.X("x:Q", title=x_title, scale=alt.Scale(**across)).axis(labelFlush=AT_THE_END, **ticks)
    base = alt.Chart().encode(x, alt.Y("y:Q", title="Mean set size", scale=alt.Scale(zero=False, padding=22)))
    layers: list[alt.Chart] = []
    if diagonal and len(points):
        ends = [float(points[["x", "y"]].to_numpy().min()), float(points[["x", "y"]].to_numpy().max())]
        alike = base.mark_line(strokeDash=[4, 4], strokeWidth=1.5).properties(data=pd.DataFrame({"x": ends, "y": ends}))
        layers.append(theme.painted(alike, theme.OUT_OF_SET))
    hover = tips(("model", "Model"), ("x", x_title, ".1%" if percent else ".3~s"), ("y", "Mean set size", ".2f"))
    marks = base.mark_point(filled=True, size=90, opacity=0.95).encode(tooltip=hover)
    layers.append(theme.painted(marks, theme.LAC))
    if named:
        names = base.mark_text(
            align=alt.ExprRef("datum.before ? 'right' : 'left'"),
            dx=alt.ExprRef("datum.before ? -8 : 8"),
            dy=alt.ExprRef("datum.below ? 12 : -7"),
            fontSize=11,
            limit=150,
        ).encode(text="model:N")
        layers.append(theme.painted(names, theme.TRUTH))
    clauses = "; ".join(f"{row['model']}: {row['x']:.3g}, {row['y']:.2f}" for row in points.head(20).to_dict("records"))
    chart = alt.layer(*layers, data=_with_places_of_names(points)).properties(height=260)
    return Figure(points, chart, f"{x_title} against mean set size. {clauses}.", f"claim-{name}")


def _with_places_of_names(points: pd.DataFrame) -> pd.DataFrame:
    """The points with ``before`` and ``below``: a name stands on the side of its mark where the next mark is further
    off, and the names along x stand above and below their marks by turns, so that neighbours do not meet.
    """
    by_x = points.sort_values("x", kind="stable")
    gaps = by_x["x"].diff()
    before = gaps.shift(-1) < gaps.fillna(math.inf)
    return points.assign(before=before, below=points["x"].rank(method="first").astype(int) % 2 == 0)
