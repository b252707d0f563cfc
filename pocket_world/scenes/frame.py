"""A frame: the plan of a scene. Slots with kinds, sentences with wordings, questions, and what sums the scene up.

Frames are written as text, one entry a line, wordings parted by ``|``::

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
from collections.abc import Mapping, Set
from dataclasses import dataclass

from pocket_world.relations import DIFFICULTIES, Difficulty, sentence, with_article
from pocket_world.scenes.pools import RANGES, WOMEN, is_number, values_of

_FIELD = re.compile(r"\{(\w+)\}")
_QUESTION = re.compile(r"\? (easy|medium|hard) ([\d ]+)-> (\w+)(?: not ([\w ]+))?\. (.+)")
_SUM = re.compile(r"(\w+) = (\w+) ([-+]) (\w+)")
_PRONOUN = re.compile(r"_(?:he|He|him|his|His|himself)$")


@dataclass(frozen=True, slots=True)
class Ask:
    """A question about a scene: its wordings, the slot that answers it, and the sentences that it needs."""

    wordings: tuple[str, ...]
    answer: str
    needs: tuple[int, ...]
    level: Difficulty
    excluded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Scene:
    """One drawing of a frame: the value of every slot, and every wording's fields."""

    frame: Frame
    values: Mapping[str, str]

    def say(self, wording: str) -> str:
        """A wording with the scene's values, its first letter a capital."""
        return say(wording, self.values)


@dataclass(frozen=True, slots=True)
class Frame:
    """The plan of a scene; ``kinds`` maps drawn slots to their kinds, ``sums`` derived ones to (slot, sign, slot)."""

    name: str
    kinds: Mapping[str, str]
    sums: Mapping[str, tuple[str, str, str]]
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
                values[slot] = str(int(values[a]) + (int(values[b]) if sign == "+" else -int(values[b])))
            if all(int(values[slot]) >= 1 for slot in self.sums):
                return Scene(self, values)

    def kind(self, slot: str) -> str:
        """The kind of a slot; of a derived one that of the number it starts from."""
        return self.kinds[slot] if slot in self.kinds else self.kinds[self.sums[slot][0]]

    def others(self, slot: str) -> tuple[str, ...]:
        """The other drawn slots of the same kind; for a derived number, those that it is derived from too."""
        return tuple(other for other in self.kinds if other != slot and self.kinds[other] == self.kind(slot))


def say(wording: str, values: Mapping[str, str]) -> str:
    """A wording with these values in its fields, and a capital at the beginning of each sentence."""
    text = _FIELD.sub(lambda match: _field(match[1], values), wording)
    return re.sub(r"(?<=[.?!] )[a-z]", lambda match: match[0].upper(), sentence(text))


def false_values(
    scene: Scene, slot: str, rng: random.Random, *, count: int, inside: bool, excluded: tuple[str, ...]
) -> list[str]:
    """``count`` false values for a slot: with ``inside``, those that the scene holds elsewhere come first."""
    frame, truth = scene.frame, scene.values[slot]
    kind = frame.kind(slot)
    known = {scene.values[other] for other in frame.others(slot)}
    barred = {truth, *(scene.values[other] for other in excluded)}
    inside_values = sorted(known - barred)
    rng.shuffle(inside_values)
    inside_values = inside_values[:count] if inside else []
    if is_number(kind):
        low, high, step = RANGES[kind]
        low, high = (1, 10 * high) if slot in frame.sums else (low, high)
        nearest = sorted((abs(by), by) for by in range(-6, 7) if by and low <= int(truth) + by * step <= high)
        pool = [str(int(truth) + by * step) for _, by in nearest[:9]]
    else:
        pool = list(values_of(kind))
    rest = [value for value in pool if value not in barred and value not in known]
    return inside_values + rng.sample(rest, count - len(inside_values))


def fitting(scene: Scene, told_slots: Set[str], rng: random.Random) -> str | None:
    """A summary's wording that uses nothing but slots which were told; None if there is none."""
    wordings = [wording for wording in scene.frame.summaries if slots_of(wording) <= told_slots]
    return rng.choice(wordings) if wordings else None


def changed(scene: Scene, wording: str, told_slots: Set[str], level: Difficulty, rng: random.Random) -> str:
    """The wording with one slot false; where it is hard, with a value that was told of something else."""
    slots = sorted(slots_of(wording))
    drawn_slots = {slot for slot in slots if slot not in scene.frame.sums}
    twins = {slot: [o for o in scene.frame.others(slot) if o in told_slots and o not in slots] for slot in drawn_slots}
    confusable = sorted(slot for slot in drawn_slots if twins[slot])
    if level == "hard" and confusable:
        slot = rng.choice(confusable)
        value = scene.values[rng.choice(twins[slot])]
    else:
        slot = rng.choice(sorted(drawn_slots))
        value = false_values(scene, slot, rng, count=1, inside=False, excluded=())[0]
    return say(wording, {**scene.values, slot: value})


def parse(text: str) -> tuple[Frame, ...]:
    """The frames of a text, parted by empty lines."""
    return tuple(_frame(block) for block in re.split(r"\n\s*\n", text.strip()))


def _frame(block: str) -> Frame:
    name, slots, *lines = (line.strip() for line in block.strip().splitlines())
    kinds, sums = _slots(slots)
    sentences: list[tuple[str, ...]] = []
    asks: list[Ask] = []
    summaries: list[str] = []
    for line in lines:
        mark, _, rest = line.partition(" ")
        if mark == "-":
            sentences.append(_wordings(rest))
        elif mark == "!":
            summaries += _wordings(rest)
        elif match := _QUESTION.fullmatch(line):
            level, needs, answer, excluded, wordings = match.groups()
            places = tuple(int(number) for number in needs.split())
            chosen = DIFFICULTIES[DIFFICULTIES.index(level)]
            asks.append(Ask(_wordings(wordings), answer, places, chosen, tuple((excluded or "").split())))
    return Frame(name, kinds, sums, tuple(sentences), tuple(asks), tuple(summaries))


def _slots(line: str) -> tuple[dict[str, str], dict[str, tuple[str, str, str]]]:
    kinds: dict[str, str] = {}
    sums: dict[str, tuple[str, str, str]] = {}
    for part in line.removeprefix("with ").split(";"):
        if match := _SUM.fullmatch(part.strip()):
            slot, a, sign, b = match.groups()
            sums[slot] = (a, sign, b)
            continue
        names, _, kind = part.partition(":")
        kinds |= dict.fromkeys(names.split(), kind.strip())
    return kinds, sums


def _wordings(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split("|"))


def slot_of(field: str) -> str:
    """The slot that a field of a wording shows.

    >>> slot_of("p_He"), slot_of("an_thing"), slot_of("n")
    ('p', 'thing', 'n')
    """
    return _PRONOUN.sub("", field).removeprefix("an_")


def slots_of(wording: str) -> set[str]:
    """The slots that a wording shows."""
    return {slot_of(field) for field in _FIELD.findall(wording)}


_SHE = {"he": "she", "him": "her", "his": "her", "himself": "herself"}


def _field(field: str, values: Mapping[str, str]) -> str:
    slot = slot_of(field)
    if field == slot:
        return values[slot]
    if field.startswith("an_"):
        return with_article(values[slot])
    form = field.removeprefix(f"{slot}_")
    pronoun = _SHE[form.lower()] if values[slot] in WOMEN else form.lower()
    return pronoun.capitalize() if form[0].isupper() else pronoun
