"""Real children: messages, each way to die with its reason, and what is left when parent or child has died."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

import psutil
import pytest

from core.errors import RunError
from core.processes import exit_reasons
from core.processes.child import Child
from core.processes.parent import Parent
from core.settings import ROOT
from tests.processes import gone, oom_score

HERE = "tests.core.processes.test_child"


def main(connection: Connection, what: str, *arguments: str) -> None:
    """What the children of these tests do."""
    parent = Parent(connection, when_gone=lambda: Path(arguments[0]).write_text(str(oom_score(psutil.Process()))))
    match what:
        case "echo":
            while (message := parent.receive()) is not None:
                parent.send((message, parent.has_message, oom_score(psutil.Process())))
        case "die":
            print("the last words", flush=True)
            os.kill(os.getpid(), int(arguments[0]))
        case "refuse":
            raise RunError("a sentence")
        case "fail":
            raise ValueError("x")
        case "leave a child":
            grandchild = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
            parent.send(grandchild.pid)
            time.sleep(600)
        case "have a child":
            parent.send(started(HERE, "leave a child", arguments[0]).receive(int))
            time.sleep(600)


def started(*arguments: str, log: Path | str = "") -> Child:
    return Child(*arguments, environment=os.environ | {"PYTHONPATH": str(ROOT)}, log=log)


@contextmanager
def child(*arguments: str, log: Path | str = "") -> Iterator[Child]:
    started_child = started(HERE, *arguments, log=log)
    try:
        yield started_child
    finally:
        started_child.end()


def test_messages_go_both_ways_and_are_of_the_kind_that_is_expected():
    with child("echo") as echo:
        assert echo.status is None
        for message in ("a", {"b": 1}):
            echo.send(message)
            assert echo.poll(60)
            received, more, score = echo.receive(tuple)
            assert (received, more) == (message, False)
            assert score > oom_score(psutil.Process())  # the system stops it before this process
        echo.send("c")
        with pytest.raises(TypeError, match="sent a tuple and not a int"):
            echo.receive(int)
        assert os.getpgid(echo.pid) == echo.pid  # Ctrl-C does not reach it
        echo.send(None)
        with pytest.raises(EOFError):
            echo.receive(tuple)
        assert echo.end(within_s=60) == "ended by an error of its own (exit status 0)"


@pytest.mark.parametrize(
    ("what", "reason"),
    [
        (("die", str(int(signal.SIGSEGV))), "killed by signal 11 (SIGSEGV)"),
        (("die", str(int(signal.SIGKILL))), "killed by signal 9 (SIGKILL), perhaps because memory ran out"),
        (("refuse",), "ended by an error of its own (exit status 1)"),
        (("fail",), "ended by an error of its own (exit status 1)"),
    ],
)
def test_a_death_has_its_reason_and_a_last_line(tmp_path: Path, what: tuple[str, ...], reason: str):
    with child(*what, log=tmp_path / "log") as dying:
        with pytest.raises((EOFError, OSError)):
            dying.receive(str)
        assert dying.end(within_s=60) == reason
        assert dying.last_line() == {"die": "the last words", "refuse": "a sentence", "fail": "ValueError: x"}[what[0]]
        with pytest.raises(OSError, match="closed"):
            dying.send("x")


def test_a_kill_has_the_reason_that_it_was_given_and_takes_the_childs_children_along():
    with child("leave a child") as killed:
        grandchild = killed.receive(int)
        killed.kill("killed because it made no progress")
        assert killed.end() == "killed because it made no progress"
        assert killed.status == -signal.SIGKILL
        assert gone(grandchild)


def test_the_kernels_kill_for_memory_is_told_from_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The kernel may have counted its kill before the process is gone, and this process looks at it in between."""
    monkeypatch.setattr(exit_reasons, "OWN_GROUPS", tmp_path / "cgroup")
    monkeypatch.setattr(exit_reasons, "VMSTAT", tmp_path / "vmstat")
    exit_reasons.VMSTAT.write_text("oom_kill 3\n")
    with child("echo") as killed:
        exit_reasons.VMSTAT.write_text("oom_kill 4\n")
        clock = time.monotonic
        monkeypatch.setattr(time, "monotonic", lambda: clock() + 30)
        assert killed.status is None
        os.kill(killed.pid, signal.SIGKILL)
        assert killed.end(within_s=60) == "out of memory: the system stopped it"


def test_no_child_or_grandchild_outlives_its_parent(tmp_path: Path):
    """The parent is killed; its child first does what it has to do then, no longer the first to be killed."""
    path = tmp_path / "told"
    with child("have a child", str(path)) as parent:
        grandchild, score = parent.receive(int), oom_score(psutil.Process(parent.pid))
        os.kill(parent.pid, signal.SIGKILL)
        assert gone(grandchild)
        assert int(path.read_text()) == score
