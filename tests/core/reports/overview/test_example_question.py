"""The question on a card: its set is the run's own."""

from dataclasses import replace
from pathlib import Path

import pytest

from core.reports import evaluation, frames
from core.reports.overview.example_question import LONGEST_OPTION, SET_SIZE, example_question
from core.reports.scored_sets import form
from core.runs import store
from tests.conftest import synthetic_questions, synthetic_run

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("score", ["lac", "aps", "raps"])
def test_its_set_is_the_one_that_the_run_forms(home: Path, score: str):
    run = evaluation.load(synthetic_run(300))
    summary = frames.summarise_score(run, score)
    result = example_question(run, score, summary.threshold(100))
    place = [f"Which option of question {i} is right?" for i in range(300)].index(result.question)
    row = int((run.ids == f"q{place}").nonzero()[0][0])
    assert row in run.test
    assert result.label == run.labels[row]
    assert result.probabilities.tolist() == run.probabilities[row].tolist()
    for alpha in (50, 100, 400):
        sets = form(run, score, alpha).members
        assert result.members(summary.threshold(alpha)) == sets[run.test.tolist().index(row)].tolist()
    inside = result.members(summary.threshold(100))
    assert inside[result.label]
    assert sum(inside) == SET_SIZE
    assert result.short


def test_where_all_texts_are_long_the_shortest_is_taken(home: Path):
    run_id = synthetic_run(60)
    long = "x" * (LONGEST_OPTION + 1)
    questions = [
        replace(q, options=(long, *q.options[1:]), context="c" * (60 - i))
        for i, q in enumerate(synthetic_questions(60))
    ]
    store.write_questions(store.folder_of(run_id), questions, ["calibration"] * 30 + ["test"] * 30)
    result = example_question(evaluation.load(run_id), "lac", 2.0)  # every option is in every set
    assert result.question == "Which option of question 59 is right?"
    assert result.options[0] == long
    assert not result.short
