"""How a process's death is told."""

from __future__ import annotations

import signal

import pytest

from core.processes import exit_reasons


@pytest.mark.parametrize(
    ("status", "starved", "says"),
    [
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
    assert exit_reasons.is_starved(2) is None
    (tmp_path / "vmstat").write_text("nr_free_pages 12\noom_kill 3\n")
    assert exit_reasons.kills_for_memory() == 3
    assert [exit_reasons.is_starved(before) for before in (None, 3, 2)] == [None, False, True]
