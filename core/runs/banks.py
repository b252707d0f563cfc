"""The bank that a run's questions come from, by name.

A task's name says what is asked ("qa"), not which questions: ours, MMLU's, those of somebody's file. A bank's name
stands beside it wherever a task is named. Figures of two runs are compared only where the runs were tested on the same
questions (:mod:`core.reports.question_identity`), whatever their banks are called.

New runs keep it in ``run.json``, as ``bank`` of their provenance, with a digest of their test questions; of older ones
both are read off the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from types import MappingProxyType
from typing import Any

from core.records import Question, Role
from core.runs.spec import RunSpec, short_task
from core.tasks import DATA_SETS, POCKET_BANK, TASKS, catalogue, finished, leaderboard
from core.tasks.identity import QuestionSource

FINISHED = {PurePath(file).stem: f"{DATA_SETS[task]} 10k" for task, file in finished.FILES.items()}
"""The bank of each file of LLM-Uncertainty-Bench, by the file's name without its suffix."""
ORIGINS = {
    "bluq": "BLUQ",
    "lm-eval": "lm-eval",
    "inspect": "Inspect",
    "helm": "HELM",
    "opencompass": "OpenCompass",
    "lighteval": "lighteval",
    "vlm-uncertainty-bench": "VLM-Uncertainty-Bench",
    "table": "table",
}
"""The bank of runs imported in a format, if nothing more is known."""


def bank_name(spec: RunSpec, provenance: Mapping[str, Any] = MappingProxyType({})) -> str:
    """The name of the bank that a run's questions are of.

    >>> bank_name(RunSpec(model="m", task="qa")), bank_name(RunSpec(model="m", task="qa@published"))
    ('pocket bank', 'MMLU 10k')
    >>> bank_name(RunSpec(model="m", task="qa", origin="bluq"))
    'BLUQ MMLU'
    """
    told = provenance.get("bank")
    if isinstance(told, dict) and told.get("name"):
        return str(told["name"])
    if spec.origin == "hedge":
        return bank_of_task(spec.task)
    if spec.origin == "llm-uncertainty-bench":
        return FINISHED.get(str(provenance.get("data", "")), f"{DATA_SETS.get(spec.task, spec.task)} 10k")
    name = ORIGINS.get(spec.origin, spec.origin)
    if spec.origin == "lm-eval" and leaderboard.suite_of(spec.task):
        return leaderboard.BANK
    if spec.origin == "bluq":
        return f"{name} {DATA_SETS.get(spec.task, spec.task)}"
    file = str(provenance.get("file", "")) if spec.origin == "table" else ""
    return PurePath(file).stem or name


def bank_of_task(task: str) -> str:
    """The name of the bank that a task of our own takes its questions from, as :mod:`core.tasks.catalogue` names it.

    >>> bank_of_task("qa@hub"), bank_of_task("rc@published"), bank_of_task("qa@/data/mine.json")
    ('MMLU', 'CosmosQA 10k', 'mine')
    """
    name, at, place = task.partition("@")
    if place == "hub":
        return DATA_SETS.get(name, name)
    if place == "published":
        return FINISHED[PurePath(finished.FILES[name]).stem] if name in finished.FILES else place
    if not catalogue.is_file(task):
        return POCKET_BANK
    stem = PurePath(place if at else name).stem
    return FINISHED.get(stem, stem)


def task_title(task: str, bank: str) -> str:
    """The task in words, with its bank unless that is the one that ships with Hedge.

    >>> task_title("ds", "pocket bank"), task_title("qa@hub", "MMLU"), task_title("/data/mine.csv", "mine")
    ('Summaries', 'Question answering · MMLU', 'mine')
    """
    name = short_task(task)
    title = TASKS.get(name, leaderboard.title_of(name))
    return title if bank in (POCKET_BANK, title) else f"{title} · {bank}"


def described(
    spec: RunSpec, provenance: Mapping[str, Any], questions: Sequence[Question], roles: Sequence[Role]
) -> dict[str, str]:
    """What a new run stores: its bank's name, and the digest of its test questions."""
    rows = [(q.id, q.context, q.question, q.options, q.label, role) for q, role in zip(questions, roles, strict=True)]
    return {"name": bank_name(spec, provenance), "test_questions": source_of(spec, provenance).test_digest(rows)}


def source_of(spec: RunSpec, provenance: Mapping[str, Any]) -> QuestionSource:
    """Where a run's questions come from, which tells those without texts from those of others."""
    return QuestionSource(spec.origin, spec.task_name, provenance.get("texts") is not False)
