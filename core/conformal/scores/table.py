"""The table of scores that is sent to the browser with a run's data: texts, parameters and tuning grid of each."""

from typing import Any

from core.conformal.scores import SCORES, UNTUNED, Parameters, offered_scores


def score_table(*, ordered: bool = False) -> list[dict[str, Any]]:
    """One record per score of questions with or without ``ordered`` options, in the order of :data:`SCORES`, with the
    keys that JavaScript uses."""
    return [
        {
            "name": entry.name,
            "title": entry.title,
            "gloss": entry.gloss,
            "sentence": entry.sentence,
            "formula": entry.formula,
            "source": entry.source,
            "randomised": entry.randomised,
            "saturates": entry.saturates,
            "parameters": list(entry.parameters),
            "untuned": _parameters(UNTUNED),
            "grid": [_parameters(parameters) for parameters in entry.grid],
        }
        for entry in map(SCORES.__getitem__, offered_scores(ordered=ordered))
    ]


def _parameters(parameters: Parameters) -> dict[str, float]:
    return {"weight": parameters.weight, "freeRanks": parameters.free_ranks}
