"""Runs grouped by their questions, and the runs that share their questions with another."""

from pathlib import Path

import pytest

from core.reports.run_groups import grouped, setting_words, sharing_questions
from core.reports.titles import record_titles
from core.runs import store
from core.runs.spec import RunSpec
from core.runs.store import RunRecord
from tests.conftest import synthetic_run

pytestmark = pytest.mark.quick


def record(model: str, task: str = "qa", **spec: object) -> RunRecord:
    return RunRecord(RunSpec(model=model, task=task, **spec), "done", 0.0)  # type: ignore[arg-type]


def test_own_runs_come_first_as_they_are_and_shipped_ones_in_reading_order(monkeypatch: pytest.MonkeyPatch):
    own = [record("z", "ds"), record("b"), record("a", "ds")]
    shipped = [record("m-13b", "rc"), record("m-3b", "rc"), record("m-3b")]
    ids = {run_record.run_id for run_record in shipped}
    monkeypatch.setattr("core.runs.store.is_bundled", lambda run_id: run_id in ids)
    result = grouped([own[0], shipped[0], own[1], shipped[1], own[2], shipped[2]])
    assert [(group.title, group.own, [run_record.spec.model for run_record in group.records]) for group in result] == [
        ("Summaries", True, ["z", "a"]),
        ("Question answering", True, ["b"]),
        ("Question answering", False, ["m-3b"]),
        ("Reading comprehension", False, ["m-3b", "m-13b"]),
    ]


def test_words_of_a_name_besides_the_model_and_the_task():
    records = [record("m"), record("m", dtype="int8", shots=2), record("n", seed=1), record("n", seed=2)]
    names = record_titles(records)
    assert [setting_words(run_record, names[run_record.run_id]) for run_record in records] == [
        "",
        "2 shots · 8-bit",
        "seed 1",
        "seed 2",
    ]


def test_runs_share_their_questions_whatever_they_are_called(home: Path):
    """The same questions under the names of two tasks are the same; others of one's own task are not."""
    first = synthetic_run(40, model="first", seed=5)
    same = synthetic_run(40, model="same", seed=5)
    renamed = synthetic_run(40, model="renamed", seed=5, task="rc")
    synthetic_run(40, model="other", seed=6)
    broken = synthetic_run(40, model="broken", seed=5)
    (store.folder_of(broken) / "questions.parquet").unlink()
    records = [store.read_record(run_id) for run_id in store.run_ids()]
    result = sharing_questions(store.read_record(first), records)
    assert [run_record.run_id for run_record in result] == [same, renamed]
    assert [
        run_record.run_id for run_record in sharing_questions(store.read_record(first), records, without=[same])
    ] == [renamed]
    assert sharing_questions(store.read_record(broken), records) == []


def test_the_most_similar_settings_come_first(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("core.reports.run_groups.question_set", lambda run_id: "the same")
    first = record("m", strategy="task")
    records = [record("a", dtype="int8"), record("b"), record("c", strategy="task"), first]
    assert [run_record.spec.model for run_record in sharing_questions(first, records)] == ["c", "b", "a"]
