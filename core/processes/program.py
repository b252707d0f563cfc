"""What a program of Hedge does first, whatever the machine that it is started on."""

import io
import os
import sys

from core.processes import open_files, proxies


def prepare() -> None:
    """Open the standard streams that are closed, read names of files as UTF-8, raise the limit of open files, and use
    no proxy for this machine's own addresses.
    """
    _open_streams()
    _enter_utf8_mode()
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


def _enter_utf8_mode() -> None:
    """Start this program again in the same process, in Python's UTF-8 mode, if it reads names of files in another
    encoding.

    Libraries take names as UTF-8, so they would not find the files. Python does this itself in the locale C, but not in
    that of ISO 8859-1, or where ``PYTHONUTF8`` is 0.
    """
    if os.name == "posix" and sys.getfilesystemencoding() != "utf-8" and os.environ.get("PYTHONUTF8") != "1":
        os.environ["PYTHONUTF8"] = "1"
        os.execv(sys.executable, sys.orig_argv)
