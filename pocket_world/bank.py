"""The question bank: five tasks of six-option questions, made from a seed.

In ``qa`` each fact is asked once, in the wording that training text never uses for it; of a fact and its inverse only
one is asked; computed facts come from those that training text leaves out. The four other tasks are drawn from the
scenes, all plans alike, and near duplicates are left out. A to D are right equally often.
"""

import random
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

from core.questions.bank import load
from core.questions.near_duplicates import clusters
from core.records import Question
from core.storage.atomic import write_atomically
from pocket_world.computed import MAKERS, kept_for_bank
from pocket_world.questions import BankQuestion, ask
from pocket_world.relations import Fact
from pocket_world.scenes.going_on import going_on
from pocket_world.scenes.reading import reading
from pocket_world.scenes.replying import replying
from pocket_world.scenes.summing import summing
from pocket_world.world import twin_checksum, world

SEED = 20
BANK_TASKS = ("qa", "rc", "ci", "drs", "ds")

DRAWN = 1300
"""How many questions each task but ``qa`` has."""

GROUP_LIMIT = 150
"""The most questions that the tables give to one subject, so that no subject fills the bank."""

COMPUTED = {
    "addition": 40,
    "subtraction": 35,
    "multiplication": 12,
    "double": 8,
    "half": 8,
    "sequence": 40,
    "weekday shift": 20,
    "month shift": 25,
    "extreme": 35,
    "alphabet": 30,
    "place in list": 25,
    "oldest": 30,
    "odd kind": 40,
}
"""How many questions each computed relation gives."""


def make(task: str = "qa", seed: int = SEED) -> tuple[BankQuestion, ...]:
    """A task's whole bank, the same for the same seed; ids count from qa-0001 in a shuffled order."""
    return _known(seed) if task == "qa" else _drawn(task, seed)


@cache
def questions() -> tuple[Question, ...]:
    """The questions of all tasks as they ship, without their difficulty."""
    return tuple(question for task in BANK_TASKS for question in load(task))


def write(lines: Iterable[str], path: Path) -> None:
    """Write lines, all at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, "".join(f"{line}\n" for line in lines).encode())


def _known(seed: int) -> tuple[BankQuestion, ...]:
    rng = random.Random(f"bank|{seed}")
    facts = [*_table_facts(rng), *_computed_facts(rng)]
    rng.shuffle(facts)
    labels = [place % 4 for place in range(len(facts))]
    rng.shuffle(labels)
    return tuple(
        BankQuestion(
            ask(fact, rng, wording=fact.bank_wording, label=label, identifier=f"qa-{number:04d}"), fact.difficulty
        )
        for number, (fact, label) in enumerate(zip(facts, labels, strict=True), start=1)
    )


@cache
def _statable() -> tuple[Fact, ...]:
    return tuple(fact for fact in world() if fact.statements)


def _talked_about(rng: random.Random) -> Fact:
    return rng.choice(_statable())


_MAKERS: dict[str, Callable[[random.Random], BankQuestion]] = {
    "rc": lambda rng: reading(rng, training=False),
    "ci": lambda rng: going_on(rng, training=False),
    "drs": lambda rng: replying(rng, _talked_about, training=False),
    "ds": lambda rng: summing(rng, training=False),
}


def _drawn(task: str, seed: int) -> tuple[BankQuestion, ...]:
    """``DRAWN`` questions, no two nearly the same; of those that are, the first is kept."""
    rng = random.Random(f"bank|{task}|{seed}")
    drawn = [_MAKERS[task](rng) for _ in range(DRAWN * 5 // 4)]
    first: dict[int, BankQuestion] = {}
    for number, entry in zip(clusters([entry.question for entry in drawn]), drawn, strict=True):
        first.setdefault(number, entry)
    labels = [place % 4 for place in range(DRAWN)]
    rng.shuffle(labels)
    unique = list(first.values())[:DRAWN]
    return tuple(
        entry.at(label, f"{task}-{number:04d}")
        for number, (entry, label) in enumerate(zip(unique, labels, strict=True), start=1)
    )


def _table_facts(rng: random.Random) -> list[Fact]:
    """One fact of every pair of twins, at most ``GROUP_LIMIT`` a subject, in the tables' order."""
    by_twin: dict[str, list[Fact]] = {}
    for fact in world():
        by_twin.setdefault(fact.twin, []).append(fact)
    groups: dict[str, list[Fact]] = {}
    for twins in by_twin.values():
        fact = twins[twin_checksum(twins[0]) // 1000 % len(twins)]
        groups.setdefault(fact.group, []).append(fact)
    chosen: list[Fact] = []
    for facts in groups.values():
        places = sorted(rng.sample(range(len(facts)), min(GROUP_LIMIT, len(facts))))
        chosen += [facts[place] for place in places]
    return chosen


def _computed_facts(rng: random.Random) -> list[Fact]:
    """As many facts of each computed relation as ``COMPUTED`` asks for, all of them kept out of training text."""
    by_relation: dict[str, dict[str, Fact]] = {relation: {} for relation in COMPUTED}
    for maker in MAKERS:
        for _ in range(20_000):
            fact = maker(rng)
            chosen = by_relation[fact.relation]
            if len(chosen) < COMPUTED[fact.relation] and kept_for_bank(fact):
                chosen.setdefault(fact.key, fact)
    return [fact for chosen in by_relation.values() for fact in chosen.values()]
