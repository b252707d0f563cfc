"""The process of a fork server: imports what the work needs, and forks a child with limits for each piece of work.

The connection to its parent brings two sockets for each piece of work: one for the conversation with the child, and
one at whose end this process kills the child, if it lives, and says how it died. The process has one thread, so that a
fork is safe.
"""

import importlib
import os
import pickle
import selectors
import signal
import socket
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NoReturn

from core.processes.confined.channel import Channel, Limits
from core.processes.confined.rights import give_up
from core.processes.oom_score import raise_oom_score
from core.processes.parent import end_group

OUT_OF_MEMORY = 77
"""The exit status of a child that the system gave no more memory."""
LARGEST_WRITTEN = 1 << 30
"""Bytes of the largest file that a child may write into its folder."""
PREFIX = "HEDGE_"
"""Environment variables that a child takes over from its caller, whose settings may have changed since."""
KEPT = frozenset(
    (
        *("HEDGE_HOME", "HEDGE_READ_MEMORY_GB", "HEDGE_ROOTS"),
        *("PATH", "HOME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "VIRTUAL_ENV"),
        *("PYTHONPATH", "PYTHONHOME", "PYTHONUTF8", "PYTHONDONTWRITEBYTECODE", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"),
        *("XDG_DATA_HOME", "XDG_CACHE_HOME", "HF_HOME", "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"),
    )
)
"""The environment variables that readers need. The others may hold keys."""


def main(connection: Connection, *modules: str) -> None:
    """Import the modules, and then fork until the parent has gone."""
    control = socket.socket(fileno=os.dup(connection.fileno()))
    connection.close()
    for module in modules:
        importlib.import_module(module)
    sockets = selectors.DefaultSelector()
    sockets.register(control, selectors.EVENT_READ)
    with suppress(OSError, EOFError):
        while True:
            for key, _ in sockets.select():
                if key.data is None:
                    _fork(control, sockets)
                else:
                    sockets.unregister(key.fileobj)
                    _end(key.fileobj, key.data)
    end_group()


def _fork(control: socket.socket, sockets: selectors.BaseSelector) -> None:
    """Fork a child for a request. Raises :class:`EOFError` if the parent has gone."""
    _, fds, _, _ = socket.recv_fds(control, 1, 2)
    if len(fds) != 2:
        raise EOFError
    talk, ended = (socket.socket(fileno=fd) for fd in fds)
    if (child := os.fork()) == 0:
        ended.close()
        _become(talk, sockets)
    talk.close()
    sockets.register(ended, selectors.EVENT_READ, child)


def _end(ended: Any, child: int) -> None:
    """End a child that has died, or for which nobody waits any more, and say how it died."""
    os.kill(child, signal.SIGKILL)  # one that has died keeps its status
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with ended, suppress(OSError):
        ended.send(status.to_bytes(4, "little", signed=True))


def _become(talk: socket.socket, sockets: selectors.BaseSelector) -> NoReturn:
    """In the child: work, and end. It keeps no other socket, and writes nothing to the caller's terminal or log."""
    for key in sockets.get_map().values():
        key.fileobj.close()  # type: ignore[union-attr]
    sockets.close()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    os.close(nowhere)
    status = 1
    try:
        status = _work(talk)
    finally:
        os._exit(status)


def _work(talk: socket.socket) -> int:
    """Do what the request says within its limits. Returns the exit status."""
    channel = Channel(talk, Limits())
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    raise_oom_score()
    try:
        environment, folder, limits, reads, writes, function, arguments = channel.receive()
        _take_over(environment, folder)
        channel.limits = limits
        _limit_memory(limits.memory)
        give_up(reads=reads, writes=writes)
        channel.step()
        channel.end(function(channel, *arguments))
    except MemoryError:
        return OUT_OF_MEMORY
    except (BrokenPipeError, ConnectionResetError, EOFError):
        return 0  # the caller has gone
    except BaseException as error:
        channel.fail(error)
    return 0


def _take_over(environment: dict[str, str], folder: str) -> None:
    for name in [name for name in os.environ if name.startswith(PREFIX) and name not in environment]:
        del os.environ[name]
    os.environ.update(environment)
    with suppress(OSError):
        os.chdir(folder)


def _limit_memory(most: int) -> None:
    try:
        import resource
    except ImportError:  # not a POSIX system
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(ValueError, OSError):  # a lower limit is in force already
        resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_WRITTEN,) * 2)
    with suppress(ValueError, OSError):  # a lower limit is in force already
        resource.setrlimit(resource.RLIMIT_DATA, (max(most, _used() + (64 << 20)),) * 2)


def _used() -> int:
    """The bytes that count against the limit already."""
    with suppress(OSError, ValueError, StopIteration):
        status = Path("/proc/self/status").read_text(encoding="utf-8")
        return 1024 * int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmData:")))
    return 0


def request(
    function: Any, arguments: tuple[Any, ...], limits: Limits, reads: Sequence[Path], writes: Sequence[Path]
) -> bytes:
    """What a child is sent first."""
    environment = {name: value for name, value in kept_variables().items() if name.startswith(PREFIX)}
    return pickle.dumps((environment, os.getcwd(), limits, tuple(reads), tuple(writes), function, arguments))


def kept_variables() -> dict[str, str]:
    """The environment without what readers do not need: it may hold keys and passwords."""
    return {name: value for name, value in os.environ.items() if name in KEPT or name.startswith("LC_")}
