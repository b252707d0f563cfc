"""The identity of the questions of stored runs (:mod:`core.tasks.identity`), by which runs are compared."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

import pyarrow.parquet as pq

from core.errors import InputError
from core.runs import store
from core.runs.banks import source_of
from core.tasks.identity import QuestionSource, Row

KEPT = 16
COLUMNS = ("id", "context", "question", "options", "label", "role")


def identities(run_id: str) -> Mapping[str, str]:
    """The identity of each question of a run, by its id there."""
    return _identities(_file(run_id), _source(run_id))


def questions_key(run_id: str) -> tuple[str, ...]:
    """What a run's questions, their identities and their roles are derived from: equal for two runs that have the same.

    Raises :class:`InputError` for a run without its file of questions.
    """
    source = _source(run_id)
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
    return _set_digest(_file(run_id), _source(run_id))


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
def _identities(file: _File, source: QuestionSource) -> Mapping[str, str]:
    return MappingProxyType(source.identities(_rows(file.path)))


@functools.lru_cache(maxsize=1024)
def _set_digest(file: _File, source: QuestionSource) -> str:
    return source.test_digest(_rows(file.path))


def _rows(path: Path) -> list[Row]:
    table = pq.read_table(path, columns=list(COLUMNS), memory_map=False)
    return list(zip(*(table[name].to_pylist() for name in COLUMNS), strict=True))


def _source(run_id: str) -> QuestionSource:
    record = store.read_record(run_id)
    return source_of(record.spec, record.provenance)
