"""Which run's calibration fits a typed question."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.errors import InputError
from core.runs.answering.question_kind import QuestionKind, best_run, kind_of_run
from core.runs.spec import RunSpec
from core.runs.store import RunRecord
from tests.conftest import synthetic_run

LETTERS, TEXTS, PASSAGE = QuestionKind(6, 2, False), QuestionKind(4, 0, False), QuestionKind(6, 2, True)
PLAIN = RunSpec(model="m", task="qa")


def runs(*specs: RunSpec) -> list[RunRecord]:
    return [RunRecord(spec, "done", created=1.0) for spec in specs]


def kind_of(spec: RunSpec) -> QuestionKind:
    if spec.asks_texts:
        return TEXTS
    return PASSAGE if spec.task == "rc" else LETTERS


def best(specs: list[RunSpec], **asked: object) -> RunSpec:
    kinds = {spec.run_id: kind_of(spec) for spec in specs}
    asked = {"model": "m", "options": 6, "has_context": False} | asked
    return best_run(runs(*specs), kinds.__getitem__, **asked).spec  # type: ignore[arg-type]


CLOZE, READING = replace(PLAIN, form="cloze"), replace(PLAIN, task="rc")
CAREFUL, SHORT, OTHER = replace(PLAIN, strategy="task"), replace(PLAIN, dtype="bfloat16"), replace(PLAIN, model="n")
ALL = [OTHER, SHORT, CAREFUL, CLOZE, READING, PLAIN]


@pytest.mark.parametrize(
    ("asked", "chosen"),
    [
        ({}, PLAIN),
        ({"options": None}, PLAIN),
        ({"has_context": True}, READING),
        ({"model": "n"}, OTHER),
        ({"model": "unknown", "prefer": PLAIN.run_id}, PLAIN),
        # Four options without the two others: by letter all the same, for a question is not put in another way unseen.
        ({"options": 4}, PLAIN),
        ({"options": 4, "prefer": CLOZE.run_id}, CLOZE),
        # The preferred run wins among runs of the same kind of question alone.
        ({"prefer": CAREFUL.run_id}, CAREFUL),
        ({"prefer": READING.run_id}, PLAIN),
        ({"prefer": OTHER.run_id}, PLAIN),
    ],
)
def test_the_run_that_differs_least(asked: dict[str, object], chosen: RunSpec):
    assert best(ALL, **asked) == chosen
    assert best(ALL[::-1], **asked) == chosen


def test_a_run_with_as_many_options_wins_over_a_plainer_way_of_asking():
    ten = replace(PLAIN, strategy="task", task="ten.json")
    kinds = {PLAIN.run_id: LETTERS, ten.run_id: QuestionKind(10, 0, False)}
    found = best_run(runs(PLAIN, ten), kinds.__getitem__, model="m", options=10, has_context=False)
    assert found.spec == ten


def test_a_run_that_can_not_be_read_is_chosen_last():
    def broken(run_id: str) -> QuestionKind:
        if run_id == PLAIN.run_id:
            raise InputError("its questions are gone")
        return PASSAGE

    found = best_run(runs(PLAIN, READING), broken, model="m", options=6, has_context=False)
    assert found.spec == READING


def test_the_kind_of_a_run(home: object):
    assert kind_of_run(synthetic_run(20)) == LETTERS
    assert kind_of_run(synthetic_run(20)).own == 4
    assert kind_of_run(synthetic_run(20, k=10)).options == 10
