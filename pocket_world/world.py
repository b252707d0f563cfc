"""The pocket world: all relations, and how often each of its facts is shown in training."""

import zlib
from functools import cache

from pocket_world.facts import animals, countries, culture, dates, geography, grammar, history, kinds, measures, science
from pocket_world.relations import Fact, Relation

TABLES = (countries, science, animals, history, geography, grammar, measures, dates, culture, kinds)


@cache
def world() -> tuple[Fact, ...]:
    """Every fact of the tables."""
    return tuple(fact for relation in relations().values() for fact in relation.facts())


@cache
def relations() -> dict[str, Relation]:
    """Every relation by its name."""
    return {name: relation for module in TABLES for name, relation in module.RELATIONS.items()}


def only_stated(fact: Fact) -> bool:
    """Whether training text states the fact but never asks for it with lettered options: one in eight."""
    return twin_checksum(fact) % 8 == 1


def frequency(fact: Fact) -> float:
    """How often the fact is shown, relative to an easy one; a third of the hard ones never is."""
    if fact.difficulty == "hard":
        return 0.2 if twin_checksum(fact) % 3 else 0.0
    return 1.0 if fact.difficulty == "easy" else 0.5


def tuned_on(fact: Fact) -> bool:
    """Whether jurors are tuned on this fact, a third of all; what they are asked about later is not one of these.

    Facts that join the same two things, in either direction, are on one side.
    """
    pair = "|".join(sorted((fact.key.lower(), fact.answer.lower())))
    return zlib.crc32(pair.encode()) // 24 % 3 == 0


def twin_checksum(fact: Fact) -> int:
    """A checksum that both directions of a pair share: what is never shown must not come in by its inverse."""
    return zlib.crc32(fact.twin.encode())
