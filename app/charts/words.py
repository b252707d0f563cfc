"""Perplexities: a dumbbell a conversation, loss along a conversation; frames of :mod:`core.reports.perplexity`."""

from __future__ import annotations

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
MARKS = {"A": (theme.LAC, "circle"), "B": (theme.APS, "square"), "none": (theme.TRUTH, "triangle-up")}
"""A prompt's place: its colour's meaning and its shape."""
ROW = 30


def _scales(names: Mapping[str, str]) -> dict[str, Any]:
    """Shape and colour by a prompt's name; ``names`` goes from its place to its name."""
    shapes = {"domain": list(names.values()), "range": [MARKS[place][1] for place in names]}
    meanings = {name: MARKS[place][0] for place, name in names.items()}
    return {
        "shape": {
            "field": "prompt",
            "type": "nominal",
            "scale": shapes,
            "legend": {"orient": "top", "title": None, "labelLimit": 300},
        },
        "meanings": meanings,
    }


def dumbbell(table: pd.DataFrame, measure: str, names: Mapping[str, str]) -> Figure:
    """A row a conversation, a mark a prompt, a line between A and B."""
    title, form = MEASURES[measure]
    scales = _scales(names)
    frame = table.assign(meaning=table["prompt"].map(scales["meanings"]))
    x = {"field": measure, "type": "quantitative", "title": title, "scale": {"zero": False, "nice": True}}
    order = list(dict.fromkeys(frame["conversation"]))
    y = {"field": "conversation", "type": "nominal", "title": None, "sort": order, "axis": {"labelLimit": 240}}
    ends = [name for place, name in names.items() if place != "none"]
    color = {"field": "meaning", "type": "nominal", "scale": theme.COLOR_SCALE, "legend": None}
    layers = [
        {
            "transform": [{"filter": {"field": "prompt", "oneOf": ends}}],
            "mark": {"type": "line", "strokeWidth": 2, "opacity": 0.5},
            "encoding": {"x": x, "y": y, "detail": {"field": "conversation"}, "color": theme.color(theme.TRUTH)},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 110, "opacity": 1},
            "encoding": {
                "x": x,
                "y": y,
                "shape": scales["shape"],
                "color": color,
                "tooltip": [
                    {"field": "conversation", "title": "Conversation"},
                    {"field": "prompt", "title": "Prompt"},
                    {"field": measure, "title": title, "format": form},
                    {"field": "messages", "title": "Messages"},
                    {"field": "tokens", "title": "Tokens"},
                ],
            },
        },
    ]
    said = "; ".join(
        f"{row['conversation']}, {row['prompt']}: {row[measure]:.4g}" for row in frame.head(30).to_dict("records")
    )
    spec = {"height": ROW * len(order) + 90, "layer": layers}
    return Figure(frame.drop(columns="meaning"), spec, f"{title}. {said}.", f"perplexity-{measure.replace('_', '-')}")


def along(frame: pd.DataFrame, names: Mapping[str, str]) -> Figure:
    """Mean loss of the counselor's first message that was scored, the second, and so on, a line a prompt."""
    scales = _scales(names)
    shown = frame.assign(meaning=frame["prompt"].map(scales["meanings"]))
    x = {
        "field": "place",
        "type": "quantitative",
        "title": "Counselor's message in the conversation",
        "axis": {"tickMinStep": 1, "format": "d"},
    }
    y = {"field": "loss", "type": "quantitative", "title": "Loss, nats a token", "scale": {"zero": False}}
    color = {"field": "meaning", "type": "nominal", "scale": theme.COLOR_SCALE, "legend": None}
    layers = [
        {
            "mark": {"type": "line", "strokeWidth": 2},
            "encoding": {"x": x, "y": y, "detail": {"field": "prompt"}, "color": color},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 70, "opacity": 1},
            "encoding": {
                "x": x,
                "y": y,
                "color": color,
                "shape": scales["shape"],
                "tooltip": [
                    {"field": "prompt", "title": "Prompt"},
                    {"field": "place", "title": "Message"},
                    {"field": "loss", "title": "Nats a token", "format": ".3f"},
                    {"field": "messages", "title": "Conversations"},
                ],
            },
        },
    ]
    said = "; ".join(f"{r['prompt']}, message {r['place']}: {r['loss']:.3f}" for r in frame.head(36).to_dict("records"))
    return Figure(shown.drop(columns="meaning"), {"height": 300, "layer": layers}, f"Loss. {said}.", "loss-along")
