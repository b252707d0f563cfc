"""File locks that are held as long as a process lives, so that even a killed process releases them.

A lock is ``flock``: it belongs to an open file, is not inherited by the programs a process starts, and the
kernel releases it with the process. Whether one is held can be asked from any process of the host.
"""

import fcntl
import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import IO

RETRY_S = 0.05
LOOK_S = 0.02


def take(path: Path, *, wait_s: float = 0.5) -> IO[str] | None:
    """Lock ``path`` for this process and write its id into it; None where another holds it for ``wait_s`` seconds.

    The lock lasts until the returned file is closed. Waiting a little matters even where nobody holds it, because
    :func:`is_held` takes it for an instant.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    file = path.open("a+", encoding="utf-8")
    end = time.monotonic() + wait_s
    while not _lock(file, fcntl.LOCK_EX):
        if time.monotonic() >= end:
            file.close()
            return None
        time.sleep(RETRY_S)
    file.seek(0)
    file.truncate()
    file.write(f"{os.getpid()}\n")
    file.flush()
    return file


def is_held(path: Path) -> bool:
    """Whether some process holds the lock on ``path``; False if there is no such file."""
    try:
        with path.open(encoding="utf-8") as file:
            return not _lock(file, fcntl.LOCK_SH)
    except (FileNotFoundError, NotADirectoryError):
        return False


def holder(path: Path) -> int | None:
    """The process id that last took the lock, whether it still lives or not; None if nobody did."""
    try:
        return int(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None


def end_holder(path: Path, *, within_s: float = 3.0) -> None:
    """Ask the process that holds the lock to end (SIGTERM), unless it is this one or its parent, and wait a little."""
    pid = holder(path) if is_held(path) else None
    if pid is None or pid in (os.getpid(), os.getppid()):
        return
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)
    end = time.monotonic() + within_s
    while is_held(path) and time.monotonic() < end:
        time.sleep(LOOK_S)


def _lock(file: IO[str], kind: int) -> bool:
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
