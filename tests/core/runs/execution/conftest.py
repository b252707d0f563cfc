"""The fake engine over questions of its own, and a model on a server of this machine."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from core.models.server import client, connect
from core.questions import bank
from tests.conftest import synthetic_questions
from tests.core.models.server.loopback import Loopback, loopback_server


@pytest.fixture
def fake(home: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """The fake engine, over 130 synthetic questions; returns what sets its options."""
    monkeypatch.setattr(bank, "load", lambda task: synthetic_questions(130))

    def options(**values: object) -> None:
        monkeypatch.setenv("HEDGE_FAKE_ENGINE", json.dumps(values))

    options()
    return options


@pytest.fixture(scope="package")
def _server() -> Iterator[Loopback]:
    with loopback_server() as server:
        yield server


@pytest.fixture
def server(_server: Loopback, home: Path) -> Loopback:
    """A server without faults, and a home that is there."""
    _server.reset()
    home.mkdir(exist_ok=True)
    return _server


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Faults end soon."""
    soon = client.Patience(answer_s=60, gone_s=0.3, tries=3, first_pause_s=0.01, longest_pause_s=0.05)
    monkeypatch.setattr(client, "Patience", lambda: soon)
    monkeypatch.setattr(connect, "SOON", soon)
