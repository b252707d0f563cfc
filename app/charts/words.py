"""Perplexities: a dumbbell a conversation, loss along a conversation; frames of :mod:`core.reports.perplexity`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from app.charts.figure import Figure

MEASURES = {
    "perplexity": ("Perplexity", ",.1f"),
    "message_mean": ("Mean of the messages' perplexities", ",.1f"),
    "bits_per_byte": ("Bits per byte", ".3f"),
}
"""From a figure's column to its title and how it is written."""
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
    layers = [between, *_marks(names, {"x": x, "y": y, "tooltip": tooltip}, lines=False)]
    said = "; ".join(
        f"{row['conversation']}, {row['prompt']}: {row[measure]:.4g}" for row in table.head(30).to_dict("records")
    )
    spec = {"height": ROW * len(order) + 130, "layer": layers}
    return Figure(table, spec, f"{title}. {said}.", f"perplexity-{measure.replace('_', '-')}")


def along(frame: pd.DataFrame, names: Mapping[str, str]) -> Figure:
    """Mean loss of the counselor's first message that was scored, the second, and so on, a line a prompt."""
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
    said = "; ".join(f"{r['prompt']}, message {r['place']}: {r['loss']:.3f}" for r in frame.head(36).to_dict("records"))
    return Figure(frame, {"height": 340, "layer": layers}, f"Loss. {said}.", "loss-along")
