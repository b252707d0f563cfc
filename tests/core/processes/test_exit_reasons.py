"""Messages about the death of a process."""

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


@pytest.fixture(autouse=True)
def _no_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exit_reasons, "OWN_GROUPS", tmp_path / "cgroup")
    monkeypatch.setattr(exit_reasons, "GROUPS", tmp_path / "groups")
    monkeypatch.setattr(exit_reasons, "VMSTAT", tmp_path / "vmstat")


@pytest.mark.parametrize(
    ("groups", "counter"),
    [
        ("0::/user/hedge\n", "user/hedge/memory.events"),
        ("0::/user/hedge/leaf\n", "user/hedge/memory.events"),
        ("5:cpu:/x\n4:cpu,memory:/user/hedge\n0::/\n", "memory/user/hedge/memory.oom_control"),
        ("4:memory:/of/the/host\n", "memory/memory.oom_control"),  # a container sees its own group at the root
    ],
)
def test_a_kill_in_another_container_is_not_this_ones(tmp_path: Path, groups: str, counter: str):
    exit_reasons.OWN_GROUPS.write_text(groups)
    own = exit_reasons.GROUPS / counter
    own.parent.mkdir(parents=True)
    own.write_text("oom 0\noom_kill 2\n")
    exit_reasons.VMSTAT.write_text("oom_kill 7\n")
    kills = MemoryKills()
    exit_reasons.VMSTAT.write_text("oom_kill 8\n")
    assert not kills.any
    own.write_text("oom 0\noom_kill 3\n")
    assert kills.any


def test_a_system_that_counts_no_memory_kills_has_had_none():
    assert not MemoryKills().any
    exit_reasons.VMSTAT.write_text("nr_free_pages 12\n")
    assert not MemoryKills().any


def test_memory_kills_are_compared_with_a_count_of_at_least_a_minute_ago(monkeypatch: pytest.MonkeyPatch):
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
