"""Remembers which column is what, as a person said, for the next table with the same columns."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from core import access
from core.access import UserRole
from core.errors import InputError
from core.exchange.table_columns import Columns
from core.files.sealed import read_json, write_json
from core.settings import settings

MOST = 100


def _path() -> Path:
    return settings().home / "table-mappings.json"


def _all() -> dict[str, object]:
    try:
        return read_json(_path())
    except (OSError, ValueError):
        return {}


def recall(names: Sequence[str]) -> Columns | None:
    """What was said last of a table with these columns; None if nothing was."""
    found = _all().get(json.dumps(list(names)))
    try:
        return Columns.from_json(found) if isinstance(found, dict) else None
    except (InputError, TypeError):
        return None


@access.needs(UserRole.LAUNCHER, "bring results in")
def remember(names: Sequence[str], columns: Columns) -> None:
    """Keep it; the oldest of more than a hundred are forgotten."""
    key = json.dumps(list(names))
    kept = {name: value for name, value in _all().items() if name != key} | {key: columns.to_json()}
    settings().home.mkdir(parents=True, exist_ok=True)
    write_json(_path(), dict(list(kept.items())[-MOST:]), indent=1)
