"""A person's own questions: a question bank in any of the shapes that data sets have.

A row has ``question``, ``options`` and ``label``, and may have ``context``, ``subject``, ``id`` and ``cluster``: rows
of one cluster, such as the questions about one passage, belong together (:mod:`core.clusters`). Options are a list (in
CSV: a list in JSON, or one column per letter: ``A``, ``B``, …). The label is the right option's letter, its number or
its text; all rows decide whether numbers count from 0 or from 1. No two options of a question are alike. Other names
and shapes of these fields are in :mod:`core.tasks.bank_shapes`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from core.errors import InputError
from core.records import LETTERS, Question
from core.tables.field_names import CLUSTER_NAMES, GROUP_NAMES, matching
from core.tables.labels import Labels, Undecided, read_labels
from core.tables.safe_read import check_count, shown
from core.tasks.bank_shapes import Columns, Parts, Texts, behave_like_scores, listed, parts, with_header, without_marks
from core.tasks.identity import cluster_name

TASK = "local"
NO_ANSWER = "no right answer"
SEVERAL = "several right answers"
MOST_UNFIT = 0.05
"""The largest share of rows that are left out because they are no sound questions. Where more are, the file is
probably another one than it seems, so the first of them is named."""
NOT_PUBLISHED = ("", "-1", "-1.0", "nan", "none", "null", "n/a", "?", "_", "unknown")
"""Cells of test sets whose right answers are not published."""


@dataclass(frozen=True, slots=True)
class BankFile:
    """The questions of a file, how many rows were left out for which reason, and in one line how it was read."""

    questions: tuple[Question, ...]
    left_out: dict[str, int]
    read_as: str


@dataclass(slots=True)
class _Rows:
    """What is decided about the rows: the right option of each, −1 without one, and why some are left out."""

    labels: list[int]
    form: str
    unfit: dict[int, str] = field(default_factory=dict)


def read(columns: Columns, *, path: Path, labels_from: int | None = None) -> BankFile:
    """The questions of a file. ``labels_from`` is the number of the first option, where a person said it.

    Raises :class:`InputError` that says what the file lacks or names the first row that is no question, and
    :class:`core.tables.labels.Undecided` where numbers of options could count from 0 or from 1.
    """
    columns = with_header(columns)
    n = len(next(iter(columns.values()), []))
    check_count(n, path)
    try:
        made = parts(columns)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    options = [without_marks(row.texts) for row in made.options]
    if behave_like_scores(options):
        raise InputError(
            f"{path}: it holds a model's figures for the options ({', '.join(options[0])[:60]}) and not their texts; "
            "bring it in as results (hedge import), or give options that are texts"
        )
    if all(row == list(LETTERS[: len(row)]) for row in options):
        raise InputError(f"{path}: its options are letters without texts; give the text of each option")
    rows = _right_options(made, options, path, labels_from)
    return _questions(made, options, rows, path)


def _right_options(made: Parts, options: list[Texts], path: Path, labels_from: int | None) -> _Rows:
    """The right option of each row, from the first field of answers that names one in every row that has an answer."""

    def where(row: int) -> str:
        return f"{path}, question {row + 1}"

    if made.rights is not None:
        return _Rows(made.rights, "right answers marked")
    if not made.answers:
        raise InputError(
            f"{path}: it has no right answers: expected a field such as 'label' or 'answer' beside the options"
        )
    failed: InputError | None = None
    for name, cells in made.answers.items():
        beside = {other: [_cell(cell) for cell in given] for other, given in made.answers.items() if other != name}
        try:
            rows = _rights_of(name, cells, beside, made, options, where, labels_from)
        except Undecided as error:
            failed = error if not isinstance(failed, Undecided) else failed
        except InputError as error:
            failed = failed or error
        else:
            if rows is not None:
                return rows
    raise failed or InputError(
        f"{path}: it has no right answers: {', '.join(map(repr, list(made.answers)[:3]))} "
        f"{'is' if len(made.answers) == 1 else 'are'} empty or −1 in every row, as in test sets whose answers are "
        "not published"
    )


def _rights_of(
    name: str,
    given: Sequence[Any],
    beside: dict[str, list[str]],
    made: Parts,
    options: list[Texts],
    where: Any,
    labels_from: int | None,
) -> _Rows | None:
    """The right options as one field names them; None if it names none in any row."""
    cells = [cell if isinstance(cell, str) else _cell(cell) for cell in given]
    asked = [
        row
        for row, cell in enumerate(cells)
        if options[row] and (cell not in NOT_PUBLISHED and cell.strip().lower() not in NOT_PUBLISHED)
    ]
    if not asked:
        return None
    labels = [-1] * len(cells)
    unfit: dict[int, str] = {}
    several = [row for row in asked if isinstance(given[row], (list, tuple)) and len(given[row]) > 1]
    for row in several:
        unfit[row] = SEVERAL
    rest = [row for row in asked if row not in unfit]
    marks = [made.options[row].marks for row in rest]
    by_mark = [
        own.index(cells[row].strip()) if cells[row].strip() in own else -1 for row, own in zip(rest, marks, strict=True)
    ]
    if rest and all(place >= 0 for place in by_mark):
        for row, place in zip(rest, by_mark, strict=True):
            labels[row] = place
        letters = all(own == list(LETTERS[: len(own)]) for own in marks)
        return _Rows(labels, "answers as letters" if letters else "answers as the options' marks", unfit)
    if several and len(several) == len(asked):
        raise InputError(
            f"{where(several[0])}: expected one right answer in {name!r}, found {shown(given[several[0]])}; questions "
            "with several right answers can't be asked"
        )
    read = _read_labels([cells[row] for row in rest], rest, options, made, beside, where, labels_from, name)
    for row, place in zip(rest, read.labels.tolist(), strict=True):
        labels[row] = place
    return _Rows(labels, f"answers as {read.form}{f' ({read.reason})' if read.reason else ''}", unfit)


def _read_labels(
    cells: list[str],
    rows: list[int],
    options: list[Texts],
    made: Parts,
    beside: dict[str, list[str]],
    where: Any,
    labels_from: int | None,
    name: str,
) -> Labels:
    counts = np.array([len(options[row]) for row in rows], dtype=np.int64)
    distinct = {cell: cell.strip().strip("()[]. ").upper() for cell in set(cells)}
    places = {cell: LETTERS.find(mark) if len(mark) == 1 else -1 for cell, mark in distinct.items()}
    lettered = min(places.values()) >= 0 and all(
        places[cell] < k for cell, k in zip(cells, counts.tolist(), strict=True)
    )
    if lettered:  # an option's text may be a letter too, as of a vitamin
        return Labels(np.array([places[cell] for cell in cells], dtype=np.int64), "letters")
    return read_labels(
        cells,
        counts,
        texts=[options[row] for row in rows],
        names=made.names,
        start=labels_from,
        where=lambda row: where(rows[row]),
        column=name,
        beside={other: [texts[row] for row in rows] for other, texts in beside.items()},
    )


def _cell(cell: Any) -> str:
    """A cell of answers as text; a list of one answer is that answer."""
    if isinstance(cell, (list, tuple)):
        cell = cell[0] if len(cell) == 1 else None if not cell else ", ".join(map(str, cell))
    return "" if cell is None else str(cell).strip()


# ---------------------------------------------------------------- questions


def _questions(made: Parts, options: list[Texts], rows: _Rows, path: Path) -> BankFile:
    n = len(options)
    ids = made.columns.get("id") or [None] * n
    groups = _cells(made.columns, ("subject", *GROUP_NAMES), n)
    clusters = _cells(made.columns, CLUSTER_NAMES, n)
    unfit = dict(rows.unfit)
    unanswered = again = 0
    questions: list[Question] = []
    keys: set[tuple[str, str, tuple[str, ...], int]] = set()
    numbers: dict[str, int] = {}
    for row, (asked, context, own, label) in enumerate(
        zip(made.questions, made.contexts, options, rows.labels, strict=True)
    ):
        if row in unfit or not (asked or own):  # an empty line
            continue
        texts = tuple(own)
        if not all(texts):
            texts, label = _without_gaps(own, label, are_columns=bool(made.names))
        if reason := _reason(asked, texts, label):
            unfit[row] = reason
            continue
        if label < 0:
            unanswered += 1
            continue
        key = (context, asked, texts, label)
        if key in keys:
            again += 1
            continue
        keys.add(key)
        name = str(ids[row] or f"{path.stem}-{row + 1}")
        if name in numbers:
            raise InputError(f"{path}, question {row + 1}: the id {name[:80]!r} is that of question {numbers[name]}")
        numbers[name] = row + 1
        group, cluster = str(groups[row] or ""), cluster_name(clusters[row])
        questions.append(Question(name, TASK, group, context, asked, texts, label, cluster))
    if len(unfit) > MOST_UNFIT * n:
        row = min(unfit)
        raise InputError(f"{path}, question {row + 1}: {_sentence(unfit[row], made, row, options[row])}")
    if not questions:
        raise InputError(f"{path}: it has no right answers: no row names its right option")
    left_out = dict(Counter(unfit.values())) | ({NO_ANSWER: unanswered} if unanswered else {})
    return BankFile(tuple(questions), left_out, _read_as(questions, rows.form, again, left_out, made))


def _cells(columns: Columns, names: Sequence[str], n: int) -> list[Any]:
    """The cells of the first of the fields that a file has; None in every row if it has none."""
    return next((columns[name] for name in matching(columns, names)), [None] * n)


def _without_gaps(texts: Texts, label: int, *, are_columns: bool) -> tuple[tuple[str, ...], int]:
    """The options without empty ones, and the place of the right one among them: those at the end, and of columns also
    those between others."""
    while texts and not texts[-1]:
        texts = texts[:-1]
    if not are_columns:
        return tuple(texts), label if label < len(texts) else -1
    there = tuple(text for text in texts if text)
    return there, sum(map(bool, texts[:label])) if 0 <= label < len(texts) and texts[label] else -1


def _reason(asked: str, texts: tuple[str, ...], label: int) -> str:
    """Why a row is no sound question; empty if it is one."""
    if not asked:
        return "no question"
    if len(texts) < 2:
        return "fewer than two options"
    if not all(texts):
        return "an empty option"
    if len(texts) > len(LETTERS):
        return f"more than {len(LETTERS)} options"
    if len(set(texts)) == len(texts):
        return ""
    return "the right answer twice" if label >= 0 and texts.count(texts[label]) > 1 else "an option twice"


def _sentence(reason: str, made: Parts, row: int, texts: Texts) -> str:
    """What is wrong with a row, and what to do."""
    if reason == "no question":
        return f"expected a question, found the columns {listed(made.columns)}"
    if reason in ("fewer than two options", "an empty option"):
        return f"expected at least two options, none of them empty, found {shown(texts)}"
    if reason.startswith("more than"):
        return f"has {len(texts)} options, and there are letters for {len(LETTERS)}; leave some out"
    if reason == SEVERAL:
        return "expected one right answer, found several; questions with several right answers can't be asked"
    twice = shown(next((text for text in texts if texts.count(text) > 1), ""))
    what = "the right answer" if reason == "the right answer twice" else "the option"
    return f"{what} {twice} is there twice; keep one of them"


def _read_as(questions: Sequence[Question], form: str, again: int, left_out: dict[str, int], made: Parts) -> str:
    """One line on how a file was read."""
    counts = [len(question.options) for question in questions]
    least, most = min(counts), max(counts)
    words = [
        f"{len(questions):,} question{'s' * (len(questions) != 1)}",
        f"{least} options" if least == most else f"{least} to {most} options",
        form,
        *made.remarks,
        f"{again:,} row{'s' * (again != 1)} twice, asked once" if again else "",
        *(f"{count:,} left out: {reason}" for reason, count in left_out.items()),
    ]
    return ", ".join(filter(None, words))


def canonical(questions: Sequence[Question]) -> str:
    """The questions as JSON lines with the documented names, which every later version reads the same way."""
    lines = []
    for q in questions:
        row: dict[str, Any] = {"id": q.id, "question": q.question, "options": q.options, "label": q.letter}
        more = {"context": q.context, "subject": q.group, "cluster": q.cluster}
        lines.append(json.dumps(row | {name: text for name, text in more.items() if text}))
    return "\n".join(lines) + "\n"
