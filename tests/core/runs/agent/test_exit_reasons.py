"""How a worker's death is told, and who hangs."""

from __future__ import annotations

import signal

import pytest

from core.runs.agent import exit_reasons, watchdog
from core.runs.store import Progress, RunRecord, create, write_progress
from tests.core.runs.conftest import spec


@pytest.mark.parametrize(
    ("status", "starved", "says"),
    [
        (exit_reasons.UNWANTED, None, "ended because its run was no longer wanted"),
        (3, None, "ended by an error of its own (exit status 3)"),
        (-signal.SIGSEGV, True, "killed by signal 11 (SIGSEGV)"),
        (-signal.SIGKILL, True, "killed by signal 9 (SIGKILL) for want of memory"),
        (-signal.SIGKILL, False, "killed by signal 9 (SIGKILL), not for want of memory"),
        (-signal.SIGKILL, None, "killed by signal 9 (SIGKILL), perhaps for want of memory"),
        (-127, None, "killed by signal 127 (unknown)"),
    ],
)
def test_in_words(status, starved, says):
    assert exit_reasons.in_words(status, starved=starved) == says


def test_kills_for_memory_are_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(exit_reasons, "VMSTAT", tmp_path / "vmstat")
    assert exit_reasons.kills_for_memory() is None
    (tmp_path / "vmstat").write_text("nr_free_pages 12\noom_kill 3\n")
    assert exit_reasons.kills_for_memory() == 3


def test_a_run_hangs_that_says_nothing_new(home, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(watchdog.time, "monotonic", lambda: now[0])
    folder = create(RunRecord(spec=spec(), state="running", created=0.0))
    watch, at_work = watchdog.ProgressWatch(), {"a:cpu": folder.name}

    def overdue_at(second):
        now[0] = second
        return watch.overdue(at_work, after_s=10)

    write_progress(folder, Progress(0, 10, "loading the model"))
    assert watchdog.is_loading(folder.name)
    assert overdue_at(0) == overdue_at(39) == []
    assert overdue_at(40) == ["a:cpu"]
    write_progress(folder, Progress(5, 10, "scoring"))
    assert not watchdog.is_loading(folder.name)
    assert overdue_at(41) == overdue_at(50) == []
    assert overdue_at(51) == ["a:cpu"]
    assert watch.overdue({}, after_s=10) == []
    assert overdue_at(52) == []  # another try is given its own time
