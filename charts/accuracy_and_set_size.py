"""Accuracy against mean set size, one panel per task and one mark per run, coloured by model.

Altair repeats the panel for each task.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import altair as alt
import pandas as pd

from charts import run_styles, theme
from charts.figure import AltairChart, Figure
from charts.measures import tips
from charts.run_names import short_names, task_titles
from core.conformal.scores import SCORES
from core.reports.run_filter import name_order, task_key, task_order

NAMED_RUNS = 12
"""Runs that the words for those who do not see the figure name one by one."""
OPENED = "opened"
"""The chart's parameter that a click on a mark sets; its field is ``run``."""
HEIGHT = 250
SHAPES = (
    # A circle, a square, triangles, diamonds, crosses, a star, a hexagon and an hourglass, in a box from -1 to 1.
    "M-1,0A1,1,0,1,1,1,0A1,1,0,1,1,-1,0Z",
    "M-.9,-.9L.9,-.9L.9,.9L-.9,.9Z",
    "M0,-1L1,.8L-1,.8Z",
    "M0,-1.2L1,0L0,1.2L-1,0Z",
    "M-.3,-1L.3,-1L.3,-.3L1,-.3L1,.3L.3,.3L.3,1L-.3,1L-.3,.3L-1,.3L-1,-.3L-.3,-.3Z",
    "M0,1L1,-.8L-1,-.8Z",
    "M1,0L-.8,1L-.8,-1Z",
    "M-1,0L.8,1L.8,-1Z",
    "M0,-1L.29,-.4L.95,-.31L.48,.15L.59,.81L0,.5L-.59,.81L-.48,.15L-.95,-.31L-.29,-.4Z",
    "M0,-1L.87,-.5L.87,.5L0,1L-.87,.5L-.87,-.5Z",
    "M-.8,-.9L.8,-.9L-.8,.9L.8,.9Z",
    "M-.9,-.6L-.6,-.9L0,-.3L.6,-.9L.9,-.6L.3,0L.9,.6L.6,.9L0,.3L-.6,.9L-.9,.6L-.3,0Z",
)
"""Shapes as SVG paths, of Vega-Lite's marks and of a legend that is drawn beside the panels."""


@dataclass(frozen=True, slots=True)
class ModelStyle:
    """The look of a model's marks: the ``meaning`` whose colour they take, and their shape as an SVG path."""

    name: str
    meaning: str
    shape: str


@dataclass(frozen=True, slots=True)
class Panel:
    """The figure of one task. ``key`` tells it from the other panels; ``opens``: a click on a mark names a run."""

    key: str
    title: str
    options: int
    figure: Figure
    opens: bool = True


def model_styles(models: Sequence[str]) -> list[ModelStyle]:
    """A colour and a shape for each model, in the order of their names: no two are alike for 36 models."""
    colors, n = run_styles.COLORS, len(SHAPES)
    return [
        ModelStyle(name, colors[i % len(colors)], SHAPES[(i + i // n) % n])
        for i, name in enumerate(sorted(set(models), key=name_order))
    ]


def accuracy_against_size(runs: pd.DataFrame, score: str, published: pd.DataFrame | None = None) -> list[Panel]:
    """A panel for each task of an overview frame: accuracy to the right, mean set size of ``score`` up, a mark per run.

    The axes run from 0 to 1 and from 0 to the options of the task, so that they stand still while alpha moves. Tasks
    with another number of options have an axis of their own.

    ``published`` has figures that others print (``model``, ``task``, ``bank``, ``task_key``, ``k``, ``accuracy``,
    ``set_size``, ``source``, ``note``). They are hollow diamonds, in the panel of their questions or in one of their
    own.
    """
    printed = pd.DataFrame() if published is None else published
    panels = [] if runs.empty else _of_runs(runs, score, printed)
    there = {panel.key for panel in panels}
    for group in [group for _, group in printed.groupby(["task_key", "k"], sort=False)] if len(printed) else []:
        key, options = f"{group['task_key'].iloc[0]}-{group['k'].iloc[0]}", int(group["k"].iloc[0])
        if key not in there:
            panels.append(Panel(key, task_titles(group)[0], options, _published_panel(group, options), opens=False))
    return panels


def _of_runs(runs: pd.DataFrame, score: str, printed: pd.DataFrame) -> list[Panel]:
    keys = [task_key(task, bank) for task, bank in runs[["task", "bank"]].itertuples(index=False)]
    frame = runs.assign(task_key=keys, title=task_titles(runs), name=short_names(runs))
    styles = model_styles(frame["model"].tolist())
    base = f"accuracy-and-{score}-set-size"
    groups = sorted(
        ((str(rows["task_key"].iloc[0]), int(rows["k"].iloc[0]), rows) for _, rows in frame.groupby(["task_key", "k"])),
        key=lambda group: (task_order(group[0]), group[1]),
    )
    panels = []
    for key, options, rows in groups:
        name = base if len(groups) == 1 else f"{base}-{re.sub('[^a-z0-9]+', '-', key.lower()).strip('-')}-{options}"
        same = printed[(printed["task_key"] == key) & (printed["k"] == options)] if len(printed) else printed
        figure = _panel(rows, score, styles, name, same)
        panels.append(Panel(f"{key}-{options}", str(rows["title"].iloc[0]), options, figure))
    return panels


def _published_panel(printed: pd.DataFrame, options: int) -> Figure:
    """The panel of questions that have published figures only."""
    title = task_titles(printed)[0]
    across, upward = _axes(options, "Mean set size")
    return Figure(
        printed,
        alt.layer(_published_marks(printed, across, upward)).properties(height=HEIGHT),
        f"Published accuracy against mean set size on {title}. {_published_words(printed)}",
        f"published-accuracy-and-set-size-{re.sub('[^a-z0-9]+', '-', title.lower()).strip('-')}",
    )


def _published_marks(printed: pd.DataFrame, across: dict[str, Any], upward: dict[str, Any]) -> alt.Chart:
    """A hollow diamond for each published figure. It has no colour of a model, and no interval."""
    frame = printed.assign(published=printed["model"], title=task_titles(printed))
    hover = tips(
        ("published", "Model"),
        ("title", "Task"),
        ("accuracy", "Accuracy", ".1%"),
        ("set_size", "Mean set size", ".2f"),
        ("source", "Source"),
        ("note", "How"),
    )
    shown = frame[["published", "title", "accuracy", "set_size", "source", "note"]]
    marks = alt.Chart(shown).mark_point(
        filled=False, shape="diamond", size=70, strokeWidth=1.5, opacity=0.9, stroke=theme.ink()
    )
    placed: alt.Chart = marks.encode(alt.X("accuracy:Q", **across), alt.Y("set_size:Q", **upward), tooltip=hover)
    return placed


def _published_words(printed: pd.DataFrame) -> str:
    clauses = [
        f"{row['model']}: accuracy {row['accuracy']:.0%}, {row['set_size']:.2f} options"
        for row in printed.to_dict("records")
    ]
    return "Published, not computed here: " + "; ".join(clauses) + "."


def _axes(options: int, title: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Accuracy from 0 to 1, and set size from 0 to the options of the task."""
    across = {"title": "Accuracy", "scale": alt.Scale(domain=[0, 1]), "axis": alt.Axis(format=".0%", tickCount=5)}
    upward = {
        "title": title,
        "scale": alt.Scale(domain=[0, options]),
        "axis": alt.Axis(tickCount=min(options, 8), format="d"),
    }
    return across, upward


def _panel(runs: pd.DataFrame, score: str, styles: Sequence[ModelStyle], name: str, printed: pd.DataFrame) -> Figure:
    size = f"{score}_set_size"
    ends = [f"{size}_low", f"{size}_high"]
    shown = ["run", "model", "title", "name", "k", "accuracy", "accuracy_low", "accuracy_high", f"{score}_coverage"]
    frame = runs[[*shown, size, *ends]]
    sentence = _in_words(frame, size, SCORES[score].title)
    return Figure(
        frame,
        _drawn(frame, score, styles, printed, with_legend=False),
        sentence if printed.empty else f"{sentence} {_published_words(printed)}",
        name,
        for_file=partial(_drawn, frame, score, styles, printed, with_legend=True),
    )


def _drawn(
    frame: pd.DataFrame, score: str, styles: Sequence[ModelStyle], printed: pd.DataFrame, *, with_legend: bool
) -> AltairChart:
    """The chart of one task. On a page the panels share one legend beside them; a file has its own."""
    size, k = f"{score}_set_size", int(frame["k"].iloc[0])
    names = [style.name for style in styles]
    used = [name for name in names if name in set(frame["model"])]
    legend = run_styles.legend(used) if with_legend else None
    across, upward = _axes(k, f"Mean {SCORES[score].title} set size")
    color = alt.Color("model:N", scale=run_styles.color_scale(names), legend=legend)
    shape = alt.Shape("model:N", scale=run_styles.scale(names, [style.shape for style in styles]), legend=legend)
    hover = tips(
        ("name", "Model"),
        ("title", "Task"),
        ("accuracy", "Accuracy", ".1%"),
        (f"{score}_coverage", "Coverage", ".1%"),
        (size, "Mean set size", ".2f"),
    )
    base = alt.Chart().encode(alt.X("accuracy:Q", **across), alt.Y(f"{size}:Q", **upward))
    rules = base.mark_rule(strokeWidth=1.5, opacity=0.5)
    accuracies = rules.encode(alt.X("accuracy_low:Q", **across), color=color, x2="accuracy_high")
    sizes = rules.encode(alt.Y(f"{size}_low:Q", **upward), color=color, y2=f"{size}_high")
    marks = base.mark_point(filled=True, size=90, opacity=0.95, cursor="pointer")
    marks = marks.encode(color=color, shape=shape, tooltip=hover)
    opened = alt.selection_point(name=OPENED, fields=["run"])
    layers = [accuracies, sizes, marks if with_legend else marks.add_params(opened)]
    if not printed.empty:
        layers.append(_published_marks(printed, across, upward))
    return alt.layer(*layers, data=frame).properties(height=HEIGHT)


def _in_words(runs: pd.DataFrame, size: str, score: str) -> str:
    clauses = [
        f"{row['name']}: accuracy {row['accuracy']:.0%}, {row[size]:.2f} options"
        for row in runs.head(NAMED_RUNS).to_dict("records")
    ]
    return f"Accuracy against mean set size by {score} on {runs['title'].iloc[0]}. " + "; ".join(clauses) + "."
