"""Perplexities: a dumbbell a conversation, loss along a conversation; frames of :mod:`core.reports.perplexity`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from app import theme
from app.charts.figure import Figure

MEASURES = {
    "perplexity": ("Perplexity", ",.1f"),
    "message_mean": ("Mean of the messages' perplexities", ",.1f"),
    "bits_per_byte": ("Bits per byte", ".3f"),
}
"""From a figure's column to its title and how it is written."""
UNIFORM = {"perplexity": "uniform", "message_mean": "uniform", "bits_per_byte": "uniform_bits_per_byte"}
"""From a figure's column to that of guessing all tokens alike."""
UNIFORM_TITLE = "uniform: all tokens alike"
WIDER = 1.5
"""The uniform level is drawn where it lies within so many times the largest figure; farther out it would squeeze all
differences into the edge."""
SHAPES = {"A": "circle", "B": "square", "none": "triangle-up"}
"""A prompt's mark by its place. In this order they have the theme's first colours: those of LAC, APS and the truth."""
BETWEEN = "#8a93a0"
"""The line between two marks, a grey that both themes show."""
ROW = 30


def _marks(names: Mapping[str, str], encoding: dict[str, Any], *, lines: bool) -> list[dict[str, Any]]:
    """A layer of marks a prompt, and before it one of lines; ``names`` goes from a prompt's place to its name."""
    legend = {"orient": "top", "direction": "vertical", "title": None, "labelLimit": 300}
    domain = list(names.values())
    prompt = {"field": "prompt", "type": "nominal", "legend": legend}
    color = {**prompt, "scale": {"domain": domain}}
    shape = {**prompt, "scale": {"domain": domain, "range": [SHAPES[place] for place in names]}}
    layers: list[dict[str, Any]] = []
    for place, name in names.items():
        only = [{"filter": {"field": "prompt", "equal": name}}]
        if lines:
            line = {"type": "line", "strokeWidth": 2, "strokeDash": [1, 0] if place == "A" else [6, 3]}
            layers.append({"transform": only, "mark": line, "encoding": {**encoding, "color": color}})
        mark = {"type": "point", "filled": True, "size": 100, "opacity": 1}
        layers.append({"transform": only, "mark": mark, "encoding": {**encoding, "color": color, "shape": shape}})
    return layers


def dumbbell(table: pd.DataFrame, measure: str, names: Mapping[str, str]) -> Figure:
    """A row a conversation, a mark a prompt, a line between A and B."""
    title, form = MEASURES[measure]
    x = {
        "field": measure,
        "type": "quantitative",
        "title": title,
        "scale": {"zero": False, "nice": True},
        "axis": {"tickCount": 6},
    }
    order = list(dict.fromkeys(table["conversation"]))
    y = {"field": "conversation", "type": "nominal", "title": None, "sort": order, "axis": {"labelLimit": 240}}
    ends = [name for place, name in names.items() if place != "none"]
    tooltip = [
        {"field": "conversation", "title": "Conversation"},
        {"field": "prompt", "title": "Prompt"},
        {"field": measure, "title": title, "format": form},
        {"field": "messages", "title": "Messages"},
        {"field": "tokens", "title": "Tokens"},
    ]
    between = {
        "transform": [{"filter": {"field": "prompt", "oneOf": ends}}],
        "mark": {"type": "line", "strokeWidth": 2, "color": BETWEEN},
        "encoding": {"x": x, "y": y, "detail": {"field": "conversation"}},
    }
    layers = [
        between,
        *_uniform_ticks(table, measure, x, y),
        *_marks(names, {"x": x, "y": y, "tooltip": tooltip}, lines=False),
    ]
    said = "; ".join(
        f"{row['conversation']}, {row['prompt']}: {row[measure]:.4g}" for row in table.head(30).to_dict("records")
    )
    spec = {"height": ROW * len(order) + 130, "layer": layers}
    return Figure(table, spec, f"{title}. {said}.", f"perplexity-{measure.replace('_', '-')}")


def uniform_is_drawn(table: pd.DataFrame, measure: str) -> bool:
    """Whether the uniform level is known, and near enough to the figures to stand among them."""
    column = UNIFORM[measure]
    return column in table and bool(table[column].min() <= WIDER * table[measure].max())


def _uniform_ticks(table: pd.DataFrame, measure: str, x: dict[str, Any], y: dict[str, Any]) -> list[dict[str, Any]]:
    """A tick a conversation where guessing all tokens alike would be, and its name above the first."""
    if not uniform_is_drawn(table, measure):
        return []
    level = {"field": UNIFORM[measure], "type": "quantitative", "scale": x["scale"], "title": x["title"]}
    about = [{"field": "conversation", "title": "Conversation"}, {"field": UNIFORM[measure], "title": "Uniform"}]
    first = [{"filter": {"field": "conversation", "equal": str(table["conversation"].iloc[0])}}]
    return [
        {
            "mark": {"type": "tick", "thickness": 3, "size": ROW - 2, "color": BETWEEN},
            "encoding": {"x": level, "y": y, "tooltip": about},
        },
        {
            "transform": [*first, {"window": [{"op": "row_number", "as": "row"}]}, {"filter": "datum.row === 1"}],
            "mark": {"type": "text", "dy": -ROW // 2 - 4, "color": theme.ink(), "text": UNIFORM_TITLE},
            "encoding": {"x": level, "y": y},
        },
    ]


def along(frame: pd.DataFrame, names: Mapping[str, str], *, vocabulary: int | None = None) -> Figure:
    """Mean loss of the counselor's first message that was scored, the second, and so on, a line a prompt.

    The level of guessing all tokens of the ``vocabulary`` alike, ln V, is drawn where it is known and near.
    """
    x = {
        "field": "place",
        "type": "quantitative",
        "title": "Counselor's message in the conversation",
        "axis": {"tickMinStep": 1, "format": "d"},
    }
    y = {"field": "loss", "type": "quantitative", "title": "Loss, nats a token", "scale": {"zero": False}}
    tooltip = [
        {"field": "prompt", "title": "Prompt"},
        {"field": "place", "title": "Message"},
        {"field": "loss", "title": "Nats a token", "format": ".3f"},
        {"field": "messages", "title": "Conversations"},
    ]
    layers = _marks(names, {"x": x, "y": y, "tooltip": tooltip}, lines=True)
    if vocabulary and math.log(vocabulary) <= WIDER * frame["loss"].max():
        level = {"y": {"datum": math.log(vocabulary), "type": "quantitative"}}
        rule = {"type": "rule", "strokeWidth": 2, "strokeDash": [2, 3], "color": BETWEEN}
        name = {"type": "text", "align": "left", "x": 4, "dy": -7, "color": theme.ink(), "text": UNIFORM_TITLE}
        once = [{"aggregate": [{"op": "count", "as": "rows"}]}]  # drawn for each row, letters would lie on each other
        layers = [*({"transform": once, "mark": mark, "encoding": level} for mark in (rule, name)), *layers]
    said = "; ".join(f"{r['prompt']}, message {r['place']}: {r['loss']:.3f}" for r in frame.head(36).to_dict("records"))
    return Figure(frame, {"height": 340, "layer": layers}, f"Loss. {said}.", "loss-along")
