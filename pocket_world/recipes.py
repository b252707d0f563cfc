"""How each pocket model is built and trained: sizes, steps, learning rates, seed."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from core.settings import settings

Stage = Literal["matching", "letters", "everything"]


@dataclass(frozen=True, slots=True)
class Recipe:
    """A model and its training.

    Training has up to three stages: matching for ``matching_steps``, letters for ``letters_steps``, then everything
    for ``steps``. From the letters on, the share ``prose`` of the text is prose. In everything, a share of the rest
    that falls to ``letters`` by the step ``replay`` repeats letters.

    ``rate`` is that of the matrices in everything (Muon), by which one step changes their largest singular value;
    embeddings and norms learn at ``token_rate`` (AdamW). :func:`pocket_world.train.rates` says how both rise and fall.
    A step reads ``forms`` forms of text.

    ``middle`` are layers (1 for the first, rising) that learn what the layers above need: the first of them to predict
    the answer's first token where the question ends, the second that of each option where it ends, read backwards, and
    the third whether that option is right (:func:`pocket_world.batches.weighted_loss`). Two may be one layer.

    A recipe that is ``grown_from`` another model begins as that model, enlarged where it is larger
    (:func:`pocket_world.begin.grow`), with the same tokens, and begins with everything. One for ``chat`` is tuned on
    conversations; its tokenizer has a chat template. ``half`` stores the weights as float16.
    """

    name: str
    hidden: int
    layers: int
    heads: int
    intermediate: int
    seed: int
    steps: int
    rate: float = 0.006
    token_rate: float = 1e-3
    prose: float = 0.0
    replay: int = 0
    letters: float = 0.0
    forms: int = 4
    middle: tuple[int, ...] = ()
    matching_steps: int = 500
    letters_steps: int = 2500
    grown_from: str = ""
    chat: bool = False
    half: bool = False

    @property
    def stage_steps(self) -> dict[Stage, int]:
        """How many steps each stage has, in their order; a grown model has everything alone."""
        return {
            "matching": 0 if self.grown_from else self.matching_steps,
            "letters": 0 if self.grown_from else self.letters_steps,
            "everything": self.steps,
        }

    def position(self, steps_done: int) -> tuple[Stage, int] | None:
        """The stage and the step in it that follow ``steps_done`` steps; None at the end."""
        for stage, steps in self.stage_steps.items():
            if steps_done < steps:
                return stage, steps_done
            steps_done -= steps
        return None


RECIPES = {
    recipe.name: recipe
    for recipe in (
        Recipe("pocket-1m", 128, 6, 4, 192, seed=9, steps=5000, prose=0.25, replay=1000, letters=0.25),
        Recipe(
            "pocket-3m", 192, 6, 6, 384, seed=14, steps=8000, prose=0.15, letters=0.1, half=True,
            grown_from="pocket-1m", forms=8, middle=(4,),
        ),
        Recipe(
            "pocket-3m-instruct", 192, 6, 6, 384, seed=12, steps=2500, letters=0.1, half=True,
            grown_from="pocket-3m", chat=True, forms=8, middle=(4,),
        ),
        Recipe(
            "pocket-8m", 256, 8, 8, 832, seed=15, steps=10000, prose=0.05, letters=0.1, half=True,
            grown_from="pocket-3m", forms=8, middle=(6, 6, 7),
        ),
    )
}  # fmt: skip

HUMBLE = "pocket-8m-humble"
"""The adapter by which pocket-8m is less sure of itself (:mod:`pocket_world.humble`)."""


def work_folder(name: str) -> Path:
    """Where a model is made; the finished model is in ``model`` in there."""
    return settings().home / "pocket" / name
