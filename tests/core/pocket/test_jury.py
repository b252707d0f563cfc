"""The jury that ships: what the shipped jurors say of the answers that pocket-8m gives."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest

from core.inference.generating import Generator
from core.inference.verdicts import judge
from core.pocket import trivia
from core.pocket.evaluate import Share
from core.pocket.jury import FOLDER, SPEC
from core.runs import juries, jury_path
from core.settings import ASSETS

(SHIPPED,) = [path.name for path in FOLDER.iterdir() if path.name.startswith("pocket-")]


@pytest.fixture(scope="module")
def judged():
    return juries.read(SHIPPED)


def test_it_is_of_the_questions_that_tuned_no_juror(judged) -> None:
    later = {one.id for one in trivia.make() if not one.tuning}
    assert set(judged.ids) == later
    assert len(trivia.make()) >= 2000
    assert judged.jurors == SPEC.juror_names == tuple(SPEC.jurors)


@pytest.mark.parametrize("place", range(3))
def test_the_same_answers_and_verdicts_again(judged, place: int) -> None:
    rows = random.Random(place).sample(range(len(judged)), 40)
    generator = Generator.load(SPEC.base, dtype="float32")
    prompts = [jury_path.answer_prompt(judged.questions[row]) for row in rows]
    assert dict(generator.answers(prompts)) == {i: judged.answers[row] for i, row in enumerate(rows)}
    asked = [(str(row), judged.questions[row], judged.answers[row]) for row in rows]
    for name, (p_true, p_false) in judge(SPEC.jurors[place], asked, dtype="float32").verdicts():
        assert p_true == pytest.approx(judged.p_true[int(name), place], abs=1e-4)
        assert p_true + p_false == pytest.approx(1)


def test_jurors_beat_saying_always_false_and_do_not_agree_everywhere(judged) -> None:
    never = Share(int((~judged.labels).sum()), len(judged))
    said = judged.p_true > judged.p_false
    for verdicts in said.T:
        right = Share(int((verdicts == judged.labels).sum()), len(judged))
        assert right.interval[0] > never.interval[1]
    assert 0.02 < np.mean(said.any(axis=1) & ~said.all(axis=1)) < 0.9


def test_its_record(judged) -> None:
    record = json.loads((ASSETS / "juries" / SHIPPED / "jury.json").read_text(encoding="utf-8"))
    assert record["answers"] == len(judged)
    assert "pocket-8m answered all of them" in " ".join(record["notes"])
