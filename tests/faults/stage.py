"""Where a fault is played: a home and a database of its own, real agents, and a page that looks on."""

import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from core.errors import HedgeError
from core.runs import engine, store
from core.runs.agent import liveness
from core.runs.agent.worker_process import DETACHED, environment
from core.runs.spec import RunSpec
from core.settings import ROOT
from core.storage import database, file_lock
from tests.postgres import Server
from tests.processes import end_all

LOOK_EVERY_S = 0.05
WITHIN_S = 240.0
"""Three workers that start one after another take 13 seconds, and 75 at a load of 20 on two processors."""
QUESTIONS = 130

PAGE = """
import sys, time
from contextlib import suppress
from app import lifespan
from core.errors import RunError
from core.runs import engine
from core.runs.spec import RunSpec
import json
spec = RunSpec.from_json(json.loads(sys.argv[1]))
name = spec.run_id
if sys.argv[2:]:
    lifespan.LOOK_EVERY_S = lifespan.AGENT_AFTER_S = float(sys.argv[2])
    lifespan.start_agent()
else:
    name = engine.submit(spec)
print(name, flush=True)
while True:
    with suppress(RunError):
        engine.statuses()
    time.sleep(0.5)
"""
"""What a page server does with the engine: it launches a run, or keeps the agent, and looks at the runs."""


@dataclass
class Seen:
    """The observations of one try. Times are seconds from the fault; ``message`` is what the page showed then."""

    noticed: float | None = None
    resumed: float | None = None
    lost: int = 0
    twice: int = 0
    again: int = 0
    message: str = ""
    state: str = ""


@dataclass
class Row:
    """A line of the table: what all tries of one fault on one database showed."""

    fault: str
    database: str
    tries: list[Seen] = field(default_factory=list)

    def to_markdown(self) -> str:
        noticed = _seconds([seen.noticed for seen in self.tries])
        resumed = _seconds([seen.resumed for seen in self.tries])
        lost, twice = sum(s.lost for s in self.tries), sum(s.twice for s in self.tries)
        again = _counts([seen.again for seen in self.tries])
        odd = [seen.message for seen in self.tries if seen.state != "done"]
        common = Counter(odd or [seen.message for seen in self.tries if seen.message]).most_common(1)
        ended = ", ".join(f"{n} {state}" for state, n in Counter(seen.state for seen in self.tries).items())
        words = common[0][0] if common else "nothing: there is nothing to say"
        return (
            f"| {self.fault} | {self.database} | {len(self.tries)}: {ended} | {noticed} | {resumed} | {lost} | {twice} "
            f"| {again} | {words} |"
        )


HEADER = (
    "| fault | database | tries: ended | noticed after | resumed after | lost | twice | scored twice "
    "| the page said |\n"
    "|---|---|---|---|---|---|---|---|---|"
)


def _seconds(values: list[float | None]) -> str:
    known = [value for value in values if value is not None]
    if not known:
        return "–"
    median, worst = statistics.median(known), max(known)
    return f"{median:.1f} s" if len(known) == 1 else f"{median:.1f} s, worst {worst:.1f} s"


def _counts(values: list[int]) -> str:
    return str(values[0]) if len(values) == 1 else f"{statistics.median(values):g}, worst {max(values)}"


class Stage:
    """A home, a database and what lives there."""

    def __init__(self, home: Path, server: Server | None) -> None:
        self.home = home
        self.server = server
        self.seeds = 0
        self.pages: list[subprocess.Popen[str]] = []

    @property
    def database(self) -> str:
        return "Postgres" if self.server else "SQLite"

    def spec(self, **changes: Any) -> RunSpec:
        """A run that has not been yet."""
        self.seeds += 1
        return RunSpec(**({"model": "fake", "task": "qa", "samples": QUESTIONS, "seed": self.seeds} | changes))

    def model(self, **options: Any) -> None:
        """How the fake model of agents that start from now on behaves; ten milliseconds a question by default."""
        os.environ["HEDGE_FAKE_ENGINE"] = json.dumps({"ms": 10, "trace": str(self.home / "trace")} | options)

    def agent(self, host: str = "", **variables: str) -> psutil.Process:
        """Start an agent, this host's or one of another name, and wait until it lives."""
        with (self.home / "agent.err").open("ab") as log:
            subprocess.run(
                [*DETACHED, sys.executable, "-m", "core.runs.agent.host_agent"],
                cwd=ROOT,
                env=environment() | ({"HEDGE_HOST": host} if host else {}) | variables,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                start_new_session=True,
                check=True,
            )
        return self._holder(liveness.agent_lock(host), "the agent")

    def living_agent(self) -> psutil.Process:
        """This host's agent, which may be a successor of the one that was started."""
        return self._holder(liveness.agent_lock(), "the agent")

    def worker(self, host: str = "") -> psutil.Process:
        return self._holder(liveness.worker_lock(f"{host or liveness.host()}:cpu"), "the worker")

    def _holder(self, path: Path, what: str) -> psutil.Process:
        """The process that holds a lock. For a moment its file has no process id, which psutil takes for this process,
        or that of the one before."""

        def living() -> psutil.Process | None:
            pid = file_lock.holder(path) if file_lock.is_held(path) else None
            with suppress(psutil.NoSuchProcess):
                process = psutil.Process(pid) if pid else None
                return process if process and process.environ().get("HEDGE_HOME") == str(self.home) else None
            return None

        process: psutil.Process = wait_for(living, what)
        return process

    def page(self, spec: RunSpec, *, keeps_agent_s: float | None = None) -> tuple[subprocess.Popen[str], str]:
        """A page server of its own that launches a run, or looks so often whether one needs an agent; returns it and
        the run's id."""
        keeps = [] if keeps_agent_s is None else [str(keeps_agent_s)]
        started = subprocess.Popen(
            [sys.executable, "-c", PAGE, json.dumps(spec.to_json()), *keeps],
            cwd=ROOT,
            env=environment(),
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.pages.append(started)
        assert started.stdout
        return started, started.stdout.readline().strip()

    def begins(self, run_id: str) -> int:
        return sum(" begins: " in line for line in store.read_log(run_id))

    def done(self, run_id: str) -> int:
        """Questions that the run's progress speaks of."""
        with suppress(HedgeError, ValueError):
            progress = store.read_progress(run_id)
            return progress.done if progress else 0
        return 0

    def look(self, run_id: str, since: float, *, begun: int, until: Callable[[str], bool] | None = None) -> Seen:
        """Watch a run as a page does, from a fault at ``since`` (monotonic) until the run has ended."""
        seen = Seen()
        end = time.monotonic() + WITHIN_S
        while time.monotonic() < end:
            try:
                now = engine.status(run_id)
                state, words = now.state, now.message
                unusual = bool(words) or (state == "running" and not now.worker_alive)
            except HedgeError as error:
                state, words, unusual = "", str(error), True
            deaths = ("was killed", "was ended", "was out of memory", " is gone")
            noticed = [line for line in _log(run_id) if any(words in line for words in deaths)]
            if seen.noticed is None and (unusual or noticed):
                seen.noticed = time.monotonic() - since
                seen.message = words or noticed[-1].split(" ", 2)[2]
            elif unusual and words and not seen.message:
                seen.message = words
            if seen.resumed is None and self.begins(run_id) > begun:
                seen.resumed = time.monotonic() - since
            seen.state = state
            if until(state) if until else state in store.ENDED:
                break
            time.sleep(LOOK_EVERY_S)
        else:
            raise AssertionError(f"run {run_id} has not ended within {WITHIN_S:g} s: {_log(run_id)[-5:]}")
        if seen.state == "failed":
            seen.message = engine.status(run_id).message
        return self.count(run_id, seen)

    def count(self, run_id: str, seen: Seen) -> Seen:
        """Which questions a run that is done has lost, or has twice; how many were scored more than once."""
        traced = Counter((self.home / "trace").read_text().split()) if (self.home / "trace").exists() else Counter()
        seen.again = sum(times - 1 for times in traced.values())
        if seen.state == "done":
            questions = store.read_questions(run_id).to_pydict()
            wanted = {n for n, r in zip(questions["id"], questions["role"], strict=True) if r != "demonstration"}
            counts = Counter(store.read_logits(run_id).ids)
            seen.lost = len(wanted - set(counts)) + len(set(counts) - wanted)
            seen.twice = sum(times - 1 for times in counts.values())
        return seen

    def forget_trace(self) -> None:
        (self.home / "trace").unlink(missing_ok=True)

    def end_all(self) -> None:
        """End everything that lives in this home."""
        for page in self.pages:
            with suppress(ProcessLookupError):
                os.killpg(page.pid, signal.SIGKILL)
            page.wait()
            if page.stdout:
                page.stdout.close()
        self.pages.clear()
        end_all(self.home)


def _log(run_id: str) -> list[str]:
    with suppress(HedgeError, OSError):
        return store.read_log(run_id)
    return []


def wait_for(condition: Callable[[], Any], what: str, *, within_s: float = WITHIN_S) -> Any:
    end = time.monotonic() + within_s
    while not (value := condition()):
        assert time.monotonic() < end, f"waited {within_s:g} s without success for {what}"
        time.sleep(LOOK_EVERY_S)
    return value


@contextmanager
def stage(server: Server | None = None, *, home: Path | None = None) -> Iterator[Stage]:
    """A stage on SQLite, or on a server's new database; nothing of it is left."""
    names = ("HEDGE_HOME", "HEDGE_DATABASE_URL", "HEDGE_FAKE_ENGINE", "HEDGE_HANG_MINUTES", "CUDA_VISIBLE_DEVICES")
    before = {name: os.environ.get(name) for name in names}
    folder = home or Path(tempfile.mkdtemp(prefix="hedge-fault-"))
    os.environ |= {"HEDGE_HOME": str(folder), "CUDA_VISIBLE_DEVICES": ""}
    os.environ.pop("HEDGE_DATABASE_URL", None)
    if server:
        os.environ["HEDGE_DATABASE_URL"] = server.new_database()
    database.prepare(within_s=WITHIN_S)  # on a busy machine this takes longer than a page waits
    stage = Stage(folder, server)
    stage.model()
    try:
        yield stage
    finally:
        stage.end_all()
        database.forget()
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
        if home is None:
            shutil.rmtree(folder, ignore_errors=True)
