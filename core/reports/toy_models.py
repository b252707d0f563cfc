"""Toy models: the small models that were made for Hedge and ship with it. They know only its question bank, so pages
tell them from published models.
"""

import functools
from collections.abc import Iterable

from core.models.memory_estimate import parameters
from core.models.model_sources import ships

TOY = "toy model"


def marked_toy(model: str) -> str:
    """A model's name, with a mark if it is a toy model.

    >>> marked_toy("pocket-8m"), marked_toy("Mistral-7B")
    ('pocket-8m (toy)', 'Mistral-7B')
    """
    return f"{model} (toy)" if ships(model) else model


def what_they_are(models: Iterable[str]) -> str:
    """A sentence on the toy models among these; empty without any.

    >>> what_they_are(["pocket-8m", "Mistral-7B"])
    'pocket-8m is a toy model of 8 million parameters, made for Hedge, that knows only its question bank.'
    >>> what_they_are(["pocket-8m", "pocket-1m"])[:66]
    'pocket-8m and pocket-1m are toy models of 1 to 8 million parameter'
    """
    toys = [model for model in dict.fromkeys(models) if ships(model)]
    sizes = sorted(_millions(model) for model in toys)
    if not toys:
        return ""
    if len(toys) == 1:
        return (
            f"{toys[0]} is a toy model of {sizes[0]} million parameters, made for Hedge, that knows only its question "
            "bank."
        )
    names = f"{', '.join(toys[:-1])} and {toys[-1]}" if len(toys) < 4 else "The pocket models"
    return (
        f"{names} are toy models of {sizes[0]} to {sizes[-1]} million parameters, made for Hedge, that know only its "
        "question bank."
    )


@functools.cache
def _millions(model: str) -> int:
    return round(parameters(model) / 1e6)
