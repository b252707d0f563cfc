"""What SQLite needs of a file, for the run database and for the classes."""

from __future__ import annotations

import os
from pathlib import Path

from core.errors import RunError

PATH_BYTES = 504
"""The longest path that SQLite opens on Linux and macOS: 512 bytes, of which ``-journal`` takes eight."""


def checked_path(path: Path) -> Path:
    """The path, if SQLite can open it. Raises :class:`~core.errors.RunError` if it is too long."""
    length = len(os.fsencode(path))
    if length > PATH_BYTES:
        raise RunError(
            f"the path of {path.name} has {length} bytes, and SQLite opens no path of more than {PATH_BYTES}; set "
            "HEDGE_HOME to a folder with a shorter path"
        )
    return path
