"""Fifty flipped bits of each database, and what a person reads of a damaged one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from core import backup, monitoring
from core.classroom import class_store
from core.cli import main
from core.errors import RunError
from core.runs import engine
from core.settings import ROOT
from tests.conftest import synthetic_run
from tests.core.database import flips


@pytest.fixture
def filled(home: Path) -> Path:
    flips.fill()
    return home


@pytest.mark.parametrize("name", flips.FIGURES)
def test_a_flipped_bit_changes_no_figure(filled: Path, name: str, monkeypatch: pytest.MonkeyPatch):
    outcomes = flips.try_flips(filled, name, 50, seed=1, monkeypatch=monkeypatch)
    assert outcomes.total() == 50
    assert outcomes["sentence"] > 0


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
    assert flips.WAY_OUT["engine.sqlite"] in err
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


def test_a_worker_ends_with_one_sentence_and_no_traceback(damaged: str):
    command = [sys.executable, "-m", "core.runs.agent.worker", "host:cpu"]
    with subprocess.Popen(
        command, cwd=ROOT, env=os.environ, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as worker:
        assert worker.wait(60) == 1
        assert worker.stderr
        said = worker.stderr.read()
    assert said.count("\n") == 1
    assert SENTENCE in said


def test_a_damaged_file_of_classes_is_not_copied_into_a_backup(filled: Path, tmp_path: Path):
    (code, _, _), _ = class_store.codes(after=0)
    flips.forget()
    file = filled / "classes.sqlite"
    content = file.read_bytes()
    place = content.index(b"Person 7")
    file.write_bytes(content[: place + 7] + b"8" + content[place + 8 :])
    with pytest.raises(RunError, match=r"row '.*',8 of seats is not what was written; move the file away"):
        class_store.read(code)
    with pytest.raises(RunError, match=r"it is damaged: .* of seats .*; move .* away"):
        backup.back_up(tmp_path / "one.tar.gz")
