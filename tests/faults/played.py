"""The faults: each plays one on a stage and says what was seen.

A fault that needs what this machine or this user lacks (a mount, a control group, a library) raises
:class:`NotHere` with the reason.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

import psutil

from core.errors import RunError
from core.reports.evaluation import load
from core.reports.report import report
from core.runs import engine, store
from core.runs.agent import liveness
from core.runs.agent import tries as limits
from core.runs.execution.execute import execute
from core.runs.queue import hosts, run_queue
from core.runs.spec import RunSpec
from tests.faults.stage import LOOK_EVERY_S, WITHIN_S, Row, Seen, Stage, stage, wait_for
from tests.postgres import Server
from tests.processes import kill_together

T = TypeVar("T")

DATABASE_GONE_S = 3.0
STOPPED_S = hosts.STALE_S + 3
TMPFS_MB = 4
MEMORY_MB = 500
CLOCK = Path(__file__).parent / "clock"
HANG_MINUTES = 0.05


class NotHere(Exception):
    """This machine can't show this fault."""


def worker_killed(on: Server | None, *, tries: int = 1) -> Row:
    """SIGKILL to the worker at a random moment between submit and end."""
    return _killed_at_random("worker SIGKILL at a random moment", on, lambda s: s.worker().kill(), tries, seed=6)


def agent_killed(on: Server | None, *, tries: int = 1) -> Row:
    """SIGKILL to the agent at a random moment between submit and end; nobody opens a page."""
    what = "agent SIGKILL at a random moment, no page opened"
    return _killed_at_random(what, on, lambda s: s.living_agent().kill(), tries, seed=7)


def page_killed(on: Server | None, *, tries: int = 1) -> Row:
    """SIGKILL to the page server that launched the run, at a random moment between submit and end."""

    def kill(s: Stage) -> None:
        os.killpg(s.pages[-1].pid, signal.SIGKILL)

    return _killed_at_random("page server SIGKILL at a random moment", on, kill, tries, seed=8, by_page=True)


def _killed_at_random(
    what: str, on: Server | None, kill: Callable[[Stage], None], tries: int, *, seed: int, by_page: bool = False
) -> Row:
    with stage(on) as s:
        row = Row(what, s.database)
        s.agent()
        warm(s)
        for name in at_random_moments(s, tries, seed, launch=(lambda: s.page(s.spec())[1]) if by_page else None):
            begun = s.begins(name)
            kill(s)
            row.tries.append(s.look(name, time.monotonic(), begun=begun))
        return row


def at_random_moments(s: Stage, tries: int, seed: int, launch: Callable[[], str] | None = None) -> Iterator[str]:
    """The id of a new run for each try, a random time after its launch, when it has not ended yet."""
    launched = launch or (lambda: engine.submit(s.spec()))
    moments = random.Random(seed)
    for _ in range(tries):
        s.forget_trace()
        name = launched()
        time.sleep(moments.uniform(0.1, 1.8))
        if engine.status(name).ended:
            name = launched()
            wait_for(lambda name=name: s.done(name) > 0, "the first question")
        yield name


def all_killed(on: Server | None) -> Row:
    """SIGKILL to the page server, the agent and its worker at once; a person opens the page again."""
    with stage(on) as s:
        row = Row("page server, agent and worker SIGKILL at once, then the page is opened", s.database)
        agent = s.agent()
        page, name = s.page(s.spec())
        wait_for(lambda: s.done(name) >= 60, "the second chunk")
        os.killpg(page.pid, signal.SIGKILL)
        row.tries.append(_killed(s, name, agent))
        return row


def _killed(s: Stage, name: str, agent: psutil.Process) -> Seen:
    begun = s.begins(name)
    kill_together(agent)
    since = time.monotonic()
    # What a person does on the page: they see that nobody is at the run and ask for it to go on.
    shown = wait_for(
        lambda: (now := engine.status(name)).message and not now.worker_alive and now, "the page to say it"
    )
    noticed = time.monotonic() - since
    engine.resume(name)
    seen = s.look(name, since, begun=begun)
    seen.noticed, seen.message = noticed, shown.message
    return seen


def database_gone(on: Server | None, *, tries: int = 1) -> Row:
    """Postgres is killed at a random moment and comes back; SQLite is locked by somebody for as long."""
    with stage(on) as s:
        what = "database killed at a random moment, back" if on else "database locked at a random moment, free again"
        row = Row(f"{what} after {DATABASE_GONE_S:g} s", s.database)
        s.agent()
        warm(s)
        for name in at_random_moments(s, tries, seed=9):
            begun, since = s.begins(name), time.monotonic()
            if on:
                on.kill()
            else:
                other = sqlite3.connect(s.home / "engine.sqlite", isolation_level=None)
                other.execute("BEGIN EXCLUSIVE")
            first = s.look(
                name, since, begun=begun, until=lambda state, since=since: time.monotonic() - since > DATABASE_GONE_S
            )
            if on:
                on.start()
            else:
                other.close()
            row.tries.append(_noticed_before(s.look(name, since, begun=begun), first))
        return row


def _noticed_before(seen: Seen, first: Seen) -> Seen:
    """The observations at the end, including those made during the fault."""
    seen.noticed, seen.message = first.noticed, first.message
    return seen


def unplugged(on: Server | None) -> Row:
    """All of a host's processes stand still for longer than its heartbeat may, then go on."""
    with stage(on) as s:
        row = Row(f"host unplugged for {STOPPED_S:g} s, then back" + (", beside another" if on else ""), s.database)
        pace = s.home / "pace"
        s.model(pace=str(pace))
        pace.write_text("400")  # the other host's start takes a while, and the run must not end before
        agent = s.agent("a" if on else "")
        name = engine.submit(s.spec())
        wait_for(lambda: s.done(name) > 0, "the first question")
        if on:
            s.agent("b")
        pace.write_text("40")
        wait_for(lambda: s.done(name) >= 60, "the second chunk")
        stopped = [agent, *agent.children(recursive=True)]
        begun = s.begins(name)
        for process in stopped:
            process.suspend()
        assert not engine.status(name).ended, "the run ended before its host was unplugged"
        since = time.monotonic()
        first = s.look(name, since, begun=begun, until=lambda state: time.monotonic() - since > STOPPED_S)
        for process in stopped:
            process.resume()
        seen = _noticed_before(s.look(name, since, begun=begun), first)
        seen.resumed = first.resumed or seen.resumed
        row.tries.append(seen)
        return row


def disk_full(on: Server | None) -> Row:
    """The disk fills up during a run; a person makes room and resumes it."""
    with tmpfs() as home, stage(on, home=home) as s:
        row = Row("disk full, then freed and resumed", s.database)
        s.agent()
        name = underway(s)
        begun, since = s.begins(name), time.monotonic()
        ballast = home / "ballast"
        with suppress(OSError), ballast.open("wb", buffering=0) as file:
            while True:
                file.write(b"\0" * 4096)
        first = s.look(name, since, begun=begun, until=lambda state: state in ("failed", "done"))
        ballast.unlink()
        if first.state == "failed":
            engine.resume(name)
        row.tries.append(_noticed_before(s.look(name, since, begun=begun), first))
        return row


def clock_jumped(on: Server | None) -> Row:
    """The host's clock is set an hour ahead, then an hour back."""
    with stage(on) as s:
        row = Row("clock set an hour ahead, then an hour back", s.database)
        s.model(ms=40)
        setting = s.home / "clock"
        setting.write_text("0")
        s.agent(HEDGE_TEST_CLOCK=str(setting), PYTHONPATH=str(CLOCK))
        name = underway(s, done=20)
        begun, since = s.begins(name), time.monotonic()
        setting.write_text("3600")
        wait_for(lambda: _off(name) > 3000, "the worker to see the clock ahead")
        wait_for(lambda: s.done(name) >= 60, "the second chunk")
        setting.write_text("-3600")
        wait_for(lambda: _off(name) < -3000, "the worker to see the clock behind")
        row.tries.append(s.look(name, since, begun=begun))
        return row


def _off(name: str) -> float:
    """The seconds that the worker's clock is ahead of ours, read from the time of its progress."""
    progress = store.read_progress(name)
    return progress.updated - time.time() if progress else 0.0


def hangs(on: Server | None) -> Row:
    """The worker stands still at its sixtieth question, again and again."""
    os.environ["HEDGE_HANG_MINUTES"] = str(HANG_MINUTES)
    with stage(on) as s:
        os.environ["HEDGE_HANG_MINUTES"] = str(HANG_MINUTES)
        row = Row(f"worker hangs (limit {HANG_MINUTES * 60:g} s here, 15 min by default)", s.database)
        s.model(hang_at=60)
        s.agent()
        name = underway(s, done=55)
        row.tries.append(s.look(name, time.monotonic(), begun=1))
        return row


def always_dies(on: Server | None) -> Row:
    """A run that kills every worker."""
    with stage(on) as s:
        row = Row("run that always kills its worker", s.database)
        s.model(die_at=10)
        s.agent()
        name = engine.submit(s.spec())
        wait_for(lambda: s.begins(name), "its first try")
        row.tries.append(s.look(name, time.monotonic(), begun=1))
        return row


def out_of_memory(on: Server | None) -> Row:
    """The worker takes more memory than its control group may have, and the kernel kills it."""
    with stage(on) as s, limited_memory() as join:
        row = Row(f"out of memory (a control group of {MEMORY_MB} MB)", s.database)
        s.model(eat_at=10)
        agent = s.agent()
        join(agent.pid)  # first: a worker that it starts from now on is in the group too
        for process in agent.children(recursive=True):
            process.kill()
        name = engine.submit(s.spec())
        wait_for(lambda: s.begins(name), "its first try")
        row.tries.append(s.look(name, time.monotonic(), begun=1))
        assert s.living_agent() == agent, "the kernel killed the agent, too"
        s.end_all()
        return row


def killed_ten_times(on: Server | None, *, tries: int = 1) -> Row:
    """Ten kills in the life of one run, at random moments: of its worker, of the agent, of the page server, and of the
    database; as many runs as ``tries`` kills of each kind need. Each is equal to one that was not disturbed.
    """
    with stage(on) as s, Outage(s, on) as outage:
        row = Row("ten kills in one run: worker, agent, page server, database", s.database)
        pace = s.home / "pace"
        s.model(pace=str(pace))
        moments = random.Random(11)
        kills = [kind for kind in KILLS for _ in range(tries)]
        moments.shuffle(kills)
        for start in range(0, len(kills), KILLS_A_RUN):
            s.forget_trace()
            pace.write_text(str(SLOW_MS))
            spec = s.spec(samples=LONG)
            name = engine.submit(spec)
            s.page(spec, keeps_agent_s=KEEPER_S)
            for kind in kills[start : start + KILLS_A_RUN]:
                if moments.random() < AT_WORK:
                    wait_for(lambda name=name: liveness.at_work(liveness.executor_id("cpu"), name), "a worker")
                time.sleep(moments.uniform(0.1, 3.0))
                _kill(s, kind, name, outage, moments)
                state = _patient(lambda name=name: engine.status(name).state)
                assert state in ("queued", "running"), f"after its {kind} was killed, {name} is {state}"
            outage.end()
            begun, since = s.begins(name), time.monotonic()
            pace.write_text("1")
            row.tries.append(s.look(name, since, begun=begun))
            if row.tries[-1].state == "done":
                _assert_undisturbed(spec)
        return row


KILLS = ("worker", "agent", "app", "database")
KILLS_A_RUN = 10
LONG = 1000
SLOW_MS = 40
KEEPER_S = 1.0
AT_WORK = 0.75
"""The share of kills that hit a run in progress; others may hit processes that are still starting."""


class Outage:
    """The database, out of reach from time to time: a server that is killed, or a file that another has locked."""

    def __init__(self, s: Stage, on: Server | None) -> None:
        self.file = s.home / "engine.sqlite"
        self.server = on
        self._over: threading.Thread | None = None

    def __enter__(self) -> Outage:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def begin(self, seconds: float) -> None:
        """Take the database away for this long."""
        self.end()
        if self.server:
            self.server.kill()
            back = self.server.start
        else:
            other = sqlite3.connect(self.file, isolation_level=None, check_same_thread=False, timeout=30)
            other.execute("BEGIN EXCLUSIVE")
            back = other.close
        self._over = threading.Timer(seconds, back)
        self._over.start()

    def end(self) -> None:
        """Wait until the database is back."""
        if self._over:
            self._over.join()


def _kill(s: Stage, kind: str, name: str, outage: Outage, moments: random.Random) -> None:
    if kind == "database":
        outage.begin(moments.uniform(0.5, DATABASE_GONE_S))
    elif kind == "app":
        os.killpg(s.pages[-1].pid, signal.SIGKILL)
        s.page(store.read_record(name).spec, keeps_agent_s=KEEPER_S)
    elif kind == "agent":
        s.living_agent().kill()
    else:
        # A third death without new work in between ends a run, and so it should.
        wait_for(lambda: _patient(lambda: _may_die(name)), "new work")
        s.worker().kill()


def _may_die(name: str) -> bool:
    (entry,) = run_queue.entries([name]).values()
    return len(entry.deaths) < limits.TRIES - 1 or limits.kept_bytes(name) > entry.kept


def _patient(question: Callable[[], T]) -> T:
    """The answer to a question once the database gives one."""
    end = time.monotonic() + WITHIN_S
    while True:
        try:
            return question()
        except RunError:
            assert time.monotonic() < end, "the database does not come back"
            time.sleep(LOOK_EVERY_S)


def _assert_undisturbed(spec: RunSpec) -> None:
    """The run has the files and the figures of one that was executed without a kill."""
    outcome = _files_and_figures(spec)
    before = {name: os.environ[name] for name in ("HEDGE_HOME", "HEDGE_FAKE_ENGINE")}
    with tempfile.TemporaryDirectory(prefix="hedge-undisturbed-") as home:
        os.environ |= {"HEDGE_HOME": home, "HEDGE_FAKE_ENGINE": "{}"}
        try:
            execute(spec)
            undisturbed = _files_and_figures(spec)
        finally:
            os.environ |= before
    assert outcome == undisturbed, f"{spec.run_id} is another run than without kills"


def _files_and_figures(spec: RunSpec) -> tuple[bytes, ...]:
    folder = store.folder_of(spec.run_id)
    figures = json.dumps(report(load(spec.run_id), 100).to_json(), sort_keys=True, default=str)
    return (folder / "logits.parquet").read_bytes(), (folder / "questions.parquet").read_bytes(), figures.encode()


FAULTS: tuple[Callable[[Server | None], Row], ...] = (
    *(worker_killed, agent_killed, page_killed, all_killed, database_gone, unplugged),
    *(disk_full, clock_jumped, hangs, always_dies, out_of_memory, killed_ten_times),
)
AT_RANDOM_MOMENTS: tuple[Callable[..., Row], ...] = (
    *(worker_killed, agent_killed, page_killed, database_gone, killed_ten_times),
)
"""The faults that can be tried several times, at moments that a seed draws."""


def warm(s: Stage) -> None:
    """Have a worker that has done a run."""
    name = engine.submit(s.spec(samples=4))
    wait_for(lambda: engine.status(name).ended, "the first run")


def underway(s: Stage, *, done: int = 60) -> str:
    """A run that is in its second chunk."""
    name = engine.submit(s.spec())
    wait_for(lambda: s.done(name) >= done, f"question {done}")
    return name


@contextmanager
def tmpfs() -> Iterator[Path]:
    """A small disk of its own."""
    folder = Path(tempfile.mkdtemp(prefix="hedge-small-disk-"))
    command = ["mount", "-t", "tmpfs", "-o", f"size={TMPFS_MB}m", "tmpfs", str(folder)]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    if process.returncode:
        folder.rmdir()
        raise NotHere(f"no small disk can be mounted ({process.stderr.strip()})")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=False)
        folder.rmdir()


@contextmanager
def limited_memory() -> Iterator[Callable[[int], None]]:
    """A control group with little memory; gives a function that puts a process into it."""
    group = _own_group() / f"hedge-test-{os.getpid()}"
    limit = "memory.max" if "/memory/" not in str(group) else "memory.limit_in_bytes"
    try:
        group.mkdir()
        (group / limit).write_text(str(MEMORY_MB * 2**20))
    except OSError as error:
        with suppress(OSError):
            group.rmdir()
        raise NotHere(f"no control group can be made ({error.strerror})") from None
    try:
        yield lambda pid: (group / "cgroup.procs").write_text(str(pid)) and None
    finally:
        for pid in (group / "cgroup.procs").read_text().split():
            with suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        wait_for(lambda: not (group / "cgroup.procs").read_text().split(), "the control group to be empty")
        group.rmdir()


def _own_group() -> Path:
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(","):
            return Path("/sys/fs/cgroup/memory") / path.lstrip("/")
    return Path("/sys/fs/cgroup")


GIVEN_UP = (always_dies, out_of_memory)


def ended_well(fault: Callable[..., Row], row: Row) -> bool:
    """Whether every run was finished with every question once, or given up with its reason if it can't be finished."""
    if fault in GIVEN_UP:
        return all(seen.state == "failed" and seen.message for seen in row.tries)
    return all(seen.state == "done" and not seen.lost and not seen.twice for seen in row.tries)
