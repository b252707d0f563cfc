"""Samples of lm-evaluation-harness that wrote several answers to each question (``repeats`` of a ``generate_until``
task), as frequencies of picks.

A line holds one question under one filter: ``resps`` has one list with the k answers as they were written, and
``filtered_resps`` what the filter made of each, unless it made one answer of all (``majority_vote``, ``take_first``).
Of the written answers and the filters with k answers, the one that names an option most often is read.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from core.errors import InputError
from core.exchange.imported import ImportedRun
from core.exchange.picks import ANY_OPTION, assembled
from core.questions.prompting.written import NOT_FOUND, read_pick
from core.records import OPTION_NAMES, Question
from core.runs.spec import RunSpec
from core.tables.field_names import CONTEXT_NAMES, GROUP_NAMES, OPTIONS_NAMES, QUESTION_NAMES, first
from core.tables.labels import read_labels
from core.tables.list_columns import listed
from core.tables.safe_read import shown

WRITTEN = ""
"""Stands for the answers as they were written, among the filters' names."""


def is_sampled(row: dict[str, Any]) -> bool:
    """Whether a sample holds several answers in writing to one question."""
    answers = row.get("resps")
    return isinstance(answers, list) and len(answers) == 1 and len(_texts(answers[0])) > 1


@dataclass(slots=True)
class _Asked:
    """A question with its answers by filter, and the place of its first line."""

    where: str
    row: dict[str, Any]
    options: tuple[str, ...]
    answers: dict[str, list[str]] = field(default_factory=dict)


def read(
    rows: Iterable[tuple[str, dict[str, Any]]], *, spec: RunSpec, path: Path, provenance: dict[str, Any]
) -> ImportedRun:
    """The run of samples, each with its place. Raises :class:`InputError` that names the file and the line."""
    by_id: dict[str, _Asked] = {}
    for where, row in rows:
        row["doc"] = row["doc"] if isinstance(row.get("doc"), dict) else {}
        entry = by_id.setdefault(str(row.get("doc_id")), _Asked(where, row, _options(row["doc"])))
        if not is_sampled(row):
            raise InputError(f"{where}: expected several answers in 'resps', as in other lines, found {shown(row)}")
        written = _texts(row["resps"][0])
        filtered = row.get("filtered_resps")
        filtered = filtered[0] if isinstance(filtered, list) and len(filtered) == 1 else filtered
        for name, answers in ((WRITTEN, written), (str(row.get("filter", "none")), _texts(filtered))):
            if len(answers) == len(written):
                entry.answers.setdefault(name, answers)
    questions = list(by_id.values())
    names = [name for name in questions[0].answers if all(name in entry.answers for entry in questions)]
    picks = {
        name: [[read_pick(text, entry.options) for text in entry.answers[name]] for entry in questions]
        for name in names
    }
    best = max(reversed(names), key=lambda name: sum(place != NOT_FOUND for entry in picks[name] for place in entry))
    known = all(entry.options is not ANY_OPTION for entry in questions)
    labels, k = _labels(questions, picks[best], known=known)
    letters = tuple(f"option {letter}" for letter in OPTION_NAMES[:k])
    read_rows = [
        (_question(entry, int(label), entry.options if known else letters, spec.task), own)
        for entry, label, own in zip(questions, labels, picks[best], strict=True)
    ]
    return assembled(path, read_rows, spec, provenance | {"filters": [best or "as written"]})


def _texts(answers: Any) -> list[str]:
    """Answers in writing; none if they are anything else, such as log-likelihoods."""
    if not isinstance(answers, list) or not all(isinstance(text, str) for text in answers):
        return []
    return answers


def _options(doc: dict[str, Any]) -> tuple[str, ...]:
    name = first(map(str, doc), OPTIONS_NAMES)
    texts = listed(doc[name]) if name else None
    if texts is None or not 2 <= len(texts) <= len(ANY_OPTION):
        return ANY_OPTION
    return tuple(map(str, texts))


def _labels(questions: list[_Asked], picks: list[list[int]], *, known: bool) -> tuple[Any, int]:
    """The right options (n,), counted from 0, and the largest number of options."""
    targets = [str(entry.row.get("target", "")).strip() for entry in questions]
    most = max(place for own in picks for place in own)
    letters = [OPTION_NAMES.index(text.strip("() .")) for text in targets if text.strip("() .") in OPTION_NAMES[:26]]
    k = max(most + 1, max(letters, default=0) + 1, 2)
    counts = np.array([len(entry.options) if known else k for entry in questions])
    labels = read_labels(
        targets,
        counts,
        texts=[entry.options for entry in questions] if known else (),
        where=lambda row: questions[row].where,
        column="target",
        picks=np.array([max(set(own), key=own.count) for own in picks]),
    ).labels
    return labels, int(counts.max())


def _question(entry: _Asked, label: int, options: tuple[str, ...], task: str) -> Question:
    doc = {str(key): value for key, value in entry.row["doc"].items() if isinstance(value, str) and value.strip()}
    question, context, group = (first(doc, names) for names in (QUESTION_NAMES, CONTEXT_NAMES, GROUP_NAMES))
    text = doc[question] if question else f"document {entry.row.get('doc_id')}"
    about = doc[context] if context and context != question else ""
    return Question(str(entry.row.get("doc_id")), task, doc[group] if group else task, about, text, options, label)
