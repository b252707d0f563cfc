"""A process that this one starts and supervises: messages both ways, its death and the reason for it, and its end.

The child runs ``main(connection, *arguments)`` of a module (:mod:`core.processes.parent`). Both ends share one pipe,
which closes when either process dies, so a child never outlives its parent. Messages are pickled, as both trust each
other.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import nullcontext, suppress
from multiprocessing import Pipe
from pathlib import Path
from typing import TypeVar

from core.processes.exit_reasons import MemoryKills, in_words
from core.processes.log_lines import log_file, open_log
from core.settings import ROOT

Message = TypeVar("Message")


class Child:
    """A child process, in a session of its own: Ctrl-C is for the parent, which then ends it.

    ``environment`` is all of its environment, by default this process's. It writes to ``log``, a name in
    ``HEDGE_HOME/logs`` or a whole path, by default to where this process writes. Raises :class:`OSError` if no process
    can be started.
    """

    def __init__(
        self, module: str, *arguments: str, environment: Mapping[str, str] | None = None, log: str | Path = ""
    ) -> None:
        self._log = log
        self._memory_kills = MemoryKills()
        self._killed_because = ""
        self.connection, its_end = Pipe()
        with its_end, open_log(log) if log else nullcontext() as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "core.processes.parent", str(its_end.fileno()), module, *arguments],
                cwd=ROOT,
                env=environment,
                pass_fds=(its_end.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT if output else None,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        """The number of its process."""
        return self._process.pid

    @property
    def status(self) -> int | None:
        """Its exit status; None while it lives."""
        status = self._process.poll()
        if status is None:
            self._memory_kills.look()
        return status

    def send(self, message: object) -> None:
        """Send a message. Raises :class:`OSError` if the child has died."""
        self.connection.send(message)

    def poll(self, within_s: float = 0.0) -> bool:
        """Whether a message, or the end of all messages, is there within this many seconds."""
        return self.connection.poll(within_s)

    def receive(self, kind: type[Message]) -> Message:
        """The next message, of one type. Raises EOFError or :class:`OSError` if the child has died."""
        message = self.connection.recv()
        self._memory_kills.look()
        if not isinstance(message, kind):
            raise TypeError(f"process {self.pid} sent a {type(message).__name__} and not a {kind.__name__}")
        return message

    def join(self) -> None:
        """Wait until it has died."""
        self._process.wait()

    def kill(self, because: str = "") -> None:
        """Kill it and the processes of its group, for a reason that :meth:`end` then gives."""
        self._killed_because = because
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)

    def end(self, *, within_s: float = 0.0) -> str:
        """Wait until it has died, and kill it after ``within_s`` seconds, with what is left of its group. Returns the
        reason of its death, as the second half of "the process was …"."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(within_s)
        self.kill(self._killed_because)
        self.connection.close()
        status = self._process.wait()
        return self._killed_because or in_words(status, out_of_memory=self._memory_kills.any)

    def last_line(self) -> str:
        """The last line of its log; empty if there is none."""
        lines = log_file(self._log).read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return lines[-1] if lines else ""
