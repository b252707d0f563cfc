"""The table of scores that is sent to the browser with a run's data: texts, parameters and tuning grid of each."""

from typing import Any

from core.conformal.scores import SCORES, UNTUNED, Parameters


def score_table() -> list[dict[str, Any]]:
    """One record per score, in the order of :data:`SCORES`, with the keys that JavaScript uses."""
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
