"""The bank that a run's questions come from, by name.

A task's name says what kind of question is asked ("qa"), but not which questions: Hedge's own, MMLU's, or those of a
person's file. So a task is always named together with its bank. Figures of two runs are compared only where the runs
were tested on the same questions (:mod:`core.reports.question_identity`), whatever their banks are called.

New runs store it in ``run.json``, as ``bank`` of their provenance, with a digest of their test questions. For older
runs both are derived from other fields.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from types import MappingProxyType
from typing import Any

from core.records import Question, Role
from core.runs.spec import RunSpec
from core.tasks import DATA_SETS, leaderboard
from core.tasks.bank_names import FINISHED, bank_of_task
from core.tasks.identity import QuestionSource

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
"""The bank of runs that were imported in a format, if nothing else is known."""


def bank_name(spec: RunSpec, provenance: Mapping[str, Any] = MappingProxyType({})) -> str:
    """The name of the bank of a run's questions.

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


def described(
    spec: RunSpec, provenance: Mapping[str, Any], questions: Sequence[Question], roles: Sequence[Role]
) -> dict[str, str]:
    """What a new run stores: its bank's name, and the digest of its test questions."""
    rows = [(q.id, q.context, q.question, q.options, q.label, role) for q, role in zip(questions, roles, strict=True)]
    return {"name": bank_name(spec, provenance), "test_questions": source_of(spec, provenance).test_digest(rows)}


def source_of(spec: RunSpec, provenance: Mapping[str, Any]) -> QuestionSource:
    """The source of a run's questions, which distinguishes questions without texts from those of other runs."""
    return QuestionSource(spec.origin, spec.task_name, provenance.get("texts") is not False)
