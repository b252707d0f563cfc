"""Commonsense inference: a situation, and how it most sensibly goes on.

A line of ``plans/activities.txt`` names an activity as it begins ("to bake bread"), then its steps in order, each said
of a person in the present tense; ``{his}``, ``{him}`` and ``{he}`` stand for the person's pronouns.
"""

import random
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pocket_world.questions import BankQuestion, six
from pocket_world.relations import DIFFICULTIES
from pocket_world.scenes.frame import PLANS, say
from pocket_world.scenes.pools import POOLS
from pocket_world.weighted import Plans


class Activity(NamedTuple):
    """An activity's aim ("bake bread") and its steps in order, verb first."""

    name: str
    steps: Sequence[str]


_LINES = (PLANS / "activities.txt").read_text(encoding="utf-8").splitlines()
ACTIVITIES = Plans([Activity(name, steps.split("; ")) for name, _, steps in (line.partition(": ") for line in _LINES)])

QUESTION = "How does it most sensibly go on?"

_AIMS = (
    "{p} wants to {aim}.",
    "Today {p} is going to {aim}.",
    "On {day} {p} decides to {aim}.",
    "{p} is about to {aim}.",
    "In {month} {p} finds the time to {aim}.",
    "It is {day}, and {p} would like to {aim}.",
    "{p} has promised {q} to {aim}.",
    "{q} watches {p}, who wants to {aim}.",
)
_SCENES = ("It is {day}.", "It is {month}.", "{q} is watching {p}.", "{p} is not alone: {q} looks on.", "{p} has time.")
_FIRST = ("First {p_he}", "{p_He}", "To begin with, {p_he}")
_NOW = ("{p_He}", "Now {p_he}", "At the moment {p_he}", "Just now {p_he}")
_THEN = ("Then {p_he}", "{p_He}", "After that {p_he}", "Next {p_he}")


def going_on(rng: random.Random, *, training: bool) -> BankQuestion:
    """A situation and four ways in which it may go on; each option is what the person does next.

    The right one is the step that follows those told. Easy: the aim is told, the false ones are of other activities.
    Medium: one of them is a step that was told already. Hard: the aim isn't told, and one false option is a step of
    the same activity that comes later or came before.
    """
    level = rng.choice(DIFFICULTIES)
    activity = ACTIVITIES.draw(rng, training=training)
    steps = activity.steps
    following = rng.randint(1 if level == "easy" else 2, len(steps) - 1)
    told_places = list(range(max(0, following - rng.randint(1, 3)), following))
    values = _values(rng)
    lines = _lines(activity, told_places, rng.choice(_AIMS if level != "hard" else _SCENES), rng)
    # The false options that are of the activity itself: none, a step already told, or one far from the next.
    far = [place for place in range(len(steps)) if place < following or place > following + 1]
    wrong = [] if level == "easy" else [steps[rng.choice(told_places if level == "medium" else far)]]
    while len(wrong) < 3:
        other = ACTIVITIES.draw(rng, training=training)
        step = rng.choice(other.steps)
        if other is not activity and step not in wrong:
            wrong.append(step)
    text = " ".join(say(line, values) for line in lines)
    right, *false_options = (_option(step, values) for step in (steps[following], *wrong))
    return BankQuestion(six("ci", activity.name, text, QUESTION, right=right, wrong=false_options, rng=rng), level)


def gone_through(rng: random.Random) -> list[str]:
    """An activity told from one of its steps to the last one, as training tells it."""
    activity, values = ACTIVITIES.draw(rng, training=True), _values(rng)
    first = rng.choice((0, 0, rng.randrange(len(activity.steps) - 1)))
    opening = rng.choice(_AIMS if rng.random() < 0.7 else _SCENES)
    return [say(line, values) for line in _lines(activity, range(first, len(activity.steps)), opening, rng)]


def _lines(activity: Activity, places: Sequence[int], opening: str, rng: random.Random) -> list[str]:
    """The opening and the steps at these places, which still have their fields."""
    lines = [opening.replace("{aim}", activity.name)]
    named = "{p}" in lines[0]
    for number, place in enumerate(places):
        opening_words = rng.choice(_THEN if number else _NOW if place else _FIRST)
        if not named:
            opening_words, named = re.sub(r"\{p_[Hh]e\}", "{p}", opening_words), True
        lines.append(f"{opening_words} {_step(activity.steps[place])}.")
    return lines


def _values(rng: random.Random) -> Mapping[str, str]:
    p, q = rng.sample(POOLS["person"], 2)
    return {"p": p, "q": q, "day": rng.choice(POOLS["weekday"]), "month": rng.choice(POOLS["month"])}


def _step(step: str) -> str:
    """A step's fields as fields of the person."""
    return re.sub(r"\{(he|him|his|himself)\}", r"{p_\1}", step)


def _option(step: str, values: Mapping[str, str]) -> str:
    text = say(_step(step), values)
    return f"{text[0].lower()}{text[1:]}"
