"""A loopback server for the tests of this folder; each begins with one that does everything."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.core.models.server.loopback import Loopback, loopback_server


@pytest.fixture(scope="package")
def _server() -> Iterator[Loopback]:
    with loopback_server() as server:
        yield server


@pytest.fixture
def server(_server: Loopback) -> Loopback:
    """The server, without faults."""
    _server.reset()
    return _server
