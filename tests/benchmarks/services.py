"""Compose's services as processes side by side, each killed in turn: `python -m tests.benchmarks.services`.

Caddy with `deploy/compose/Caddyfile` and a certificate of its own in front of a page server with ``--public``, an agent
and a real Postgres, with the variables of `deploy/compose/compose.yaml`. What a container engine does is done here: a
process that ends is started again after a second. A run of 600 questions of a fake model is queued each time, and the
service is killed (SIGKILL) while it is running; a service that stays away would leave it unfinished. Nobody opens a
page to wake anything. Needs Caddy and Postgres (Debian: caddy, postgresql).
"""

import functools
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil
import pyarrow.parquet as pq

from core.settings import ROOT
from tests.postgres import server as postgres_server

QUESTIONS = 600
WITHIN_S = 120.0


class Service:
    """A command that is started again whenever it ends."""

    def __init__(self, name: str, command: list[str], environment: dict[str, str], logs: Path) -> None:
        self.name = name
        self.command = command
        self.environment = environment
        self.log = (logs / f"{name}.log").open("ab")
        self.starts = 0
        self.over = threading.Event()
        self.process = self._start()
        self.thread = threading.Thread(target=self._keep, daemon=True)
        self.thread.start()

    def _start(self) -> psutil.Popen:
        self.starts += 1
        return psutil.Popen(self.command, cwd=ROOT, env=self.environment, stdout=self.log, stderr=self.log)

    def _keep(self) -> None:
        while not self.over.is_set():
            self.process.wait()
            if not self.over.wait(1.0):
                self.process = self._start()

    def kill(self) -> None:
        """Kill the process with everything below it, as the end of a container does."""
        with suppress(psutil.NoSuchProcess):
            for process in [*self.process.children(recursive=True), self.process]:
                process.kill()

    def close(self) -> None:
        """End it for good."""
        self.over.set()
        with suppress(psutil.NoSuchProcess):
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(20)
        self.kill()


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def get(url: str, *, within_s: float = 5.0) -> tuple[int, str]:
    """The status and the text of an answer; 0 if there is none. The certificate is Caddy's own."""
    context = ssl._create_unverified_context()
    try:
        with urllib.request.urlopen(url, timeout=within_s, context=context) as answer:
            return answer.status, answer.read(2000).decode("utf-8", "replace")
    except urllib.error.HTTPError as error:
        return error.code, ""
    except OSError:
        return 0, ""


def seconds_until(true: Callable[[], bool], within_s: float = WITHIN_S) -> float:
    """The seconds until ``true()`` holds. Raises :class:`TimeoutError` if it does not in time."""
    start = time.monotonic()
    while not true():
        if time.monotonic() - start > within_s:
            raise TimeoutError
        time.sleep(0.1)
    return time.monotonic() - start


def is_done(run: Path) -> bool:
    return bool(json.loads((run / "run.json").read_bytes())["state"] == "done")


def main() -> None:
    """Start everything, kill each in turn, and print a line for each."""
    folder = Path(tempfile.mkdtemp(prefix="hedge-services-"))
    home, port, tls = folder / "home", free_port(), free_port()
    home.mkdir()
    with postgres_server() as database:
        environment = os.environ | {
            "HEDGE_HOME": str(home),
            "HEDGE_DATABASE_URL": database.new_database(),
            "HEDGE_HOST": "agent",
            "HEDGE_LOG_FORMAT": "json",
            "HEDGE_START_AGENT": "0",
            "HEDGE_FAKE_ENGINE": json.dumps({"ms": 20}),
            "CUDA_VISIBLE_DEVICES": "",
            "FORWARDED_ALLOW_IPS": "*",
        }
        page = ["-m", "app", "--public", f"--server.port={port}", "--server.headless=true"]
        front = {"HEDGE_DOMAIN": f"https://localhost:{tls}", "HEDGE_APP": f"127.0.0.1:{port}", "HOME": str(folder)}
        caddy = ["caddy", "run", "--config", str(ROOT / "deploy/compose/Caddyfile"), "--adapter", "caddyfile"]
        services = {
            "app": Service("app", [sys.executable, *page], environment | {"HEDGE_HOST": "app"}, folder),
            "agent": Service("agent", [sys.executable, "-m", "core", "agent"], environment, folder),
            "caddy": Service("caddy", caddy, os.environ | front, folder),
        }
        url = f"https://localhost:{tls}"
        try:
            taken = seconds_until(lambda: get(f"{url}/readyz")[0] == 200)
            print(f"all up: /readyz through Caddy says ready after {taken:.1f} s")
            print(f"/metrics through Caddy: {get(f'{url}/metrics')[0]}; asked directly: ", end="")
            print(get(f"http://127.0.0.1:{port}/metrics")[0])
            for seed, name in enumerate([*services, "database"]):
                command = [sys.executable, "-m", "core", "run", "--model", "fake", "--task", "qa", "--queue"]
                command += ["--samples", str(QUESTIONS), "--seed", str(seed)]
                queued = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
                run = home / "runs" / queued.stdout.split()[0]
                seconds_until((run / "progress.json").exists)
                time.sleep(3)
                if name == "database":
                    database.kill()
                    threading.Timer(5, database.start).start()
                else:
                    services[name].kill()
                killed = time.monotonic()
                ready = seconds_until(lambda: get(f"{url}/readyz")[0] == 200)
                seconds_until(functools.partial(is_done, run))
                ids = pq.read_table(run / "logits.parquet").column("id").to_pylist()
                done = time.monotonic() - killed
                print(
                    f"{name} killed: ready again after {ready:.1f} s; the run was done {done:.1f} s after the kill, "
                    f"{len(ids)} questions, {len(set(ids))} of them different",
                    flush=True,
                )
        finally:
            for service in services.values():
                service.close()
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
