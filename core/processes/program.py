"""What a program of Hedge does first, whatever the machine that it is started on."""

import ctypes
import io
import os
import platform
import sys
from contextlib import suppress

from core.processes import open_files, proxies

ARENAS = 2
M_ARENA_MAX = -8
"""The parameter's number in glibc's ``malloc.h``."""


def prepare() -> None:
    """Open the standard streams that are closed, read names of files as UTF-8, raise the limit of open files, use no
    proxy for this machine's own addresses, and keep allocators from holding memory that nothing uses.
    """
    _open_streams()
    _enter_utf8_mode()
    _spare_memory()
    open_files.raise_limit()
    proxies.keep_own_direct()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # not every terminal shows all characters


def _open_streams() -> None:
    """Otherwise, a file that is opened would take a closed stream's number, and libraries would write warnings into
    it.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            os.dup2(os.open(os.devnull, os.O_RDWR), number)
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115


def _spare_memory() -> None:
    """Limit what allocators keep for later, in this process and in those that it starts; together 50 to 80 MB each.

    Arrow's own allocator keeps what was read once, OpenBLAS has a buffer for each thread, and so has the C library's
    allocator. Torch multiplies with OpenBLAS on ARM, so its threads are limited on x86 alone. A variable that is set
    stays as it is. Call this before NumPy and Arrow are imported.
    """
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    if platform.machine() in ("x86_64", "AMD64"):
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if "MALLOC_ARENA_MAX" not in os.environ:
        os.environ["MALLOC_ARENA_MAX"] = str(ARENAS)
        with suppress(AttributeError, OSError, TypeError):  # not glibc, which reads the variable when a process starts
            ctypes.CDLL(None).mallopt(M_ARENA_MAX, ARENAS)


def return_memory() -> None:
    """Give the system the memory that the C library's allocator has kept for later. It takes a few milliseconds."""
    with suppress(AttributeError, OSError, TypeError):  # not glibc
        ctypes.CDLL(None).malloc_trim(0)


def _enter_utf8_mode() -> None:
    """Start this program again in the same process, in Python's UTF-8 mode, if it reads names of files in another
    encoding.

    Libraries take names as UTF-8, so they would not find the files. Python does this itself in the locale C, but not in
    that of ISO 8859-1, or where ``PYTHONUTF8`` is 0.
    """
    if os.name == "posix" and sys.getfilesystemencoding() != "utf-8" and os.environ.get("PYTHONUTF8") != "1":
        os.environ["PYTHONUTF8"] = "1"
        os.execv(sys.executable, sys.orig_argv)
