"""A loopback server for the tests of this folder; each begins with one that does everything."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing

import pytest

from core.models.server.client import Patience
from core.models.server.engine import ServerEngine
from core.records import OptionLogits, Prompt, joined
from tests.core.models.server.loopback import Loopback, loopback_server

MODEL = "pocket-3m"
SOON = Patience(answer_s=60, gone_s=3, tries=4, first_pause_s=0.01, longest_pause_s=0.05)


@pytest.fixture(scope="package")
def _server() -> Iterator[Loopback]:
    with loopback_server() as server:
        yield server


@pytest.fixture
def server(_server: Loopback) -> Loopback:
    """The server, without faults."""
    _server.reset()
    return _server


@pytest.fixture
def load() -> Iterator[Callable[[Loopback], ServerEngine]]:
    """Gives an engine of a server, which is closed after the test."""
    with ExitStack() as stack:
        yield lambda server: stack.enter_context(closing(ServerEngine.load(MODEL, servers=[server.url], patience=SOON)))


def scored(engine, prompts: list[Prompt]) -> OptionLogits:
    """The scores of prompts by an engine that passes its self-check, in their order."""
    engine.prepare(prompts)
    assert engine.self_check(prompts).passed
    return joined(list(engine.score(prompts)), [p.question_id for p in prompts], k=max(p.k for p in prompts))
