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
from core.tables.labels import Undecided, read_labels
from core.tables.safe_read import check_count, shown
from core.tasks.bank_shapes import Columns, Parts, Texts, behave_like_scores, listed, parts, with_header, without_marks
from core.tasks.identity import cluster_name
from core.tasks.recipes import letter_index

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
    options = [
        without_marks(texts) if texts and texts[0][:1] in ("(", "A", "a") else texts for texts in made.options.texts
    ]
    if behave_like_scores(options):
        raise InputError(
            f"{path}: it holds a model's figures for the options ({', '.join(options[0])[:60]}) and not their texts; "
            "bring it in as results (hedge import), or give options that are texts"
        )
    if all(texts == tuple(LETTERS[: len(texts)]) for texts in options):
        raise InputError(f"{path}: its options are letters without texts; give the text of each option")
    return _questions(made, options, _right_options(made, options, path, labels_from), path)


def _right_options(made: Parts, options: list[Texts], path: Path, labels_from: int | None) -> _Rows:
    """The right option of each row, from the first field of answers that names one in every row that has an answer."""
    if made.options.rights:
        return _Rows(made.options.rights, "right answers marked" if not made.options.remark else "")
    if not made.answers:
        raise InputError(
            f"{path}: it has no right answers: expected a field such as 'label' or 'answer' beside the options, found "
            f"the columns {listed(made.columns)}"
        )
    answers = {
        name: [cell if type(cell) is str else _cell(cell) for cell in cells] for name, cells in made.answers.items()
    }
    failed: InputError | None = None
    for name in answers:
        try:
            rows = _rights_of(name, answers, made, options, path, labels_from)
        except Undecided as error:
            failed = error if not isinstance(failed, Undecided) else failed
        except InputError as error:
            failed = failed or error
        else:
            if rows is not None:
                return rows
    raise failed or InputError(
        f"{path}: it has no right answers: {', '.join(map(repr, list(answers)[:3]))} "
        f"{'is' if len(answers) == 1 else 'are'} empty or −1 in every row, as in test sets whose answers are not "
        "published"
    )


def _rights_of(
    name: str,
    answers: dict[str, list[str]],
    made: Parts,
    options: list[Texts],
    path: Path,
    labels_from: int | None,
) -> _Rows | None:
    """The right options as one field names them; None if it names none in any row."""
    cells, given = answers[name], made.answers[name]
    no_answer = {cell for cell in set(cells) if cell.strip().lower() in NOT_PUBLISHED}
    answered = [row for row, cell in enumerate(cells) if cell not in no_answer and options[row]]
    lists = {list, tuple} & set(map(type, given))
    unfit = {row: SEVERAL for row in answered if isinstance(given[row], (list, tuple))} if lists else {}
    unfit = {row: reason for row, reason in unfit.items() if len(given[row]) > 1}
    rows = [row for row in answered if row not in unfit] if unfit else answered
    if not rows:
        return _Rows([-1] * len(cells), "", unfit) if unfit else None
    places, form = _places(name, rows, answers, made, options, path, labels_from)
    if len(rows) == len(cells):
        return _Rows(places, form, unfit)
    labels = [-1] * len(cells)
    for row, place in zip(rows, places, strict=True):
        labels[row] = place
    return _Rows(labels, form, unfit)


def _places(
    name: str,
    rows: list[int],
    answers: dict[str, list[str]],
    made: Parts,
    options: list[Texts],
    path: Path,
    labels_from: int | None,
) -> tuple[list[int], str]:
    """The places of the right options of some rows, and in words how the file names them."""
    cells = [answers[name][row].strip() for row in rows]
    if made.options.marks:
        marks = [made.options.marks[row] for row in rows]
        if all(cell in own for cell, own in zip(cells, marks, strict=True)):
            places = [own.index(cell) for cell, own in zip(cells, marks, strict=True)]
            letters = all(own == tuple(LETTERS[: len(own)]) for own in marks)
            return places, "answers as letters" if letters else "answers as marks of the options"
    counts = [len(options[row]) for row in rows]
    letters = {cell: letter_index(cell.strip("()[]. ").upper()) for cell in set(cells)}
    if min(letters.values()) >= 0 and all(letters[cell] < k for cell, k in zip(cells, counts, strict=True)):
        return [
            letters[cell] for cell in cells
        ], "answers as letters"  # an option's text may be a letter, as a vitamin's
    read = read_labels(
        cells,
        np.array(counts, dtype=np.int64),
        texts=[options[row] for row in rows],
        names=made.options.names if len(made.options.names) > 1 else (),
        start=labels_from,
        where=lambda row: f"{path}, question {rows[row] + 1}",
        column=name,
        beside={other: [texts[row] for row in rows] for other, texts in answers.items() if other != name},
    )
    return read.labels.tolist(), f"answers as {read.form}{f' ({read.reason})' if read.reason else ''}"


def _cell(cell: Any) -> str:
    """A cell of answers as text; a list of one answer is that answer."""
    if isinstance(cell, (list, tuple)):
        return ", ".join(map(str, cell))
    return "" if cell is None else str(cell)


# ---------------------------------------------------------------- questions


def _questions(made: Parts, options: list[Texts], rows: _Rows, path: Path) -> BankFile:
    n = len(options)
    ids = made.columns.get("id") or [None] * n
    groups = _cells(made.columns, ("subject", *GROUP_NAMES), n)
    clusters = _cells(made.columns, CLUSTER_NAMES, n)
    unfit = dict(rows.unfit)
    unanswered = again = 0
    questions: list[Question] = []
    keys: set[tuple[str, str, Texts, int]] = set()
    numbers: dict[str, int] = {}
    are_columns = len(made.options.names) > 1
    for row, (asked, context, texts, label) in enumerate(
        zip(made.questions, made.contexts, options, rows.labels, strict=True)
    ):
        if row in unfit or not (asked or any(texts)):  # an empty line
            continue
        if not all(texts):
            texts, label = _without_gaps(texts, label, are_columns=are_columns)
        if not asked or not len(set(texts)) == len(texts) > 1 or not all(texts) or len(texts) > len(LETTERS):
            unfit[row] = _reason(asked, texts, label)
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
        cluster = cluster_name(clusters[row]) if clusters[row] is not None else ""
        questions.append(Question(name, TASK, str(groups[row] or ""), context, asked, texts, label, cluster))
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


def _without_gaps(texts: Texts, label: int, *, are_columns: bool) -> tuple[Texts, int]:
    """The options without empty ones, and the place of the right one among them: those at the end, and of columns also
    those between others."""
    while texts and not texts[-1]:
        texts = texts[:-1]
    if not are_columns:
        return texts, label if label < len(texts) else -1
    there = tuple(text for text in texts if text)
    return there, sum(map(bool, texts[:label])) if 0 <= label < len(texts) and texts[label] else -1


def _reason(asked: str, texts: Texts, label: int) -> str:
    """Why a row is no sound question."""
    if not asked:
        return "no question"
    if len(texts) < 2:
        return "fewer than two options"
    if not all(texts):
        return "an empty option"
    if len(texts) > len(LETTERS):
        return f"more than {len(LETTERS)} options"
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
