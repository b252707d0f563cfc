"""The parent of this process, as a child sees it: ``python -m core.processes.parent FD MODULE [ARGUMENT …]``.

The program imports a module and calls its ``main(connection, *arguments)``, where the connection is the child's end of
the pipe (:mod:`core.processes.child`).
"""

import importlib
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any

from core.errors import HedgeError
from core.processes.oom_score import raise_oom_score

ORPHANED = 3
"""The exit status of a child whose parent has died or has closed its end of the pipe."""


class Parent:
    """The process at the other end of ``connection``. Any thread may send.

    When it dies, this process first calls ``when_gone``, then ends together with its group, whatever its threads do.
    The kernel stops this process before its parent when memory runs out.
    """

    def __init__(self, connection: Connection, *, when_gone: Callable[[], object] = lambda: None) -> None:
        self._connection = connection
        self._when_gone = when_gone
        self._sending = threading.Lock()
        self._inbox: SimpleQueue[Any] = SimpleQueue()
        self._restore_oom_score = raise_oom_score()
        threading.Thread(target=self._listen, daemon=True, name="hedge-parent").start()

    def send(self, message: object) -> None:
        """Send a message to the parent. Raises :class:`OSError` if it has died."""
        with self._sending:
            self._connection.send(message)

    @property
    def has_message(self) -> bool:
        """Whether :meth:`receive` would return at once."""
        return not self._inbox.empty()

    def receive(self) -> Any:
        """Wait for the parent's next message."""
        return self._inbox.get()

    def _listen(self) -> None:
        with suppress(Exception):  # whatever it is that can't be read, this process must end
            while True:
                self._inbox.put(self._connection.recv())
        self._restore_oom_score()  # what is started now inherits it
        with suppress(Exception):
            self._when_gone()
        end_group()


def end_group() -> None:
    """End this process and those that it started, at once: sys.exit would wait for a model."""
    if os.getpgid(0) == os.getpid():  # else a person started this process, and the group is a shell's
        os.killpg(0, signal.SIGKILL)
    os._exit(ORPHANED)


def main() -> None:
    """Be the child that the command line describes."""
    number, module, *arguments = sys.argv[1:]
    os.set_inheritable(int(number), False)
    status = 0
    try:
        importlib.import_module(module).main(Connection(int(number)), *arguments)
    except HedgeError as error:
        print(error, file=sys.stderr)
        status = error.exit_status
    except Exception:
        traceback.print_exc()
        status = 1
    with suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(status)  # not sys.exit, which waits for the threads of libraries


if __name__ == "__main__":
    # As a module of its own name, so that a child's module imports the same classes.
    from core.processes import parent

    parent.main()
