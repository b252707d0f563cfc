"""Runs of questions with ordered options: locally, as scores of both formats of decisions, and their interval sets."""

import json

import numpy as np
import pytest

from core.questions import bank
from core.questions.prompting.decision import DECISION_FORMATS
from core.reports.evaluation import load
from core.reports.scored_sets import form
from core.runs import store
from hedge.cli import main

PATHS = tuple(f"/{form}" for form in DECISION_FORMATS)


@pytest.fixture
def graded(tmp_path):
    """A file of questions whose options are said to be ordered levels."""
    rows = [
        {"question": q.question, "options": q.options[:4], "label": q.letter, "ordered": True}
        for q in bank.load("qa")[:60]
        if q.label < 4
    ]
    path = tmp_path / "grades.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def test_ordered_options_are_asked_as_scores_and_their_sets_are_intervals(server, capsys, graded):
    server.reset(decisions=PATHS)
    words = ["--model", "pocket-3m", "--task", str(graded), "--alpha", "0.2"]
    before = set(store.run_ids())
    for more in ([], *(["--server", server.url, "--format", name] for name in DECISION_FORMATS)):
        assert main(["run", *words, *more]) == 0
    capsys.readouterr()
    records = [store.read_record(name) for name in set(store.run_ids()) - before]
    assert len(records) == 3
    assert all(record.ordered for record in records)
    runs = [load(record.run_id) for record in records]
    formed = [form(run, "ordinal-aps", 200) for run in runs]
    assert all(np.array_equal(run.ids, runs[0].ids) for run in runs)
    assert all(np.array_equal(sets.members, formed[0].members) for sets in formed)
    starts = np.diff(np.pad(formed[0].members, ((0, 0), (1, 0))).astype(int), axis=1) == 1
    assert (starts.sum(axis=1) <= 1).all()
    assert '"type": "score"' in next(r for r in records if r.spec.servers).provenance["example_prompt"]
    assert main(["report", records[0].run_id, "--score", "ordinal-aps", "--alpha", "0.2"]) == 0
    assert "ordinal-aps" in capsys.readouterr().out
    assert main(["run", *words, "--server", server.url, "--format", "decisions", "--rotations"]) == 2
    assert "are ordered levels, which are asked in their order alone" in capsys.readouterr().err


def test_the_score_of_ordered_options_is_refused_for_others(capsys):
    assert main(["report", "pocket-1m-qa-base-0shot-float32-a28c452d31", "--score", "ordinal-aps"]) == 2
    assert "the score ordinal-aps is for questions whose options are ordered levels" in capsys.readouterr().err
