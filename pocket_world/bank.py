"""The question bank: five tasks of six-option questions, made from a seed.

In ``qa`` each fact is asked once, in the wording that training text never uses for it; of a fact and its inverse only
one is asked; computed facts come from those that training text leaves out. The four other tasks are drawn from the
scenes, all plans alike, and near duplicates are left out. A to D are right equally often.
"""

import random
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from core.questions.bank import bank_path, load
from core.questions.near_duplicates import clusters
from core.records import Question
from core.storage.atomic import write_atomically
from pocket_world.computed import MAKERS, kept_for_bank
from pocket_world.questions import BankQuestion, ask
from pocket_world.relations import Fact
from pocket_world.scenes.tasks import scene_question
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


def make(task: str = "qa") -> list[BankQuestion]:
    """A task's whole bank, always the same; ids count from qa-0001 in a shuffled order."""
    rng = random.Random(f"bank|{SEED}" if task == "qa" else f"bank|{task}|{SEED}")
    if task == "qa":
        facts = qa_facts(rng)
        rng.shuffle(facts)
        labels = _labels(len(facts), rng)
        asked_facts = [(fact, ask(fact, rng, wording=fact.questions[fact.bank_wording], label=0)) for fact in facts]
        entries = [BankQuestion(question, fact.difficulty) for fact, question in asked_facts]
    else:
        entries = scene_questions(task, rng)
        labels = _labels(len(entries), rng)
    numbered = enumerate(zip(entries, labels, strict=True), start=1)
    return [entry.at(label, f"{task}-{number:04d}") for number, (entry, label) in numbered]


@cache
def questions() -> tuple[Question, ...]:
    """The questions of all tasks as they ship, without their difficulty."""
    return tuple(question for task in BANK_TASKS for question in load(task))


def write(task: str) -> Path:
    """Write a task's bank to where it ships."""
    return write_lines((question.line() for question in make(task)), bank_path(task))


def write_lines(lines: Iterable[str], path: Path) -> Path:
    """Write lines, all at once."""
    write_atomically(path, "".join(f"{line}\n" for line in lines).encode())
    return path


def qa_facts(rng: random.Random) -> list[Fact]:
    """As many facts of each kind as the bank asks for: of the tables, and worked out."""
    return [*_table_facts(rng), *_computed_facts(rng)]


def _labels(count: int, rng: random.Random) -> list[int]:
    labels = [place % 4 for place in range(count)]
    rng.shuffle(labels)
    return labels


def scene_questions(task: str, rng: random.Random) -> list[BankQuestion]:
    """``DRAWN`` questions, no two nearly the same; of those that are, the first is taken."""
    stated = [fact for fact in world() if fact.statements]
    candidates = [
        scene_question(task, rng, lambda rng: rng.choice(stated), training=False) for _ in range(DRAWN * 5 // 4)
    ]
    first: dict[int, BankQuestion] = {}
    for number, entry in zip(clusters([entry.question for entry in candidates]), candidates, strict=True):
        first.setdefault(number, entry)
    return list(first.values())[:DRAWN]


def _table_facts(rng: random.Random) -> list[Fact]:
    """One fact of every pair of twins, at most ``GROUP_LIMIT`` a subject, in the tables' order."""
    by_twin: dict[str, list[Fact]] = {}
    for fact in world():
        by_twin.setdefault(fact.twin, []).append(fact)
    groups: dict[str, list[Fact]] = {}
    for twins in by_twin.values():
        fact = twins[twin_checksum(twins[0]) // 1000 % len(twins)]
        groups.setdefault(fact.group, []).append(fact)
    bank_facts: list[Fact] = []
    for facts in groups.values():
        places = sorted(rng.sample(range(len(facts)), min(GROUP_LIMIT, len(facts))))
        bank_facts += [facts[place] for place in places]
    return bank_facts


def _computed_facts(rng: random.Random) -> list[Fact]:
    """As many facts of each computed relation as ``COMPUTED`` asks for, all of them kept out of training text."""
    by_relation: dict[str, dict[str, Fact]] = {relation: {} for relation in COMPUTED}
    for maker in MAKERS:
        for _ in range(20_000):
            fact = maker(rng)
            relation_facts = by_relation[fact.relation]
            if len(relation_facts) < COMPUTED[fact.relation] and kept_for_bank(fact):
                relation_facts.setdefault(fact.key, fact)
    return [fact for relation_facts in by_relation.values() for fact in relation_facts.values()]
