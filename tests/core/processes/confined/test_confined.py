"""A process with limits dies in place of its caller, whatever code it is in."""

from __future__ import annotations

import os
import re
import signal
import socket

import numpy as np
import psutil
import pytest

from core.errors import InputError, RunError
from core.processes.confined import Channel, LimitReached, Limits, Nursery
from core.processes.confined.server import _Server
from tests.processes import oom_score

SMALL = Limits(memory=300 << 20, seconds=0.5)


@pytest.fixture(scope="module")
def nursery() -> Nursery:
    return Nursery("numpy")


def add(channel: Channel, a: int, b: int) -> int:
    return a + b


def echo(channel: Channel) -> str:
    while (said := channel.receive()) != "stop":
        channel.send(said * 2)
    return "ended"


def eat(channel: Channel) -> int:
    kept = []
    while True:
        kept.append("x" * 10_000_000)


def eat_at_once(channel: Channel) -> float:
    return float(np.ones(10**9).sum())


def spin(channel: Channel) -> None:
    re.match(r"(a+)+$", "a" * 50 + "b")  # within C code, where Python handles no signal


def crash(channel: Channel) -> None:
    os.abort()


def killed(channel: Channel) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def own_oom_score(channel: Channel) -> int:
    return oom_score(psutil.Process())


def fail(channel: Channel, known: bool) -> None:
    raise InputError("a sentence of ours") if known else KeyError("x")


def variable(channel: Channel, name: str) -> str | None:
    return os.environ.get(name)


def run(nursery: Nursery, function, *arguments, limits: Limits = SMALL):
    with nursery.open(function, *arguments, limits=limits) as session:
        return session.receive()


def test_values_come_back(nursery):
    assert run(nursery, add, 2, 3) == ("value", 5)


def test_a_conversation(nursery):
    with nursery.open(echo, limits=SMALL) as session:
        session.send("ab")
        assert session.receive() == "abab"
        session.send("stop")
        assert session.receive() == ("value", "ended")


@pytest.mark.parametrize("function", [eat, eat_at_once])
def test_too_much_memory(nursery, function):
    with pytest.raises(LimitReached, match=r"it needs more than 0\.29\d* GB of memory"):
        run(nursery, function)
    assert run(nursery, add, 1, 1) == ("value", 2)


def test_too_much_time(nursery):
    with pytest.raises(LimitReached, match=r"it needs more than 0\.5 seconds of processor time"):
        run(nursery, spin)


def test_a_crash(nursery):
    with pytest.raises(LimitReached, match="crashed; it is damaged, or needs more than"):
        run(nursery, crash)


def test_a_kill_is_not_taken_for_the_limit(nursery):
    """Only the system kills so, and it may have run out of memory long before the limit."""
    with pytest.raises(
        LimitReached, match=r"^the system stopped the process that read it, perhaps because memory ran out$"
    ):
        run(nursery, killed)


def test_the_system_stops_it_before_its_caller_when_memory_runs_out(nursery):
    _, score = run(nursery, own_oom_score)
    assert score > oom_score(psutil.Process())


def test_ctrl_c_does_not_reach_the_warm_process_even_while_it_imports(nursery):
    nursery.warm()
    assert os.getpgid(nursery._process.pid) == nursery._process.pid


def test_errors_of_ours_are_raised_and_others_are_named(nursery):
    with pytest.raises(InputError, match="a sentence of ours"):
        run(nursery, fail, True)
    with pytest.raises(RunError, match="KeyError"):
        run(nursery, fail, False)


def test_the_settings_are_those_of_the_caller(nursery, monkeypatch):
    for value in ("/one", "/two"):
        monkeypatch.setenv("HEDGE_HOME", value)
        assert run(nursery, variable, "HEDGE_HOME") == ("value", value)


def test_a_warm_process_that_was_killed_is_started_again(nursery):
    run(nursery, add, 1, 2)
    os.kill(nursery._process.pid, signal.SIGKILL)
    nursery._process.wait()
    assert run(nursery, add, 1, 2) == ("value", 3)


def test_no_signal_wakes_a_warm_process_that_ends():
    """Its children die while it closes its sockets. A signal that wakes a closed one is an error."""
    ours, theirs = socket.socketpair()
    before = signal.getsignal(signal.SIGCHLD), signal.set_wakeup_fd(-1)
    with ours, theirs:
        _Server(theirs)._end()
    assert (signal.getsignal(signal.SIGCHLD), signal.set_wakeup_fd(before[1])) == (signal.SIG_DFL, -1)
    signal.signal(signal.SIGCHLD, before[0])


def test_a_limit_that_nothing_can_run_in_is_refused():
    with pytest.raises(InputError, match=r"at least 0\.25 GB"):
        Limits(memory=1)
    with pytest.raises(InputError, match="limit of time"):
        Limits(seconds=0)
