"""The names of tasks, and of the banks that their questions come from, for people.

A task's name says what is asked ("qa"), not which questions: ours, MMLU's, those of somebody's file. A bank's name
stands beside it wherever a task is named. Figures of two runs are compared only where the runs were tested on the same
questions (:mod:`core.reports.question_identity`), whatever their banks are called.

New runs store their bank in ``run.json``, as ``bank`` of their provenance, with a digest of their test questions. For
older runs both are derived from other fields.
"""

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from types import MappingProxyType
from typing import Any, Protocol

from core.errors import plain
from core.questions import (
    DATA_SETS,
    POCKET_BANK,
    TASKS,
    catalogue,
    file_stem,
    finished,
    leaderboard,
    short_task,
    split_task,
)
from core.questions.identity import QuestionSource
from core.records import Question, Role

FINISHED = {PurePath(file).stem: f"{DATA_SETS[task]} 10k" for task, file in finished.FILES.items()}
"""The bank of each file of LLM-Uncertainty-Bench, by the file's name without its suffix."""

ORIGINS = {
    "bluq": "BLUQ",
    "lm-eval": "lm-eval",
    "inspect": "Inspect",
    "helm": "HELM",
    "opencompass": "OpenCompass",
    "lighteval": "lighteval",
    "decision-index": "Decision Index",
    "vlm-uncertainty-bench": "VLM-Uncertainty-Bench",
    "table": "table",
}
"""The bank of runs that were imported in a format, if nothing else is known."""


class TaskOrigin(Protocol):
    """What of a run's spec says where its questions come from."""

    @property
    def origin(self) -> str:
        """``hedge``, or the format in which the run was imported."""

    @property
    def task(self) -> str:
        """The task with its place, such as ``qa@published``."""

    @property
    def task_name(self) -> str:
        """The task alone, such as ``qa``."""


def bank_of_task(task: str) -> str:
    """The name of the bank that a task of our own takes its questions from, as :mod:`core.questions.catalogue` names
    it.

    >>> bank_of_task("qa@hub"), bank_of_task("rc@published"), bank_of_task("qa@/data/mine.json")
    ('MMLU', 'CosmosQA 10k', 'mine')
    """
    name, place = split_task(task)
    if place == "hub":
        return DATA_SETS.get(name, name)
    if place == "published":
        return FINISHED[PurePath(finished.FILES[name]).stem] if name in finished.FILES else place
    if not catalogue.is_file(task):
        return POCKET_BANK
    stem = file_stem(place or name)
    return FINISHED.get(stem, stem)


def task_title(task: str, bank: str) -> str:
    """The task in words, with its bank unless that is the one that ships with Hedge.

    >>> task_title("ds", "pocket bank"), task_title("qa@hub", "MMLU"), task_title("/data/mine.csv", "mine")
    ('Summaries', 'Question answering · MMLU', 'mine')
    """
    name = short_task(task)
    title = TASKS.get(name, leaderboard.title_of(name))
    return title if bank in (POCKET_BANK, title) else f"{title} · {bank}"


def bank_name(task_origin: TaskOrigin, provenance: Mapping[str, Any] = MappingProxyType({})) -> str:
    """The name of the bank of a run's questions.

    >>> from core.runs.spec import RunSpec
    >>> bank_name(RunSpec(model="m", task="qa")), bank_name(RunSpec(model="m", task="qa@published"))
    ('pocket bank', 'MMLU 10k')
    >>> bank_name(RunSpec(model="m", task="qa", origin="bluq"))
    'BLUQ MMLU'
    """
    stored_bank = provenance.get("bank")
    if isinstance(stored_bank, dict) and stored_bank.get("name"):
        return plain(str(stored_bank["name"]), one_line=True)
    if task_origin.origin == "hedge":
        return bank_of_task(task_origin.task)
    if task_origin.origin == "llm-uncertainty-bench":
        return FINISHED.get(str(provenance.get("data", "")), f"{DATA_SETS.get(task_origin.task, task_origin.task)} 10k")
    name = ORIGINS.get(task_origin.origin, task_origin.origin)
    if task_origin.origin == "lm-eval" and leaderboard.suite_of(task_origin.task):
        return leaderboard.BANK
    if task_origin.origin == "bluq":
        return f"{name} {DATA_SETS.get(task_origin.task, task_origin.task)}"
    file = str(provenance.get("file", "")) if task_origin.origin == "table" else ""
    return PurePath(file).stem or name


def bank_record(
    task_origin: TaskOrigin, provenance: Mapping[str, Any], questions: Sequence[Question], roles: Sequence[Role]
) -> dict[str, str]:
    """What a new run stores: its bank's name, and the digest of its test questions."""
    rows = [(q.id, q.context, q.question, q.options, q.label, role) for q, role in zip(questions, roles, strict=True)]
    return {
        "name": bank_name(task_origin, provenance),
        "test_questions": source_of(task_origin, provenance).test_digest(rows),
    }


def source_of(task_origin: TaskOrigin, provenance: Mapping[str, Any]) -> QuestionSource:
    """The source of a run's questions, which distinguishes questions without texts from those of other runs."""
    return QuestionSource(task_origin.origin, task_origin.task_name, provenance.get("texts") is not False)
