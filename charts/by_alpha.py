"""Coverage and mean set size of runs at every alpha. Altair layers lines and their intervals."""

from collections.abc import Sequence

import altair as alt
import pandas as pd

from charts import run_styles, theme
from charts.figure import Figure
from charts.reliability_diagram import share_axis

HEIGHT = 260
LETTER, AROUND_NAME = 6, 50
"""Pixels of a letter of a name in the legend, and of the line before it and the room after it."""


def coverage_by_alpha(frame: pd.DataFrame, alpha: float) -> Figure:
    """Coverage against alpha, a line a run, on the band in which the first run's coverage lies if the guarantee holds.

    ``frame`` is of :func:`core.reports.by_alpha.by_alpha`. A mark shows each run at the ``alpha`` that is chosen, and a
    dashed line what is promised: 1 − alpha.
    """
    first = frame["name"].iloc[0]
    title = "Coverage"
    x, y = _alpha_axis(), share_axis("y", "coverage", title)
    band = alt.Chart().transform_filter(alt.datum.name == first).mark_area(opacity=0.6)
    band = band.encode(x, share_axis("y", "low", title), y2="high")
    target = alt.Chart().transform_filter(alt.datum.name == first).mark_line(strokeDash=[4, 4], strokeWidth=1)
    target = target.encode(x, share_axis("y", "target", title))
    guarantee = alt.layer(theme.painted(band, theme.GUARANTEE), theme.painted(target, theme.TRUTH))
    chart = alt.layer(guarantee, alt.layer(*_lines(frame, alpha, x, y)), data=frame).resolve_scale(
        color="independent", strokeDash="independent"
    )
    return Figure(
        frame, chart.properties(height=HEIGHT), _in_words(frame, alpha, "coverage", ".1%"), "coverage-by-alpha"
    )


def set_size_by_alpha(frame: pd.DataFrame, alpha: float, score: str) -> Figure:
    """Mean set size against alpha, a line a run. A mark shows each run at the ``alpha`` that is chosen."""
    x = _alpha_axis()
    scale = alt.Scale(domain=[0, float(frame["k"].max())])
    y = alt.Y("mean_set_size:Q", title=f"Mean {score} set size", scale=scale, axis=alt.Axis(tickMinStep=1))
    chart = alt.layer(*_lines(frame, alpha, x, y), data=frame)
    sentence = _in_words(frame, alpha, "mean_set_size", ".2f")
    return Figure(frame, chart.properties(height=HEIGHT), sentence, "set-size-by-alpha")


def _alpha_axis() -> alt.X:
    return alt.X("alpha:Q", title="alpha", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format=".1f", tickCount=5))


def name_width(names: Sequence[str]) -> int:
    """The pixels that the longest name takes in a legend, with its line."""
    return LETTER * max(len(line) for name in names for line in name.split("\n")) + AROUND_NAME


def _lines(frame: pd.DataFrame, alpha: float, x: alt.X, y: alt.X | alt.Y) -> tuple[alt.Chart, alt.Chart]:
    """One line per run, with its own colour, dash and mark."""
    names = list(dict.fromkeys(frame["name"]))
    wide = name_width(names)
    legend = alt.Legend(
        orient="top",
        title=None,
        values=names,
        columns=alt.ExprRef(f"max(1, floor(windowSize()[0] / {wide}))"),
        labelLimit=alt.ExprRef(f"windowSize()[0] - {AROUND_NAME}"),
        symbolType="stroke",
        symbolSize=300,
        symbolOpacity=1,
    )
    shown = legend if len(names) > 1 else None
    color = alt.Color("name:N", scale=run_styles.color_scale(names), legend=shown)
    dash = alt.StrokeDash("name:N", scale=run_styles.dash_scale(names), legend=shown)
    base = alt.Chart().encode(x, y, color)
    here = base.transform_filter(f"abs(datum.alpha - {alpha}) < 1e-9").mark_point(filled=True, size=50, opacity=1)
    return base.mark_line(strokeWidth=1.75).encode(dash), here


def _in_words(frame: pd.DataFrame, alpha: float, figure: str, form: str) -> str:
    here = frame[(frame["alpha"] - alpha).abs() < 1e-9]
    values = "; ".join(f"{row['name']} {row[figure]:{form}}" for row in here.to_dict("records"))
    return f"At alpha {alpha:g}: {values}."
