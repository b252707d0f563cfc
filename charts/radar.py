"""Five figures of each run at once, as a radar for a file: each from 0 to the best there is."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from charts import theme
from charts.figure import AltairChart, Figure
from charts.measures import tips
from charts.run_names import full_names

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
SAID = 30


def radar(rows: pd.DataFrame, *, names: Sequence[str] = (), columns: int = 3) -> Figure:
    """A star for each run, ``columns`` side by side. ``names`` are those of the runs, if not their full ones."""
    values = _values(rows, names or full_names(rows))
    frame = _on_the_plane(values)
    clauses = "; ".join(
        f"{corner.name}, {corner.axis}: {corner.value:.2f}" for corner in values.head(SAID).itertuples()
    )
    words = f"Five figures of each run from 0 to 1: {clauses}."
    return Figure(frame, _small_multiples(frame, columns), words, "radar")


def _values(rows: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """One row per run and figure: ``name``, ``axis`` and ``value``, from 0 to 1."""
    records = [
        {"name": name, "axis": axis, "value": max(0.0, min(1.0, float(figure_of(row))))}
        for name, row in zip(names, rows.to_dict("records"), strict=True)
        for axis, figure_of in AXES.items()
    ]
    return pd.DataFrame(records, columns=["name", "axis", "value"])


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
