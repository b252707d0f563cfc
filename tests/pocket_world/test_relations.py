"""Tables, relations and the facts made of them."""

from __future__ import annotations

import random

import pytest

from core.errors import InputError
from pocket_world.computed import MAKERS
from pocket_world.contamination import words
from pocket_world.questions import ask
from pocket_world.relations import Relation, invert, table
from pocket_world.world import RELATIONS, never_shown, only_stated, world

pytestmark = pytest.mark.nightly


def test_table_names_the_entry_that_is_wrong() -> None:
    with pytest.raises(InputError, match="Norway"):
        table("Sweden = krona; Norway")
    with pytest.raises(InputError, match="twice"):
        table("Sweden = krona; Sweden = krone")


def test_a_table_with_shared_values_cannot_be_turned_round() -> None:
    with pytest.raises(InputError, match="share a value"):
        invert(table("France = euro; Spain = euro"))


def test_a_fact_needs_three_false_answers() -> None:
    relation = Relation(
        group="g", name="n", rows=table("a = 1; b = 2; c = 3"), questions=("Q {x}?",), statements=("S.",)
    )
    with pytest.raises(InputError, match="three or more"):
        relation.facts()


def test_numbers_near_the_truth_come_first() -> None:
    (fact,) = (fact for fact in world() if fact.relation == "atomic number" and fact.key == "gold")
    assert set(fact.wrong[:2]) == {"78", "80"}


def test_no_wording_contains_another_of_the_same_fact() -> None:
    # Else the guard would find the bank's wording inside a training one and throw the fact out.
    for fact in world():
        asked = [f" {' '.join(words(text))} " for text in fact.questions]
        assert not any(a in b for a in asked for b in asked if a is not b), fact.questions


def test_every_relation_has_wordings_to_hold_one_back() -> None:
    assert all(len(set(relation.questions)) == len(relation.questions) >= 3 for relation in RELATIONS)


def test_some_facts_are_never_shown_and_some_only_stated() -> None:
    facts = world()
    assert 0.05 < sum(never_shown(fact) for fact in facts) / len(facts) < 0.2
    assert 0.05 < sum(only_stated(fact) for fact in facts) / len(facts) < 0.2


@pytest.mark.parametrize("maker", list(MAKERS), ids=lambda maker: maker.__name__)
def test_computed_facts_make_questions(maker) -> None:
    rng = random.Random(3)
    for _ in range(200):
        fact = maker(rng)
        question = ask(fact, rng, wording=rng.randrange(len(fact.questions)), label=2)
        assert question.options[2] == fact.answer
        assert len(set(question.options)) == 6
