"""The pocket world: all relations, and how often each of its facts is shown in training."""

import zlib
from functools import cache

from pocket_world.facts import animals, countries, culture, dates, geography, grammar, history, kinds, measures, science
from pocket_world.relations import Difficulty, Fact, Relation

RELATIONS: tuple[Relation, ...] = (
    *countries.RELATIONS,
    *science.RELATIONS,
    *animals.RELATIONS,
    *history.RELATIONS,
    *geography.RELATIONS,
    *grammar.RELATIONS,
    *measures.RELATIONS,
    *dates.RELATIONS,
    *culture.RELATIONS,
    *kinds.RELATIONS,
)

FREQUENCY: dict[Difficulty, float] = {"easy": 1.0, "medium": 0.5, "hard": 0.2}
"""How often a fact is shown, relative to an easy one."""


@cache
def world() -> tuple[Fact, ...]:
    """Every fact of the tables."""
    return tuple(fact for relation in RELATIONS for fact in relation.facts())


@cache
def relations() -> dict[str, Relation]:
    """Every relation by its name."""
    return {relation.name: relation for relation in RELATIONS}


def never_shown(fact: Fact) -> bool:
    """Whether training text leaves the fact out altogether: a third of the hard ones."""
    return fact.difficulty == "hard" and twin_checksum(fact) % 3 == 0


def only_stated(fact: Fact) -> bool:
    """Whether training text states the fact but never asks for it with lettered options: one in eight."""
    return twin_checksum(fact) % 8 == 1


def frequency(fact: Fact) -> float:
    """How often the fact is shown, relative to an easy one; 0 if never."""
    return 0.0 if never_shown(fact) else FREQUENCY[fact.difficulty]


def tuned_on(fact: Fact) -> bool:
    """Whether jurors are tuned on this fact, a third of all; what they are asked about later is not one of these.

    Facts that join the same two things, in either direction, are on one side.
    """
    pair = "|".join(sorted((fact.key.lower(), fact.answer.lower())))
    return zlib.crc32(pair.encode()) // 24 % 3 == 0


def twin_checksum(fact: Fact) -> int:
    """A checksum that both directions of a pair share: what is never shown must not come in by its inverse."""
    return zlib.crc32(fact.twin.encode())
