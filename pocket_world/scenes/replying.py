"""Dialogue response selection: a short dialogue, the right reply, one that is made up, and two from elsewhere.

Half of the dialogues are about what was said in them, half ask for a fact of the tables.
"""

import random
from collections.abc import Callable, Set

from core.records import Question
from pocket_world.questions import BankQuestion, six
from pocket_world.relations import DIFFICULTIES, Difficulty, Fact
from pocket_world.scenes.frame import Frame, Scene, changed, fitting, slots_of
from pocket_world.scenes.pools import POOLS
from pocket_world.scenes.shown import Plans
from pocket_world.scenes.talks import TALKS
from pocket_world.world import relations

_PLANS: Plans[Frame] = Plans(TALKS, lambda frame: frame.name)

QUESTION = "Which reply fits the dialogue and is true?"

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


def replying(rng: random.Random, fact: Draw, *, training: bool) -> BankQuestion:
    """A dialogue with four replies, about what was said in it or about a fact that ``fact`` draws."""
    if rng.random() < 0.5:
        return _about_a_fact(rng, fact)
    return _about_what_was_said(rng, training=training)


def turns(*texts: str) -> str:
    """The turns of a dialogue, the person's first."""
    return " ".join(f"[{'Assistant' if place % 2 else 'Human'}]: {text}" for place, text in enumerate(texts))


def replies(rng: random.Random, *, count: int) -> list[Question]:
    """``count`` questions about what was said in one dialogue, as training asks them."""
    level = rng.choice(DIFFICULTIES)
    while True:
        scene = _PLANS.draw(rng, training=True).draw(rng)
        text, slots = _dialogue(scene, rng)
        chosen = [wording for _ in range(count) if (wording := fitting(scene, slots, rng)) is not None]
        if chosen:
            return [_question(scene, text, slots, wording, level, rng, training=True) for wording in chosen]


def _about_what_was_said(rng: random.Random, *, training: bool) -> BankQuestion:
    level = rng.choice(DIFFICULTIES)
    while True:
        scene = _PLANS.draw(rng, training=training).draw(rng)
        text, slots = _dialogue(scene, rng)
        if (wording := fitting(scene, slots, rng)) is not None:
            break
    return BankQuestion(_question(scene, text, slots, wording, level, rng, training=training), level)


def _dialogue(scene: Scene, rng: random.Random) -> tuple[str, set[str]]:
    """The text, and the slots that it tells."""
    chosen = [rng.choice(wordings) for wordings in scene.frame.sentences]
    return turns(*(scene.say(wording) for wording in chosen)), set().union(*map(slots_of, chosen))


def _question(
    scene: Scene, text: str, slots: Set[str], wording: str, level: Difficulty, rng: random.Random, *, training: bool
) -> Question:
    right = scene.say(wording)
    wrong = [changed(scene, wording, slots, level, rng)]
    while len(wrong) < 3:
        other = scene.frame if level == "hard" and len(wrong) == 1 else _PLANS.draw(rng, training=training)
        if other is scene.frame and not (level == "hard" and len(wrong) == 1):
            continue
        reply = _reply(other.draw(rng), rng)
        if reply not in (right, *wrong):
            wrong.append(reply)
    return six("drs", scene.frame.name, text, QUESTION, right=right, wrong=wrong, rng=rng)


def _reply(scene: Scene, rng: random.Random) -> str:
    return scene.say(rng.choice(scene.frame.summaries))


def _about_a_fact(rng: random.Random, draw: Draw) -> BankQuestion:
    """The false reply is near the truth in half of the cases; of the other two, a hard one has one on the subject."""
    fact = draw(rng)
    relation = relations()[fact.relation]
    wording = rng.randrange(len(fact.statements))
    near = fact.wrong[: fact.near] if fact.near and rng.random() < 0.5 else fact.wrong
    right = fact.statements[wording]
    wrong = [relation.state(fact.key, rng.choice(near), wording)]
    while len(wrong) < 3:
        other = draw(rng)
        alike = other.group == fact.group
        if alike != (fact.difficulty == "hard" and len(wrong) == 1) or other.twin == fact.twin:
            continue
        statement = rng.choice(other.statements)
        if statement not in (right, *wrong):
            wrong.append(statement)
    opening = rng.choice(_OPENINGS).format(p=rng.choice(POOLS["person"]), group=_TOPICS.get(fact.group, fact.group))
    text = turns(opening, rng.choice(_ANSWERS), rng.choice(dialogue_wordings(fact)))
    question = six("drs", fact.group, text, QUESTION, right=right, wrong=wrong, rng=rng)
    return BankQuestion(question, fact.difficulty)


def dialogue_wordings(fact: Fact) -> list[str]:
    """The wordings in which a dialogue may ask for a fact: all but the one that the bank of questions keeps."""
    return [text for place, text in enumerate(fact.questions) if place != fact.bank_wording]
