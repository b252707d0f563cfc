"""A frame: the plan of a scene. Slots with kinds, sentences with wordings, questions, and what sums the scene up.

The frames in ``plans/stories.txt`` (for passages with questions and documents with summaries) and ``plans/talks.txt``
(dialogues; the person speaks first and last, and the reply has to agree with what was said) have one entry a line,
wordings parted by ``|``::

    market
    with p q: person; shop: place; n: some; m: few; left = n - m
    - On {day} {p} went to the {shop}. | {p} was at the {shop} on {day}.
    - {p_He} bought {n} {food}.
    ? easy 0 -> shop. Where did {p} go?
    ? hard 0 1 -> left. How many {food} are left?
    ! {p} bought {n} {food} at the {shop}.

``with`` gives the slots their kinds, ``=`` works a number out of two others. A question names its difficulty, the
sentences that it needs (by number), the slot that answers it and, after ``not``, slots that must be no false answer.
In a wording ``{p}`` is a slot's value, ``{p_he}``, ``{p_him}``, ``{p_his}`` a person's pronouns (``{p_He}`` with a
capital), ``{an_x}`` the value with "a" or "an".
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from pocket_world.relations import Difficulty, sentence, with_article
from pocket_world.scenes.pools import RANGES, WOMEN, values_of
from pocket_world.weighted import Plans

PLANS = Path(__file__).parent / "plans"

_FIELD = re.compile(r"\{(\w+)\}")
_QUESTION = re.compile(r"^(easy|medium|hard) ([\d ]+)-> (\w+)(?: not ([\w ]+))?\. (.+)")
_SUM = re.compile(r"(\w+) = (\w+) ([-+]) (\w+)")
_PRONOUN = re.compile(r"_(?:he|He|him|his|His|himself)$")
_SHE = {"he": "she", "him": "her", "his": "her", "himself": "herself"}


class Ask(NamedTuple):
    """A question about a scene: its difficulty, the sentences that it needs, the slot that answers it, and wordings."""

    level: str
    needs: tuple[int, ...]
    answer: str
    excluded: tuple[str, ...]
    wordings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Frame:
    """The plan of a scene; ``kinds`` maps drawn slots to their kinds, ``sums`` derived ones to (slot, sign, slot)."""

    name: str
    kinds: Mapping[str, str]
    sums: Mapping[str, Sequence[str]]
    sentences: tuple[tuple[str, ...], ...]
    asks: tuple[Ask, ...]
    summaries: tuple[str, ...]

    def draw(self, rng: random.Random) -> Scene:
        """A scene: slots of one kind hold different values, and every derived number is at least 1."""
        while True:
            values: dict[str, str] = {}
            for slot, kind in self.kinds.items():
                taken = {values[other] for other in values if self.kinds[other] == kind}
                values[slot] = rng.choice([value for value in values_of(kind) if value not in taken])
            for slot, (a, sign, b) in self.sums.items():
                values[slot] = str(int(values[a]) + int(f"{sign}{values[b]}"))
            if all(int(values[slot]) >= 1 for slot in self.sums):
                return Scene(self, values)

    def kind(self, slot: str) -> str:
        """The kind of a slot; of a derived one that of the number it starts from."""
        return self.kinds[slot] if slot in self.kinds else self.kinds[self.sums[slot][0]]

    def others(self, slot: str) -> tuple[str, ...]:
        """The other drawn slots of the same kind; for a derived number, those that it is derived from too."""
        return tuple(other for other in self.kinds if other != slot and self.kinds[other] == self.kind(slot))


@dataclass(frozen=True, slots=True)
class Scene:
    """One drawing of a frame: the value of every slot, and every wording's fields."""

    frame: Frame
    values: Mapping[str, str]

    def say(self, wording: str) -> str:
        """A wording with the scene's values, its first letter a capital."""
        return say(wording, self.values)

    def false_values(
        self, slot: str, rng: random.Random, *, count: int = 3, inside: bool = False, excluded: Sequence[str] = ()
    ) -> list[str]:
        """``count`` false values for a slot: with ``inside``, those that the scene holds elsewhere come first."""
        kind, truth = self.frame.kind(slot), self.values[slot]
        known = {self.values[other] for other in self.frame.others(slot)}
        barred = {truth, *(self.values[other] for other in excluded)}
        inside_values = sorted(known - barred)
        rng.shuffle(inside_values)
        inside_values = inside_values[: count * inside]
        pool = values_of(kind)
        if kind in RANGES:
            low, high, step = RANGES[kind]
            low, high = (1, 10 * high) if slot in self.frame.sums else (low, high)
            nearest = sorted((abs(by), by) for by in range(-6, 7) if by and low <= int(truth) + by * step <= high)
            pool = tuple(str(int(truth) + by * step) for _, by in nearest[:9])
        rest = [value for value in pool if value not in barred and value not in known]
        return inside_values + rng.sample(rest, count - len(inside_values))

    def fitting_summary(self, told: Set[str], rng: random.Random) -> str | None:
        """A summary's wording that uses nothing but slots which were told; None if there is none."""
        wordings = [wording for wording in self.frame.summaries if slots_of(wording) <= told]
        return rng.choice(wordings) if wordings else None

    def changed(
        self, wording: str, rng: random.Random, told: Set[str] = frozenset(), level: Difficulty = "easy"
    ) -> str:
        """The wording with one slot false; where it is hard, with a value that was told of something else."""
        shown = slots_of(wording)
        twins = {slot: [o for o in self.frame.others(slot) if o in told - shown] for slot in sorted(shown)}
        drawn = [slot for slot in twins if slot not in self.frame.sums]
        confusable = [slot for slot in drawn if twins[slot]]
        if level == "hard" and confusable:
            slot = rng.choice(confusable)
            value = self.values[rng.choice(twins[slot])]
        else:
            slot = rng.choice(drawn)
            value = self.false_values(slot, rng, count=1)[0]
        return say(wording, {**self.values, slot: value})


def say(wording: str, values: Mapping[str, str]) -> str:
    """A wording with these values in its fields, and a capital at the beginning of each sentence."""
    text = _FIELD.sub(lambda match: _field(match[1], values), wording)
    return re.sub(r"(?<=[.?!] )[a-z]", lambda match: match[0].upper(), sentence(text))


def slot_of(field: str) -> str:
    """The slot that a field of a wording shows.

    >>> slot_of("p_He"), slot_of("an_thing"), slot_of("n")
    ('p', 'thing', 'n')
    """
    return _PRONOUN.sub("", field).removeprefix("an_")


def slots_of(wording: str) -> set[str]:
    """The slots that a wording shows."""
    return {slot_of(field) for field in _FIELD.findall(wording)}


def _field(field: str, values: Mapping[str, str]) -> str:
    slot = slot_of(field)
    if field == slot:
        return values[slot]
    if field.startswith("an_"):
        return with_article(values[slot])
    form = field.removeprefix(f"{slot}_")
    pronoun = _SHE[form.lower()] if values[slot] in WOMEN else form.lower()
    return pronoun.capitalize() if form[0].isupper() else pronoun


def _frame(block: str) -> Frame:
    name, slots, *lines = block.strip().splitlines()
    kinds: dict[str, str] = {}
    sums: dict[str, Sequence[str]] = {}
    for part in slots.removeprefix("with ").split("; "):
        if match := _SUM.fullmatch(part):
            sums[match[1]] = match.groups()[1:]
        else:
            names, _, kind = part.partition(": ")
            kinds |= dict.fromkeys(names.split(), kind)
    sentences, asks, summaries = ([line[2:] for line in lines if line[0] == mark] for mark in "-?!")
    return Frame(
        name,
        kinds,
        sums,
        tuple(map(_wordings, sentences)),
        tuple(map(_ask, asks)),
        tuple(wording for line in summaries for wording in _wordings(line)),
    )


def _ask(line: str) -> Ask:
    level, needs, answer, excluded, wordings = _QUESTION.findall(line)[0]
    return Ask(level, tuple(map(int, needs.split())), answer, tuple(excluded.split()), _wordings(wordings))


def _wordings(text: str) -> tuple[str, ...]:
    return tuple(text.split(" | "))


def _read(name: str) -> Plans[Frame]:
    return Plans([_frame(block) for block in (PLANS / name).read_text(encoding="utf-8").split("\n\n")])


STORIES, TALKS = _read("stories.txt"), _read("talks.txt")
