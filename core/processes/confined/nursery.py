"""The caller's side of processes with limits."""

from __future__ import annotations

import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from core.errors import RunError
from core.processes.confined.channel import GIGABYTE, LimitReached, Limits
from core.processes.confined.codec import RETURNED, Misunderstood, Reader
from core.processes.confined.server import OUT_OF_MEMORY, kept_variables, request

ROOT = Path(__file__).resolve().parent.parent.parent.parent
STARTS_WITHIN_S = 120.0
ENDS_WITHIN_S = 10.0
PIECE = 1 << 20
SPARING = {
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONWARNINGS": "ignore",
}
"""Keeps allocators and threads from reserving memory beforehand, which would count as used."""


class Nursery:
    """A warm process that forks children with limits; ``preload`` are the modules that it imports.

    It starts with the first request or :meth:`warm`, and ends with this process.
    """

    def __init__(self, *preload: str) -> None:
        self.preload = preload
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._owner = 0

    def warm(self) -> None:
        """Start the warm process if it does not run. Returns before it has imported anything."""
        with self._lock:
            self._started()

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
        try:
            self._ask(theirs, theirs_ended)
            return Session(talk, ended, request(function, arguments, limits, reads, writes), limits)
        except OSError as error:
            talk.close()
            ended.close()
            raise RunError(f"no process could be started to read it ({error}); try again") from error
        finally:
            theirs.close()
            theirs_ended.close()

    def _ask(self, talk: socket.socket, ended: socket.socket) -> None:
        with self._lock:
            for attempt in (1, 2):
                try:
                    socket.send_fds(self._started(), [b"f"], [talk.fileno(), ended.fileno()])
                    return
                except (BrokenPipeError, ConnectionResetError):  # the warm process was killed
                    self._control = None
                    if attempt == 2:
                        raise

    def _started(self) -> socket.socket:
        alive = self._process is not None and self._process.poll() is None and self._owner == os.getpid()
        if self._control is not None and alive:
            return self._control
        ours, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, "-m", "core.processes.confined.server", str(theirs.fileno()), *self.preload]
            self._process = subprocess.Popen(
                command,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                cwd=ROOT,
                env=kept_variables() | SPARING,
                start_new_session=True,  # Ctrl-C is for the caller, whose end is this process's end
            )
        self._owner = os.getpid()
        self._control = ours
        weakref.finalize(self, _end, self._process, ours)
        return ours


def _end(process: subprocess.Popen[bytes], control: socket.socket) -> None:
    control.close()
    try:
        process.wait(1.0)
    except subprocess.TimeoutExpired:  # it still imports
        process.kill()
        process.wait()


def _close(*ends: IO[bytes] | socket.socket) -> None:
    for one in ends:
        with suppress(OSError):
            one.close()


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
        self._talk.settimeout(STARTS_WITHIN_S)  # the warm process may still have to import
        self._write(first)
        self.value: Any = None

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the child."""
        self._closed()

    def send(self, value: Any) -> None:
        """Say something to the child. Raises :class:`LimitReached` if it died."""
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
        """So many bytes of what the child sends. Raises :class:`EOFError` where there are fewer."""
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
        """Of what the child died."""
        try:
            self._ended.settimeout(ENDS_WITHIN_S)
            said = self._ended.recv(4)
        except OSError:
            said = b""
        finally:
            self.close()
        status = int.from_bytes(said, "little", signed=True) if len(said) == 4 else None
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
