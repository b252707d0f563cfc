"""How each pocket model is built and trained: sizes, steps, learning rates, seed."""

from __future__ import annotations

from dataclasses import dataclass

from core.errors import InputError


@dataclass(frozen=True, slots=True)
class Recipe:
    """A model and its training.

    Training has three stages: pairs until ``pairs_goal`` (accuracy, 0 to 1) or ``pairs_steps``, binding until
    ``binding_goal`` or ``binding_steps``, then facts for ``steps`` steps. The learning rate rises over 100 steps,
    stays, and in the last ``cooldown`` steps of the last stage falls to a twentieth, so that a longer training is the
    shorter one carried on before its cooldown. ``tasks`` are what the last stage practises.

    A recipe that is ``grown_from`` another model begins as that model, enlarged (:mod:`core.pocket.grow`), and has the
    last stage alone; it keeps the other's tokenizer where that has ``vocabulary`` tokens, else it moves to one made of
    the new text. A model that is not ``shipped`` is a step on the way and stays in the work folder; one for ``chat`` is
    tuned on conversations, and its tokenizer has a chat template.
    """

    name: str
    hidden: int
    layers: int
    heads: int
    intermediate: int
    seed: int
    pairs_steps: int
    pairs_goal: float
    binding_steps: int
    binding_goal: float
    binding_rate: float
    steps: int
    cooldown: int
    rate: float
    grown_from: str = ""
    vocabulary: int = 5120
    tasks: tuple[str, ...] = ("qa", "rc", "ci", "drs", "ds")
    shipped: bool = True
    chat: bool = False


RECIPES = {
    "pocket-1m-facts": Recipe(
        name="pocket-1m-facts",
        hidden=128,
        layers=4,
        heads=4,
        intermediate=384,
        seed=7,
        pairs_steps=8000,
        pairs_goal=0.9,
        binding_steps=4000,
        binding_goal=0.8,
        binding_rate=2e-3,
        steps=6500,
        cooldown=2000,
        rate=1.5e-3,
        vocabulary=4096,
        tasks=("qa",),
        shipped=False,
    ),
    "pocket-1m": Recipe(
        name="pocket-1m",
        hidden=128,
        layers=4,
        heads=4,
        intermediate=384,
        seed=9,
        pairs_steps=0,
        pairs_goal=0.9,
        binding_steps=0,
        binding_goal=0.8,
        binding_rate=2e-3,
        steps=3500,
        cooldown=1500,
        rate=1.5e-3,
        grown_from="pocket-1m-facts",
    ),
    "pocket-3m": Recipe(
        name="pocket-3m",
        hidden=192,
        layers=6,
        heads=6,
        intermediate=384,
        seed=11,
        pairs_steps=0,
        pairs_goal=0.9,
        binding_steps=0,
        binding_goal=0.8,
        binding_rate=2e-3,
        steps=8000,
        cooldown=3000,
        rate=1e-3,
        grown_from="pocket-1m",
    ),
    "pocket-3m-instruct": Recipe(
        name="pocket-3m-instruct",
        hidden=192,
        layers=6,
        heads=6,
        intermediate=384,
        seed=12,
        pairs_steps=0,
        pairs_goal=0.9,
        binding_steps=0,
        binding_goal=0.8,
        binding_rate=2e-3,
        steps=2000,
        cooldown=1000,
        rate=5e-4,
        grown_from="pocket-3m",
        chat=True,
    ),
    "pocket-8m": Recipe(
        name="pocket-8m",
        hidden=256,
        layers=8,
        heads=8,
        intermediate=704,
        seed=13,
        pairs_steps=0,
        pairs_goal=0.9,
        binding_steps=0,
        binding_goal=0.8,
        binding_rate=2e-3,
        steps=8000,
        cooldown=3000,
        rate=7e-4,
        grown_from="pocket-3m",
    ),
}


def recipe(name: str) -> Recipe:
    """The recipe of a model by name; InputError for an unknown one."""
    if name not in RECIPES:
        raise InputError(f"unknown pocket model {name!r}; choose from {', '.join(RECIPES)}")
    return RECIPES[name]
