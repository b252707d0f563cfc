"""What the threads have in common that fill caches for pages, in parallel with the server's own thread."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

NAME = "hedge-reads-ahead"
"""The beginning of such a thread's name."""
TURN_S = 0.0005
"""While a thread imports and reads, the server's own thread, which sends scripts to the browser, waits at most this
long for its turn. Python's default is ten times as long, and there are about a hundred turns."""
WITHOUT_SESSION = logging.getLogger("streamlit.runtime.scriptrunner_utils.script_run_context")

imported = threading.Event()
"""Set when the first of these threads has imported what all pages need. Two threads that import NumPy at the same time
may find half of it."""

_lock = threading.Lock()
_usual: list[float] = []
"""Python's own value, once for each thread that needs short turns."""


def without_warnings() -> None:
    """Hides Streamlit's warning about cached functions in a thread without a session, because here this is intended."""
    WITHOUT_SESSION.addFilter(lambda record: not str(record.threadName).startswith(NAME))


@contextmanager
def short_turns() -> Iterator[None]:
    """In the block, threads switch after :data:`TURN_S`."""
    with _lock:
        _usual.append(_usual[0] if _usual else sys.getswitchinterval())
        sys.setswitchinterval(TURN_S)
    try:
        yield
    finally:
        with _lock:
            usual = _usual.pop()
            if not _usual:
                sys.setswitchinterval(usual)
