"""Watches a block of code: it may start no process, connect nowhere, and write nothing outside a folder.

Python reports what it is about to do to audit hooks, also where C code of it does so. A hook can't be removed, so there
is one, which is idle outside the block.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from tests.fuzz.findings import Finding

NEVER = (
    *("os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty", "pty.spawn", "subprocess.Popen"),
    *("socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo", "urllib.Request", "os.kill", "os.chmod"),
    *("os.chown", "os.link", "os.symlink", "os.putenv", "os.setxattr", "pickle.find_class", "ctypes.dlopen"),
    *("ftplib.connect", "smtplib.connect", "webbrowser.open", "tempfile.mkstemp", "sys.addaudithook"),
)
"""What is never done with a file from outside."""
WRITES = ("os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.truncate", "os.utime", "shutil.rmtree", "shutil.move")
"""What is done in the folder alone: the first argument is a path, or a file that is open there."""
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class _Watch:
    """The folder in which the block may write, and what it did beside that."""

    folder = ""
    seen: list[str]

    def hear(self, event: str, arguments: tuple[object, ...]) -> None:
        if not self.folder:
            return
        if event in NEVER:
            self.seen.append(f"does {event} {arguments!r}"[:120])
        elif event in WRITES or (event == "open" and _writes(arguments)):
            path = arguments[0]
            outside = isinstance(path, (str, bytes, os.PathLike)) and not self._inside(os.fsdecode(path))
            if outside and "__pycache__" not in os.fsdecode(path):  # type: ignore[arg-type]
                self.seen.append(f"does {event} of {path!r}"[:120])

    def _inside(self, path: str) -> bool:
        real = os.path.realpath(path)
        return real == os.devnull or os.path.commonpath([real, self.folder]) == self.folder


def _writes(arguments: tuple[object, ...]) -> bool:
    _, mode, flags = arguments
    return any(letter in mode for letter in "wax+") if isinstance(mode, str) else bool(int(str(flags or 0)) & WRITING)


@cache
def _watch() -> _Watch:
    watch = _Watch()
    watch.seen = []
    sys.addaudithook(watch.hear)
    return watch


@contextmanager
def watched(folder: Path) -> Iterator[None]:
    """Raise :class:`Finding` if the block does what it must not."""
    watch = _watch()
    watch.seen = []
    watch.folder = os.path.realpath(folder)
    try:
        yield
    finally:
        watch.folder = ""
    if watch.seen:
        raise Finding(watch.seen[0])
