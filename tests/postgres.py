"""A Postgres server of a test's own, in a folder of its own, run by a user who is not root."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests import needs

USERS = ("postgres", "nobody")
STARTS_WITHIN_S = 60


class Server:
    """A server on a port of this host."""

    def __init__(self, folder: Path, binaries: Path, user: str | None) -> None:
        self.data = folder / "data"
        self.binaries = binaries
        self.user = user
        self.port = _free_port()
        self.databases = 0
        self.process: subprocess.Popen[bytes] | None = None
        self._call("initdb", "-D", str(self.data), "-U", "hedge", "-A", "trust", "-E", "UTF8", "--no-sync")

    def url(self, database: str = "postgres") -> str:
        return f"postgresql://hedge@127.0.0.1:{self.port}/{database}"

    def new_database(self) -> str:
        """The URL of an empty database, which nobody else uses."""
        self.databases += 1
        name = f"hedge{self.databases}"
        self._call("createdb", "-h", "127.0.0.1", "-p", str(self.port), "-U", "hedge", name)
        return self.url(name)

    def start(self) -> None:
        options = ("fsync=off", "shared_buffers=32MB", "max_connections=200")
        command = [str(self.binaries / "postgres"), "-D", str(self.data), "-p", str(self.port), "-h", "127.0.0.1"]
        command += ["-k", str(self.data), *(part for option in options for part in ("-c", option))]
        with (self.data / "server.log").open("ab") as log:
            self.process = subprocess.Popen(
                command, user=self.user, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
            )
        end = time.monotonic() + STARTS_WITHIN_S
        while not self._answers():
            assert time.monotonic() < end, (self.data / "server.log").read_text()
            time.sleep(0.05)

    def kill(self) -> None:
        """End it as a crash would: the postmaster's children notice and end too."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        end = time.monotonic() + STARTS_WITHIN_S
        while self._answers() and time.monotonic() < end:
            time.sleep(0.05)

    def stop(self) -> None:
        """End it in good order, at once."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(STARTS_WITHIN_S)

    def _answers(self) -> bool:
        command = [str(self.binaries / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        return subprocess.run(command, check=False).returncode == 0

    def _call(self, program: str, *arguments: str) -> None:
        process = subprocess.run(
            [self.binaries / program, *arguments], user=self.user, capture_output=True, text=True, check=False
        )
        assert process.returncode == 0, process.stderr


@contextmanager
def server() -> Iterator[Server]:
    """A running server, gone with its data afterwards; the test skips where Postgres is not installed."""
    binaries = _binaries()
    if binaries is None:
        needs.missing("Postgres")
    user = _user()
    folder = Path(tempfile.mkdtemp(prefix="hedge-postgres-"))
    if user:
        shutil.chown(folder, user)
    server = Server(folder, binaries, user)
    try:
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _binaries() -> Path | None:
    """The newest installation with all programs that are needed."""
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name), reverse=True)
    if initdb := shutil.which("initdb"):
        places.append(Path(initdb).resolve().parent)
    return next((place for place in places if (place / "initdb").exists() and (place / "postgres").exists()), None)


def _user() -> str | None:
    """Who runs the server: Postgres refuses root."""
    if os.getuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    return next(name for name in USERS if name in known)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
