"""The question bank that ships with Hedge: ``assets/bank/<task>.jsonl``, one question per line."""

import functools
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from core.errors import InputError
from core.questions import TASKS
from core.questions.shipped import shipped_lines
from core.records import Question
from core.settings import ASSETS
from core.storage.json_text import loads


def bank_path(task: str) -> Path:
    """The path of a task's questions, whether or not the file exists."""
    return ASSETS / "bank" / f"{task}.jsonl"


def available() -> tuple[str, ...]:
    """The tasks whose questions are here, in the order of :data:`core.questions.TASKS`."""
    return tuple(task for task in TASKS if bank_path(task).is_file())


def load(task: str) -> list[Question]:
    """All questions of a task. Raises :class:`InputError` for an unknown task, one without questions here, or a file
    that is damaged."""
    if task not in TASKS:
        raise InputError(f"unknown task {task!r}; choose from {', '.join(available())}")
    path = bank_path(task)
    if not path.is_file():
        raise InputError(f"task {task!r} has no questions here yet; choose from {', '.join(available())}")
    return list(_read(path, path.stat().st_mtime_ns))


@functools.lru_cache(maxsize=8)
def _read(path: Path, stamp: int) -> tuple[Question, ...]:
    """Kept, because the runs of a matrix share their questions; ``stamp`` is when the file was last written."""
    return tuple(
        Question(
            id=values["id"],
            task=values["task"],
            group=values["group"],
            context=values["context"],
            question=values["question"],
            options=tuple(values["options"]),
            label=values["label"],
        )
        for values in map(loads, shipped_lines(path))
    )


def fingerprint(questions: Sequence[Question]) -> str:
    """A hash of the questions' contents and order, sixteen hexadecimal digits."""
    digest = hashlib.sha256()
    for q in questions:
        more: list[str | bool] = [q.cluster] if q.cluster else []
        more += [q.ordered] if q.ordered else []
        digest.update(json.dumps([q.id, q.context, q.question, list(q.options), q.label, *more]).encode())
    return digest.hexdigest()[:16]
