"""Figures that are kept on disk, so that a run is read once and not at each start of the server.

Each is a file in ``cache`` of the home, in a folder for its kind. It holds for the files that it was computed from, for
the code that computes figures, and for the versions of NumPy and SciPy; if one of these differs, or the file is
damaged, the figures are computed again. If a file can't be written, for example on a full disk or in a home that may
only be read, the figures are still shown. The folder can be deleted at any time.
"""

import functools
import hashlib
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from core.runs import store
from core.settings import ROOT, settings
from core.storage.sealed import content_of, digest_of, read_arrays, write_arrays


def path_of(kind: str, name: str) -> Path:
    """The file with what is kept of one run or one set of questions."""
    return settings().home / "cache" / kind / f"{name}.bin"


def read(kind: str, name: str, holds_for: str) -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]] | None:
    """The values and the read-only arrays that are kept; None if there are none for this state."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        values, arrays = read_arrays(path_of(kind, name))
        if values["holds_for"] == holds_for:
            return values["values"], arrays
    return None


def write(
    kind: str, name: str, holds_for: str, values: Mapping[str, Any], arrays: Mapping[str, np.ndarray[Any, Any]]
) -> None:
    """Keep values that JSON can hold, and arrays."""
    path = path_of(kind, name)
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_arrays(path, {"holds_for": holds_for, "values": dict(values)}, arrays)


def state_of(run_id: str) -> str:
    """A name for a finished run's files as they are now, and for what computes its figures.

    Raises :class:`~core.errors.UnreadableRunError` if a file is missing or damaged.
    """
    record = store.read_record(run_id)
    folder = store.folder_of(run_id)
    paths = {Path(path) for path in store.check_files(record)}
    if not record.files:  # an older run, which does not say which files it has
        paths |= set(folder.glob("*.parquet"))
    digests = sorted((path.name, digest_of(path)) for path in paths)
    with store.reading(record.run_id, store.RECORD):
        about = hashlib.blake2b(content_of(folder / store.RECORD), digest_size=16).hexdigest()
    return state(about, *(part for pair in digests for part in pair))


def state(*parts: str) -> str:
    """A name for what figures are computed from, and for what computes them."""
    return hashlib.blake2b("\0".join([*parts, code()]).encode(), digest_size=16).hexdigest()


@functools.cache
def code() -> str:
    """A digest of the code that computes figures and words caveats, and the versions of what it computes with."""
    digest = hashlib.blake2b(f"{version('numpy')} {version('scipy')}".encode(), digest_size=16)
    for path in sorted((ROOT / "core").rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()
