"""The identity of the questions of stored runs (:mod:`core.questions.identity`), by which runs are compared."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

import pyarrow as pa
import pyarrow.compute as pc

from core.questions.bank_names import source_of
from core.questions.identity import QuestionSource, Row, identity, set_digest
from core.records import NOT_PUBLISHED
from core.runs import store
from core.runs.shared_questions import FILE
from core.storage.tables import read_table

KEPT = 16
AT_ONCE = 10_000
"""The number of questions whose texts are held as Python strings at the same time."""
COLUMNS = ("id", "context", "question", "options", "label", "role")


def identities(run_id: str) -> Mapping[str, str]:
    """The identity of each question of a run, by its id there."""
    with store.reading(run_id, FILE):
        return _identities(_file(run_id), _source(run_id))


def questions_key(run_id: str) -> tuple[str, ...]:
    """A key from which a run's questions, their identities and their roles follow: two runs with equal keys have the
    same ones.

    Raises :class:`~core.errors.UnreadableRunError` for a run without its file of questions.
    """
    source = _source(run_id)
    return (_file(run_id).content, source.origin, source.task, str(source.texts))


def question_set(run_id: str) -> str:
    """The digest of the set of a run's test questions: equal for two runs that were tested on the same ones."""
    bank = store.read_record(run_id).provenance.get("bank")
    if isinstance(bank, dict) and bank.get("test_questions"):
        return str(bank["test_questions"])
    with store.reading(run_id, FILE):
        return _set_digest(_file(run_id), _source(run_id))


def tests(run_id: str) -> int:
    """How many test questions a run has."""
    with store.reading(run_id, FILE):
        return _tests(_file(run_id), _source(run_id)).total()


def shared_tests(first: str, second: str) -> int:
    """How many test questions two runs share. One that is asked several times in both counts as often."""
    return shared(asked_questions(first), asked_questions(second))


def asked_questions(run_id: str) -> AskedQuestions:
    """The questions of a run, read once to be compared with those of many others by :func:`shared`."""
    return AskedQuestions(run_id, _file(run_id), _source(run_id))


def shared(first: AskedQuestions, second: AskedQuestions) -> int:
    """The number of :func:`shared_tests`."""
    with store.reading(first.run_id, FILE), store.reading(second.run_id, FILE):
        return _shared(first.file, first.source, second.file, second.source)


@dataclass(frozen=True, slots=True)
class QuestionFile:
    """A file of questions. Two files with the same content are equal, so a cached result of one is used for both. The
    runs of a matrix ask the same questions, and hashing the questions of each run takes longer than hashing its file.
    """

    content: str
    path: Path = field(compare=False)


@dataclass(frozen=True, slots=True)
class AskedQuestions:
    """The questions of a run, and what they were drawn from."""

    run_id: str
    file: QuestionFile
    source: QuestionSource


def _file(run_id: str) -> QuestionFile:
    path, digest = store.checked_questions(run_id)
    return QuestionFile(digest, path)


@functools.lru_cache(maxsize=KEPT)
def _identities(file: QuestionFile, source: QuestionSource) -> Mapping[str, str]:
    return MappingProxyType(source.identities(_rows(_table(file.path))))


@functools.lru_cache(maxsize=KEPT)
def _tests(file: QuestionFile, source: QuestionSource) -> Counter[str]:
    """How often each question is tested, by its identity."""
    named = _identities(file, source)
    table = read_table(file.path, columns=["id", "role"])
    return Counter(named[name] for name in table.filter(pc.equal(table["role"], "test"))["id"].to_pylist())


@functools.lru_cache(maxsize=4096)
def _shared(first: QuestionFile, source: QuestionSource, second: QuestionFile, other: QuestionSource) -> int:
    return (_tests(first, source) & _tests(second, other)).total()


@functools.lru_cache(maxsize=1024)
def _set_digest(file: QuestionFile, source: QuestionSource) -> str:
    """As :meth:`~core.questions.identity.QuestionSource.test_digest`, which needs the texts of all questions at
    once.
    """
    table = _table(file.path)
    if _untold(table) or not source.texts:
        return source.test_digest(_rows(table))
    tests = table.filter(pc.equal(table["role"], "test"))
    return set_digest(
        identity(context, question, options, label)
        for batch in tests.to_batches(max_chunksize=AT_ONCE)
        for _, context, question, options, label, _ in _rows(batch)
    )


def named_rows(file: QuestionFile, source: QuestionSource) -> Iterator[tuple[Row, str]]:
    """Each question of a file, with its identity. The texts of a few are held at the same time, unless some were
    published without a text."""
    table = _table(file.path)
    named = None if source.texts and not _untold(table) else _identities(file, source)
    for batch in table.to_batches(max_chunksize=AT_ONCE):
        rows = _rows(batch)
        names = source.identities(rows) if named is None else named
        yield from ((row, names[row[0]]) for row in rows)


def _untold(table: pa.Table) -> bool:
    return bool(pc.any(pc.equal(pc.list_flatten(table["options"]), NOT_PUBLISHED)).as_py())


def _table(path: Path) -> pa.Table:
    return read_table(path, columns=list(COLUMNS))


def _rows(table: pa.Table | pa.RecordBatch) -> list[Row]:
    return list(zip(*(table.column(name).to_pylist() for name in COLUMNS), strict=True))


def _source(run_id: str) -> QuestionSource:
    record = store.read_record(run_id)
    return source_of(record.spec, record.provenance)
