"""Whether the server is about to end.

A server waits for open connections before it tells the app, and an event stream ends only when the app ends it. So the
signal itself is noticed, and passed on to the server's own handler.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)
_stopping: list[int] = []
"""The signals that this process received: a list, because a handler must not wait for a lock."""


def is_stopping() -> bool:
    """Whether a signal has asked the server to stop."""
    return bool(_stopping)


@contextmanager
def noticed() -> Iterator[None]:
    """Notice signals in the block. Only the main thread can; in another thread, nothing happens.

    A signal that the server does not handle keeps its effect: the system ends the process, or ignores the signal.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _stopping.clear()
    handlers = {number: handler for number in SIGNALS if callable(handler := signal.getsignal(number))}

    def notice(number: int, frame: FrameType | None) -> None:
        _stopping.append(number)
        handlers[signal.Signals(number)](number, frame)

    for number in handlers:
        signal.signal(number, notice)
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
