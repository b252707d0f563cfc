"""Facts that follow by working them out: sums, dates, order. They are drawn, not listed.

One in five of them, by checksum, is kept for the bank (:func:`kept_for_bank`): training text never uses its
operands in that relation, in any wording.
"""

import random
from collections.abc import Callable, Sequence
from itertools import pairwise

from pocket_world.facts.dates import MONTHS, WEEKDAYS
from pocket_world.facts.kinds import KINDS
from pocket_world.relations import DIFFICULTIES, Fact, listed, relations, with_article

RELATIONS = relations("""
arithmetic: addition
? What is {a} + {b}? | What is {a} plus {b}? | How much do {a} and {b} make together?
! {a} + {b} = {y}.

arithmetic: subtraction
? What is {a} - {b}? | What is {a} minus {b}? | How much is left if you take {b} from {a}?
! {a} - {b} = {y}.

arithmetic: multiplication
? What is {a} times {b}? | What is {a} multiplied by {b}? | How much is {a} x {b}?
! {a} times {b} is {y}.

arithmetic: double
? What is double {a}? | Which number is twice as large as {a}? | What is {a} doubled?
! Double {a} is {y}.

arithmetic: half
? What is half of {a}? | Which number is half as large as {a}? | What do you get by halving {a}?
! Half of {a} is {y}.

arithmetic: sequence
? Which number comes next: {a}? | How does this row of numbers go on: {a}? | What is the next number after {a}?
! {a}, {y}.

calendar: weekday shift
? Which day is {b} {a}? | Start from {a}: which day lies {b} it? | What day do you reach {b} {a}?
! {b} {a} is {y}.

calendar: month shift
? Which month is {b} {a}? | Start from {a}: which month lies {b} it? | What month do you reach {b} {a}?
! {b} {a} is {y}.

order: extreme
? Which number is the {a}: {either}? | Of {all}, which is the {a}? | What is the {a} of these numbers: {either}?

order: alphabet
? Which word comes {a} in the alphabet: {either}? | In a dictionary, which stands {a}: {either}?
? Of {all}, which word is {a} by alphabet?

order: place in list
? Which word is {a} in this list: {listed}? | What is the {a} word of this list: {listed}?
? Here is a list: {listed}. Which word is {a}?

order: oldest
? {b} Who is the {a}? | {b} Which of the four is the {a}?

order: odd kind
? Which of these is {a}: {either}? | Of {all}, which one is {a}? | One of {all} is {a}. Which one?
""")

NAMES = listed("""
Anna Ben Clara David Emma Felix Grace Henry Ida Jack Kate Leo Mary Noah Olive Paul Rosa Sam Tom Vera Will Zoe
""")
Maker = Callable[[random.Random], Fact]
_PLACES = ("first", "second", "third", "fourth")


def _fact(name: str, key: str, answer: str, wrong: Sequence[str], near: int, rank: int, **fields: object) -> Fact:
    """A fact in the wordings of the relation ``name``; ``rank`` 0 is easy, 1 medium, 2 hard."""
    relation = RELATIONS[name]
    questions, statements = (
        tuple(wording.format(y=answer, **fields) for wording in wordings)
        for wordings in (relation.questions, relation.statements)
    )
    return Fact(relation.group, name, key, questions, statements, answer, tuple(wrong), near, DIFFICULTIES[rank])


def _rank(size: int, easy: int, medium: int) -> int:
    return (size > easy) + (size > medium)


def _number(name: str, key: object, answer: int, rank: int, a: object, b: object = "") -> Fact:
    """A fact of arithmetic; its false answers lie within ten of the true one, the nearest first."""
    near = [answer + step for step in (1, -1, 2, -2, 3, -3, 10, -10, 5, -5, 4, -4) if answer + step >= 0]
    return _fact(name, str(key), str(answer), list(map(str, near)), 6, rank, a=a, b=b)


def _addition(rng: random.Random) -> Fact:
    top = rng.choice((10, 20, 50))  # small numbers come more often
    a, b = rng.randint(1, top), rng.randint(1, top)
    return _number("addition", f"{min(a, b)}+{max(a, b)}", a + b, _rank(max(a, b), 10, 20), a, b)


def _subtraction(rng: random.Random) -> Fact:
    a = rng.randint(2, rng.choice((10, 20, 50)))
    b = rng.randint(1, a - 1)
    return _number("subtraction", f"{a}-{b}", a - b, _rank(a, 10, 20), a, b)


def _multiplication(rng: random.Random) -> Fact:
    a, b = rng.randint(2, 12), rng.randint(2, 12)
    return _number("multiplication", f"{min(a, b)}x{max(a, b)}", a * b, _rank(a * b, 20, 50), a, b)


def _double_or_half(rng: random.Random) -> Fact:
    a = rng.randint(2, 50)
    name, given, answer = ("double", a, 2 * a) if rng.random() < 0.5 else ("half", 2 * a, a)
    return _number(name, given, answer, _rank(a, 10, 20), given)


def _sequence(rng: random.Random) -> Fact:
    """The next number of a sequence with a constant step of 1 to 10."""
    step = rng.randint(1, 10) * rng.choice((1, 1, -1))
    start = rng.randint(1, 30) + (-4 * step if step < 0 else 0)
    *shown, answer = range(start, start + 5 * step, step)
    text = ", ".join(map(str, shown))
    return _number("sequence", text, answer, _rank(abs(step), 3, 6), text)


def _shift(relation: str, unit: str, cycle: Sequence[str], most: int) -> Maker:
    """What lies 2 to ``most`` names after or before another in a cycle of names."""

    def shift(rng: random.Random) -> Fact:
        step = rng.choice((-1, 1)) * rng.randint(2, most)
        start = rng.randrange(len(cycle))
        answer, *turned = (cycle[(start + step + by) % len(cycle)] for by in (0, 1, -1, 2, -2, 3, -3, 4, -4))
        wrong = [name for name in dict.fromkeys(turned) if name != answer]
        count, rank = f"{abs(step)} {unit} {'after' if step > 0 else 'before'}", _rank(abs(step), 2, 4)
        return _fact(relation, f"{cycle[start]}{step:+d}", answer, wrong, 2, rank, a=cycle[start], b=count)

    return shift


def _pick(name: str, key: str, items: Sequence[object], answer: object, rank: int, a: str, b: str = "") -> Fact:
    """A fact whose options all stand in its question."""
    *first, last = texts = list(map(str, items))
    wrong = [text for text in texts if text != str(answer)]
    either, whole = (f"{', '.join(first)} {joint} {last}" for joint in ("or", "and"))
    fields = {"either": either, "all": whole, "listed": ", ".join(texts)}
    return _fact(name, key, str(answer), wrong, len(wrong), rank, a=a, b=b, **fields)


def _extreme(rng: random.Random) -> Fact:
    rank = rng.randrange(3)
    numbers = rng.sample(range(1, (20, 100, 1000)[rank]), 4)
    word, answer = ("largest", max(numbers)) if rng.random() < 0.5 else ("smallest", min(numbers))
    return _pick("extreme", f"{word} {sorted(numbers)}", numbers, answer, rank, word)


def _alphabet(rng: random.Random) -> Fact:
    """The word that comes first or last in the alphabet, of four with different first letters."""
    words: list[str] = []
    while len(words) < 4:
        word = rng.choice(list(KINDS))
        if " " not in word and all(word[0] != other[0] for other in words):
            words.append(word)
    side, answer = ("first", min(words)) if rng.random() < 0.5 else ("last", max(words))
    return _pick("alphabet", f"{side} {sorted(words)}", words, answer, rng.randrange(1, 3), side)


def _place_in_list(rng: random.Random) -> Fact:
    words = rng.sample(list(KINDS), 4)
    place = rng.randrange(4)
    return _pick("place in list", f"{place} {words}", words, words[place], 0, _PLACES[place])


def _oldest(rng: random.Random) -> Fact:
    """Who is the oldest or the youngest of four people in a chain."""
    people = rng.sample(NAMES, 4)
    word, answer = rng.choice((("oldest", people[0]), ("youngest", people[3])))
    chain = [f"{older} is older than {younger}" for older, younger in pairwise(people)]
    if rank := rng.randrange(3):
        rng.shuffle(chain)
    return _pick("oldest", f"{word} {people}", people, answer, rank, word, f"{chain[0]}, {chain[1]}, and {chain[2]}.")


def _odd_kind(rng: random.Random) -> Fact:
    """The only one of four things that is of a kind."""
    target = rng.choice(list(KINDS))
    kind = KINDS[target][0]
    # Fruit trees carry the names of their fruit, and a few names have a second sense; leave such pairs out.
    clear = [name for name, (other, *_) in KINDS.items() if other != kind and not {other, kind} <= {"fruit", "tree"}]
    others = rng.sample([name for name in clear if name not in ("pepper", "iron", "ginger")], 3)
    words = rng.sample([target, *others], 4)
    rank = min(list(KINDS).index(target) * 3 // len(KINDS), 2)
    return _pick("odd kind", f"{kind} {sorted(words)}", words, target, rank, with_article(kind))


def kept_for_bank(fact: Fact) -> bool:
    """Whether this computed fact may be asked in the bank, and so must stay out of training text."""
    return fact.checksum % 5 == 0


MAKERS: dict[Maker, float] = {
    _addition: 4,
    _subtraction: 3,
    _multiplication: 2,
    _double_or_half: 2,
    _sequence: 2,
    _shift("weekday shift", "days", WEEKDAYS, 10): 1.5,
    _shift("month shift", "months", MONTHS, 8): 1.5,
    _extreme: 2,
    _alphabet: 2,
    _place_in_list: 2,
    _oldest: 2,
    _odd_kind: 3,
}
"""Every maker with its relative frequency in training text."""
