"""The servers that a person connected to before: their addresses and the name of the key's variable, never a key.

Each row has its own digest. The file is still a list, so that an older Hedge on the same home can read it, too.
"""

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from core.errors import InputError
from core.models.server_address import key_variable, server_url
from core.settings import settings
from core.storage.atomic import write_atomically
from core.storage.json_text import loads
from core.storage.sealed import content_of, seal, unsealed

KEPT = 12


@dataclass(frozen=True, slots=True)
class RememberedServers:
    """Servers that share the work, and the name of the environment variable that holds their key. ``formats`` are those
    in which they answered when they were asked for ``model`` (empty: they were not asked since)."""

    servers: tuple[str, ...]
    key_variable: str = ""
    model: str = ""
    formats: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.servers:
            raise InputError("a remembered server needs an address")
        object.__setattr__(self, "servers", tuple(server_url(url) for url in self.servers))
        key_variable(self.key_variable)


def remembered() -> tuple[RememberedServers, ...]:
    """The servers of earlier connections, the latest first. An entry that can't be read is left out."""
    try:
        rows = loads(content_of(_file()))
    except (OSError, ValueError):
        return ()
    servers = []
    for row in rows if isinstance(rows, list) else []:
        with suppress(InputError, KeyError, TypeError, ValueError, AttributeError):
            values = unsealed(row)
            asked = str(values.get("model", "")), tuple(map(str, values.get("formats", ())))
            servers.append(RememberedServers(tuple(map(str, values["servers"])), str(values["key_variable"]), *asked))
    return tuple(servers)


def remember(servers: Sequence[str], *, key: str = "") -> None:
    """Store a successful connection as the first one."""
    latest = RememberedServers(tuple(servers), key)
    others = [server for server in remembered() if server.servers != latest.servers]
    _file().parent.mkdir(parents=True, exist_ok=True)
    _write([latest, *others][:KEPT])


def note_formats(servers: Sequence[str], model: str, formats: Sequence[str]) -> None:
    """Store in which formats servers answered for ``model``, if they are remembered."""
    known = remembered()
    noted = [
        replace(each, model=model, formats=tuple(formats)) if each.servers == tuple(servers) else each for each in known
    ]
    if noted != [*known]:
        _write(noted)


def forget(servers: Sequence[str]) -> None:
    """Forget a connection."""
    _write([server for server in remembered() if server.servers != tuple(servers)])


def _write(servers: Sequence[RememberedServers]) -> None:
    rows = [seal(asdict(each)) for each in servers]
    write_atomically(_file(), json.dumps(rows, indent=1).encode(), lasting=False)


def _file() -> Path:
    return settings().home / "servers.json"
