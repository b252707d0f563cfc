"""A real answering server and its worker in a home of their own, with a run of the fake model to calibrate by."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from core.runs.agent.worker_process import environment
from core.runs.answering import client
from core.runs.answering.custom_question import AnswerProgress, CustomQuestion
from core.runs.execution.execute import execute
from core.runs.spec import RunSpec
from core.settings import ROOT
from tests.core.runs.conftest import until
from tests.processes import living

OPTIONS = ("Paris", "London", "Rome", "Berlin")


def own(run_id: str, question: str = "What is the capital of France?", **changes: Any) -> CustomQuestion:
    """A question of four options and the two that are no answers, as the bank's."""
    return CustomQuestion(**({"model": "fake", "run_id": run_id, "question": question, "options": OPTIONS} | changes))


def ended(question: CustomQuestion, *, within_s: float = 60) -> AnswerProgress:
    """How a question ended."""
    until(lambda: client.progress(question.answer_id, wait_s=0.5).ended, "the answer", within_s=within_s)
    return client.progress(question.answer_id)


def answered(question: CustomQuestion) -> AnswerProgress:
    """Ask a question; how it ended."""
    client.ask(question)
    return ended(question)


def until_stage(question: CustomQuestion, *stages: str) -> None:
    """Wait until a question is at one of these stages."""
    until(lambda: client.progress(question.answer_id).stage in stages, f"{question.question} to be at {stages}")


@pytest.fixture
def run_id(fake_home: Path) -> str:
    """A finished run of the fake model."""
    return execute(RunSpec(model="fake", task="qa", samples=40))


class Stages(list[str]):
    """A report that keeps the stages of an answer."""

    def __call__(self, stage: str, **values: Any) -> None:
        self.append(stage)


StartServer = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def start_server(fake_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StartServer]:
    """Starts a server that is this test's child, with limits and a fake model of its own."""
    started: list[subprocess.Popen[bytes]] = []

    def start(*arguments: str, limits: dict[str, float] | None = None, **fake: Any) -> subprocess.Popen[bytes]:
        monkeypatch.setenv("HEDGE_FAKE_ENGINE", json.dumps(fake))
        command = [sys.executable, "-m", "core.runs.answering.server", *arguments]
        if limits:
            command += ["--limits", json.dumps(limits)]
        process = subprocess.Popen(command, cwd=ROOT, env=environment())
        started.append(process)
        until(lambda: client.is_server_up() or process.poll() is not None, "the server to start")
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()


def worker_process(home: Path) -> psutil.Process:
    """The worker of the home's server."""
    return until(lambda: living(home, "core.runs.answering.worker"), "the worker")[0]
