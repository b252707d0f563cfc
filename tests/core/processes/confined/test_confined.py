"""A process with limits dies in place of its caller, whatever code it is in."""

import os
import re
import signal

import numpy as np
import psutil
import pytest

from core.errors import InputError, RunError
from core.processes.confined import Channel, ForkServer, LimitReached, Limits
from core.processes.confined import fork_server as fork_server_module
from tests.core.runs.conftest import until
from tests.processes import gone, oom_score

SMALL = Limits(memory=300 << 20, seconds=0.5)


@pytest.fixture(scope="module")
def fork_server() -> ForkServer:
    return ForkServer("numpy")


def add(channel: Channel, a: int, b: int) -> int:
    return a + b


def echo(channel: Channel) -> str:
    while (text := channel.receive()) != "stop":
        channel.send(text * 2)
    return "ended"


def eat(channel: Channel) -> int:
    texts = []
    while True:
        texts.append("x" * 10_000_000)


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


def pid(channel: Channel) -> None:
    channel.send(os.getpid())
    channel.receive()


def fail(channel: Channel, known: bool) -> None:
    raise InputError("a sentence of ours") if known else KeyError("x")


def variable(channel: Channel, name: str) -> str | None:
    return os.environ.get(name)


def run(fork_server: ForkServer, function, *arguments, limits: Limits = SMALL):
    with fork_server.open(function, *arguments, limits=limits) as session:
        return session.receive()


def test_values_and_a_conversation(fork_server):
    assert run(fork_server, add, 2, 3) == ("value", 5)
    with fork_server.open(echo, limits=SMALL) as session:
        session.send("ab")
        assert session.receive() == "abab"
        session.send("stop")
        assert session.receive() == ("value", "ended")


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        ((eat,), LimitReached, r"^it needs more than 0\.29\d* GB of memory$"),
        ((eat_at_once,), LimitReached, r"^it needs more than 0\.29\d* GB of memory$"),
        ((spin,), LimitReached, r"^it needs more than 0\.5 seconds of processor time$"),
        ((crash,), LimitReached, "crashed; it is damaged, or needs more than"),
        # Only the system kills so, and it may have run out of memory long before the limit.
        ((killed,), LimitReached, "^the system stopped the process that read it, perhaps because memory ran out$"),
        ((fail, True), InputError, "^a sentence of ours$"),
        ((fail, False), RunError, "KeyError"),
    ],
)
def test_each_way_to_fail_has_its_sentence_and_the_next_child_is_well(fork_server, function, error, message):
    with pytest.raises(error, match=message):
        run(fork_server, *function)
    assert run(fork_server, add, 1, 1) == ("value", 2)


def test_the_system_stops_it_before_its_caller_when_memory_runs_out(fork_server):
    _, score = run(fork_server, own_oom_score)
    assert score > oom_score(psutil.Process())


def test_without_work_its_process_ends_and_the_next_request_starts_another(monkeypatch):
    monkeypatch.setattr(fork_server_module, "IDLE_S", 0.01)
    other = ForkServer()
    with other.open(echo, limits=SMALL) as session:
        first = other.warm()
        assert other.end_if_idle() == 0.01  # a child is reading, however long it takes
        session.send("ab")
        assert session.receive() == "abab"
    until(lambda: not other.end_if_idle(), "the process to end")
    assert first.status is not None
    assert run(other, add, 1, 2) == ("value", 3)
    until(lambda: other._process is None, "it to end by itself")


def test_the_settings_are_those_of_the_caller(fork_server, monkeypatch):
    for value in ("/one", "/two"):
        monkeypatch.setenv("HEDGE_HOME", value)
        assert run(fork_server, variable, "HEDGE_HOME") == ("value", value)


def test_no_child_outlives_its_session_or_the_fork_server_and_that_is_started_again(fork_server):
    run(fork_server, add, 1, 2)
    fork_server.warm().kill()
    fork_server.warm().join()
    assert run(fork_server, add, 1, 2) == ("value", 3)
    other = ForkServer()
    with other.open(pid, limits=SMALL) as session:
        child = session.receive()
    assert gone(child)
    with other.open(pid, limits=SMALL) as session:
        child = session.receive()
        other.warm().connection.close()  # as when this process dies
        assert gone(child)


def test_a_limit_that_nothing_can_run_in_is_refused():
    with pytest.raises(InputError, match=r"at least 0\.25 GB"):
        Limits(memory=1)
    with pytest.raises(InputError, match="limit of time"):
        Limits(seconds=0)
