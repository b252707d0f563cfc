"""Fifty flipped bits of each database, and what a person reads of a damaged one."""

import json
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from core.errors import RunError
from core.processes.child import Child
from core.runs import engine, store
from core.runs.queue import run_queue
from core.runs.spec import RunSpec
from core.runs.store import RunRecord
from core.serving import backup, monitoring
from core.serving.classroom import class_store, lecture, quiz
from core.storage import database
from hedge.cli import main
from tests.conftest import synthetic_run
from tests.damaged import check_damages

WAY_OUT = {
    "engine.sqlite": "move a damaged file away: finished runs do not live in it",
    "classes.sqlite": "move the file away, and new classes can be opened",
}


@pytest.fixture
def filled(home: Path) -> Path:
    """A home whose databases hold runs that wait, are running and have ended, and two classes."""
    for seed in range(12):
        spec = RunSpec(model="fake", task="qa", samples=20, seed=seed)
        store.create(RunRecord(spec=spec, state="queued", created=time.time()))
        run_queue.enqueue(spec.run_id, needs_gib=seed / 4, slot=("", "cpu")[seed % 2])
    run_queue.open_queue("host:cpu")
    taken = run_queue.take("host:cpu", memory_gib=1.0)
    assert taken
    run_queue.note(taken, death="killed by signal 9 (out of memory)")
    run_queue.cancel(RunSpec(model="fake", task="qa", samples=20, seed=7).run_id)
    for seed in range(2):
        live = lecture.open_class(quiz.draw("qa", n=6, calibration=3, seed=seed))
        for seat in range(12):
            live.join(f"{seat:032x}", f"Person {seat}")
        for question in range(6):
            lecture.ask_next(live.code)
            for seat in range(12):
                first = 5 * ((seat + question) % 20)
                live.answer(f"{seat:032x}", question=question, shares=[first, 100 - first, 0, 0], turn=1)
    forget()
    return home


def forget() -> None:
    """Close the databases, as a process does that ends."""
    database.forget()
    database._watch.cache_clear()
    class_store.forget()


def runs() -> dict[str, Any]:
    """All that is in the run database: of each run, and of its workflow."""
    entries = run_queue.unfinished() | run_queue.ended_since(0)
    workflows = database.ask(lambda client: client.list_workflows())
    return {
        "entries": [asdict(entry) for entry in entries.values()],
        "waiting": [entry.run_id for entry in run_queue.waiting()],
        "workflows": {
            each.workflow_id: (each.name, each.input, each.created_at, each.app_version) for each in workflows
        },
        "states": [(now.run_id, now.state, now.message, now.tries) for now in engine.statuses()],
    }


def classes() -> dict[str, Any]:
    """All that is in the file of classes."""
    codes = class_store.codes(after=0)
    return {"codes": codes, "classes": [class_store.read(code) for code, _, _ in codes]}


FIGURES: dict[str, Callable[[], dict[str, Any]]] = {"engine.sqlite": runs, "classes.sqlite": classes}


@pytest.mark.parametrize("name", FIGURES)
def test_a_flipped_bit_changes_no_figure(filled: Path, name: str):
    def read() -> dict[str, Any]:
        try:
            return FIGURES[name]()
        finally:
            forget()

    check_damages(filled / name, read, missing=RunError, way_out=WAY_OUT[name], tries=50, seed=1, least=0.1)


@pytest.fixture
def damaged(filled: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A home with a finished run and a damaged run database; returns the run's id."""
    monkeypatch.setenv("HEDGE_FAKE_ENGINE", "{}")
    monkeypatch.setenv("HEDGE_START_AGENT", "0")
    file = filled / "engine.sqlite"
    content = file.read_bytes()
    assert content.count(b"ENQUEUEDrun")
    file.write_bytes(content.replace(b"ENQUEUEDrun", b"ENQUEUEErun", 1))
    return synthetic_run(60)


SENTENCE = "engine.sqlite can't be used (it is damaged: "


def test_a_damaged_run_database_is_one_sentence_and_finished_runs_stay(damaged: str, capsys):
    assert main(["runs", "--json"]) == 1
    out, err = capsys.readouterr()
    rows = {row["run"]: row["state"] for row in json.loads(out)}
    assert rows[damaged] == "done"
    assert list(rows.values()).count("queued") > 5
    assert err.count(SENTENCE) == err.count("\n") == 1
    assert WAY_OUT["engine.sqlite"] in err
    assert main(["report", damaged]) == 0
    assert main(["delete", damaged]) == 0
    assert main(["restore", damaged]) == 0
    capsys.readouterr()
    assert main(["run", "--model", "fake", "--task", "qa", "--samples", "20", "--seed", "99", "--queue"]) == 1
    assert SENTENCE in capsys.readouterr().err
    with pytest.raises(RunError, match="it is damaged"):
        engine.statuses()
    (problem,) = monitoring.problems()
    assert SENTENCE in problem
    assert b"hedge_ready 0.0" in monitoring.exposition(sessions=0)


def test_a_worker_ends_with_one_sentence_and_no_traceback(damaged: str, tmp_path: Path):
    worker = Child("core.runs.agent.worker", "host:cpu", log=tmp_path / "log")
    worker.end(within_s=60)
    assert worker.status == 1
    (line,) = (tmp_path / "log").read_text().splitlines()
    assert SENTENCE in line


def test_a_damaged_file_of_classes_is_not_copied_into_a_backup(filled: Path, tmp_path: Path):
    (code, _, _), _ = class_store.codes(after=0)
    forget()
    file = filled / "classes.sqlite"
    content = file.read_bytes()
    place = content.index(b"Person 7")
    file.write_bytes(content[: place + 7] + b"8" + content[place + 8 :])
    with pytest.raises(RunError, match=r"row '.*',8 of seats is not what was written; move the file away"):
        class_store.read(code)
    with pytest.raises(RunError, match=r"it is damaged: .* of seats .*; move .* away"):
        backup.back_up(tmp_path / "one.tar.gz")
