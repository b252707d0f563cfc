"""Which servers may be asked with which key: checked where a connection is opened, by every process that opens one.

A person who names a server, on a page or on the command line, may ask those that :func:`core.access.check_servers`
allows. Each permission is kept as a small file in ``HEDGE_HOME/allowed-servers``, by person, server and key. A worker
executes a record, which may have come from somewhere else: in a backup, in an import by an older version, or edited by
hand. So a worker asks only servers that the person who launched its run was allowed to ask. A backup leaves the folder
out and a restore does not write to it, so no file brings a permission along.
"""

import hashlib
import json
from collections.abc import Collection
from pathlib import Path

from core import access
from core.errors import AccessError
from core.models.server_address import key_variable, server_url
from core.settings import settings, writable_home
from core.storage.atomic import write_atomically

FOLDER = "allowed-servers"
"""The folder's name in ``HEDGE_HOME``."""


def check(servers: Collection[str], key: str = "", *, launched_by: str | None = None) -> None:
    """Raise :class:`~core.errors.AccessError` if these servers may not be asked with the key in the variable ``key``.

    In a worker, the actor must have been allowed to before. Elsewhere the actor has just named the servers, and from
    now on workers may ask them for the actor, or for the person who launched the run (``launched_by``).
    """
    name = access.actor().name if launched_by is None else launched_by
    if access.is_worker():
        _check_kept(servers, key, name)
        return
    access.check_servers(servers, key)
    for url in servers:
        path = _file(url, key, name)
        if not path.is_file():
            content = {"person": name, "server": server_url(url), "key_variable": key_variable(key)}
            with writable_home():
                path.parent.mkdir(parents=True, exist_ok=True)
                write_atomically(path, json.dumps(content).encode())


def check_recorded(servers: Collection[str], key: str, *, launched_by: str) -> None:
    """Raise :class:`~core.errors.AccessError` unless the actor may ask the servers of a stored run now, and the person
    who launched it was allowed to."""
    access.check_servers(servers, key)
    _check_kept(servers, key, launched_by)


def is_kept(servers: Collection[str], key: str, name: str) -> bool:
    """Whether this person, whose name is empty for the one at this machine, was allowed to ask these servers."""
    return all(_file(url, key, name).is_file() for url in servers)


def _check_kept(servers: Collection[str], key: str, name: str) -> None:
    for url in servers:
        if not is_kept([url], key, name):
            who = f"{name} has" if name else "you have"
            held = f"the key in {key}" if key else "no key"
            raise AccessError(
                f"a stored run or a link names the server {url} with {held}, and {who} not connected to it here, so "
                "Hedge does not ask it; connect to it on New run, or launch the run again with --server and "
                "--key-variable"
            )


def _file(url: str, key: str, name: str) -> Path:
    content = json.dumps([name, server_url(url), key_variable(key)])
    return settings().home / FOLDER / f"{hashlib.sha256(content.encode()).hexdigest()[:32]}.json"
