"""The caller's side of processes with limits."""

from __future__ import annotations

import os
import pickle
import signal
import socket
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from core.errors import RunError
from core.processes.child import Child
from core.processes.confined.channel import GIGABYTE, LimitReached, Limits
from core.processes.confined.codec import RETURNED, Misunderstood, Reader
from core.processes.confined.forking import OUT_OF_MEMORY, kept_variables, request

STARTS_WITHIN_S = 120.0
ENDS_WITHIN_S = 10.0
IDLE_S = 60.0
"""Seconds after the last request at which the process ends, if it has no child."""
PIECE = 1 << 20
SPARING = {
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONWARNINGS": "ignore",
}
"""Keeps allocators and threads from reserving memory beforehand, which would count as used."""


class ForkServer:
    """A process that forks children with limits; ``preload`` are the modules that it imports.

    It starts with the first request or :meth:`warm`. It ends with this process, or when it has had no request and no
    open session for :data:`IDLE_S`.
    """

    def __init__(self, *preload: str) -> None:
        self.preload = preload
        self._lock = threading.Lock()
        self._process: Child | None = None
        self._owner = 0
        self._sessions: weakref.WeakSet[Session] = weakref.WeakSet()
        self._asked = 0.0
        self._ended: Callable[[], object] = lambda: None

    def warm(self) -> Child:
        """Start the process if it does not run. Returns it before it has imported anything."""
        with self._lock:
            return self._running()

    def end_if_idle(self) -> float:
        """End the process if it has been idle for long enough. Returns the seconds until the next look; 0 if it has
        ended."""
        with self._lock:
            if self._process is None or self._owner != os.getpid():
                return 0.0
            if any(session.is_open for session in self._sessions):
                self._asked = time.monotonic()
                return IDLE_S
            if (left_s := self._asked + IDLE_S - time.monotonic()) > 0:
                return left_s
            self._ended()
            self._process = None
            return 0.0

    def open(
        self,
        function: Callable[..., Any],
        *arguments: Any,
        limits: Limits,
        reads: Sequence[Path] = (),
        writes: Sequence[Path] = (),
    ) -> Session:
        """Have a child call ``function(channel, *arguments)``, a function of a module, within the limits.

        It can read the files and folders ``reads``, and read and write in the folders ``writes``, as far as the system
        can keep it from others (:mod:`core.processes.confined.rights`).
        """
        talk, theirs = socket.socketpair()
        ended, theirs_ended = socket.socketpair()
        with theirs, theirs_ended:
            try:
                self._fork(theirs, theirs_ended)
                session = Session(talk, ended, request(function, arguments, limits, reads, writes), limits)
                self._sessions.add(session)
                return session
            except OSError as error:
                talk.close()
                ended.close()
                raise RunError(f"no process could be started to read it ({error}); try again") from error

    def _fork(self, talk: socket.socket, ended: socket.socket) -> None:
        with self._lock:
            for attempt in (1, 2):
                with socket.socket(fileno=os.dup(self._running().connection.fileno())) as control:
                    try:
                        socket.send_fds(control, [b"f"], [talk.fileno(), ended.fileno()])
                        return
                    except (BrokenPipeError, ConnectionResetError):  # the process was killed
                        self._process = None
                        if attempt == 2:
                            raise

    def _running(self) -> Child:
        if self._process is None or self._owner != os.getpid() or self._process.status is not None:
            environment = kept_variables() | SPARING
            self._process = Child("core.processes.confined.forking", *self.preload, environment=environment)
            self._owner = os.getpid()
            self._ended = weakref.finalize(self, _end, self._process, self._owner)
            threading.Thread(target=_watch, args=(weakref.ref(self),), daemon=True, name="hedge-readers").start()
        self._asked = time.monotonic()
        return self._process


def _watch(fork_server: weakref.ref[ForkServer]) -> None:
    """End the process of a fork server once it is idle."""
    while (server := fork_server()) and (left_s := server.end_if_idle()):
        del server
        time.sleep(left_s)


def _end(process: Child, owner: int) -> None:
    if owner == os.getpid():  # and not a copy of that process
        process.end()


def _close(*ends: IO[bytes] | socket.socket) -> None:
    for end in ends:
        with suppress(OSError):
            end.close()


def misunderstood(what: str) -> LimitReached:
    """The error for a child that sends what its caller does not expect: the file may have taken it over."""
    return LimitReached("", f"the process that read it sent {what} instead of what the file holds, so it was stopped")


class Session:
    """A conversation with a child. Leaving its ``with`` block ends the child."""

    def __init__(self, talk: socket.socket, ended: socket.socket, first: bytes, limits: Limits) -> None:
        self.limits = limits
        self._talk, self._ended = talk, ended
        self._to = talk.makefile("wb")
        self._reader = Reader(self._read, most=limits.memory)
        self._deadline = 0.0
        self._closed = weakref.finalize(self, _close, self._to, talk, ended)
        self._talk.settimeout(STARTS_WITHIN_S)  # the fork server may still have to import
        self._write(first)
        self.value: Any = None

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def is_open(self) -> bool:
        """Whether the conversation has not ended."""
        return self._closed.alive

    def close(self) -> None:
        """End the child."""
        self._closed()

    def send(self, value: Any) -> None:
        """Send a value to the child. Raises :class:`LimitReached` if it died."""
        self._write(pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL))

    def receive(self, kind: Any = Any, *, seconds: float = 0.0) -> Any:
        """What the child sends next, which is of type ``kind``, within ``seconds`` of processor time if that is given.

        Raises :class:`LimitReached` if it died or sends something else, and the :class:`~core.errors.HedgeError` that
        it raised. When the function has returned, this is ``("value", …)``.
        """
        self._deadline = time.monotonic() + self.limits.patience * (seconds or self.limits.seconds) + STARTS_WITHIN_S
        try:
            letter, value = self._reader.receive(kind)
        except TimeoutError:
            self.close()
            raise LimitReached(self._time(seconds)) from None
        except Misunderstood as error:
            self.close()
            raise misunderstood(str(error)) from error
        except (EOFError, OSError) as error:
            raise self._death(seconds) from error
        return ("value", value) if letter == RETURNED else value

    @property
    def received(self) -> int:
        """The bytes that the child has sent."""
        return self._reader.received

    def _read(self, size: int) -> bytes:
        """This many bytes of what the child sends. Raises :class:`EOFError` where there are fewer."""
        content = bytearray()
        while len(content) < size:
            self._talk.settimeout(max(self._deadline - time.monotonic(), 0.001))
            piece = self._talk.recv(min(size - len(content), PIECE))
            if not piece:
                raise EOFError
            content += piece
        return bytes(content)

    def _write(self, content: bytes) -> None:
        try:
            self._to.write(content)
            self._to.flush()
        except (BrokenPipeError, ConnectionResetError, TimeoutError) as error:
            raise self._death(0.0) from error

    def _death(self, seconds: float) -> LimitReached:
        """Why the child died."""
        try:
            self._ended.settimeout(ENDS_WITHIN_S)
            self._ended.shutdown(socket.SHUT_WR)
            sent = self._ended.recv(4)
        except OSError:
            sent = b""
        finally:
            self.close()
        status = int.from_bytes(sent, "little", signed=True) if len(sent) == 4 else None
        if status == -signal.SIGPROF:
            return LimitReached(self._time(seconds))
        memory = f"{self.limits.memory / GIGABYTE:g} GB of memory"
        if status == OUT_OF_MEMORY:
            return LimitReached(memory)
        if status == -signal.SIGKILL:
            return LimitReached("", "the system stopped the process that read it, perhaps because memory ran out")
        return LimitReached("", f"the process that read it crashed; it is damaged, or needs more than {memory}")

    def _time(self, seconds: float) -> str:
        return f"{seconds or self.limits.seconds:g} seconds of processor time"
