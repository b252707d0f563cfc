"""Accuracy against mean set size, a mark a run."""

from __future__ import annotations

from typing import Any

import pandas as pd

from app import theme
from app.charts import series
from app.charts.figure import Figure
from app.charts.tasks import task_labels
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
LEGEND_COLUMNS = 5
LABEL_LIMIT = 240
"""Pixels of a task with its bank."""
"""The part of the height that axis and legend leave to the plot."""
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
    most = int(runs["k"].max())
    mixed = runs["k"].nunique() > 1
    frame = runs.assign(height=runs[size] / runs["k"] if mixed else runs[size], task=task_labels(runs))
    frame["label"] = _free_labels(frame, 1 if mixed else most)
    columns = [
        "run",
        "model",
        "task",
        "strategy",
        "dtype",
        "form",
        "k",
        "accuracy",
        "accuracy_low",
        "accuracy_high",
        f"{score}_coverage",
        size,
    ]
    x: dict[str, Any] = {
        "field": "accuracy",
        "type": "quantitative",
        "title": "Accuracy of the top option",
        "scale": {"domain": [0, 1]},
        "axis": {"format": ".0%", "tickCount": 6},
    }
    name = SCORES[score].title
    y: dict[str, Any] = {
        "field": "height",
        "type": "quantitative",
        "title": f"Mean {name} set, share of the options" if mixed else f"Mean {name} set size, options",
        "scale": {"domain": [0, 1 if mixed else most]},
        "axis": {"format": ".0%"} if mixed else {"tickCount": min(most, 8)},
    }
    color = theme.color(theme.score_meaning(score))
    layers = [_interval(x, y, color), _marks(x, y, color, sorted(frame["task"].unique()), score), _labels(x, y)]
    return Figure(
        frame=frame[[*columns, "height", "label"]],
        spec={"height": HEIGHT, "layer": layers},
        alt=_in_words(frame, size, name),
        name=f"accuracy-and-{score}-set-size",
    )


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


def _interval(x: dict[str, Any], y: dict[str, Any], color: dict[str, Any]) -> dict[str, Any]:
    low = {**x, "field": "accuracy_low"}
    return {
        "mark": {"type": "rule", "strokeWidth": 1.5, "opacity": 0.55},
        "encoding": {"x": low, "x2": {"field": "accuracy_high"}, "y": y, "color": color},
    }


def _marks(x: dict[str, Any], y: dict[str, Any], color: dict[str, Any], tasks: list[str], score: str) -> dict[str, Any]:
    hover = [("model", "Model", None), ("task", "Task", None), ("strategy", "Strategy", None)]
    hover += [("dtype", "dtype", None), ("form", "Form", None)]
    numbers = [
        ("accuracy", "Accuracy", ".1%"),
        (f"{score}_coverage", "Coverage", ".1%"),
        (f"{score}_set_size", "Mean set size", ".2f"),
    ]
    return {
        "mark": {"type": "point", "filled": True, "size": 110, "opacity": 0.95},
        "encoding": {
            "x": x,
            "y": y,
            "color": color,
            "shape": {
                "field": "task",
                "type": "nominal",
                "title": "Task",
                "scale": {"domain": tasks, "range": [SHAPES[i % len(SHAPES)] for i in range(len(tasks))]},
                "legend": {
                    "orient": "top",
                    "offset": 4,
                    "columns": series.narrow(2, LEGEND_COLUMNS),
                    "labelLimit": series.narrow(110, LABEL_LIMIT),
                },
            },
            "tooltip": [
                {"field": field, "title": title, **({"format": form} if form else {})}
                for field, title, form in [*hover, *numbers]
            ],
        },
    }


def _labels(x: dict[str, Any], y: dict[str, Any]) -> dict[str, Any]:
    return {
        "mark": {"type": "text", "align": "left", "dx": 9, "dy": -9, "limit": 180},
        "encoding": {
            "x": x,
            "y": y,
            "text": {"field": "label", "type": "nominal"},
            # The truth's colour is the ink of the theme in force.
            "color": theme.color(theme.TRUTH),
        },
    }


def _in_words(runs: pd.DataFrame, size: str, score: str) -> str:
    said = [
        f"{row['model']} on {row['task']}: accuracy {row['accuracy']:.0%}, {row[size]:.2f} options"
        for row in runs.head(NAMED_RUNS).to_dict("records")
    ]
    return f"Accuracy against mean set size by {score}. " + "; ".join(said) + "."
