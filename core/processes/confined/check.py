"""Tries which rights a process with limits still has on this machine. Doctor shows the result."""

import fcntl
import os
import socket
import tempfile
from collections.abc import Callable
from pathlib import Path

from core.processes.confined.channel import Channel, Limits
from core.processes.confined.fork_server import ForkServer

LIMITS = Limits(memory=512 << 20, seconds=5.0)


def remaining_rights() -> tuple[str, ...]:
    """What a process with limits can still do here, beyond reading the files that it is given; nothing if all is well.

    Raises :class:`~core.errors.HedgeError` if no such process can be started.
    """
    with tempfile.TemporaryDirectory(prefix="hedge-check-") as name:
        secret = Path(name) / "secret"
        secret.write_bytes(b"")
        fork_server = ForkServer()  # which ends its children when it has ended
        with fork_server.open(_try, secret, Path(name), os.getpid(), limits=LIMITS) as session:
            rights: tuple[str, ...] = session.receive(tuple[str, ...])[1]
    return rights


def _try(channel: Channel, secret: Path, folder: Path, caller: int) -> tuple[str, ...]:
    return possible(secret, folder, caller)


def possible(secret: Path, folder: Path, caller: int) -> tuple[str, ...]:
    """What this process can do: it tries each attempt on a file, a folder and a process of its caller."""

    def works(attempt: Callable[[], object]) -> bool:
        try:
            attempt()
        except OSError:
            return False
        return True

    attempts: dict[str, Callable[[], object]] = {
        "open connections": lambda: socket.socket().close(),
        "start processes": _fork,
        "signal other processes": lambda: _signal_when_read(caller),
        "write other files": lambda: (folder / "written").write_bytes(b""),
        "read other files": secret.read_bytes,
        "read the environment of other processes": Path(f"/proc/{caller}/environ").read_bytes,
    }
    return tuple(name for name, attempt in attempts.items() if works(attempt))


def _signal_when_read(process: int) -> None:
    """Have another process get a signal when a pipe has something to read, which it never has."""
    ends = os.pipe()
    try:
        fcntl.fcntl(ends[0], fcntl.F_SETOWN, process)
    finally:
        for end in ends:
            os.close(end)


def _fork() -> None:
    if (child := os.fork()) == 0:
        os._exit(0)
    os.waitpid(child, 0)
