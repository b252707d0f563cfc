"""Remembers which column is what, as a person said, for the next table with the same columns.

Each mapping has its own digest, because an older Hedge on the same home leaves the other mappings as they are.
"""

import json
from collections.abc import Sequence
from pathlib import Path

from core import access
from core.access import UserRole
from core.errors import InputError
from core.exchange.table_columns import Columns
from core.settings import settings
from core.storage.atomic import write_atomically
from core.storage.sealed import read_json, seal, unsealed

MOST = 100
NAMES = "names"
"""The field of a kept mapping with the names of the columns, under which it is kept, too."""


def _path() -> Path:
    return settings().home / "table-mappings.json"


def _all() -> dict[str, object]:
    try:
        return read_json(_path())
    except (OSError, ValueError):
        return {}


def recall(names: Sequence[str]) -> Columns | None:
    """The last choice for a table with these columns; None if there was none."""
    key = json.dumps(list(names))
    mapping = _all().get(key)
    try:
        values = unsealed(mapping) if isinstance(mapping, dict) else {}
        return Columns.from_json(values) if values.pop(NAMES, key) == key else None
    except (InputError, TypeError, ValueError):
        return None


@access.needs(UserRole.LAUNCHER, "import results")
def remember(names: Sequence[str], columns: Columns) -> None:
    """Keep it; the oldest of more than a hundred are forgotten."""
    key = json.dumps(list(names))
    mappings = {name: value for name, value in _all().items() if name != key} | {
        key: seal({**columns.to_json(), NAMES: key})
    }
    settings().home.mkdir(parents=True, exist_ok=True)
    write_atomically(_path(), json.dumps(dict(list(mappings.items())[-MOST:]), indent=1).encode())
