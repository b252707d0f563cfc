"""The logs of agents and workers. A line is for a person, or (``HEDGE_LOG_FORMAT=json``) one JSON object.

An object has ``time`` (ISO 8601, UTC), ``process`` (agent or worker), ``pid``, ``message``, and what the line is about:
``run``, ``worker``, ``level`` where a library wrote it.
"""

import json
import logging
import os
import sys
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from core.errors import plain
from core.settings import settings

AGAIN_S = 600.0
LARGEST_LOG = 5_000_000
"""Bytes after which a log is put aside; one older log is kept."""

_process: list[str] = [""]
_complaints: dict[str, float] = {}
"""When each complaint was written last."""


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


def begin(process: str) -> None:
    """Say what this process is, and let the libraries' own log lines have the same form as ours."""
    _process[:] = [process]
    if settings().log_format == "json":
        handler = logging.StreamHandler()
        handler.setFormatter(_JsonFormatter())
        logging.basicConfig(handlers=[handler], force=True)


def say(message: str, **about: str) -> None:
    """Write a line to this process's log, which its standard error is."""
    if settings().log_format == "json":
        line = _object(message, **about)
    else:
        line = f"{time.strftime('%Y-%m-%d %H:%M:%S')} {plain(message, one_line=True)}"
    with suppress(OSError):  # a disk that is full must not end the process
        print(line, file=sys.stderr, flush=True)


def complain(message: str, **about: str) -> None:
    """Write a line about what may last, such as a database that is gone, and the same again only in ten minutes."""
    now = time.monotonic()
    if now - _complaints.get(message, -AGAIN_S) >= AGAIN_S:
        _complaints[message] = now
        say(message, **about)
    for old in [text for text, written in _complaints.items() if now - written >= AGAIN_S]:
        del _complaints[old]


def _object(message: str, **about: str) -> str:
    when = datetime.now(UTC).isoformat(timespec="milliseconds")
    return json.dumps({"time": when, "process": _process[0], "pid": os.getpid(), "message": message, **about})


class _JsonFormatter(logging.Formatter):
    """A library's log record as one of our lines; a traceback is in it."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as a JSON object."""
        message = record.getMessage()
        if record.exc_info:
            message = f"{message}\n{self.formatException(record.exc_info)}"
        return _object(message, level=record.levelname.lower(), logger=record.name)
