"""The folder for temporary files, where the system's own can't be used."""

import os
import tempfile
from contextlib import suppress


def choose_folder() -> None:
    """Let this process and those that it starts use ``HEDGE_HOME/cache/tmp`` if no folder of the system for temporary
    files can be written.
    """
    with suppress(OSError):
        if not is_usable():
            from core.settings import settings  # imports pydantic, which help does not need

            folder = settings().home / "cache" / "tmp"
            folder.mkdir(parents=True, exist_ok=True)
            os.environ["TMPDIR"] = str(folder)


def is_usable() -> bool:
    """Whether temporary files can be written somewhere."""
    try:
        tempfile.gettempdir()
    except FileNotFoundError:
        return False
    return True
