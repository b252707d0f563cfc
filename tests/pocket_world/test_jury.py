"""The juries that ship: what pocket models say of the answers of the chat-tuned one and of the largest one."""

from __future__ import annotations

import random

import numpy as np
import pytest

from core.jury.judgements import Judgements
from core.jury.pipeline import jury_spec, jury_store
from core.models.generation import Generator
from core.models.verdicts import judge
from pocket_world import trivia
from pocket_world.evaluate import Share
from pocket_world.jury import FOLDER, SPECS
from tests.parameters import rest_nightly

SHIPPED = {base: next(FOLDER.glob(f"answers-of-{base}-to-trivia-*")).name for base in SPECS}


@pytest.fixture(scope="module")
def judged() -> dict[str, Judgements]:
    return {base: jury_store.read(name) for base, name in SHIPPED.items()}


def shares(one: Judgements) -> list[Share]:
    """How often each juror is right."""
    said = one.p_true > one.p_false
    return [Share(int((verdicts == one.labels).sum()), len(one)) for verdicts in said.T]


@pytest.mark.parametrize("base", SPECS)
def test_it_is_of_the_questions_that_tuned_no_juror(judged, base: str) -> None:
    later = {one.id for one in trivia.make() if not one.tuning}
    assert set(judged[base].ids) == later
    assert len(trivia.make()) >= 2000
    assert judged[base].jurors == SPECS[base].juror_names


@pytest.mark.nightly
@pytest.mark.parametrize("base", SPECS)
def test_the_same_answers_again(judged, base: str) -> None:
    one = judged[base]
    rows = random.Random(base).sample(range(len(one)), 60)
    generator = Generator.load(base, dtype="float32")
    prompts = [jury_spec.answer_prompt(one.questions[row]) for row in rows]
    assert dict(generator.answers(prompts)) == {i: one.answers[row] for i, row in enumerate(rows)}


@pytest.mark.parametrize("place", rest_nightly(range(3), now=[0]))
def test_the_same_verdicts_again_by_the_jurors_that_ship(judged, place: int) -> None:
    one = judged["pocket-8m"]
    rows = random.Random(place).sample(range(len(one)), 40)
    asked = [(str(row), one.questions[row], one.answers[row]) for row in rows]
    for name, (p_true, p_false) in judge(one.jurors[place], asked, dtype="float32").verdicts():
        assert p_true == pytest.approx(one.p_true[int(name), place], abs=1e-4)
        assert p_true + p_false == pytest.approx(1)


@pytest.mark.parametrize("base", SPECS)
def test_jurors_beat_saying_always_false_and_do_not_agree_everywhere(judged, base: str) -> None:
    one = judged[base]
    never = Share(int((~one.labels).sum()), len(one))
    assert all(of.interval[0] > never.interval[1] for of in shares(one))
    said = one.p_true > one.p_false
    assert 0.02 < np.mean(said.any(axis=1) & ~said.all(axis=1)) < 0.9


def test_jurors_tuned_on_the_way_beat_saying_always_true_too(judged) -> None:
    """39 % of pocket-3m-instruct's answers are right."""
    one = judged["pocket-3m-instruct"]
    always = Share(int(one.labels.sum()), len(one))
    assert all(of.interval[0] > always.value for of in shares(one))


@pytest.mark.parametrize(
    ("base", "says"),
    [("pocket-3m-instruct", "808 other answers tuned the jurors."), ("pocket-8m", "judged as they were")],
)
def test_its_record(judged, base: str, says: str) -> None:
    record = jury_store.read_record(SHIPPED[base])
    assert record.answers == len(judged[base])
    assert record.name == f"Answers of {base} to trivia"
    assert record.notes[0].startswith(f"All answers are by {base}.")
    assert says in record.notes[0]
