"""Whether the server is about to end.

A server waits for open connections before it tells the app, and an event stream ends only when the app ends it. So the
signal itself is noticed, and passed on to the server's own handler.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)
_stopping: list[int] = []
"""The signals that have come: a list, because a handler must not wait for a lock."""


def is_stopping() -> bool:
    """Whether the server was told to end."""
    return bool(_stopping)


@contextmanager
def noticed() -> Iterator[None]:
    """Notice signals in the block, if it runs in the main thread, which alone may."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _stopping.clear()
    handlers = {number: signal.getsignal(number) for number in SIGNALS}

    def notice(number: int, frame: FrameType | None) -> None:
        _stopping.append(number)
        handler = handlers[signal.Signals(number)]
        if callable(handler):
            handler(number, frame)

    for number in SIGNALS:
        signal.signal(number, notice)
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
