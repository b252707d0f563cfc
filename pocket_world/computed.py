"""Facts that follow by working them out: sums, dates, order. They are drawn, not listed.

One in five of them, by checksum, is kept for the bank (:func:`kept_for_bank`): training text never uses its
operands in that relation, in any wording.
"""

import random
from collections.abc import Callable, Sequence
from itertools import pairwise

from pocket_world.facts.dates import MONTHS, WEEKDAYS
from pocket_world.facts.kinds import KINDS
from pocket_world.relations import DIFFICULTIES, Difficulty, Fact, listed


def difficulty(size: int, limits: tuple[int, int]) -> Difficulty:
    """Easy up to the first of two limits, medium up to the second, hard beyond."""
    return DIFFICULTIES[sum(size > limit for limit in limits)]


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


NAMES = listed("""
Anna Ben Clara David Emma Felix Grace Henry Ida Jack Kate Leo Mary Noah Olive Paul Rosa Sam Tom Vera Will Zoe
""")
_PLACES = ("first", "second", "third", "fourth")
_ALSO_TREES = ("fruit", "tree")


def _pick_fact(relation: str, key: str, items: Sequence[str], answer: str, questions: Sequence[str], rank: int) -> Fact:
    """A fact whose options all stand in its question."""
    return Fact(
        group="order",
        relation=relation,
        key=key,
        questions=tuple(questions),
        statements=(),
        answer=answer,
        wrong=tuple(item for item in items if item != answer),
        near=len(items) - 1,
        difficulty=DIFFICULTIES[rank],
    )


def extreme(rng: random.Random) -> Fact:
    """The largest or the smallest of four numbers."""
    rank = rng.randrange(3)
    numbers = rng.sample(range(1, (20, 100, 1000)[rank]), 4)
    largest = rng.random() < 0.5
    word, answer = ("largest", max(numbers)) if largest else ("smallest", min(numbers))
    shown = [str(number) for number in numbers]
    questions = (
        f"Which number is the {word}: {_joined(shown)}?",
        f"Of {_joined(shown, 'and')}, which is the {word}?",
        f"What is the {word} of these numbers: {_joined(shown)}?",
    )
    key = f"{word} {sorted(numbers)}"
    return _pick_fact("extreme", key, shown, str(answer), questions, rank)


def alphabet(rng: random.Random) -> Fact:
    """The word that comes first or last in the alphabet, of four with different first letters."""
    words: list[str] = []
    while len(words) < 4:
        word = rng.choice(list(KINDS))
        if " " not in word and all(word[0] != other[0] for other in words):
            words.append(word)
    first = rng.random() < 0.5
    side, answer = ("first", min(words)) if first else ("last", max(words))
    questions = (
        f"Which word comes {side} in the alphabet: {_joined(words)}?",
        f"In a dictionary, which stands {side}: {_joined(words)}?",
        f"Of {_joined(words, 'and')}, which word is {side} by alphabet?",
    )
    return _pick_fact("alphabet", f"{side} {sorted(words)}", words, answer, questions, rng.randrange(1, 3))


def place_in_list(rng: random.Random) -> Fact:
    """The first to fourth word of a list."""
    words = rng.sample(list(KINDS), 4)
    place = rng.randrange(4)
    questions = (
        f"Which word is {_PLACES[place]} in this list: {', '.join(words)}?",
        f"What is the {_PLACES[place]} word of this list: {', '.join(words)}?",
        f"Here is a list: {', '.join(words)}. Which word is {_PLACES[place]}?",
    )
    return _pick_fact("place in list", f"{place} {words}", words, words[place], questions, 0)


def oldest(rng: random.Random) -> Fact:
    """Who is the oldest or the youngest of four people in a chain."""
    people = rng.sample(NAMES, 4)
    word, answer = rng.choice((("oldest", people[0]), ("youngest", people[3])))
    chain = [f"{a} is older than {b}" for a, b in pairwise(people)]
    if rank := rng.randrange(3):
        rng.shuffle(chain)
    story = f"{chain[0]}, {chain[1]}, and {chain[2]}."
    questions = (f"{story} Who is the {word}?", f"{story} Which of the four is the {word}?")
    return _pick_fact("oldest", f"{word} {people}", people, answer, questions, rank)


def odd_kind(rng: random.Random) -> Fact:
    """The only one of four things that is of a kind."""
    target = rng.choice(list(KINDS))
    kind = KINDS[target][0]
    # Fruit trees carry the names of their fruit, and a few names have a second sense; leave such pairs out.
    clear = [name for name, (other,) in KINDS.items() if other != kind and not {other, kind} <= set(_ALSO_TREES)]
    unsafe = {"pepper", "iron", "ginger"}
    others = rng.sample([name for name in clear if name not in unsafe], 3)
    words = rng.sample([target, *others], 4)
    article = "an" if kind[0] in "aeiou" else "a"
    questions = (
        f"Which of these is {article} {kind}: {_joined(words)}?",
        f"Of {_joined(words, 'and')}, which one is {article} {kind}?",
        f"One of {_joined(words, 'and')} is {article} {kind}. Which one?",
    )
    rank = min(list(KINDS).index(target) * 3 // len(KINDS), 2)
    return _pick_fact("odd kind", f"{kind} {sorted(words)}", words, target, questions, rank)


def _joined(items: Sequence[str], joint: str = "or") -> str:
    return f"{', '.join(items[:-1])} {joint} {items[-1]}"


Maker = Callable[[random.Random], Fact]


def kept_for_bank(fact: Fact) -> bool:
    """Whether this computed fact may be asked in the bank, and so must stay out of training text."""
    return fact.checksum % 5 == 0


MAKERS: dict[Maker, float] = {
    addition: 4,
    subtraction: 3,
    multiplication: 2,
    doubling: 2,
    sequence: 2,
    weekday_shift: 1.5,
    month_shift: 1.5,
    extreme: 2,
    alphabet: 2,
    place_in_list: 2,
    oldest: 2,
    odd_kind: 3,
}
"""Every maker with its relative frequency in training text."""
