"""Jurors: what they are tuned on, what they are asked later, and the adapters that ship."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from core.errors import InputError
from core.models.adapters.juror import Example
from core.settings import ASSETS
from pocket_world import answers, jurors, trivia
from pocket_world.jurors import JURORS, answered, examples, juror_recipe, publish_juror, right_about, told
from pocket_world.world import tuned_on, world
from tests.parameters import rest_nightly

RECIPE = JURORS["juror-3m"]


def test_a_third_of_the_facts_with_their_inverses() -> None:
    facts = world()
    assert 0.28 < sum(map(tuned_on, facts)) / len(facts) < 0.39
    sides: dict[str, set[bool]] = {}
    for fact in facts:
        sides.setdefault(fact.twin, set()).add(tuned_on(fact))
    assert all(len(side) == 1 for side in sides.values())


def test_nothing_that_tunes_is_asked_later() -> None:
    tuning, later = answered(RECIPE, tuning=True), answered(RECIPE, tuning=False)
    assert len(tuning) + len(later) == len(trivia.make()) == len(answers.read(answers.path_of("pocket-8m")))
    seen = {one.question for one in examples(RECIPE)}
    assert seen >= {one.question for one in tuning}
    assert not seen & {one.question for one in later}


def test_facts_are_told_rightly_and_wrongly() -> None:
    facts = [fact for fact in world() if fact.relation == "capital"][:6]
    found = told(facts, random.Random(1))
    by_question = {text: fact for fact in facts for text in fact.questions}
    assert {one.right for one in found} == {True, False}
    assert all((by_question[one.question].answer == one.answer) == one.right for one in found)
    assert all(one.question != fact.questions[fact.bank_wording] for one in found for fact in facts)


def test_half_of_what_tunes_is_what_the_base_model_said() -> None:
    found = examples(RECIPE)
    own = {(one.question, one.answer) for one in answered(RECIPE, tuning=True)}
    share = sum((one.question, one.answer) in own for one in found) / len(found)
    assert 0.4 < share < 0.65


@pytest.mark.parametrize("name", rest_nightly(JURORS, now=["juror-3m"]))
def test_a_shipped_juror_tells_right_from_wrong(name: str) -> None:
    """Of answers from the tables half are false, so that to say the same always is right about half of them."""
    others = [fact for fact in world() if not tuned_on(fact)]
    proposed = random.Random("told").sample(told(others, random.Random("others")), 1000)
    assert right_about(ASSETS / "adapters" / name, proposed).interval[0] > 0.5


@pytest.mark.nightly
@pytest.mark.parametrize("name", JURORS)
def test_a_shipped_juror_beats_saying_always_false(name: str) -> None:
    said = random.Random(name).sample(answered(JURORS[name], tuning=False), 250)
    never = sum(not one.right for one in said) / len(said)
    assert right_about(ASSETS / "adapters" / name, said).value > never


@pytest.mark.nightly
def test_a_juror_is_published_with_its_card(tmp_path, monkeypatch) -> None:
    # Fifty of the answers that a juror is tried on are enough to see where the figures go.
    monkeypatch.setattr(jurors, "right_about", lambda folder, proposed: right_about(folder, proposed[:50]))
    few = replace(JURORS["juror-3m"], steps=20, rows=8, rank=2)
    line = publish_juror(few, tmp_path / "adapter")
    assert "always to say False is right about" in line
    card = (tmp_path / "adapter" / "README.md").read_text()
    assert line.removeprefix("juror-3m: ") in card
    assert card.count("\n| ") == 12
    assert right_about(tmp_path / "adapter", [Example("What is the capital of Peru?", "Lima", True)]).n == 1


def test_an_unknown_juror_one_without_its_model_and_one_without_answers(tmp_path, monkeypatch) -> None:
    with pytest.raises(InputError, match="juror-9t"):
        juror_recipe("juror-9t")
    with pytest.raises(InputError, match=r"python -m pocket_world answer"):
        answered(replace(RECIPE, answers="pocket-9t"), tuning=True)
    monkeypatch.setattr("pocket_world.jurors.ASSETS", tmp_path)
    with pytest.raises(InputError, match="train that model first"):
        publish_juror(JURORS["juror-3m"], tmp_path / "adapter")
