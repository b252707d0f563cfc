"""Real agents and workers in a home of their own, and none of them left when a test is over."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from core.runs import engine, store
from core.runs.agent import liveness
from core.runs.agent.worker_process import environment
from core.runs.spec import RunSpec
from core.settings import ROOT, settings
from core.storage import database, file_lock
from tests.postgres import Server, server
from tests.processes import end_all

OPTIONS = {"ms": 10}
LOOK_EVERY_S = 0.06
"""Looking three times as often took a fifth of the processor time of these tests."""


def until(condition: Callable[[], Any], what: str, *, within_s: float = 240) -> Any:
    """Wait for a condition and return its value; a busy machine may take its time."""
    end = time.monotonic() + within_s
    while not (value := condition()):
        if time.monotonic() > end:
            pytest.fail(f"waited {within_s:g} s without success for: {what}")
        time.sleep(LOOK_EVERY_S)
    return value


@pytest.fixture
def engine_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home for real agents and workers with the fake engine, ten milliseconds a question."""
    monkeypatch.setenv("HEDGE_FAKE_ENGINE", json.dumps(OPTIONS))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    with database.answers_within(database.PREPARED_WITHIN_S):
        yield home
    end_all(home)


@pytest.fixture
def pace(engine_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Sets the milliseconds that the fake model takes for a question, ten at first. The file ``trace`` names those that
    were scored.

    A run of :func:`long_spec` is still in progress when a busy machine comes to look at it; then the test makes it end.
    """
    file = tmp_path / "pace"

    def set_pace(ms: float) -> None:
        written = file.with_suffix(".new")
        written.write_text(str(ms), encoding="ascii")
        written.replace(file)

    set_pace(OPTIONS["ms"])
    monkeypatch.setenv("HEDGE_FAKE_ENGINE", json.dumps({"pace": str(file), "trace": str(tmp_path / "trace")}))
    return set_pace


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """One server for all tests of a process."""
    with server() as made:
        yield made


@pytest.fixture
def shared_home(engine_home: Path, postgres: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home whose engine uses Postgres, in a database of its own."""
    monkeypatch.setenv("HEDGE_DATABASE_URL", postgres.new_database())
    database.prepare(within_s=60)
    yield engine_home
    database.forget()


@contextmanager
def agent_of(host: str, **variables: str) -> Iterator[psutil.Process]:
    """An agent under a host name of its own, with whatever lives below it ended afterwards."""
    folder = settings().home / "logs"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"test-{host}.log").open("ab") as log:
        agent = subprocess.Popen(
            [sys.executable, "-m", "core.runs.agent.host_agent"],
            cwd=ROOT,
            env=environment() | {"HEDGE_HOST": host} | variables,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    path = liveness.agent_lock(host)
    until(lambda: file_lock.is_held(path) and file_lock.holder(path) == agent.pid, f"the agent of {host}")
    try:
        yield psutil.Process(agent.pid)
    finally:
        agent.kill()
        agent.wait()


def spec(**changes: Any) -> RunSpec:
    """A run of 130 questions: three chunks, the last one short."""
    return RunSpec(**({"model": "fake", "task": "qa", "samples": 130} | changes))


def long_spec(**changes: Any) -> RunSpec:
    """A run of 600 questions, six seconds at the first pace of :func:`pace`."""
    return spec(samples=600, **changes)


def agent_process() -> psutil.Process:
    return psutil.Process(until(lambda: file_lock.holder(liveness.agent_lock()), "the agent's process id"))


def worker_process() -> psutil.Process:
    path = liveness.worker_lock(liveness.executor_id("cpu"))
    return psutil.Process(until(lambda: file_lock.holder(path), "the worker's process id"))


def begun(run_id: str, *, done: int = 1) -> Callable[[], bool]:
    """Whether this many questions have been answered."""

    def condition() -> bool:
        progress = engine.status(run_id).progress
        return progress is not None and progress.done >= done

    return condition


def is_in(run_id: str, state: str) -> Callable[[], bool]:
    """Whether the run is in this state, and run.json says so too."""
    return lambda: (now := engine.status(run_id)).state == state and now.record.state == state


def assert_each_question_once(run_id: str) -> None:
    questions = store.read_questions(run_id).to_pydict()
    expected = [name for name, role in zip(questions["id"], questions["role"], strict=True) if role != "demonstration"]
    assert sorted(store.read_logits(run_id).ids) == sorted(expected)
    assert len(set(expected)) == len(expected)
