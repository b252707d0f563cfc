"""How much training text showed of what a bank question asks."""

from __future__ import annotations

from functools import cache

from core.records import Question
from pocket_world.relations import Fact
from pocket_world.scenes.shown import RARELY, share
from pocket_world.world import never_shown, only_stated, world

_PLAN = {0.0: "plan never", RARELY: "plan rarely", 1.0: "plan often"}

WORKED_OUT = "worked out: this combination never"


@cache
def _facts() -> dict[str, Fact]:
    """The fact behind every question text that the bank may ask."""
    return {fact.questions[fact.bank_wording]: fact for fact in world()}


@cache
def _groups() -> frozenset[str]:
    """The subjects of the tables; a dialogue about a fact has one of them for its group."""
    return frozenset(fact.group for fact in world())


def exposure(question: Question) -> str:
    """In words, what training showed of the fact or plan behind a bank question; it can head a table's row."""
    if question.task != "qa" and question.group not in _groups():
        return f"{question.task}, {_PLAN[share(question.group)]}"
    if question.task == "drs":
        return "drs, about a fact of the tables"
    fact = _facts().get(question.question)
    if fact is None:
        return WORKED_OUT
    if never_shown(fact):
        return "fact never"
    if only_stated(fact):
        return "fact stated, never asked with letters"
    return {"easy": "fact often", "medium": "fact half as often", "hard": "fact a fifth as often"}[fact.difficulty]
