"""A real desk and a real answerer in a home of their own, with a run of the fake model to calibrate by."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from core.runs.agent import liveness
from core.runs.agent.worker_process import environment
from core.runs.answering import client, endpoint
from core.runs.answering.custom_question import OwnQuestion
from core.runs.answering.state import AnswerState
from core.runs.execution.execute import execute
from core.runs.spec import RunSpec
from core.settings import ROOT
from tests.core.runs.conftest import until
from tests.processes import living

OPTIONS = ("Paris", "London", "Rome", "Berlin")


def own(run_id: str, question: str = "What is the capital of France?", **changes: Any) -> OwnQuestion:
    """A question of four options and the two that are no answers, as the bank's."""
    return OwnQuestion(**({"model": "fake", "run_id": run_id, "question": question, "options": OPTIONS} | changes))


def ended(asked: OwnQuestion, *, within_s: float = 60) -> AnswerState:
    """How a question ended."""
    found: list[AnswerState] = []

    def over() -> bool:
        found.append(client.state(asked.answer_id, wait_s=0.5))
        return found[-1].ended

    until(over, "the answer", within_s=within_s)
    return found[-1]


@pytest.fixture
def run_id(fake_home: Path) -> str:
    """A finished run of the fake model."""
    return execute(RunSpec(model="fake", task="qa", samples=40))


OpenDesk = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def open_desk(fake_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenDesk]:
    """Opens a desk that is this test's child, with limits and a fake model of its own."""
    opened: list[subprocess.Popen[bytes]] = []

    def start(*arguments: str, limits: dict[str, float] | None = None, **fake: Any) -> subprocess.Popen[bytes]:
        monkeypatch.setenv("HEDGE_FAKE_ENGINE", json.dumps(fake))
        command = [sys.executable, "-m", "core.runs.answering.server", *arguments]
        if limits:
            command += ["--limits", json.dumps(limits)]
        process = subprocess.Popen(command, cwd=ROOT, env=environment())
        opened.append(process)
        until(lambda: endpoint.desk_open() or process.poll() is not None, "the desk to open")
        return process

    yield start
    for process in opened:
        process.kill()
        process.wait()


def answerer_process(home: Path) -> psutil.Process:
    """The answerer of the home's desk."""
    return until(lambda: living(home, "core.runs.answering.answerer"), "the answerer")[0]


def answerer_log(home: Path) -> str:
    return (home / "logs" / f"answerer-{liveness.host()}.log").read_text()
