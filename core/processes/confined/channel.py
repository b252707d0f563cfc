"""The end of the conversation that a process with limits has, and the limits.

The caller sends pickles, because the process trusts its caller. The process sends what
:mod:`~core.processes.confined.codec` describes, because its caller does not trust a process that reads files from
outside.
"""

import pickle
import signal
import socket
from dataclasses import dataclass
from typing import Any

from core.errors import InputError
from core.processes.confined.codec import RETURNED, Writer

MEGABYTE = 1 << 20
GIGABYTE = 1 << 30


@dataclass(frozen=True, slots=True)
class Limits:
    """What a process may use: ``memory`` in bytes, all of it together, and ``seconds`` of processor time for a step.

    A step lasts from one message to the next. ``patience`` is how many times as long a step may take by the clock, on a
    machine where others work too.
    """

    memory: int = GIGABYTE
    seconds: float = 10.0
    patience: float = 12.0

    def __post_init__(self) -> None:
        if self.memory < 256 * MEGABYTE:
            raise InputError(f"a limit of memory must be at least 0.25 GB, got {self.memory / GIGABYTE:g} GB")
        if not 0 < self.seconds <= 1e6:
            raise InputError(f"a limit of time must lie above 0 and up to 1,000,000 seconds, got {self.seconds:g}")


class LimitReached(InputError):
    """A process reached a limit and died. ``what`` is the limit in words: "1 GB of memory"; "" for any other death."""

    def __init__(self, what: str, sentence: str = "") -> None:
        super().__init__(sentence or f"it needs more than {what}")
        self.what = what


class Channel:
    """A process's end of the conversation."""

    def __init__(self, sock: socket.socket, limits: Limits) -> None:
        self._sock = sock
        self._from, self._to = sock.makefile("rb"), sock.makefile("wb")
        self._writer = Writer(self._to.write)
        self.limits = limits

    def send(self, value: Any) -> None:
        """Send a value to the caller; the time for the next step begins."""
        self._writer.send(value)
        self._to.flush()
        self.step()

    def end(self, value: Any) -> None:
        """Send what the function returned."""
        self._writer.send(value, letter=RETURNED)
        self._to.flush()

    def fail(self, error: BaseException) -> None:
        """Send what the function raised."""
        self._writer.fail(error)
        self._to.flush()

    def receive(self) -> Any:
        """Wait for what the caller says next. Raises :class:`EOFError` when it says no more."""
        value = pickle.load(self._from)
        self.step()
        return value

    def step(self, seconds: float = 0.0) -> None:
        """Begin a step, of ``seconds`` if that is given. A longer one is killed by the system, even within C code."""
        signal.setitimer(signal.ITIMER_PROF, seconds or self.limits.seconds)
