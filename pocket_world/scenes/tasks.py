"""A question of each task about a made-up scene, or about a fact of the tables that a dialogue asks for."""

import random
from collections.abc import Callable

from pocket_world.questions import BankQuestion, six
from pocket_world.relations import Fact
from pocket_world.scenes.going_on import going_on
from pocket_world.scenes.passages import REPLY, agreeing, dialogue, reading
from pocket_world.scenes.pools import POOLS
from pocket_world.world import relations

Draw = Callable[[random.Random], Fact]
"""Draws a fact of the tables that may be talked about."""

_OPENINGS = (
    "{p} asked me about {group}.",
    "I talked with {p} about {group}.",
    "{p} gave me a book about {group}.",
    "At school {p} tells us about {group}.",
    "{p} and I have a quiz about {group}.",
    "Let us talk about {group}, like {p}.",
    "Help me with {group}; {p} does not know.",
    "{p} wants to know more about {group}.",
)
_TOPICS = {"calendar": "the calendar", "people": "famous people", "kinds": "kinds of things"}
_ANSWERS = ("Ask me.", "Go on.", "What is it?", "Gladly.", "I can help.", "Let me try.", "Of course.")


def scene_question(task: str, rng: random.Random, draw: Draw, *, training: bool) -> BankQuestion:
    """A question of the task ``rc``, ``ci``, ``ds`` or ``drs``. Half of the dialogues of ``drs`` are about what was
    said in them, half ask for a fact that ``draw`` draws."""
    if task == "rc":
        return reading(rng, training=training)
    if task == "ci":
        return going_on(rng, training=training)
    if task == "drs" and rng.random() < 0.5:
        return _about_a_fact(rng, draw)
    (question,), level = agreeing(task, rng, training=training)
    return BankQuestion(question, level)


def _about_a_fact(rng: random.Random, draw: Draw) -> BankQuestion:
    """The right reply, a false one, and two that state other facts. The false reply is near the truth in half of the
    cases; of the other two, a hard one has one on the subject."""
    fact = draw(rng)
    wording = rng.randrange(len(fact.statements))
    near = fact.wrong[: fact.near] if fact.near and rng.random() < 0.5 else fact.wrong
    right = fact.statements[wording]
    wrong = [relations()[fact.relation].state(fact.key, rng.choice(near), wording)]
    while len(wrong) < 3:
        other = draw(rng)
        alike = other.group == fact.group
        if alike == (fact.difficulty == "hard" and len(wrong) == 1) and other.twin != fact.twin:
            wrong += {rng.choice(other.statements)} - {right, *wrong}
    opening = rng.choice(_OPENINGS).format(p=rng.choice(POOLS["person"]), group=_TOPICS.get(fact.group, fact.group))
    text = dialogue([opening, rng.choice(_ANSWERS), rng.choice(fact.training_questions)])
    return BankQuestion(six("drs", fact.group, text, REPLY, right=right, wrong=wrong, rng=rng), fact.difficulty)
