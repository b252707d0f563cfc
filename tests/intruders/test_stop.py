"""On a public server, where nobody has a name, a visitor who asks what another has asked can't stop the other's."""

import threading
from collections.abc import Iterator
from multiprocessing.connection import Listener
from pathlib import Path

import pytest

from core.processes.stop_signals import StopSignals
from core.runs.answering import client
from core.runs.answering.server import METHODS, AnsweringServer, accept, announce
from core.storage import file_lock
from tests.browser.conftest import held_by_tests, page_server
from tests.core.runs.conftest import until
from tests.intruders.client import Client, Session, WidgetState

KEY = b"k" * 32


@pytest.fixture
def queue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AnsweringServer]:
    """The queue of a home, to which pages connect as to a process of its own, and which hands no question on."""
    monkeypatch.setenv("HEDGE_HOME", str(tmp_path / "home"))
    signals = StopSignals.__new__(StopSignals)  # no handlers here
    signals.requested = False
    server = AnsweringServer(idle_s=60.0, limits={}, signals=signals)
    monkeypatch.setitem(METHODS, "warm", lambda server, model, dtype: None)
    lock = file_lock.take(client.server_lock())
    assert lock is not None
    with lock, Listener(family="AF_UNIX") as listener:
        threading.Thread(target=accept, args=(server, listener, KEY), daemon=True).start()
        announce(str(listener.address), KEY)
        yield server


def ask(page: Session) -> None:
    ids = page.screen.widgets
    question = WidgetState(id=ids["Question"], string_value="Which planet is the largest?")
    options = next(widget_id for label, widget_id in ids.items() if label.startswith("Options"))
    page.set(
        question,
        WidgetState(id=options, string_value="Mars\nVenus"),
        WidgetState(id=ids["**Ask**"], trigger_value=True),
    )


def test_two_visitors_of_one_address_ask_the_same_and_one_stops(tmp_path: Path, queue: AnsweringServer):
    home = tmp_path / "home"
    with held_by_tests(home, answers=True), page_server(home, options=["--public"]) as address:
        first, second = Client(address), Client(address)
        try:
            with (
                first.session("one_question", "ask=own") as visitor,
                second.session("one_question", "ask=own") as other,
            ):
                ask(visitor)
                ask(other)
                (job,) = queue.waiting
                assert len(job.askers) == 2
                visitor.press("Stop", fragment=visitor.screen.fragments[-1])
                until(lambda: len(job.askers) == 1, "the stop")
                assert list(queue.waiting) == [job]
                other.press("Stop", fragment=other.screen.fragments[-1])
                until(lambda: not queue.waiting, "the other's own stop")
        finally:
            first.close()
            second.close()
