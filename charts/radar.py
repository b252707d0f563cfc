"""Five figures of each run at once, as a radar: each from 0 to the best there is.

On a page Plotly's, which has polar axes; in a file Altair's, which needs no browser.
"""

import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd
from plotly import graph_objects

from charts import run_styles, theme
from charts.figure import AltairChart, Figure
from charts.measures import tips
from charts.run_names import full_names, told_apart

AXES: dict[str, Callable[[Mapping[Any, Any]], float]] = {
    "Accuracy": lambda row: row["accuracy"],
    "Coverage": lambda row: row["coverage"],
    "Small sets": lambda row: 1 - (row["mean_set_size"] - 1) / (row["k"] - 1),
    "UAcc": lambda row: min(row["uacc"] / math.sqrt(row["k"]), 1.0),
    "1 − ECE": lambda row: 1 - row["ece"],
}
"""The figures, each from 0 at the centre to 1 at the rim."""
BESIDE = "datum.lx > 0.1 ? 'left' : datum.lx < -0.1 ? 'right' : 'center'"
"""How the name of an axis is aligned, so that it begins beside the star."""
RINGS = (0.5, 1.0)
RING_LABELS = -90
"""The angle in degrees at which the rings are labelled: downwards, between two axes."""
DASHES = ("solid", "dash", "dot", "longdashdot", "longdash", "dashdot", "8px 2px 2px 2px", "1px 4px")
"""Plotly's dashes, a new one for every three runs."""
COLORS = [theme.PLOTLY_COLORS[meaning] for meaning in run_styles.COLORS if meaning in theme.PLOTLY_COLORS]
MARKS = ("circle", "square", "diamond", "triangle-up", "cross", "triangle-down", "star", "hexagon")
LEGEND_ROW = 22
LEGEND_LETTERS = 40
SAID = 30


def radar(rows: pd.DataFrame, *, names: Sequence[str] = (), columns: int = 3) -> Figure:
    """A star a run. On a page all of them lie on each other, and a click on a name hides or shows it; in a file each
    has a place of its own, ``columns`` side by side. ``names`` are those of the runs, if not their full ones."""
    values = _values(rows, names or full_names(rows))
    frame = _on_the_plane(values)
    clauses = "; ".join(
        f"{corner.name}, {corner.axis}: {corner.value:.2f}" for corner in values.head(SAID).itertuples()
    )
    words = f"Five figures of each run from 0 to 1: {clauses}."
    return Figure(frame, _pointed_at(values), words, "radar", for_file=lambda: _small_multiples(frame, columns))


def _values(rows: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """One row per run and figure: ``name``, ``axis`` and ``value``, from 0 to 1."""
    records = [
        {"name": name, "axis": axis, "value": max(0.0, min(1.0, float(figure_of(row))))}
        for name, row in zip(names, rows.to_dict("records"), strict=True)
        for axis, figure_of in AXES.items()
    ]
    return pd.DataFrame(records, columns=["name", "axis", "value"])


def _pointed_at(values: pd.DataFrame) -> graph_objects.Figure:
    figure = graph_objects.Figure()
    text = {"color": theme.PLOTLY_COLORS[theme.TRUTH]}
    names = list(dict.fromkeys(values["name"]))
    for i, (name, short) in enumerate(zip(names, told_apart(names), strict=True)):
        corners = values[values["name"] == name]
        color = COLORS[i % len(COLORS)]
        figure.add_scatterpolar(
            name="<br>".join(textwrap.wrap(short, LEGEND_LETTERS)),
            r=[*corners["value"], corners["value"].iloc[0]],
            theta=[*corners["axis"], corners["axis"].iloc[0]],
            mode="lines+markers",
            line={"color": color, "width": 2, "dash": DASHES[run_styles.dash_place(i)]},
            marker={"color": color, "size": 7, "symbol": MARKS[i % len(MARKS)]},
            hovertemplate=f"{name}<br>%{{theta}}: %{{r:.3f}} of 1<extra></extra>",
        )
    grid = theme.PLOTLY_COLORS[theme.OUT_OF_SET]
    figure.update_layout(
        theme.plotly_layout(
            380 + LEGEND_ROW * len(names),
            margin={"t": 40, "b": 10, "l": 60, "r": 60},
            showlegend=True,
            legend={"orientation": "h", "y": -0.12, "yanchor": "top", "x": 0.5, "xanchor": "center", "font": text},
            polar={
                "bgcolor": "rgba(0,0,0,0)",
                "radialaxis": {"range": [0, 1], "tickvals": list(RINGS), "tickformat": ".0%", "gridcolor": grid}
                | {"showline": False, "ticks": "", "angle": RING_LABELS, "tickangle": RING_LABELS, "tickfont": text},
                "angularaxis": {"rotation": 90, "direction": "clockwise", "gridcolor": grid, "linecolor": grid}
                | {"tickfont": text},
            },
        )
    )
    return figure


def _on_the_plane(values: pd.DataFrame) -> pd.DataFrame:
    """The corners of each run's star and of two rings around it, in the order in which a line joins them.

    A figure ``value`` of 1 on axis i lies at (sin 2πi/5, cos 2πi/5); the last corner is the first once more.
    """
    axes = list(AXES)
    rows: list[dict[str, Any]] = []
    for name, corners in values.groupby("name", sort=False):
        outlines = {"run": list(corners["value"]), **{f"ring {ring}": [ring] * len(axes) for ring in RINGS}}
        for kind, lengths in outlines.items():
            for place in [*range(len(axes)), 0]:
                angle = 2 * math.pi * place / len(axes)
                rows.append(
                    {
                        "name": name,
                        "axis": axes[place],
                        "value": lengths[place],
                        "x": lengths[place] * math.sin(angle),
                        "y": lengths[place] * math.cos(angle),
                        "order": len(rows),
                        "kind": kind,
                    }
                )
    return pd.DataFrame(rows, columns=["name", "axis", "value", "x", "y", "order", "kind"])


def _small_multiples(frame: pd.DataFrame, columns: int) -> AltairChart:
    across, up = alt.Scale(domain=[-2, 2]), alt.Scale(domain=[-1.25, 1.35])
    x, y = alt.X("x:Q", axis=None, scale=across), alt.Y("y:Q", axis=None, scale=up)
    rings = alt.Chart().transform_filter("datum.kind != 'run'").mark_line(strokeWidth=1, opacity=0.5)
    rings = rings.encode(x, y, order="order:Q", detail="kind:N")
    words = alt.Chart().transform_filter("datum.kind == 'ring 1.0'").mark_text(fontSize=10, align=alt.ExprRef(BESIDE))
    words = words.transform_aggregate(x="min(x)", y="min(y)", groupby=["name", "axis"])
    words = words.transform_calculate(lx="datum.x * 1.12", ly="datum.y * 1.18")
    words = words.encode(alt.X("lx:Q", axis=None, scale=across), alt.Y("ly:Q", axis=None, scale=up), text="axis:N")
    stars = alt.Chart().transform_filter("datum.kind == 'run'")
    stars = stars.mark_line(strokeWidth=2, point=alt.OverlayMarkDef(filled=True, size=30))
    stars = stars.encode(x, y, order="order:Q", tooltip=tips(("axis", "Figure"), ("value", "Of 1", ".3f")))
    layers = (
        theme.painted(rings, theme.OUT_OF_SET),
        theme.painted(words, theme.TRUTH),
        theme.painted(stars, theme.LAC),
    )
    star = alt.layer(*layers, data=frame).properties(width=230, height=190)
    names = list(dict.fromkeys(frame["name"]))
    places = alt.Facet("name:N", title=None, sort=names, header=alt.Header(labelLimit=260))
    chart: AltairChart = star.facet(facet=places, columns=columns).configure_view(stroke=None)
    return chart
