"""A published claim's models: something about each against its mean set size."""

from __future__ import annotations

import altair as alt
import pandas as pd

from charts import theme
from charts.figure import Figure
from charts.measures import tips

NAMED_MODELS = 6
"""Models that have their names beside them; where there are more, a hover names each."""


def claim(points: pd.DataFrame, name: str, x_title: str, *, log: bool = False, diagonal: bool = False) -> Figure:
    """A claim's models: ``x`` and ``y`` (mean set size) with ``model`` beside each mark."""
    x = alt.X("x:Q", title=x_title, scale=alt.Scale(type="log") if log else alt.Scale(zero=False))
    if log:
        x = x.axis(tickCount=3, format="~s")
    base = alt.Chart().encode(x, alt.Y("y:Q", title="Mean set size", scale=alt.Scale(zero=False)))
    layers: list[alt.Chart] = []
    if diagonal and len(points):
        ends = [float(points[["x", "y"]].to_numpy().min()), float(points[["x", "y"]].to_numpy().max())]
        alike = base.mark_line(strokeDash=[4, 4], strokeWidth=1.5).properties(data=pd.DataFrame({"x": ends, "y": ends}))
        layers.append(theme.painted(alike, theme.OUT_OF_SET))
    hover = tips(("model", "Model"), ("x", x_title, ".3~s"), ("y", "Mean set size", ".2f"))
    marks = base.mark_point(filled=True, size=90, opacity=0.95).encode(tooltip=hover)
    layers.append(theme.painted(marks, theme.LAC))
    if len(points) <= NAMED_MODELS:
        names = base.mark_text(align="left", dx=8, dy=-7, fontSize=11, limit=150).encode(text="model:N")
        layers.append(theme.painted(names, theme.TRUTH))
    said = "; ".join(f"{row['model']}: {row['x']:.3g}, {row['y']:.2f}" for row in points.head(20).to_dict("records"))
    chart = alt.layer(*layers, data=points).properties(height=260)
    return Figure(points, chart, f"{x_title} against mean set size. {said}.", f"claim-{name}")
