"""Files that are replaced in one step: a reader sees the old content or the new one, never a part."""

import os
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

_GUARD: ContextVar[Callable[[], None]] = ContextVar("guard", default=lambda: None)


def write_atomically(path: Path, content: bytes, *, lasting: bool = True) -> None:
    """Replace a file atomically. One that is not ``lasting`` is written faster and may be lost in a power cut."""
    with replacing(path, lasting=lasting) as part:
        part.write_bytes(content)


@contextmanager
def replacing(path: Path, *, lasting: bool = True) -> Iterator[Path]:
    """Replace ``path`` by the file that the body writes; an exception in the body leaves ``path`` as it is."""
    part = path.with_name(f".{uuid.uuid4().hex}.part")  # without the name, which may be as long as a name can be
    try:
        yield part
        if lasting:
            _sync(part)
            _GUARD.get()()
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


@contextmanager
def guarded(guard: Callable[[], None]) -> Iterator[None]:
    """Call ``guard`` immediately before each lasting write of this thread. An exception from it prevents the write.

    So a worker that was cut off and has lost its run to another worker writes nothing more of it. Guards add up.
    """
    outer = _GUARD.get()

    def guard_all() -> None:
        outer()
        guard()

    token = _GUARD.set(guard_all)
    try:
        yield
    finally:
        _GUARD.reset(token)


def drop_parts(folder: Path) -> None:
    """Remove the unfinished files of a writer that was killed. Nobody may be writing to the folder."""
    for part in folder.rglob(".*.part"):
        part.unlink(missing_ok=True)
