"""Accuracy against mean set size, one mark per run."""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

from charts import run_styles, theme
from charts.figure import Figure
from charts.measures import tips
from charts.run_names import task_titles
from core.conformal.scores import SCORES

NAMED_RUNS = 12
"""Runs that the words for those who do not see the figure name one by one."""
HEIGHT = 400
NARROW = 620
"""The plot's width on a narrow screen, in pixels, at which labels must not cover each other."""
LETTER_WIDTH = 6.5
LINE_HEIGHT = 15
MARK = 6
PLOT_SHARE = 0.65
"""The part of the height that axis and legend leave to the plot."""
LEGEND_COLUMNS = 5
LABEL_LIMIT = 240
"""Pixels of a task with its bank."""
SHAPES = (
    "circle",
    "square",
    "triangle-up",
    "diamond",
    "cross",
    "triangle-down",
    "triangle-right",
    "triangle-left",
    # A star, a hexagon, an hourglass and a saltire: runs on two banks of five tasks need ten marks.
    "M0,-1L.29,-.4L.95,-.31L.48,.15L.59,.81L0,.5L-.59,.81L-.48,.15L-.95,-.31L-.29,-.4Z",
    "M0,-1L.87,-.5L.87,.5L0,1L-.87,.5L-.87,-.5Z",
    "M-.8,-.9L.8,-.9L-.8,.9L.8,.9Z",
    "M-.9,-.6L-.6,-.9L0,-.3L.6,-.9L.9,-.6L.3,0L.9,.6L.6,.9L0,.3L-.6,.9L-.9,.6L-.3,0Z",
)


def accuracy_against_size(runs: pd.DataFrame, score: str) -> Figure:
    """One mark a run of an overview frame: accuracy to the right, mean set size of ``score`` up, shape by task.

    The axes run from 0 to 1 and from 0 to the most options of any run, so that they stand still while alpha moves.
    Where runs differ in their number of options, the size is drawn as a share of it: only so do they compare.
    """
    size = f"{score}_set_size"
    name, meaning = SCORES[score].title, theme.score_meaning(score)
    most = int(runs["k"].max())
    mixed = runs["k"].nunique() > 1
    frame = runs.assign(height=runs[size] / runs["k"] if mixed else runs[size], task=task_titles(runs))
    frame["label"] = _free_labels(frame, 1 if mixed else most)
    described = ["run", "model", "task", "strategy", "dtype", "form", "k", "accuracy", "accuracy_low", "accuracy_high"]
    frame = frame[[*described, f"{score}_coverage", size, "height", "label"]]

    across: dict[str, Any] = {
        "title": "Accuracy of the top option",
        "scale": alt.Scale(domain=[0, 1]),
        "axis": alt.Axis(format=".0%", tickCount=6),
    }
    y = alt.Y(
        "height:Q",
        title=f"Mean {name} set, share of the options" if mixed else f"Mean {name} set size, options",
        scale=alt.Scale(domain=[0, 1 if mixed else most]),
        axis=alt.Axis(format=".0%") if mixed else alt.Axis(tickCount=min(most, 8)),
    )
    tasks = sorted(frame["task"].unique())
    shape = alt.Shape(
        "task:N",
        title="Task",
        scale=alt.Scale(domain=tasks, range=[SHAPES[i % len(SHAPES)] for i in range(len(tasks))]),
        legend=alt.Legend(
            orient="top",
            offset=4,
            columns=run_styles.narrow(2, LEGEND_COLUMNS),
            labelLimit=run_styles.narrow(110, LABEL_LIMIT),
            **theme.legend_symbols(meaning),
        ),
    )
    hover = tips(
        ("model", "Model"),
        ("task", "Task"),
        ("strategy", "Strategy"),
        ("dtype", "dtype"),
        ("form", "Form"),
        ("accuracy", "Accuracy", ".1%"),
        (f"{score}_coverage", "Coverage", ".1%"),
        (size, "Mean set size", ".2f"),
    )
    base = alt.Chart().encode(alt.X("accuracy:Q", **across), y)
    interval = base.mark_rule(strokeWidth=1.5, opacity=0.55)
    interval = interval.encode(alt.X("accuracy_low:Q", **across), x2="accuracy_high")
    marks = base.mark_point(filled=True, size=110, opacity=0.95).encode(shape=shape, tooltip=hover)
    labels = base.mark_text(align="left", dx=9, dy=-9, limit=180).encode(text="label:N")
    chart = alt.layer(
        theme.painted(interval, meaning),
        theme.painted(marks, meaning),
        # The truth's colour is the ink of the theme in force.
        theme.painted(labels, theme.TRUTH),
        data=frame,
    ).properties(height=HEIGHT)
    return Figure(frame, chart, _in_words(frame, size, name), f"accuracy-and-{score}-set-size")


Box = tuple[float, float, float, float]
"""Left, right, bottom and top, in pixels."""


def _free_labels(frame: pd.DataFrame, top: int) -> list[str]:
    """The model's name where it has room among marks and other names, else nothing: a hover names the mark."""
    spots = [
        (x * NARROW, y / top * HEIGHT * PLOT_SHARE) for x, y in zip(frame["accuracy"], frame["height"], strict=True)
    ]
    marks = [(x - MARK, x + MARK, y - MARK, y + MARK) for x, y in spots]
    names: list[Box] = []
    labels = []
    for i, (model, (x, y)) in enumerate(zip(frame["model"], spots, strict=True)):
        box = (x + MARK + 1, x + MARK + 1 + LETTER_WIDTH * len(model), y + 2, y + 2 + LINE_HEIGHT)
        free = not any(_overlap(box, other) for other in [*names, *marks[:i], *marks[i + 1 :]])
        labels.append(model if free else "")
        if free:
            names.append(box)
    return labels


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[1] and other[0] < one[1] and one[2] < other[3] and other[2] < one[3]


def _in_words(runs: pd.DataFrame, size: str, score: str) -> str:
    said = [
        f"{row['model']} on {row['task']}: accuracy {row['accuracy']:.0%}, {row[size]:.2f} options"
        for row in runs.head(NAMED_RUNS).to_dict("records")
    ]
    return f"Accuracy against mean set size by {score}. " + "; ".join(said) + "."
