"""Sums: addition, subtraction, multiplication, doubling and halving, sequences with a constant step."""

from __future__ import annotations

import random
from collections.abc import Sequence

from pocket_world.computed.levels import difficulty
from pocket_world.relations import Fact


def _number_fact(
    relation: str,
    key: str,
    answer: int,
    questions: Sequence[str],
    statement: str,
    *,
    size: int,
    limits: tuple[int, int],
) -> Fact:
    """A fact of arithmetic; its false answers lie within ten of the true one, the nearest first."""
    near = [answer + step for step in (1, -1, 2, -2, 3, -3, 10, -10, 5, -5, 4, -4) if answer + step >= 0]
    return Fact(
        group="arithmetic",
        relation=relation,
        key=key,
        questions=tuple(questions),
        statements=(statement,),
        answer=str(answer),
        wrong=tuple(str(value) for value in near),
        near=6,
        difficulty=difficulty(size, limits),
    )


def addition(rng: random.Random) -> Fact:
    """a + b with a, b from 1 to 50, small ones more often."""
    top = rng.choice((10, 20, 50))
    a, b = rng.randint(1, top), rng.randint(1, top)
    questions = (f"What is {a} + {b}?", f"What is {a} plus {b}?", f"How much do {a} and {b} make together?")
    key = f"{min(a, b)}+{max(a, b)}"
    return _number_fact("addition", key, a + b, questions, f"{a} + {b} = {a + b}.", size=max(a, b), limits=(10, 20))


def subtraction(rng: random.Random) -> Fact:
    """a − b with a up to 50 and b below a."""
    a = rng.randint(2, rng.choice((10, 20, 50)))
    b = rng.randint(1, a - 1)
    questions = (f"What is {a} - {b}?", f"What is {a} minus {b}?", f"How much is left if you take {b} from {a}?")
    return _number_fact("subtraction", f"{a}-{b}", a - b, questions, f"{a} - {b} = {a - b}.", size=a, limits=(10, 20))


def multiplication(rng: random.Random) -> Fact:
    """a × b with a, b from 2 to 12."""
    a, b = rng.randint(2, 12), rng.randint(2, 12)
    questions = (f"What is {a} times {b}?", f"What is {a} multiplied by {b}?", f"How much is {a} x {b}?")
    key = f"{min(a, b)}x{max(a, b)}"
    return _number_fact(
        "multiplication", key, a * b, questions, f"{a} times {b} is {a * b}.", size=a * b, limits=(20, 50)
    )


def doubling(rng: random.Random) -> Fact:
    """Twice a number up to 50, or half of an even number up to 100."""
    a = rng.randint(2, 50)
    if rng.random() < 0.5:
        questions = (f"What is double {a}?", f"Which number is twice as large as {a}?", f"What is {a} doubled?")
        return _number_fact("double", str(a), 2 * a, questions, f"Double {a} is {2 * a}.", size=a, limits=(10, 20))
    questions = (
        f"What is half of {2 * a}?",
        f"Which number is half as large as {2 * a}?",
        f"What do you get by halving {2 * a}?",
    )
    return _number_fact("half", str(2 * a), a, questions, f"Half of {2 * a} is {a}.", size=a, limits=(10, 20))


def sequence(rng: random.Random) -> Fact:
    """The next number of a sequence with a constant step of 1 to 10."""
    step = rng.randint(1, 10) * rng.choice((1, 1, -1))
    start = rng.randint(1, 30) + (-4 * step if step < 0 else 0)
    shown = ", ".join(str(start + place * step) for place in range(4))
    questions = (
        f"Which number comes next: {shown}?",
        f"How does this row of numbers go on: {shown}?",
        f"What is the next number after {shown}?",
    )
    statement = f"{shown}, {start + 4 * step}."
    size = abs(step)
    return _number_fact("sequence", shown, start + 4 * step, questions, statement, size=size, limits=(3, 6))
