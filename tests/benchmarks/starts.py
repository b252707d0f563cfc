"""Processor seconds of starts, beside another checkout: `python -m tests.benchmarks.starts CHECKOUT [ROUNDS]`.

Both checkouts take turns, each with a home in which it has started once before: `hedge run --mode short` of
pocket-1m; a process that imports what a worker imports and loads pocket-1m until it can score; and the page server
until it answers.
"""

import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import suppress
from pathlib import Path

from core.settings import ROOT

ROUNDS = 5
WITHIN_S = 120
RUN = ["-m", "core", "run", "--model", "pocket-1m", "--task", "qa", "--mode", "short", "--seed"]
WORKER = """
import core.runs.agent.worker
from core.models.engine_factory import load_engine
load_engine("pocket-1m", dtype="float32", batch_size=None)
"""


def measure(checkout: Path, home: Path, words: list[str], *, port: int = 0) -> float:
    """The processor seconds of a process and of those that it has waited for. A server is stopped once it answers."""
    process = subprocess.Popen(
        [sys.executable, *words],
        cwd=checkout,
        env={**os.environ, "HEDGE_HOME": str(home), "PYTHONDONTWRITEBYTECODE": ""},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    if port:
        due = time.monotonic() + WITHIN_S
        while time.monotonic() < due:
            with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health"):
                break
            time.sleep(0.1)
        process.terminate()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, f"{words} ended with {process.returncode} in {checkout}"
    return used.ru_utime + used.ru_stime


def free_port() -> int:
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        return int(place.getsockname()[1])


def main() -> None:
    """Measure this checkout and the other one in turn."""
    other, rounds = Path(sys.argv[1]).resolve(), int(sys.argv[2]) if len(sys.argv) > 2 else ROUNDS
    seen: dict[tuple[str, Path], list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        homes = {checkout: Path(folder) / str(i) for i, checkout in enumerate((other, ROOT))}
        for turn in range(rounds + 1):
            for checkout, home in homes.items():
                port = free_port()
                server = ["-m", "app", "--server.port", str(port), "--server.headless", "true"]
                for name, seconds in {
                    "hedge run --mode short": measure(checkout, home, [*RUN, str(turn)]),
                    "worker until it can score": measure(checkout, home, ["-c", WORKER]),
                    "page server until it answers": measure(checkout, home, server, port=port),
                }.items():
                    if turn:
                        seen.setdefault((name, checkout), []).append(seconds)
    print(f"{'processor seconds, median':<32}{'other':>8}{'this':>8}{'ratio':>8}")
    for name in dict.fromkeys(name for name, _ in seen):
        before, after = (statistics.median(seen[name, checkout]) for checkout in (other, ROOT))
        print(f"{name:<32}{before:>8.2f}{after:>8.2f}{after / before:>8.2f}")


if __name__ == "__main__":
    main()
