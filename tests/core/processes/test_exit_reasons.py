"""How a process's death is told."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

from core.processes import exit_reasons
from core.processes.exit_reasons import MemoryKills

pytestmark = pytest.mark.quick


@pytest.mark.parametrize(
    ("status", "out_of_memory", "reason"),
    [
        (3, True, "ended by an error of its own (exit status 3)"),
        (-signal.SIGSEGV, True, "killed by signal 11 (SIGSEGV)"),
        (-signal.SIGKILL, True, "out of memory: the system stopped it"),
        (-signal.SIGKILL, False, "killed by signal 9 (SIGKILL), perhaps because memory ran out"),
        (-127, False, "killed by signal 127 (unknown)"),
    ],
)
def test_in_words(status: int, out_of_memory: bool, reason: str):
    assert exit_reasons.in_words(status, out_of_memory=out_of_memory) == reason


def test_a_system_that_counts_no_memory_kills_has_had_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(exit_reasons, "VMSTAT", tmp_path / "vmstat")
    assert not MemoryKills().any
    exit_reasons.VMSTAT.write_text("nr_free_pages 12\n")
    assert not MemoryKills().any


def test_memory_kills_are_compared_with_a_count_of_at_least_a_minute_ago(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(exit_reasons, "VMSTAT", tmp_path / "vmstat")
    minutes = iter(range(10))
    monkeypatch.setattr(time, "monotonic", lambda: 60.0 * next(minutes))
    exit_reasons.VMSTAT.write_text("nr_free_pages 12\noom_kill 3\n")
    kills = MemoryKills()
    assert not kills.any
    exit_reasons.VMSTAT.write_text("nr_free_pages 12\noom_kill 4\n")
    assert kills.any
    kills.look()  # after a minute, which may be while the process that was killed still gives its memory back
    assert kills.any
    kills.look()
    assert not kills.any
