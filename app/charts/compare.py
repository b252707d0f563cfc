"""Runs side by side: heat maps, bars, radar, set sizes, claims, and what abstaining costs.

Frames come from :func:`core.reports.compare.benchmark.run_rows` (a row a run and score) unless said otherwise.
"""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from app import theme
from app.charts import series
from app.charts.figure import Figure
from app.charts.tasks import task_labels
from core.conformal.scores import SCORES

MEASURES: dict[str, tuple[str, str]] = {
    "accuracy": ("Accuracy", ".0%"),
    "coverage": ("Coverage", ".0%"),
    "mean_set_size": ("Mean set size", ".2f"),
    "uacc": ("UAcc", ".2f"),
    "ece_excess": ("ECE beyond luck", ".3f"),
}
"""From a figure's column to its title and how it is written."""
INTERVALS = {
    "accuracy": ("accuracy_low", "accuracy_high"),
    "coverage": ("coverage_low", "coverage_high"),
    "mean_set_size": ("set_size_low", "set_size_high"),
    "uacc": ("uacc_low", "uacc_high"),
    "ece_excess": ("ece_low", "ece_high"),
}
"""Figures with an interval, and its columns."""
AROUND_BARS = 120
"""Pixels of a bar chart's height for its legend, axis and margins: a single run's bars need room beside them."""
LEGEND_ROW = 18
SHADE = 0.6
"""The opacity of a heat map's strongest cell."""
CELL = 34
LEVEL_COLUMNS = 4
"""Columns of a heat map whose long names stand level above them; those of more are slanted."""
LEVEL_LETTERS = 8
NAMED_MODELS = 6
"""Models of a claim that have their names beside them; where there are more, a hover names each."""
RADAR = {
    "Accuracy": lambda row: row["accuracy"],
    "Coverage": lambda row: row["coverage"],
    "Small sets": lambda row: 1 - (row["mean_set_size"] - 1) / (row["k"] - 1),
    "UAcc": lambda row: min(row["uacc"] / math.sqrt(row["k"]), 1.0),
    "1 − ECE": lambda row: 1 - row["ece"],
}
"""A radar's axes, each from 0 at the centre to 1 at the rim."""


def short_names(rows: pd.DataFrame) -> pd.Series:
    """A name for each row's run: its model, and what else tells it from the others."""
    settings = [name for name in ("strategy", "shots", "dtype", "form") if name in rows]
    of_one = rows.groupby(["model", "task", "bank"])
    more = [name for name in settings if of_one[name].nunique().max() > 1]

    def name(row: pd.Series) -> str:
        said = [f"{row[key]} shots" if key == "shots" else str(row[key]) for key in more]
        return " · ".join([str(row["model"]), *said])

    return rows.apply(name, axis=1)


def heat_map(rows: pd.DataFrame, measure: str) -> Figure:
    """Runs down, tasks across, the figure in the cell and as its shade."""
    title, form = MEASURES[measure]
    frame = rows.assign(name=short_names(rows), task=task_labels(rows))[["name", "task", measure, "run"]]
    frame = frame.groupby(["name", "task"], sort=False)[measure].mean().reset_index()
    top = float(rows["k"].max()) if measure == "mean_set_size" else 1.0
    low = 0.0
    return _cells(
        frame,
        "task",
        "Task",
        measure,
        title,
        form,
        (low, top),
        f"heat-map-{measure.replace('_', '-')}",
        f"{title} of each run on each task",
    )


def shaded(value: str, title: str, domain: tuple[float, float]) -> dict[str, Any]:
    """Encodings of a cell from the page's own colour at the start of ``domain`` to blue at its end, in both themes.

    At its strongest the blue still lets the text be read in the text's colour (tests/app/test_theme.py).
    """
    scale = {"domain": list(domain), "range": [0, SHADE], "clamp": True}
    strength = {"field": value, "type": "quantitative", "title": title, "scale": scale, "legend": None}
    return {"color": theme.color(theme.LAC), "fillOpacity": strength}


def _cells(
    frame: pd.DataFrame,
    x: str,
    x_title: str,
    value: str,
    title: str,
    form: str,
    domain: tuple[float, float],
    name: str,
    alt: str,
) -> Figure:
    steep = frame[x].nunique() > LEVEL_COLUMNS and frame[x].astype(str).str.len().max() > LEVEL_LETTERS
    across = {"labelAngle": -25 if steep else 0, "orient": "top", "labelLimit": 240, "labelOverlap": False}
    shared = {
        "x": {"field": x, "type": "ordinal", "title": x_title, "axis": across},
        "y": {
            "field": "name",
            "type": "nominal",
            "title": None,
            "sort": None,
            "axis": {"labelLimit": series.narrow(150, 260)},
        },
    }
    spec = {
        "height": CELL * frame["name"].nunique() + 80,
        "encoding": shared,
        "layer": [
            {
                "mark": {"type": "rect"},
                "encoding": {
                    **shaded(value, title, domain),
                    "tooltip": [
                        {"field": "name", "title": "Run"},
                        {"field": x, "title": x_title},
                        {"field": value, "title": title, "format": form},
                    ],
                },
            },
            {
                "mark": {"type": "text", "fontSize": 12},
                "encoding": {
                    "text": {"field": value, "type": "quantitative", "format": form},
                    "color": theme.color(theme.TRUTH),
                },
            },
        ],
    }
    said = "; ".join(f"{row['name']}, {row[x]}: {row[value]:.3g}" for row in frame.head(24).to_dict("records"))
    return Figure(frame, spec, f"{alt}: {said}.", name)


def bars(rows: pd.DataFrame, measure: str) -> Figure:
    """A bar a run and score with its 95 % interval, tasks beside each other."""
    title, form = MEASURES[measure]
    frame = rows.assign(
        name=short_names(rows),
        task=task_labels(rows),
        method=rows["score"].map(lambda name: SCORES[name].title),
    )
    by_score = measure in ("coverage", "mean_set_size", "uacc")
    if not by_score:
        frame = frame.drop_duplicates("run").assign(method=theme.LAC)
    if measure in INTERVALS:
        low, high = INTERVALS[measure]
        frame = frame.assign(low=frame[low], high=frame[high])
    frame["place"] = frame["name"] + ("  " + frame["task"] if frame["task"].nunique() > 1 else "")
    share = form.endswith("%")
    x = {
        "field": measure,
        "type": "quantitative",
        "title": title,
        "scale": {"domain": [0, 1] if share else [0, float(rows["k"].max()) if measure == "mean_set_size" else None]},
        "axis": {"format": form},
    }
    if not share and measure != "mean_set_size":
        x["scale"] = {"zero": True}
    y: dict[str, Any] = {
        "field": "place",
        "type": "nominal",
        "title": None,
        "sort": None,
        "axis": {"labelLimit": series.narrow(150, 340)},
    }
    order = sorted(frame["method"].unique(), key=lambda title: title != theme.LAC)
    offset = {"yOffset": {"field": "method", "type": "nominal", "sort": order}} if by_score else {}
    color = {
        "field": "method",
        "type": "nominal",
        "scale": theme.score_scale(rows["score"].unique()),
        "legend": {"orient": "top", "title": None, "values": order} if by_score else None,
    }
    tooltip = [
        {"field": "place", "title": "Run"},
        *([{"field": "method", "title": "Sets by"}] if by_score else []),
        {"field": measure, "title": title, "format": form},
    ]
    layers: list[dict[str, Any]] = [
        {
            "mark": {"type": "bar", "height": {"band": 0.8}},
            "encoding": {"x": x, "y": y, **offset, "color": color, "tooltip": tooltip},
        }
    ]
    if measure in INTERVALS:
        layers.append(
            {
                "mark": {"type": "rule", "strokeWidth": 2},
                "encoding": {
                    "x": {**x, "field": "low"},
                    "x2": {"field": "high"},
                    "y": y,
                    **offset,
                    "color": theme.color(theme.TRUTH),
                },
            }
        )
    height = (26 if by_score else 22) * frame["place"].nunique() * (1.4 if by_score else 1) + AROUND_BARS
    said = "; ".join(
        f"{row['place']} {row['method'] if by_score else ''} {row[measure]:.3g}"
        for row in frame.head(24).to_dict("records")
    )
    return Figure(frame, {"height": height, "layer": layers}, f"{title}: {said}.", f"bars-{measure.replace('_', '-')}")


def radar(rows: pd.DataFrame) -> Figure:
    """Five figures of each run at once, a small star a run; the rim is the best there is, the centre 0."""
    names = list(RADAR)
    angles = [2 * math.pi * i / len(names) for i in range(len(names))]
    points: list[dict[str, Any]] = []
    grid: list[dict[str, Any]] = []
    table = rows.assign(name=short_names(rows) + "  " + task_labels(rows)).to_dict("records")
    for row in table:
        values = [max(0.0, min(1.0, float(RADAR[axis](row)))) for axis in names]
        for i in [*range(len(names)), 0]:
            points.append(
                {
                    "name": row["name"],
                    "axis": names[i],
                    "value": values[i],
                    "x": values[i] * math.sin(angles[i]),
                    "y": values[i] * math.cos(angles[i]),
                    "order": len(points),
                    "kind": "run",
                }
            )
        for ring in (0.5, 1.0):
            for i in [*range(len(names)), 0]:
                grid.append(
                    {
                        "name": row["name"],
                        "axis": names[i] if ring == 1 and len(grid) % 12 != 11 else "",
                        "value": ring,
                        "x": ring * math.sin(angles[i]),
                        "y": ring * math.cos(angles[i]),
                        "order": len(grid),
                        "kind": f"ring {ring}",
                    }
                )
    frame = pd.DataFrame([*points, *grid])
    x = {"field": "x", "type": "quantitative", "axis": None, "scale": {"domain": [-1.75, 1.75]}}
    y = {"field": "y", "type": "quantitative", "axis": None, "scale": {"domain": [-1.25, 1.35]}}
    only = [{"filter": "datum.kind == 'run'"}]
    rings = [{"filter": "datum.kind != 'run'"}]
    label = [*rings, {"filter": "datum.kind == 'ring 1' && datum.axis != ''"}]
    label = [{"filter": "datum.value == 1 && datum.kind != 'run' && datum.axis != ''"}]
    layers = [
        {
            "transform": rings,
            "mark": {"type": "line", "strokeWidth": 1, "opacity": 0.5},
            "encoding": {
                "x": x,
                "y": y,
                "order": {"field": "order"},
                "detail": {"field": "kind"},
                "color": theme.color(theme.OUT_OF_SET),
            },
        },
        {
            "transform": label,
            "mark": {"type": "text", "fontSize": 10},
            "encoding": {
                "x": {**x, "field": "lx"},
                "y": {**y, "field": "ly"},
                "text": {"field": "axis"},
                "color": theme.color(theme.TRUTH),
            },
        },
        {
            "transform": only,
            "mark": {"type": "line", "strokeWidth": 2, "point": {"filled": True, "size": 30}},
            "encoding": {
                "x": x,
                "y": y,
                "order": {"field": "order"},
                "color": theme.color(theme.LAC),
                "tooltip": [{"field": "axis", "title": "Figure"}, {"field": "value", "format": ".3f", "title": "Of 1"}],
            },
        },
    ]
    layers[1]["transform"] = [
        *label,
        {"calculate": "datum.x * 1.28", "as": "lx"},
        {"calculate": "datum.y * 1.18", "as": "ly"},
    ]
    spec = {
        "facet": {"field": "name", "type": "nominal", "title": None, "header": {"labelLimit": 260}, "sort": None},
        "columns": 3,
        "spec": {"width": 230, "height": 190, "layer": layers},
        "config": {"view": {"stroke": None}},
    }
    said = "; ".join(f"{row['name']}, {row['axis']}: {row['value']:.2f}" for row in points[:30])
    return Figure(frame, spec, f"Five figures of each run from 0 to 1: {said}.", "radar")


def set_sizes(counts: pd.DataFrame) -> Figure:
    """How often sets have each size: a frame with ``name``, ``size`` and ``share``, runs down and sizes across."""
    return _cells(
        counts,
        "size",
        "Options in the set",
        "share",
        "Share of sets",
        ".0%",
        (0.0, 1.0),
        "set-sizes",
        "Share of sets of each size",
    )


def sizes_when_right(frame: pd.DataFrame) -> Figure:
    """Mean set size where the top option is right and where it is wrong: ``name``, ``right`` and ``wrong``."""
    long = frame.melt(id_vars="name", value_vars=["right", "wrong"], var_name="when", value_name="size")
    x = {"field": "size", "type": "quantitative", "title": "Mean set size, options", "scale": {"zero": True}}
    y = {
        "field": "name",
        "type": "nominal",
        "title": None,
        "sort": None,
        "axis": {"labelLimit": series.narrow(150, 260)},
    }
    layers = [
        {
            "mark": {"type": "line", "strokeWidth": 1.5, "opacity": 0.6},
            "encoding": {"x": x, "y": y, "detail": {"field": "name"}, "color": theme.color(theme.TRUTH)},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 120, "opacity": 1},
            "encoding": {
                "x": x,
                "y": y,
                "shape": {
                    "field": "when",
                    "type": "nominal",
                    "scale": {"domain": ["right", "wrong"], "range": ["circle", "cross"]},
                    "legend": {"orient": "top", "title": "Where the top option is"},
                },
                "color": theme.color(theme.LAC),
                "tooltip": [
                    {"field": "name", "title": "Run"},
                    {"field": "when", "title": "Top option"},
                    {"field": "size", "format": ".2f", "title": "Mean set size"},
                ],
            },
        },
    ]
    said = "; ".join(
        f"{row['name']}: {row['right']:.2f} where right, {row['wrong']:.2f} where wrong"
        for row in frame.to_dict("records")
    )
    return Figure(
        long, {"height": CELL * len(frame) + 90, "layer": layers}, f"Mean set size. {said}.", "sizes-when-right"
    )


def claim(points: pd.DataFrame, name: str, x_title: str, *, log: bool = False, diagonal: bool = False) -> Figure:
    """A claim's models: ``x`` and ``y`` (mean set size) with ``model`` beside each mark."""
    scale = {"type": "log"} if log else {"zero": False}
    x: dict[str, Any] = {"field": "x", "type": "quantitative", "title": x_title, "scale": scale}
    if log:
        x["axis"] = {"tickCount": 3, "format": "~s"}
    y = {"field": "y", "type": "quantitative", "title": "Mean set size", "scale": {"zero": False}}
    layers: list[dict[str, Any]] = []
    if diagonal and len(points):
        ends = [float(points[["x", "y"]].to_numpy().min()), float(points[["x", "y"]].to_numpy().max())]
        layers.append(
            {
                "data": {"values": [{"x": end, "y": end} for end in ends]},
                "mark": {"type": "line", "strokeDash": [4, 4], "strokeWidth": 1.5},
                "encoding": {"x": x, "y": y, "color": theme.color(theme.OUT_OF_SET)},
            }
        )
    layers += [
        {
            "mark": {"type": "point", "filled": True, "size": 90, "opacity": 0.95},
            "encoding": {
                "x": x,
                "y": y,
                "color": theme.color(theme.LAC),
                "tooltip": [
                    {"field": "model", "title": "Model"},
                    {"field": "x", "title": x_title, "format": ".3~s"},
                    {"field": "y", "title": "Mean set size", "format": ".2f"},
                ],
            },
        },
        {
            "transform": [{"filter": "true" if len(points) <= NAMED_MODELS else "false"}],
            "mark": {"type": "text", "align": "left", "dx": 8, "dy": -7, "fontSize": 11, "limit": 150},
            "encoding": {"x": x, "y": y, "text": {"field": "model"}, "color": theme.color(theme.TRUTH)},
        },
    ]
    said = "; ".join(f"{row['model']}: {row['x']:.3g}, {row['y']:.2f}" for row in points.head(20).to_dict("records"))
    return Figure(
        points, {"height": 260, "layer": layers}, f"{x_title} against mean set size. {said}.", f"claim-{name}"
    )


def risk_curves(frame: pd.DataFrame) -> Figure:
    """Error among the surest share of questions: ``name``, ``share``, ``risk``; told apart by colour, then dash."""
    names = list(dict.fromkeys(frame["name"]))
    legend = {**series.legend(names), "symbolSize": 500}  # long enough to show a dash
    run = {"field": "name", "type": "nominal", "legend": legend}
    spec = {
        "height": 320 + LEGEND_ROW * math.ceil(len(names) / 2),
        "mark": {"type": "line", "strokeWidth": 2},
        "encoding": {
            "x": {
                "field": "share",
                "type": "quantitative",
                "title": "Questions answered, the surest first",
                "scale": {"domain": [0, 1]},
                "axis": {"format": ".0%"},
            },
            "y": {
                "field": "risk",
                "type": "quantitative",
                "title": "Wrong among the answered",
                "scale": {"domain": [0, 1]},
                "axis": {"format": ".0%"},
            },
            "color": {**run, "scale": series.color_scale(names)},
            "strokeDash": {**run, "scale": series.dash_scale(names)},
        },
    }
    return Figure(
        frame, spec, f"Error against the share of questions answered, for {', '.join(names)}.", "risk-coverage"
    )


def abstention_cost(frame: pd.DataFrame) -> Figure:
    """What a question costs at each alpha: ``alpha``, ``cost``, ``answered``, ``accuracy`` of one run."""
    x = {"field": "alpha", "type": "quantitative", "title": "alpha", "scale": {"domain": [0, 1]}}
    lines = frame.melt(
        id_vars="alpha", value_vars=["cost", "answered", "accuracy"], var_name="what", value_name="value"
    ).dropna()
    lines["what"] = lines["what"].map({"cost": "mean cost", "answered": "answered", "accuracy": "right among answered"})
    spec = {
        "height": 320,
        "mark": {"type": "line", "strokeWidth": 2},
        "encoding": {
            "x": x,
            "y": {
                "field": "value",
                "type": "quantitative",
                "title": "Share of questions, or cost",
                "scale": {"domain": [0, 1]},
            },
            "strokeDash": {
                "field": "what",
                "type": "nominal",
                "scale": {
                    "domain": ["mean cost", "answered", "right among answered"],
                    "range": [[1, 0], [6, 3], [2, 2]],
                },
                "legend": {"orient": "top", "title": None, "symbolStrokeWidth": 2},
            },
            "color": theme.color(theme.LAC),
        },
    }
    best = frame.iloc[int(frame["cost"].argmin())]
    return Figure(
        lines, spec, f"Cost is least at alpha {best['alpha']:.3f}: {best['cost']:.3f} a question.", "abstention-cost"
    )
