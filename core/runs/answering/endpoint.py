"""Where the desk of this host is found: its lock, and the file with its port and token."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from core.runs.agent import liveness
from core.runs.agent.file_lock import is_held

MOST_BYTES = 1_000_000
"""Of a message."""


@dataclass(frozen=True, slots=True)
class Address:
    """The port on 127.0.0.1, and what a message must carry."""

    port: int
    token: str


def desk_lock() -> Path:
    """Held by the host's one desk."""
    return liveness.agent_lock().with_name("answers.lock")


def start_lock() -> Path:
    """Held by whoever is opening the desk."""
    return desk_lock().with_name("answers-start.lock")


def desk_open() -> bool:
    """Whether the desk is open on this host."""
    return is_held(desk_lock()) and address() is not None


def address() -> Address | None:
    """Where the desk listens; None where no desk has said so."""
    try:
        values = json.loads(_file().read_bytes())
        return Address(int(values["port"]), str(values["token"]))
    except (FileNotFoundError, NotADirectoryError, ValueError, KeyError, TypeError):
        return None


def announce(port: int, token: str) -> None:
    """Say where the desk listens, to this user alone."""
    part = _file().with_suffix(".part")
    part.unlink(missing_ok=True)
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        json.dump({"port": port, "token": token}, file)
    part.replace(_file())


def is_ours(token: str) -> bool:
    """Whether the desk with this token is still the one that is announced."""
    now = address()
    return now is not None and now.token == token


def withdraw(token: str = "") -> None:
    """Say that the desk with this token is closed; without one, whichever was announced."""
    if not token or is_ours(token):
        _file().unlink(missing_ok=True)


def _file() -> Path:
    return desk_lock().with_name("answers.json")
