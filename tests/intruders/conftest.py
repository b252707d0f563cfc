"""Servers that the attacks on connections share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.conftest import held_by_tests, page_server


@pytest.fixture(scope="session")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the servers' logs."""
    return tmp_path_factory.mktemp("attacked")


def _port(folder: Path, *options: str) -> Iterator[int]:
    folder.mkdir()
    home = folder / "home"
    with held_by_tests(home) as nothing_warm, page_server(home, options=options, **nothing_warm) as address:
        yield int(address.rpartition(":")[2])


@pytest.fixture(scope="session")
def local(attacked: Path) -> Iterator[int]:
    """The port of a server that answers this machine alone, behind a proxy as JupyterHub has one."""
    yield from _port(attacked / "local", "--browser.serverAddress", "hub.example.org")


@pytest.fixture(scope="session")
def public(attacked: Path) -> Iterator[int]:
    """The port of a public server without a file."""
    yield from _port(attacked / "public", "--public", "--server.address", "0.0.0.0")


@pytest.fixture(scope="session")
def named(attacked: Path) -> Iterator[int]:
    """The port of a public server whose file names its host."""
    file = attacked / "server.toml"
    file.write_text('[hosts]\nnames = ["hedge.example.org"]\n', encoding="utf-8")
    yield from _port(attacked / "named", "--public", str(file))
