"""Questions that several bundled runs share.

Runs of one task ask the same questions. Those that ship have one file for all of them,
``assets/run_questions/HASH.parquet``, and in a run's folder ``questions.json`` names its hash. A run of one's own has
its questions in its folder.
"""

import json
import re
from pathlib import Path

from core.errors import InputError
from core.settings import ASSETS
from core.storage.atomic import write_atomically
from core.storage.json_text import loads
from core.storage.sealed import DamagedError, content_of, digest_of

FILE, LINK = "questions.parquet", "questions.json"

FOLDER = ASSETS / "run_questions"

_KEY = "shared"


def questions_file(folder: Path) -> Path:
    """The file with the questions of a run's folder: its own, which need not exist yet, or the one that it shares.

    Raises :class:`InputError` if the folder names no hash.
    """
    own, link = folder / FILE, folder / LINK
    if own.is_file() or not link.is_file():
        return own
    try:
        name = loads(content_of(link))[_KEY]
    except (OSError, ValueError, KeyError, TypeError):
        name = None
    if not isinstance(name, str) or not re.fullmatch("[0-9a-f]{32}", name):
        raise InputError(
            f"{link}: expected the hash of shared questions, 32 hexadecimal digits; take the run again"
        ) from DamagedError(f"it is missing, and {LINK} names no questions of other runs")
    return FOLDER / f"{name}.parquet"


def share(folder: Path, *, shared: Path = FOLDER) -> None:
    """Move the questions of a run's folder to the shared ones, where they may be already, and leave their hash."""
    name = digest_of(folder / FILE)
    shared.mkdir(parents=True, exist_ok=True)
    write_atomically(shared / f"{name}.parquet", (folder / FILE).read_bytes())
    write_atomically(folder / LINK, (json.dumps({_KEY: name}) + "\n").encode())
    (folder / FILE).unlink()
