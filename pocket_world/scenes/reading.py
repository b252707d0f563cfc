"""Reading comprehension: a passage of two to five sentences and a question that needs it."""

from __future__ import annotations

import random

from pocket_world.made import BankQuestion, six
from pocket_world.relations import DIFFICULTIES, Difficulty
from pocket_world.scenes.frame import Ask, Frame, Scene, false_values
from pocket_world.scenes.shown import Plans
from pocket_world.scenes.stories import STORIES

_PLANS: Plans[Frame] = Plans(STORIES, lambda frame: frame.name)

_INSIDE: dict[Difficulty, float] = {"easy": 0.0, "medium": 1.0, "hard": 1.0}
"""How often false options come from the passage itself, where it holds any of the kind."""


def reading(rng: random.Random, *, training: bool) -> BankQuestion:
    """A passage with a question; the difficulty is the question's."""
    level = rng.choices(DIFFICULTIES, weights=(3, 4, 3))[0]
    while True:
        frame = _PLANS.draw(rng, training=training)
        if asks := [ask for ask in frame.asks if ask.level == level]:
            break
    scene, ask = frame.draw(rng), rng.choice(asks)
    inside = rng.random() < _INSIDE[ask.level]
    wrong = false_values(scene, ask.answer, rng, count=3, inside=inside, excluded=ask.excluded)
    question = six(
        "rc",
        frame.name,
        passage(scene, ask, rng),
        scene.say(rng.choice(ask.wordings)),
        right=scene.values[ask.answer],
        wrong=wrong,
        rng=rng,
    )
    return BankQuestion(question, ask.level)


def passage(scene: Scene, ask: Ask, rng: random.Random) -> str:
    """The sentences that a question needs, the first one, and others up to five in all, in their order."""
    needed = {0, *ask.needs}
    rest = [place for place in range(len(scene.frame.sentences)) if place not in needed]
    count = rng.randint(max(2, len(needed)), 5)
    places = sorted([*needed, *rng.sample(rest, count - len(needed))])
    return " ".join(scene.say(rng.choice(scene.frame.sentences[place])) for place in places)
