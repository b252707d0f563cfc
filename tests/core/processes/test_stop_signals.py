"""Which signals ask a process to stop, whatever it was started with."""

import os
import signal
from collections.abc import Iterator

import pytest

from core.processes.stop_signals import StopSignals

STOPPING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    """Begin as a process that nohup did not start, and give this process its own handlers back."""
    before = {number: signal.getsignal(number) for number in STOPPING}
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", STOPPING)
def test_each_of_them_asks_to_stop(number: signal.Signals):
    stop = StopSignals()
    assert vars(stop) == {"requested": False}  # no lock that the line which a signal interrupts could hold
    os.kill(os.getpid(), number)
    assert stop.requested


def test_sigint_counts_where_a_shell_has_ignored_it_and_sighup_does_not_where_nohup_has():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    stop = StopSignals()
    os.kill(os.getpid(), signal.SIGHUP)
    assert not stop.requested
    os.kill(os.getpid(), signal.SIGINT)
    assert stop.requested
