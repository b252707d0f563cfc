"""Reliability diagrams, and coverage asked for against coverage had."""

from __future__ import annotations

from typing import Any

import pandas as pd

from app import theme
from app.charts import series
from app.charts.figure import Figure

SIDE = 350
BIN = "bin"
"""The name of the selection of a click on a bin."""


def _share(field: str, title: str | None) -> dict[str, Any]:
    axis = {"format": ".0%", "tickCount": 5}
    return {"field": field, "type": "quantitative", "title": title, "scale": {"domain": [0, 1]}, "axis": axis}


def reliability_diagram(bins: pd.DataFrame, curve: pd.DataFrame, title: str, name: str) -> Figure:
    """Accuracy against confidence: a mark a bin on where luck would keep a calibrated model's, and a smooth curve.

    ``bins`` and ``curve`` are of :mod:`core.reports.calibration.calibrated`; grey bars are the bins' shares of the
    questions. An empty bin has no mark. A click on a bin selects it (:data:`BIN`).
    """
    n = int(bins["n"].sum())
    frame = pd.concat(
        [
            bins.assign(kind="bin", share=bins["n"] / max(n, 1)),
            curve[["confidence", "accuracy"]].dropna().assign(kind="curve"),
            pd.DataFrame({"kind": "ideal", "confidence": [0.0, 1.0], "accuracy": [0.0, 1.0]}),
        ],
        ignore_index=True,
    )
    filled = {"filter": "datum.kind == 'bin' && datum.n > 0"}
    x, y = _share("confidence", "Confidence"), _share("accuracy", "Accuracy")
    low, high = _share("low", "Confidence"), {"field": "high"}
    tips = [
        ("bin", "Bin", None),
        ("n", "Questions", ","),
        ("confidence", "Mean confidence", ".1%"),
        ("accuracy", "Accuracy", ".1%"),
        ("accuracy_low", "95 % from", ".1%"),
        ("accuracy_high", "95 % to", ".1%"),
        ("consistent_low", "Calibrated: from", ".1%"),
        ("consistent_high", "Calibrated: to", ".1%"),
    ]
    tooltip = [{"field": field, "title": said, **({"format": form} if form else {})} for field, said, form in tips]
    layers: list[dict[str, Any]] = [
        {
            "transform": [filled],
            "mark": {"type": "rect", "opacity": 0.55},
            "encoding": {"x": low, "x2": high, "y": _share("share", None), "y2": {"datum": 0}}
            | {"color": theme.color(theme.OUT_OF_SET)},
        },
        {
            "transform": [filled],
            "mark": {"type": "rect", "opacity": 0.6},
            "encoding": {"x": low, "x2": high, "y": _share("consistent_low", "Accuracy")}
            | {"y2": {"field": "consistent_high"}, "color": theme.color(theme.GUARANTEE)},
        },
        {
            "transform": [{"filter": "datum.kind == 'ideal'"}],
            "mark": {"type": "line", "strokeDash": [4, 4], "opacity": 0.6},
            "encoding": {"x": x, "y": y, "color": theme.color(theme.TRUTH)},
        },
        {
            "transform": [{"filter": "datum.kind == 'curve'"}],
            "mark": {"type": "line", "strokeWidth": 2},
            "encoding": {"x": x, "y": y, "color": theme.color(theme.IN_SET)},
        },
        {
            "transform": [filled],
            "mark": {"type": "rule", "strokeWidth": 1.5, "opacity": 0.7},
            "encoding": {"x": x, "y": _share("accuracy_low", "Accuracy"), "y2": {"field": "accuracy_high"}}
            | {"color": theme.color(theme.TRUTH)},
        },
        {
            "transform": [filled],
            "params": [{"name": BIN, "select": {"type": "point", "fields": ["bin"]}}],
            "mark": {"type": "circle", "size": 75, "opacity": 1, "cursor": "pointer"},
            "encoding": {"x": x, "y": y, "color": theme.color(theme.TRUTH), "tooltip": tooltip},
        },
    ]
    spec = {"width": SIDE, "height": SIDE, "layer": layers}
    held = bins[bins["n"] > 0].to_dict("records")
    said = "; ".join(f"{row['confidence']:.0%} sure, {row['accuracy']:.0%} right of {row['n']:,}" for row in held)
    return Figure(frame, spec, f"Reliability of {title}: {said}.", name)


def nominal_and_actual(frame: pd.DataFrame) -> Figure:
    """Coverage had against coverage asked for, a line a run and score, on the guarantee's band."""
    shown = frame.assign(method=frame["score"].map(theme.score_meaning))
    names = list(dict.fromkeys(shown["name"]))
    dashes = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [10, 4], [3, 5]]
    x = _share("nominal", "Coverage asked for: 1 − alpha")
    y = _share("coverage", "Coverage had")
    band = shown[shown["name"] == names[0]]
    layers: list[dict[str, Any]] = [
        {
            "transform": [{"filter": f"datum.first && datum.score == '{band['score'].iloc[0]}'"}],
            "mark": {"type": "area", "opacity": 0.6},
            "encoding": {"x": x, "y": _share("low", "Coverage had"), "y2": {"field": "high"}}
            | {"color": theme.color(theme.GUARANTEE)},
        },
        {
            "mark": {"type": "line", "strokeWidth": 2},
            "encoding": {
                "x": x,
                "y": y,
                "color": {
                    "field": "method",
                    "type": "nominal",
                    "scale": theme.COLOR_SCALE,
                    "legend": {"title": None, "orient": "top", "values": sorted(set(shown["method"]))},
                },
                "strokeDash": {
                    "field": "name",
                    "type": "nominal",
                    "scale": {"domain": names, "range": [dashes[i % len(dashes)] for i in range(len(names))]},
                    "legend": {
                        "title": None,
                        "orient": "top",
                        "columns": series.narrow(1, 2),
                        "labelLimit": series.narrow(200, 260),
                    }
                    if len(names) > 1
                    else None,
                },
                "tooltip": [
                    {"field": "name", "title": "Run"},
                    {"field": "method", "title": "Sets by"},
                    {"field": "nominal", "title": "Asked for", "format": ".1%"},
                    {"field": "coverage", "title": "Had", "format": ".1%"},
                    {"field": "low", "title": "Band from", "format": ".1%"},
                    {"field": "high", "title": "Band to", "format": ".1%"},
                ],
            },
        },
    ]
    shown = shown.assign(first=shown["name"] == names[0])
    worst = (shown["nominal"] - shown["coverage"]).max()
    short = f"it falls short by {max(worst, 0):.1%} at most"
    alt = f"Coverage had against coverage asked for, of {', '.join(names)}; {short}."
    return Figure(shown, {"height": 380, "layer": layers}, alt, "nominal-and-actual-coverage")
