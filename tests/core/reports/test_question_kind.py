"""Which run's calibration fits a typed question."""

from dataclasses import replace
from typing import Any

import pytest

from core.errors import InputError
from core.reports.question_kind import QuestionKind, best_run, kind_of_run
from core.runs.spec import RunSpec
from core.runs.store import RunRecord
from tests.conftest import synthetic_run

pytestmark = pytest.mark.quick

LETTERS, TEXTS, PASSAGE = QuestionKind(6, 2, False), QuestionKind(4, 0, False), QuestionKind(6, 2, True)
PLAIN = RunSpec(model="m", task="qa")


def runs(*specs: RunSpec) -> list[RunRecord]:
    return [RunRecord(spec, "done", created=1.0) for spec in specs]


def kind_of(spec: RunSpec) -> QuestionKind:
    if spec.asks_texts:
        return TEXTS
    return PASSAGE if spec.task == "rc" else LETTERS


def best(specs: list[RunSpec], **question: Any) -> RunSpec:
    kinds = {spec.run_id: kind_of(spec) for spec in specs}
    question = {"model": "m", "typed": 4, "extra": True, "has_context": False, "prefer": PLAIN.run_id} | question
    return best_run(runs(*specs), kinds.__getitem__, **question).spec


CLOZE, READING = replace(PLAIN, form="cloze"), replace(PLAIN, task="rc")
CAREFUL, SHORT, OTHER = replace(PLAIN, strategy="task"), replace(PLAIN, dtype="bfloat16"), replace(PLAIN, model="n")
ALL = [OTHER, SHORT, CAREFUL, CLOZE, READING, PLAIN]


@pytest.mark.parametrize(
    ("question", "chosen"),
    [
        ({}, PLAIN),
        ({"typed": None}, PLAIN),
        ({"has_context": True}, READING),
        ({"has_context": True, "prefer": CLOZE.run_id}, READING),
        ({"model": "n"}, OTHER),
        ({"model": "unknown"}, PLAIN),
        ({"prefer": CLOZE.run_id}, CLOZE),
        ({"prefer": CLOZE.run_id, "typed": None}, CLOZE),
        ({"prefer": CLOZE.run_id, "typed": 5}, CLOZE),  # no run has five
        ({"extra": False}, CLOZE),  # four options and nothing added: only the runs by text have as many
        ({"extra": False, "typed": 6}, PLAIN),
        ({"prefer": CAREFUL.run_id}, CAREFUL),
        # The preferred run wins among runs of questions of the same kind alone; without it, a run by text does.
        ({"prefer": READING.run_id}, CLOZE),
        ({"prefer": OTHER.run_id}, CLOZE),
        ({"prefer": ""}, CLOZE),
    ],
)
def test_the_run_that_differs_least(question: dict[str, Any], chosen: RunSpec):
    assert best(ALL, **question) == chosen
    assert best(ALL[::-1], **question) == chosen


def test_a_run_with_as_many_options_wins_over_a_plainer_way_of_asking():
    ten = replace(PLAIN, strategy="task", task="ten.json")
    kinds = {PLAIN.run_id: LETTERS, ten.run_id: QuestionKind(10, 0, False)}
    question: dict[str, Any] = {"model": "m", "typed": 10, "extra": True, "has_context": False, "prefer": PLAIN.run_id}
    assert best_run(runs(PLAIN, ten), kinds.__getitem__, **question).spec == ten


def test_a_run_that_can_not_be_read_is_chosen_last():
    def broken(run_id: str) -> QuestionKind:
        if run_id == PLAIN.run_id:
            raise InputError("its questions are gone")
        return PASSAGE

    question: dict[str, Any] = {"model": "m", "typed": 4, "extra": True, "has_context": False, "prefer": PLAIN.run_id}
    assert best_run(runs(PLAIN, READING), broken, **question).spec == READING


def test_the_kind_of_a_run(home: object):
    assert kind_of_run(synthetic_run(20)) == LETTERS
    assert kind_of_run(synthetic_run(20)).own == 4
    assert kind_of_run(synthetic_run(20, k=10)).options == 10
