"""The run engine's figures: ``python -m tests.benchmarks.run_engine [--only NAME ...]``."""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

from core.runs import engine, store
from core.runs.spec import RunSpec
from core.settings import ASSETS, ROOT
from tests.faults.stage import Stage, stage, wait_for
from tests.postgres import server
from tests.processes import living

MANY = 10_000

PLACES = ("a running chunk", "model loading", "the queue")


def cancel() -> None:
    """From a cancel to a run that has stopped, ten times in each place."""
    for place in PLACES:
        took = []
        with stage() as s:
            s.model(load_ms=3000 if place == "model loading" else 0)
            s.agent()
            warm(s)
            ahead = ""
            for _ in range(10):
                if place == "the queue" and (not ahead or engine.status(ahead).ended):
                    ahead = engine.submit(s.spec(samples=2000))
                    wait_for(lambda ahead=ahead: s.done(ahead) > 0, "the run ahead")
                name = engine.submit(s.spec())
                if place == "a running chunk":
                    wait_for(lambda name=name: s.done(name) >= 10, "the first questions")
                if place == "model loading":
                    wait_for(lambda name=name: loading(name), "the model to load")
                begin = time.monotonic()
                engine.cancel(name)
                wait_for(lambda name=name: is_stopped(name), "the run to stop")
                took.append(time.monotonic() - begin)
        say(f"cancel to stopped, in {place}, {len(took)} tries", f"median {med(took)} s, worst {max(took):.2f} s")


def is_stopped(name: str) -> bool:
    now = engine.status(name)
    return now.state == "cancelled" and now.record.state == "cancelled"


def loading(name: str) -> bool:
    progress = store.read_progress(name)
    return progress is not None and progress.stage == "loading the model"


def start() -> None:
    """From submit to the first question that a pocket model has answered, with a warm worker and without any agent.

    Beside the seconds that pass, those that agent and worker compute, which other work on the machine does not change.
    """
    for kind in ("cold", "warm"):
        took, computed = [], []
        for attempt in range(3):
            with stage() as s:
                if kind == "warm":
                    engine.submit(pocket(samples=20))
                    wait_for(lambda: engine.status(pocket(samples=20).run_id).ended, "the first run")
                before = cpu_seconds(living(s.home))
                begin = time.monotonic()
                name = engine.submit(pocket(seed=attempt + 1))
                wait_for(lambda name=name, s=s: s.done(name) > 0 or engine.status(name).ended, "the first question")
                took.append(time.monotonic() - begin)
                computed.append(cpu_seconds(living(s.home)) - before)
        say(
            f"submit to first question of pocket-1m, {kind}",
            f"median {med(took)} s, worst {max(took):.2f} s; computed {med(computed)} s",
        )


def pocket(**changes: int) -> RunSpec:
    return RunSpec(**({"model": "pocket-1m", "task": "qa"} | changes))


ALONE = """
import os, sys, time
from core.runs.execution.execute import execute
from core.runs.spec import RunSpec
os.nice(19)
execute(RunSpec(model="pocket-1m", task="qa", samples=20))
begin = time.process_time()
execute(RunSpec(model="pocket-1m", task=sys.argv[1]))
print(time.process_time() - begin)
"""


def overhead() -> None:
    """10,000 questions, the bank's over and over, by a worker and by `execute` alone, in turn: what each computes.

    Computing time, because other work on the machine moves the clock's by more than the engine does. The worker's
    includes its own looking at the database; the agent's is counted to it.
    """
    with_engine, alone, questions = [], [], 0
    bank = [json.loads(line) for line in (ASSETS / "bank" / "qa.jsonl").read_text(encoding="utf-8").splitlines()]
    for _ in range(3):
        with stage() as s:
            file = Path(tempfile.gettempdir()) / "hedge-many.jsonl"
            again = ({**bank[i % len(bank)], "id": f"many-{i}"} for i in range(MANY))
            file.write_text("".join(f"{json.dumps(row)}\n" for row in again), encoding="utf-8")
            spec = RunSpec(model="pocket-1m", task=str(file))
            s.agent()
            engine.submit(pocket(samples=20))
            wait_for(lambda: engine.status(pocket(samples=20).run_id).ended, "the first run")
            before = cpu_seconds(living(s.home))
            name = engine.submit(spec)
            wait_for(lambda name=name: engine.status(name).ended, "the run", within_s=300)
            with_engine.append(cpu_seconds(living(s.home)) - before)
        with stage():
            process = subprocess.run(
                [sys.executable, "-c", ALONE, str(file)],
                cwd=ROOT,
                check=True,
                text=True,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # as a worker: Linux shares the processors among sessions
            )
            alone.append(float(process.stdout))
            questions = len(store.read_logits(spec.run_id).ids)
    ratio = statistics.median(with_engine) / statistics.median(alone) - 1
    say(
        f"{questions:,} questions of pocket-1m, computing time, median of 3 in turn",
        f"{med(with_engine)} s by worker and agent, {med(alone)} s alone: {100 * ratio:+.1f}%",
    )


def cpu_seconds(processes: list[psutil.Process]) -> float:
    return sum(sum(process.cpu_times()[:2]) for process in processes)


def forty() -> None:
    """Forty short runs, two agents under different names, one Postgres."""
    with server() as postgres, stage(postgres) as s:
        s.model(ms=1)
        begin = time.monotonic()
        for host in ("a", "b"):
            s.agent(host)
        engine.ensure_agent = lambda: None  # this host has none of its own here
        names = [engine.submit(s.spec(samples=10)) for _ in range(40)]
        wait_for(lambda: all(store.read_record(name).state == "done" for name in names), "all runs")
        by = [[line.split()[2] for line in store.read_log(name) if " begins: " in line] for name in names]
        once = sum(len(each) == 1 for each in by)
        spread = {host: sum(each[0].startswith(host) for each in by) for host in ("a:", "b:")}
        say(
            "40 short runs on two hosts over Postgres",
            f"{time.monotonic() - begin:.1f} s; {once} done exactly once; spread {spread}",
        )
        s.model(ms=40)


def two_hundred() -> None:
    """Measure the requests of one page tick, with 200 runs in the queue."""
    with server() as postgres:
        for on in (None, postgres):
            with stage(on) as s:
                engine.ensure_agent = lambda: None
                for _ in range(200):
                    engine.submit(s.spec())
                engine.statuses()
                took = []
                for _ in range(20):
                    begin = time.monotonic()
                    assert len(engine.statuses()) == 200
                    took.append(time.monotonic() - begin)
                say(
                    f"`statuses()` with 200 queued runs, {s.database}",
                    f"median {1000 * statistics.median(took):.0f} ms, worst {1000 * max(took):.0f} ms",
                )


def idle(seconds: float = 60.0) -> None:
    """Measure the idle engine: soon after a run, and when its worker has stopped."""
    with server() as postgres:
        for on in (None, postgres):
            for what, minutes in (("agent and warm worker", "60"), ("agent, its worker gone", "0.01")):
                with stage(on) as s:
                    s.agent(HEDGE_WARM_MINUTES=minutes)
                    warm(s)
                    time.sleep(5)
                    processes = living(s.home)
                    before = cpu_seconds(processes)
                    time.sleep(seconds)
                    used = cpu_seconds(processes) - before
                    memory = sum(p.memory_full_info().pss for p in processes) / 2**20
                    say(
                        f"idle {what} ({len(processes)} processes), {s.database}, {seconds:g} s",
                        f"{100 * used / seconds:.2f}% of a core, {memory:.0f} MB (proportional share)",
                    )


def warm(s: Stage) -> None:
    name = engine.submit(s.spec(samples=4))
    wait_for(lambda: engine.status(name).ended, "the first run")


def med(values: list[float]) -> str:
    return f"{statistics.median(values):.2f}"


def say(what: str, figure: str) -> None:
    print(f"| {what} | {figure} |", flush=True)


FIGURES = {f.__name__: f for f in (cancel, start, overhead, idle, two_hundred, forty)}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.run_engine")
    parser.add_argument("--only", nargs="+", choices=list(FIGURES), default=list(FIGURES))
    for name in parser.parse_args().only:
        FIGURES[name]()


if __name__ == "__main__":
    main()
