"""Page servers as copies of one process that has imported what the app needs, which takes most of a server's start.

Run as a program, it reads a line of JSON for each server that is wanted and answers with the copy's process id.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import signal
import subprocess
import sys
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import NoReturn

import psutil

from core.settings import ROOT


def start(arguments: list[str], environment: dict[str, str], log: Path) -> psutil.Process:
    """A copy that does what ``python -m app`` does with these arguments and this environment, and writes to ``log``."""
    original = _original()
    assert original.stdin is not None
    assert original.stdout is not None
    asked = {"arguments": arguments, "environment": environment, "log": str(log)}
    original.stdin.write(json.dumps(asked) + "\n")
    original.stdin.flush()
    return psutil.Process(int(original.stdout.readline()))


@cache
def _original() -> subprocess.Popen[str]:
    """Started for the first server, and ended with this process."""
    pipe, command = subprocess.PIPE, [sys.executable, "-m", "tests.browser.server_copies"]
    process = subprocess.Popen(
        command, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True, encoding="utf-8"
    )
    atexit.register(process.communicate)
    return process


def main() -> None:
    """Import, then fork at each line until the input ends."""
    for command in entry_points(group="console_scripts", name="streamlit"):
        command.load()
    from app.serving import first_paint

    first_paint.import_components()
    # Components register with the server that runs when they are imported, so each copy imports the app itself.
    for name in [name for name in sys.modules if name.split(".")[0] == "app"]:
        del sys.modules[name]
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the copies, and none stays as a zombie
    for line in sys.stdin:
        process = os.fork()
        if process == 0:
            _serve(**json.loads(line))
        print(process, flush=True)


def _serve(arguments: list[str], environment: dict[str, str], log: str) -> NoReturn:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for stream, path, flags in ((0, os.devnull, os.O_RDONLY), (1, log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)):
        opened = os.open(path, flags)
        os.dup2(opened, stream)
        os.close(opened)
    os.dup2(1, 2)
    os.environ.clear()
    os.environ.update(environment)
    from app.__main__ import main as serve

    serve(arguments)


if __name__ == "__main__":
    main()
