"""Ways of asking: one figure of each method, by the number of shots."""

from __future__ import annotations

from typing import Any

import pandas as pd

from app import theme
from app.charts.compare import INTERVALS, MEASURES
from app.charts.figure import Figure

MARK_HEIGHT = 15
GAP = 12
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
BY_SCORE = ("coverage", "mean_set_size")
SAID = 24
"""Marks that the words for those who do not see the figure name one by one."""


def by_method(rows: pd.DataFrame, measure: str) -> Figure:
    """Methods down, a mark a number of shots with its 95 % interval; of accuracy a dashed line for guessing.

    ``rows`` are those of :func:`core.reports.prompting.experiments.figures` of one score.
    """
    title, form = MEASURES[measure]
    frame = rows.copy()
    frame["asked"] = frame["shots"].map(lambda n: f"{n} shot" if n == 1 else f"{n} shots")
    low, high = INTERVALS[measure]
    frame = frame.assign(low=frame[low], high=frame[high])
    asked = [f"{n} shot" if n == 1 else f"{n} shots" for n in sorted(frame["shots"].unique())]
    top = float(frame["k"].max()) if measure == "mean_set_size" else 1.0
    x: dict[str, Any] = {
        "field": measure,
        "type": "quantitative",
        "title": f"{title}, options" if measure == "mean_set_size" else title,
        "scale": {"domain": [0, top]},
        "axis": {"format": form if measure != "mean_set_size" else "~f", "tickCount": 6},
    }
    y = {
        "field": "title",
        "type": "nominal",
        "title": None,
        "sort": None,
        "axis": {"labelLimit": 190, "ticks": False},
        "scale": {"paddingInner": 0.3},
    }
    offset = {"field": "asked", "type": "nominal", "sort": asked, "scale": {"paddingOuter": 0.5}}
    color = theme.color(theme.score_meaning(rows["score"].iloc[0]) if measure in BY_SCORE else theme.LAC)
    layers = [
        *([_chance(frame, x)] if measure == "accuracy" else []),
        {
            "mark": {"type": "rule", "strokeWidth": 1.5, "opacity": 0.6},
            "encoding": {
                "x": {**x, "field": "low"},
                "x2": {"field": "high"},
                "y": y,
                "yOffset": offset,
                "color": color,
            },
        },
        {
            "mark": {"type": "point", "filled": True, "size": 75, "opacity": 1},
            "encoding": {
                "x": x,
                "y": y,
                "yOffset": offset,
                "color": color,
                "shape": {
                    "field": "asked",
                    "type": "nominal",
                    "sort": asked,
                    "scale": {"domain": asked, "range": [SHAPES[i % len(SHAPES)] for i in range(len(asked))]},
                    "legend": {"orient": "top", "title": None} if len(asked) > 1 else None,
                },
                "tooltip": [
                    {"field": "title", "title": "Asked by"},
                    {"field": "shots", "title": "Shots"},
                    {"field": measure, "title": title, "format": form},
                    {"field": "low", "title": "from", "format": form},
                    {"field": "high", "title": "to", "format": form},
                ],
            },
        },
    ]
    height = frame["title"].nunique() * (MARK_HEIGHT * len(asked) + GAP) + 80
    said = "; ".join(
        f"{row['title']}, {row['asked']}: {row[measure]:.3g}" for row in frame.head(SAID).to_dict("records")
    )
    columns = ["title", "shots", "asked", "score", measure, "low", "high", "chance", "k", "run"]
    return Figure(
        frame[columns],
        {"height": height, "layer": layers},
        f"{title} by way of asking. {said}.",
        f"prompting-{measure.replace('_', '-')}",
    )


def _chance(frame: pd.DataFrame, x: dict[str, Any]) -> dict[str, Any]:
    return {
        "data": {"values": [{"chance": float(frame["chance"].mean())}]},
        "mark": {"type": "rule", "strokeDash": [4, 4], "strokeWidth": 1.5},
        "encoding": {"x": {**x, "field": "chance"}, "color": theme.color(theme.TRUTH)},
    }
