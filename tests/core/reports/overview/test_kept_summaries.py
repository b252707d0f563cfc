"""The kept summaries of runs: the same figures to the last bit, and computed again where anything has changed."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.records import OptionLogits, Question
from core.reports import evaluation, frames, kept
from core.reports.frames import RunSummary
from core.reports.overview import kept_summaries
from core.runs import store
from core.runs.store import RunRecord
from core.settings import ASSETS
from tests.conftest import synthetic_run

pytestmark = pytest.mark.quick

ALPHAS = (1, 37, 100, 500, 999)


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The runs whose answers were read."""
    read: list[str] = []
    load = evaluation.load
    monkeypatch.setattr(evaluation, "load", lambda run_id: read.append(run_id) or load(run_id))
    return read


def check(summary: RunSummary, run_id: str) -> None:
    """A summary gives the rows that are computed from the run, to the last bit."""
    for alpha in ALPHAS:
        own = frames.overview([evaluation.load(run_id)], alpha)
        pd.testing.assert_frame_equal(frames.overview_at([summary], alpha), own, check_exact=True)


def repeated_run() -> str:
    """A run with ties among its scores, which asks each question twice and some with fewer options."""
    questions = [
        Question(f"q{i}", "qa", "sums", "", f"Question {i // 2}?", ("a", "b", "c")[: 2 + i // 2 % 2], i // 2 % 2)
        for i in range(120)
    ]
    logits = [[float(i % 3), 1.0, 0.5 if len(q.options) == 3 else -float("inf")] for i, q in enumerate(questions)]
    record = RunRecord(store.read_record(synthetic_run(20, model="repeats")).spec, "queued", 1.0)
    folder = store.create(record)
    store.write_questions(folder, questions, ["calibration"] * 60 + ["test"] * 60)
    ids = tuple(q.id for q in questions)
    store.write_logits(folder, OptionLogits(ids, np.array(logits, np.float32), np.ones(120, np.float32)))
    store.update_record(record.run_id, state="done", ended=2.0)
    return record.run_id


@pytest.mark.parametrize("make", [lambda: synthetic_run(60), lambda: synthetic_run(20, k=4), repeated_run])
def test_a_kept_summary_equals_the_computed_one_to_the_last_bit(home: Path, reads: list[str], make):
    run_id = make()
    first = kept_summaries.summary(run_id)
    assert reads == [run_id]
    again = kept_summaries.summary(run_id)
    assert reads == [run_id]
    check(first, run_id)
    check(again, run_id)
    assert again.row == first.row


def test_a_run_that_ships_is_kept_in_the_home(home: Path, reads: list[str]):
    run_id = next(name for name in store.run_ids() if name.startswith("pocket-8m-qa"))
    before = sorted((ASSETS / "runs" / run_id).iterdir())
    kept_summaries.summary(run_id)
    check(kept_summaries.summary(run_id), run_id)
    assert kept.path_of(kept_summaries.KIND, run_id).is_relative_to(home)
    assert sorted((ASSETS / "runs" / run_id).iterdir()) == before


def test_another_run_of_the_same_name_is_summarised_anew(home: Path, reads: list[str]):
    run_id = synthetic_run(60)
    kept_summaries.summary(run_id)
    scored = store.read_logits(run_id)
    turned = OptionLogits(scored.ids, scored.logits[::-1].copy(), scored.letter_mass)
    store.write_logits(home / "runs" / run_id, turned)
    check(kept_summaries.summary(run_id), run_id)
    assert reads.count(run_id) >= 2


def test_caveats_that_come_later_are_in_the_summary(home: Path, reads: list[str]):
    run_id = synthetic_run(60)
    before = kept_summaries.summary(run_id).row["caveats"]
    store.note(run_id, caveats=["The prompts were translated."])
    assert "translated" not in before
    assert "translated" in kept_summaries.summary(run_id).row["caveats"]


def test_other_code_summarises_anew(home: Path, reads: list[str], monkeypatch: pytest.MonkeyPatch):
    run_id = synthetic_run(60)
    kept_summaries.summary(run_id)
    monkeypatch.setattr(kept, "code", lambda: "other code")
    kept_summaries.summary(run_id)
    assert reads == [run_id] * 2


@pytest.mark.parametrize("place", [0, 18, 30, -1, None])
def test_a_damaged_file_is_not_used_and_written_again(home: Path, reads: list[str], place: int | None):
    run_id = synthetic_run(60)
    kept_summaries.summary(run_id)
    path = kept.path_of(kept_summaries.KIND, run_id)
    content = bytearray(path.read_bytes())
    if place is None:
        content = content[:10]
    else:
        content[place] ^= 1
    path.write_bytes(content)
    check(kept_summaries.summary(run_id), run_id)
    reads.clear()
    kept_summaries.summary(run_id)
    assert reads == []


def test_a_home_that_can_not_be_written_changes_no_figure(home: Path, reads: list[str]):
    run_id = synthetic_run(60)
    (home / "cache").mkdir(exist_ok=True)
    (home / "cache" / kept_summaries.KIND).write_text("in the way")
    check(kept_summaries.summary(run_id), run_id)


def test_a_damaged_run_has_no_summary_although_one_is_kept(home: Path):
    run_id = synthetic_run(60)
    kept_summaries.summary(run_id)
    path = home / "runs" / run_id / store.LOGITS
    content = bytearray(path.read_bytes())
    content[100] ^= 1
    path.write_bytes(content)
    with pytest.raises(store.UnreadableRunError, match=r"logits\.parquet"):
        kept_summaries.summary(run_id)


def test_new_runs_are_kept_before_anybody_looks(home: Path, reads: list[str]):
    synthetic_run(20, model="first")
    looked_at = dict(store.run_stamps())
    first, second = synthetic_run(20, model="second"), synthetic_run(20, model="third")
    assert kept_summaries.keep_new(looked_at)
    assert sorted(reads) == sorted([first, second])
    for run_id in (first, second):
        kept_summaries.summary(run_id)
    kept_summaries.keep_new(looked_at)
    assert len(reads) == 2


def test_keeping_stops_in_time_and_continues(home: Path, reads: list[str]):
    looked_at = dict(store.run_stamps())
    runs = [synthetic_run(20, model=f"m{i}") for i in range(3)]
    assert not kept_summaries.keep_new(looked_at, within_s=-1.0)
    assert not reads
    kept_summaries.keep_new(looked_at)
    assert sorted(reads) == sorted(runs)


def test_a_run_that_takes_too_much_memory_keeps_the_others_waiting_once(home: Path, monkeypatch: pytest.MonkeyPatch):
    looked_at = dict(store.run_stamps())
    large, *others = sorted(synthetic_run(20, model=f"m{i}") for i in range(3))
    load = evaluation.load

    def short_of_memory(run_id: str) -> evaluation.Evaluation:
        if run_id == large:
            raise MemoryError
        return load(run_id)

    monkeypatch.setattr(evaluation, "load", short_of_memory)
    with pytest.raises(MemoryError):
        kept_summaries.keep_new(looked_at)
    assert kept_summaries.keep_new(looked_at)
    assert all(kept.path_of(kept_summaries.KIND, run_id).is_file() for run_id in others)
