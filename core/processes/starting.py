"""Starts processes that outlive this one, and opens the logs that they write to."""

import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

from core.errors import RunError
from core.settings import ROOT, settings

LARGEST_LOG = 5_000_000
"""Bytes after which a log is put aside; one older log is kept."""


def start_detached(
    arguments: Sequence[str],
    *,
    environment: Mapping[str, str],
    log: str,
    up: Callable[[], bool],
    within_s: float,
    what: str,
) -> None:
    """Start ``python -m …`` so that it outlives this process, and wait until it is ``up``.

    It writes to ``log`` in ``HEDGE_HOME/logs``. Raises :class:`~core.errors.RunError` that says ``what`` where it is
    not up within ``within_s`` seconds.
    """
    with open_log(log) as out:
        subprocess.run(
            [sys.executable, "-m", "core.processes.detached", *arguments],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            check=False,
        )
    end = time.monotonic() + within_s
    while not up():
        if time.monotonic() > end:
            raise RunError(f"{what}; {log_file(log)} says why")
        time.sleep(0.01)


def log_file(name: str | Path) -> Path:
    """The file of a log: a name in ``HEDGE_HOME/logs``, or a whole path."""
    return settings().home / "logs" / name


def open_log(name: str | Path) -> IO[bytes]:
    """Open a log (:func:`log_file`) to append to; a large one is put aside first."""
    path = log_file(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and path.stat().st_size > LARGEST_LOG:
        path.replace(path.with_suffix(".old"))
    return path.open("ab")
