"""A server that is asked to stop: event streams learn of it, and each signal keeps its effect."""

import os
import signal

import pytest

from app.serving.stopping import is_stopping, noticed

pytestmark = pytest.mark.quick


@pytest.fixture(autouse=True)
def handlers():
    """Give this process its own handlers back."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def test_a_signal_is_noticed_and_passed_on_to_the_server():
    received: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, frame: received.append(number))
    with noticed():
        assert not is_stopping()
        os.kill(os.getpid(), signal.SIGTERM)
        assert is_stopping()
    os.kill(os.getpid(), signal.SIGTERM)
    assert received == [signal.SIGTERM, signal.SIGTERM]


@pytest.mark.parametrize("effect", [signal.SIG_DFL, signal.SIG_IGN])
def test_a_signal_that_the_server_does_not_handle_keeps_its_effect(effect: signal.Handlers):
    signal.signal(signal.SIGTERM, effect)
    with noticed():
        assert signal.getsignal(signal.SIGTERM) == effect
    assert signal.getsignal(signal.SIGTERM) == effect
