"""The questions of a run: the name of the bank they come from, and the identity of each question.

A task's name says what is asked ("qa"), not which questions: ours, MMLU's, those of somebody's file. A bank's name
stands beside it wherever a task is named. Figures of two runs are compared only where the runs were tested on the same
questions (:mod:`core.tasks.identity`), whatever their banks are called.

New runs keep both in ``run.json``, as ``bank`` of their provenance; of older ones they are read off the rest.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from types import MappingProxyType
from typing import Any

import pyarrow.parquet as pq

from core.errors import InputError
from core.records import Question, Role
from core.runs import store
from core.runs.spec import RunSpec, short_task
from core.tasks import DATA_SETS, POCKET_BANK, TASKS, catalogue, finished
from core.tasks.identity import identity, identity_by_place, labels_digest, set_digest, unpublished

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
KEPT = 16


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


def labelled(task: str, bank: str) -> str:
    """A task's name and its bank as one key of an exported file; a file of questions gives its name to both.

    >>> labelled("qa@hub", "MMLU"), labelled("/data/mine.csv", "mine")
    ('qa · MMLU', 'mine')
    """
    name = short_task(task)
    return name if name == bank else f"{name} · {bank}"


def task_title(task: str, bank: str) -> str:
    """The task in words, with its bank unless that is the one that ships with Hedge.

    >>> task_title("ds", "pocket bank"), task_title("qa@hub", "MMLU"), task_title("/data/mine.csv", "mine")
    ('Summaries', 'Question answering · MMLU', 'mine')
    """
    name = short_task(task)
    title = TASKS.get(name, name)
    return title if bank in (POCKET_BANK, title) else f"{title} · {bank}"


def described(
    spec: RunSpec, provenance: Mapping[str, Any], questions: Sequence[Question], roles: Sequence[Role]
) -> dict[str, str]:
    """What a new run stores: its bank's name, and the digest of its test questions."""
    rows = [(q.id, q.context, q.question, q.options, q.label, role) for q, role in zip(questions, roles, strict=True)]
    return {"name": bank_name(spec, provenance), "test_questions": _test_digest(_source(spec, provenance), rows)}


def identities(run_id: str) -> Mapping[str, str]:
    """The identity of each question of a run, by its id there."""
    return _identities(_file(run_id), _source_of(run_id))


def questions_key(run_id: str) -> tuple[str, ...]:
    """What a run's questions, their identities and their roles are derived from: equal for two runs that have the same.

    Raises :class:`InputError` for a run without its file of questions.
    """
    source = _source_of(run_id)
    try:
        content = _file(run_id).content
    except OSError as error:
        raise InputError(f"run {run_id} lacks its questions ({error}); delete the run and repeat it") from error
    return (content, source.origin, source.task, str(source.texts))


def question_set(run_id: str) -> str:
    """The digest of the set of a run's test questions: equal for two runs that were tested on the same ones."""
    told = store.read_record(run_id).provenance.get("bank")
    if isinstance(told, dict) and told.get("test_questions"):
        return str(told["test_questions"])
    return _set_digest(_file(run_id), _source_of(run_id))


Row = tuple[str, str, str, Sequence[str], int, str]
"""Id, context, text, options, label and role."""
COLUMNS = ("id", "context", "question", "options", "label", "role")


@dataclass(frozen=True, slots=True)
class _File:
    """A file of questions; two of the same content are equal, so that what is kept of one serves both.

    The runs of a matrix ask the same questions, and to hash these anew for each run takes longer than to hash its file.
    """

    content: str
    path: Path = field(compare=False)


def _file(run_id: str) -> _File:
    path = store.folder_of(run_id) / "questions.parquet"
    return _File(_content(path, path.stat().st_mtime_ns), path)


@functools.lru_cache(maxsize=4096)
def _content(path: Path, stamp: int) -> str:
    """A file's content as it is now, in 32 hexadecimal digits."""
    return hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()


@functools.lru_cache(maxsize=KEPT)
def _identities(file: _File, source: _Source) -> Mapping[str, str]:
    return MappingProxyType(_by_id(source, _rows(file.path)))


@functools.lru_cache(maxsize=1024)
def _set_digest(file: _File, source: _Source) -> str:
    return _test_digest(source, _rows(file.path))


def _rows(path: Path) -> list[Row]:
    table = pq.read_table(path, columns=list(COLUMNS), memory_map=False)
    return list(zip(*(table[name].to_pylist() for name in COLUMNS), strict=True))


@dataclass(frozen=True, slots=True)
class _Source:
    """What tells questions without texts from those of others."""

    origin: str
    task: str
    texts: bool


def _source(spec: RunSpec, provenance: Mapping[str, Any]) -> _Source:
    return _Source(spec.origin, spec.task_name, provenance.get("texts") is not False)


def _source_of(run_id: str) -> _Source:
    record = store.read_record(run_id)
    return _source(record.spec, record.provenance)


def _test_digest(source: _Source, rows: Sequence[Row]) -> str:
    named = _by_id(source, rows)
    return set_digest(named[row[0]] for row in rows if row[5] == "test")


def _by_id(source: _Source, rows: Sequence[Row]) -> dict[str, str]:
    """Identities by id. Rows that repeat a question in another rotation are not part of the table of answers."""
    if source.texts and not any(unpublished(row[3]) for row in rows):
        return {name: identity(context, asked, options, label) for name, context, asked, options, label, _ in rows}
    labels = labels_digest((row[0], len(row[3]), row[4]) for row in rows if row[5] != "rotation")
    return {row[0]: identity_by_place(source.origin, source.task, labels, row[0]) for row in rows}
