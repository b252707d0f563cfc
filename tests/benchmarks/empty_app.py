"""A Streamlit app of one heading: what Streamlit itself takes, to which Hedge's own share is added."""

import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from tests.browser.conftest import wait_for

SCRIPT = "import streamlit as st\nst.title('Empty')\n"


@contextmanager
def empty_app() -> Iterator[str]:
    """The address of the app's server, which ends with the block."""
    with tempfile.TemporaryDirectory() as folder, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        script, log = Path(folder) / "empty.py", Path(folder) / "server.log"
        script.write_text(SCRIPT, encoding="utf-8")
        flags = ["--server.port", str(port), "--server.headless", "true", "--server.address", "127.0.0.1"]
        command = [sys.executable, "-m", "streamlit", "run", str(script), *flags, "--browser.gatherUsageStats", "false"]
        with log.open("wb") as out:
            process = psutil.Popen(command, cwd=folder, stdout=out, stderr=subprocess.STDOUT)
        try:
            wait_for(f"http://127.0.0.1:{port}/_stcore/health", process, log)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait()
