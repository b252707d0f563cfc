"""Weekdays and months counted on or back from another."""

from __future__ import annotations

import random
from collections.abc import Sequence

from pocket_world.computed.levels import difficulty
from pocket_world.facts.dates import MONTHS, WEEKDAYS
from pocket_world.relations import Fact


def _cycle_fact(group: str, relation: str, names: Sequence[str], start: int, step: int, unit: str) -> Fact:
    """What lies ``step`` names after (or before, when negative) the one at ``start`` in a cycle of names."""
    size, side = abs(step), "after" if step > 0 else "before"
    answer = names[(start + step) % len(names)]
    count = f"{size} {unit}{'s' if size > 1 else ''}"
    turned = [names[(start + step + shift) % len(names)] for shift in (1, -1, 2, -2, 3, -3, 4, -4)]
    return Fact(
        group=group,
        relation=relation,
        key=f"{names[start]}{step:+d}",
        questions=(
            f"Which {unit} is {count} {side} {names[start]}?",
            f"Start from {names[start]}: which {unit} lies {count} {side} it?",
            f"What {unit} do you reach {count} {side} {names[start]}?",
        ),
        statements=(f"{count} {side} {names[start]} is {answer}.",),
        answer=answer,
        wrong=tuple(name for name in dict.fromkeys(turned) if name != answer),
        near=2,
        difficulty=difficulty(size, (2, 4)),
    )


def weekday_shift(rng: random.Random) -> Fact:
    """The day of the week 2 to 10 days after or before another."""
    step = rng.choice((-1, 1)) * rng.randint(2, 10)
    return _cycle_fact("calendar", "weekday shift", WEEKDAYS, rng.randrange(7), step, "day")


def month_shift(rng: random.Random) -> Fact:
    """The month 2 to 8 months after or before another."""
    step = rng.choice((-1, 1)) * rng.randint(2, 8)
    return _cycle_fact("calendar", "month shift", MONTHS, rng.randrange(12), step, "month")
