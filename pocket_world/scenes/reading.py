"""Reading comprehension: a passage of two to five sentences and a question that needs it."""

import random
from collections.abc import Set

from core.records import Question
from pocket_world.questions import BankQuestion, six
from pocket_world.relations import DIFFICULTIES
from pocket_world.scenes.frame import Ask, Frame, Scene, false_values
from pocket_world.scenes.shown import Plans
from pocket_world.scenes.stories import STORIES

_PLANS: Plans[Frame] = Plans(STORIES, lambda frame: frame.name)

_LONGEST = 5
"""Sentences of a passage at most."""


def reading(rng: random.Random, *, training: bool) -> BankQuestion:
    """A passage with a question; the difficulty is the question's."""
    level = rng.choices(DIFFICULTIES, weights=(3, 4, 3))[0]
    while True:
        frame = _PLANS.draw(rng, training=training)
        if asks := [ask for ask in frame.asks if ask.level == level]:
            break
    scene, ask = frame.draw(rng), rng.choice(asks)
    wrong = _wrong(scene, ask, rng)
    text = _passage(scene, {0, *ask.needs}, rng)
    return BankQuestion(_question(scene, ask, text, wrong, rng), level)


def readings(rng: random.Random, *, count: int) -> list[Question]:
    """Up to ``count`` questions about one passage, as training asks them: it holds what each of them needs."""
    frame = _PLANS.draw(rng, training=True)
    scene, asks, needed = frame.draw(rng), list[Ask](), {0}
    for ask in rng.sample(frame.asks, len(frame.asks)):
        if len(asks) < count and len(needed | {*ask.needs}) <= _LONGEST:
            asks.append(ask)
            needed |= {*ask.needs}
    text = _passage(scene, needed, rng)
    return [_question(scene, ask, text, _wrong(scene, ask, rng), rng) for ask in asks]


def _wrong(scene: Scene, ask: Ask, rng: random.Random) -> list[str]:
    """Three false options; if the question isn't easy, values from the scene come first."""
    inside = rng.random() < (ask.level != "easy")
    return false_values(scene, ask.answer, rng, count=3, inside=inside, excluded=ask.excluded)


def _question(scene: Scene, ask: Ask, text: str, wrong: list[str], rng: random.Random) -> Question:
    wording = scene.say(rng.choice(ask.wordings))
    return six("rc", scene.frame.name, text, wording, right=scene.values[ask.answer], wrong=wrong, rng=rng)


def _passage(scene: Scene, needed: Set[int], rng: random.Random) -> str:
    """The sentences that are needed, and others up to five in all, in their order."""
    rest = [place for place in range(len(scene.frame.sentences)) if place not in needed]
    count = rng.randint(max(2, len(needed)), _LONGEST)
    places = sorted([*needed, *rng.sample(rest, count - len(needed))])
    return " ".join(scene.say(rng.choice(scene.frame.sentences[place])) for place in places)
