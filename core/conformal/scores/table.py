"""The table of scores that goes to the browser with a run's data: what is said of each, and how it is tuned."""

from __future__ import annotations

from typing import Any

from core.conformal.scores import SCORES, UNTUNED, Parameters


def score_table() -> list[dict[str, Any]]:
    """Every score in the order of :data:`SCORES`, by the names that JavaScript uses."""
    return [
        {
            "name": of.name,
            "title": of.title,
            "gloss": of.gloss,
            "sentence": of.sentence,
            "formula": of.formula,
            "source": of.source,
            "randomised": of.randomised,
            "saturates": of.saturates,
            "parameters": list(of.parameters),
            "untuned": _parameters(UNTUNED),
            "grid": [_parameters(parameters) for parameters in of.grid],
        }
        for of in SCORES.values()
    ]


def _parameters(of: Parameters) -> dict[str, float]:
    return {"weight": of.weight, "freeRanks": of.free_ranks}
