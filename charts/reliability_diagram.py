"""Reliability diagrams of a run: accuracy against confidence, by bins. Altair layers bins and their intervals."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import altair as alt
import pandas as pd

from charts import theme
from charts.figure import AltairChart, Figure
from charts.measures import tips

SIDE = 350
PAGE_SIDE = 330
"""A diagram on a page is smaller, so that its page's answer and three diagrams are seen at once."""
BIN = "bin"
"""The name of the selection of a click on a bin."""


def share_axis(channel: Literal["x", "y"], field: str, title: str | None) -> alt.X | alt.Y:
    """A share of questions from 0% to 100%."""
    channel_type = alt.X if channel == "x" else alt.Y
    axis = alt.Axis(format=".0%", tickCount=5)
    return channel_type(field, type="quantitative", title=title, scale=alt.Scale(domain=[0, 1]), axis=axis)


def reliability_diagram(bins: pd.DataFrame, title: str, name: str, marked: int) -> Figure:
    """Accuracy against confidence: one mark per bin, on the range of a calibrated model's by chance.

    ``bins`` are of :mod:`core.reports.calibration.calibrated`; grey bars are the bins' shares of the questions. An
    empty bin has no mark. A click on a bin selects it (:data:`BIN`). The page's answer is about the bin
    ``marked``, which has a ring.
    """
    frame = _rows(bins.assign(marked=bins["bin"] == marked))
    chart = _drawn(frame, clicked=True)
    return Figure(frame, chart, f"Reliability of {title}: {_in_words(bins)}.", name)


def _rows(bins: pd.DataFrame) -> pd.DataFrame:
    """The rows of one diagram: its bins, and the line where accuracy equals confidence."""
    n = int(bins["n"].sum())
    return pd.concat(
        [
            bins.assign(kind="bin", share=bins["n"] / max(n, 1)),
            pd.DataFrame({"kind": "ideal", "confidence": [0.0, 1.0], "accuracy": [0.0, 1.0]}),
        ],
        ignore_index=True,
    )


def _drawn(frame: pd.DataFrame, *, clicked: bool) -> AltairChart:
    chart = _layers(clicked).copy(deep=False)
    chart.data = frame
    return chart


@functools.cache
def _layers(clicked: bool) -> AltairChart:
    """The marks of a diagram without its data: large ones that can be ``clicked`` on a page, finer ones in a file.

    They are the same in all diagrams. Altair copies a chart many times while it is put together, which takes longer
    than everything else that a page with several diagrams does.
    """
    x, y = share_axis("x", "confidence", "Confidence"), share_axis("y", "accuracy", "Accuracy")
    low = share_axis("x", "low", "Confidence")
    hover = tips(
        ("bin", "Bin"),
        ("n", "Questions", ","),
        ("confidence", "Mean confidence", ".1%"),
        ("accuracy", "Accuracy", ".1%"),
        ("accuracy_low", "95% from", ".1%"),
        ("accuracy_high", "95% to", ".1%"),
        ("consistent_low", "Calibrated: from", ".1%"),
        ("consistent_high", "Calibrated: to", ".1%"),
    )
    filled = alt.Chart().transform_filter("datum.kind == 'bin' && datum.n > 0")
    ideal = alt.Chart().transform_filter("datum.kind == 'ideal'").encode(x, y)
    shares = filled.mark_rect(opacity=0.55).encode(
        low, share_axis("y", "share", "Accuracy"), x2="high", y2=alt.Y2Datum(0)
    )
    by_luck = filled.mark_rect(opacity=0.6)
    by_luck = by_luck.encode(low, share_axis("y", "consistent_low", "Accuracy"), x2="high", y2="consistent_high")
    interval = filled.mark_rule(strokeWidth=1.5 if clicked else 1, opacity=0.7)
    interval = interval.encode(x, share_axis("y", "accuracy_low", "Accuracy"), y2="accuracy_high")
    marks = filled.mark_circle(size=75 if clicked else 24, opacity=1, cursor="pointer").encode(x, y, tooltip=hover)
    top = theme.painted(marks, theme.TRUTH)
    ring = filled.transform_filter("datum.marked").mark_point(size=220, strokeWidth=2, opacity=1).encode(x, y)
    side = PAGE_SIDE if clicked else SIDE
    return alt.layer(
        theme.painted(shares, theme.OUT_OF_SET),
        theme.painted(by_luck, theme.GUARANTEE),
        theme.painted(ideal.mark_line(strokeDash=[4, 4], opacity=0.6), theme.TRUTH),
        theme.painted(interval, theme.TRUTH),
        *(
            [theme.painted(ring, theme.TRUTH), top.add_params(alt.selection_point(name=BIN, fields=["bin"]))]
            if clicked
            else [top]
        ),
    ).properties(width=side, height=side)


def _in_words(bins: pd.DataFrame) -> str:
    held = bins[bins["n"] > 0].to_dict("records")
    return "; ".join(f"{row['confidence']:.0%} sure, {row['accuracy']:.0%} right of {row['n']:,}" for row in held)


@dataclass(frozen=True, slots=True)
class Diagram:
    """One of several diagrams: its name, its bins, and up to two lines written into it."""

    name: str
    bins: pd.DataFrame
    note: tuple[str, ...] = ()


def reliability_panels(diagrams: Sequence[Diagram], columns: int) -> Figure:
    """Diagrams side by side, for a file, each below its name and notes; a single one needs no name."""
    parts = []
    for diagram in diagrams:
        heading = ([diagram.name] if len(diagrams) > 1 else []) + list(diagram.note)
        parts.append(_rows(diagram.bins).assign(diagram="\n".join(heading)))
    frame = pd.concat(parts, ignore_index=True)
    panel = _drawn(frame, clicked=False)
    sentences = " ".join(f"{diagram.name}: {_in_words(diagram.bins)}." for diagram in diagrams)
    return Figure(frame, in_panels(panel, frame["diagram"], columns), f"Reliability. {sentences}", "reliability")


def in_panels(panel: AltairChart, names: pd.Series, columns: int) -> AltairChart:
    """A panel for each value of a column of the panel's data, ``names``, in the order of the rows."""
    order = list(dict.fromkeys(names))
    header = alt.Header(labelLimit=SIDE, labelPadding=3)
    places = alt.Facet(str(names.name), type="nominal", title=None, sort=order, header=header)
    chart: alt.FacetChart = panel.facet(facet=places, columns=columns)
    # An axis that panels share would also stand below the places that the last row leaves empty.
    return chart.resolve_axis(x="independent") if len(order) % columns else chart
