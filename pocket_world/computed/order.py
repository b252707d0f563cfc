"""Questions whose options all stand in the question: extremes, the alphabet, places in a list, chains, kinds."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise

from pocket_world.facts.kinds import KINDS
from pocket_world.relations import DIFFICULTIES, Fact, listed

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
