"""Where a server is, and which environment variable holds the key to it.

A key itself is never an argument, a field or a part of a text: the client reads it from the environment, or from
Streamlit's ``secrets.toml``, for each request, and :func:`without_key` takes it out of what a server says.
"""

from __future__ import annotations

import functools
import os
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from core.errors import InputError
from core.settings import ROOT

KEY_NAME = re.compile(r"[A-Z][A-Z0-9_]{0,60}_(KEY|TOKEN|SECRET)")
"""The form of a variable's name. It is strict so that a key given in its place is not taken for a name and stored."""
HIDDEN = "(the key)"
SECRETS = Path(".streamlit") / "secrets.toml"


def server_url(text: str) -> str:
    """A server's address in its one form: without a slash at the end, and with ``/v1`` where it has no path.

    Raises :class:`InputError` if it is no http address, or holds a name, a password or a query: these are secrets, and
    an address stands in records and links.

    >>> server_url("http://gpu-3:8000/"), server_url("https://api.example.com/openai/v1/")
    ('http://gpu-3:8000/v1', 'https://api.example.com/openai/v1')
    """
    try:
        parts = urlsplit(text.strip())
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if parts.username or parts.password or parts.query or parts.fragment or "@" in text:
        raise InputError(
            "a server's address may hold no user name, password, query or fragment, because it is stored with the "
            "results; give the bare address, and name the environment variable of the key"
        )
    if parts.scheme not in ("http", "https") or not parts.hostname or re.search(r"\s", text.strip()):
        raise InputError(f"{text!r} is no server's address; give one such as http://localhost:8000/v1")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    where = f"{parts.scheme}://{host}{f':{port}' if port else ''}"
    return where + (parts.path.rstrip("/") or "/v1")


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model on a server, which jurors and base models are written as: ``NAME@URL``."""

    name: str
    url: str

    def __str__(self) -> str:
        return f"{self.name}@{self.url}"


def served_model(text: str) -> ServedModel | None:
    """The model and the server that a text names; None if it names no server.

    >>> served_model("llama-70b@http://gpu-3:8000")
    ServedModel(name='llama-70b', url='http://gpu-3:8000/v1')
    >>> served_model("pocket-3m") is None
    True
    """
    found = re.fullmatch(r"(.+?)@(https?://.*)", text.strip())
    return ServedModel(found[1], server_url(found[2])) if found else None


def key_variable(name: str) -> str:
    """The name of the variable that holds a key; empty if there is none.

    Raises :class:`InputError`, without repeating what was given, if it does not look like a variable's name: it may
    then be a key.
    """
    if name and not KEY_NAME.fullmatch(name):
        raise InputError(
            "a key is given by the name of its environment variable, such as OPENAI_API_KEY: capitals, digits and "
            "underscores, with _KEY, _TOKEN or _SECRET at the end"
        )
    return name


def key_of(name: str) -> str:
    """The key that a variable holds in this process's environment, or else in Streamlit's secrets; empty if none."""
    if not name:
        return ""
    return os.environ.get(name) or next(filter(None, (_secret(str(path), name) for path in secret_files())), "")


def secret_files() -> tuple[Path, ...]:
    """Where Streamlit keeps secrets: beside the app first, then of the person."""
    return ROOT / SECRETS, Path.home() / SECRETS


def check_key(name: str) -> None:
    """Raise :class:`InputError` if the variable of a key is set nowhere, or is no variable's name."""
    if key_variable(name) and not key_of(name):
        raise InputError(
            f"the environment variable {name}, which names the server's key, is not set; export it first, or put it "
            "into .streamlit/secrets.toml"
        )


def without_key(text: str, name: str) -> str:
    """A text of a server's, such as an error that repeats the key it refuses, without the key."""
    key = key_of(name)
    return text.replace(key, HIDDEN) if key else text


def _secret(path: str, name: str) -> str:
    try:
        return _secrets(path, os.stat(path).st_mtime_ns).get(name, "")
    except OSError:
        return ""


@functools.lru_cache(maxsize=8)
def _secrets(path: str, changed: int) -> dict[str, str]:
    """The texts at the top of a file of secrets, as it was when it ``changed``; none where it can't be read."""
    try:
        values = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {key: value for key, value in values.items() if isinstance(value, str)}
