"""A real worker in a home of its own, with a run of the fake model to calibrate by."""

import json
from pathlib import Path
from typing import Any

import psutil
import pytest

from core.runs.answering import client
from core.runs.answering.custom_question import AnswerProgress, CustomQuestion
from core.runs.execution.execute import execute
from core.runs.spec import RunSpec
from tests.core.runs.conftest import until
from tests.processes import living

OPTIONS = ("Paris", "London", "Rome", "Berlin")


def own(run_id: str, question: str = "What is the capital of France?", **changes: Any) -> CustomQuestion:
    """A question of four options and the two that are no answers, as the bank's."""
    return CustomQuestion(**({"model": "fake", "run_id": run_id, "question": question, "options": OPTIONS} | changes))


def ended(question: CustomQuestion) -> AnswerProgress:
    """How a question ended."""
    until(lambda: client.progress(question.answer_id, wait_s=0.5).ended, "the answer")
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


def next_engine(monkeypatch: pytest.MonkeyPatch, **fake: float) -> None:
    """Give the fake model of the next worker properties of its own, by default a minute to load."""
    monkeypatch.setenv("HEDGE_FAKE_ENGINE", json.dumps(fake or {"load_ms": 60_000}))


class Stages(list[str]):
    """A report that keeps the stages of an answer."""

    def __call__(self, stage: str, **values: Any) -> None:
        self.append(stage)


def worker_process(home: Path) -> psutil.Process:
    """The worker of the home."""
    return until(lambda: living(home, "core.runs.answering.worker"), "the worker")[0]
