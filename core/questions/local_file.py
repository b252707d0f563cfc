"""A person's own questions: a question bank in any of the shapes that data sets have.

A row has ``question``, ``options`` and ``label``, and may have ``context``, ``subject``, ``id`` and ``cluster``: rows
of one cluster, such as the questions about one passage, belong together (:mod:`core.conformal.clusters`). Options are a
list (in CSV: a list in JSON, or one column per letter: ``A``, ``B``, …). The label is the right option's letter, its
number or its text; all rows decide whether numbers count from 0 or from 1. No two options of a question are alike.
``ordered`` is true where the options are levels, from one end of a scale to the other.
Other names and shapes of these fields are in :mod:`core.questions.bank_shapes`.
"""

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from core.errors import InputError, Undecided
from core.questions import file_stem, quiz_files
from core.questions.bank_shapes import (
    IN_TURN,
    Options,
    Parts,
    Texts,
    behave_like_scores,
    is_missing,
    listed,
    named_by_text,
    parts,
    with_header,
    without_marks,
)
from core.questions.identity import cluster_name
from core.questions.quiz_row import QuizRow
from core.questions.recipes import letter_index
from core.records import LETTERS, MOST_OPTIONS, Question
from core.tables.cells import flags
from core.tables.encodings import opened
from core.tables.field_names import CLUSTER_NAMES, GROUP_NAMES, LABEL_NAMES, ORDERED_NAMES, matching
from core.tables.json_table import Columns
from core.tables.labels import UNANSWERED, read_labels
from core.tables.read_as import counted, line
from core.tables.safe_read import check_count, check_size, shown
from core.tables.tabular import open_columns

TASK = "local"
NO_ANSWER = "no right answer"
SEVERAL = "several right answers"
MOST_UNFIT = 0.05
"""The largest share of rows that are left out because they are no sound questions. Where more are, the file is
probably another one than it seems, so the first of them is named."""
MARKED = ("(", "[", "A", "a", "1")
"""How an option's text begins that may have its letter or number in front."""
DOCUMENTED = {"question", "options", "label"}
SEVERAL_ANSWERS = re.compile(r"\w(?:\s*[,;/&]\s*\w)+")
"""A cell that names several options: "A,C"."""


@dataclass(frozen=True, slots=True)
class BankFile:
    """The questions of a file, how many rows were left out for which reason, and in one line how it was read."""

    questions: tuple[Question, ...]
    left_out: dict[str, int]
    read_as: str


@dataclass(slots=True)
class _Rows:
    """What is decided about the rows: the right option of each, −1 without one, and why some are left out. Too many of
    those that are ``unfit`` are an error; those that are ``skipped`` are of kinds that Hedge does not ask."""

    labels: list[int]
    form: str
    unfit: dict[int, str] = field(default_factory=dict)
    skipped: dict[int, str] = field(default_factory=dict)


def read_path(path: Path, *, stem: str = "", labels_from: int | None = None) -> BankFile:
    """The questions of a file with any name; ``stem`` begins the ids of questions without one."""
    named = path.with_name(f"{stem}.jsonl") if stem else path
    check_size(path)
    with opened(path) as source:
        if quiz_files.is_quiz(source.head(quiz_files.HEAD)):
            return of_quiz(*quiz_files.read(source), path=named)
    columns, encoding = open_columns(path)
    return read(columns, path=named, labels_from=labels_from, encoding=encoding)


def is_quiz(path: Path) -> bool:
    """Whether a file holds questions in another form than a table (:mod:`core.questions.quiz_files`)."""
    check_size(path)
    with opened(path) as source:
        return quiz_files.is_quiz(source.head(quiz_files.HEAD))


def read_typed(text: str, name: str) -> BankFile:
    """The questions of a text in GIFT, plain lines or Moodle's XML; ``name`` begins their ids. Raises
    :class:`InputError` that names the line of what can't be read."""
    try:
        return of_quiz(*quiz_files.read_text(text, []), path=Path(name))
    except InputError as error:
        raise InputError(str(error).removeprefix(f"{name}: ")) from error


def of_quiz(rows: Sequence[QuizRow], remarks: Sequence[str], *, path: Path) -> BankFile:
    """The questions of rows, some of them of kinds that can't be asked. Raises :class:`InputError` if all are, or if a
    row is no sound question."""
    check_count(len(rows), path)
    reasons = {reason: f"{reason} ({quiz_files.named(names)})" for reason, names in quiz_files.left_out(rows).items()}
    if all(row.skipped for row in rows):
        raise InputError(
            f"{path}: it holds no question that can be asked; {'; '.join(reasons.values()) or 'write one'}"
        )
    options = [row.options for row in rows]
    columns: Columns = {"subject": [row.subject for row in rows]}
    bank = Parts([row.question for row in rows], [""] * len(rows), Options(options), {}, columns, tuple(remarks))
    skipped = {i: reasons[row.skipped] for i, row in enumerate(rows) if row.skipped}
    return _questions(bank, options, _Rows([row.label for row in rows], "", skipped=skipped), path)


def read(columns: Columns, *, path: Path, labels_from: int | None = None, encoding: str = "") -> BankFile:
    """The questions of a file. ``labels_from`` is the number of the first option, where a person said it; ``encoding``
    is that of the file's text where it is a guess.

    Raises :class:`InputError` that says what the file lacks or names the first row that is no question, and
    :class:`~core.errors.Undecided` where numbers of options could count from 0 or from 1.
    """
    columns = with_header(columns)
    unanswered = [name for name in matching(columns, LABEL_NAMES) if all(map(is_missing, columns[name]))]
    n = len(next(iter(columns.values()), []))
    check_count(n, path)
    try:
        bank = parts(columns)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    bank.remarks += (f"read as {encoding}",) if encoding else ()
    options = [without_marks(texts) if texts and texts[0][:1] in MARKED else texts for texts in bank.options.texts]
    if behave_like_scores(options) and not named_by_text(bank):
        raise InputError(
            f"{path}: it holds a model's figures for the options ({', '.join(options[0])[:60]}) and not their texts; "
            "import it as results (hedge import), or give options that are texts"
        )
    if all(texts == tuple(LETTERS[: len(texts)]) for texts in options):
        raise InputError(f"{path}: its options are letters without texts; give the text of each option")
    if unanswered and not bank.answers and not bank.options.rights:
        raise InputError(_no_answers(path, unanswered))
    return _questions(bank, options, _right_options(bank, options, path, labels_from), path)


def _no_answers(path: Path, names: Sequence[str]) -> str:
    listed_names = " and ".join(repr(name[:40]) for name in names[:3])
    return (
        f"{path}: it has no right answers: {listed_names} {'is' if len(names) == 1 else 'are'} empty or −1 in every "
        "row, as in test sets whose answers are not published"
    )


def _right_options(bank: Parts, options: list[Texts], path: Path, labels_from: int | None) -> _Rows:
    """The right option of each row, from the first field of answers that names one in every row that has an answer."""
    if bank.options.rights:
        return _Rows(bank.options.rights, "right answers marked" if not bank.options.remark else "")
    if not bank.answers:
        raise InputError(
            f"{path}: it has no right answers: expected a field such as 'label' or 'answer' beside the options, found "
            f"the columns {listed(bank.columns)}"
        )
    answers = {
        name: [cell if type(cell) is str else _cell(cell) for cell in cells] for name, cells in bank.answers.items()
    }
    failed: InputError | None = None
    for name in answers:
        try:
            rows = _rights_of(name, answers, bank, options, path, labels_from)
        except Undecided as error:
            failed = error if not isinstance(failed, Undecided) else failed
        except InputError as error:
            failed = failed or error
        else:
            if rows is not None:
                return rows
    raise failed or InputError(_no_answers(path, list(answers)))


def _rights_of(
    name: str,
    answers: dict[str, list[str]],
    bank: Parts,
    options: list[Texts],
    path: Path,
    labels_from: int | None,
) -> _Rows | None:
    """The right options as one field names them; None if it names none in any row."""
    cells = answers[name]
    no_answer = {cell for cell in set(cells) if cell.strip().lower() in UNANSWERED}
    answered = [row for row, cell in enumerate(cells) if cell not in no_answer and options[row]]
    several = {cell for cell in set(cells) if SEVERAL_ANSWERS.fullmatch(cell.strip())}
    unfit = {row: SEVERAL for row in answered if cells[row] in several and cells[row] not in options[row]}
    rows = [row for row in answered if row not in unfit] if unfit else answered
    if not rows:
        return _Rows([-1] * len(cells), "", unfit) if unfit else None
    places, form = _places(name, rows, answers, bank, options, path, labels_from)
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
    bank: Parts,
    options: list[Texts],
    path: Path,
    labels_from: int | None,
) -> tuple[list[int], str]:
    """The places of the right options of some rows, and in words how the file names them."""
    cells = [answers[name][row].strip() for row in rows]
    for i, row in enumerate(rows):  # an answer may repeat the letter or number before its option's text
        old, new = bank.options.texts[row], options[row]
        if old is not new and cells[i] in old:
            cells[i] = new[old.index(cells[i])]
    if bank.options.marks:
        marks = [bank.options.marks[row] for row in rows]
        if all(cell in own for cell, own in zip(cells, marks, strict=True)):
            places = [own.index(cell) for cell, own in zip(cells, marks, strict=True)]
            lettered = all(own == tuple(LETTERS[: len(own)]) for own in marks)
            return places, "answers as letters" if lettered else "answers as marks of the options"
    if len(bank.options.names) > 1:  # "option 2: Paris", where a column is called "option 2"
        begins = re.compile(rf"({'|'.join(map(re.escape, bank.options.names))})\s*[:.)].*", re.DOTALL)
        named = {cell: named_option[1] if (named_option := begins.fullmatch(cell)) else cell for cell in set(cells)}
        cells = [named[cell] for cell in cells]
    counts = [len(options[row]) for row in rows]
    letters = {cell: letter_index(cell.strip("()[]. ").upper()) for cell in set(cells)}
    if min(letters.values()) >= 0 and all(letters[cell] < k for cell, k in zip(cells, counts, strict=True)):
        return [
            letters[cell] for cell in cells
        ], "answers as letters"  # an option's text may be a letter, as a vitamin's
    read_from = partial(
        read_labels,
        cells,
        np.array(counts, dtype=np.int64),
        texts=[options[row] for row in rows],
        names=bank.options.names if len(bank.options.names) > 1 else (),
        where=lambda row: f"{path}, question {rows[row] + 1}",
        column=name,
        beside={other: [texts[row] for row in rows] for other, texts in answers.items() if other != name},
    )
    try:
        read = read_from(start=labels_from)
    except Undecided:
        if len(letters) > 1 or name != "label" or not bank.columns.keys() >= DOCUMENTED:
            raise
        read = read_from(start=0)  # one number alone, in the shape that is documented to count from 0
    return read.labels.tolist(), read.words


def _cell(cell: Any) -> str:
    if isinstance(cell, dict):  # an option as it is among the options
        cell = next((cell[key] for key in ("label", "key", "letter", "id", "text") if key in cell), "")
    if isinstance(cell, (list, tuple)):
        return ", ".join(map(str, cell))  # a list of one answer is that answer
    return "" if cell is None else str(cell)


# ---------------------------------------------------------------- questions


def _questions(bank: Parts, options: list[Texts], rows: _Rows, path: Path) -> BankFile:
    n = len(options)
    ids = bank.columns.get("id") or [None] * n
    stem = file_stem(path.name)
    groups = _cells(bank.columns, ("subject", *GROUP_NAMES), n)
    clusters = _cells(bank.columns, CLUSTER_NAMES, n)
    ordered = _ordered(bank, path)
    unfit = dict(rows.unfit)
    unanswered = again = renamed = 0
    questions: list[Question] = []
    keys: set[tuple[str, str, Texts, int]] = set()
    numbers: dict[str, int] = {}
    are_columns = len(bank.options.names) > 1
    for row, (question, context, texts, label) in enumerate(
        zip(bank.questions, bank.contexts, options, rows.labels, strict=True)
    ):
        if row in unfit or row in rows.skipped or not (question or any(texts)):  # an empty line
            continue
        if not all(texts):
            texts, label = _without_gaps(texts, label, are_columns=are_columns)
        if not question or not len(set(texts)) == len(texts) > 1 or not all(texts) or len(texts) > MOST_OPTIONS:
            unfit[row] = _reason(question, texts, label)
            continue
        if label < 0:
            unanswered += 1
            continue
        name = str(ids[row] or f"{stem}-{row + 1}")
        key = (context, question, texts, label)
        if key in keys:
            if not ids[row] or name in numbers:
                again += 1
                continue
            renamed += (
                1  # other ids: other rows to the author of the file, which count as one (core.conformal.clusters)
            )
        keys.add(key)
        if name in numbers:
            raise InputError(f"{path}, question {row + 1}: the id {name[:80]!r} is that of question {numbers[name]}")
        numbers[name] = row + 1
        cluster = cluster_name(clusters[row]) if clusters[row] is not None else ""
        try:
            questions.append(
                Question(name, TASK, str(groups[row] or ""), context, question, texts, label, cluster, ordered[row])
            )
        except InputError as error:
            raise InputError(f"{path}, question {row + 1}: {error}") from None
    if len(unfit) > MOST_UNFIT * n:
        row = min(unfit)
        raise InputError(f"{path}, question {row + 1}: {_sentence(unfit[row], bank, row, options[row])}")
    if not questions:
        raise InputError(f"{path}: it has no right answers: no row names its right option")
    left_out = dict(Counter([*unfit.values(), *rows.skipped.values()])) | (
        {NO_ANSWER: unanswered} if unanswered else {}
    )
    return BankFile(tuple(questions), left_out, _read_as(questions, rows.form, again, renamed, left_out, bank))


def _cells(columns: Columns, names: Sequence[str], n: int) -> list[Any]:
    """The cells of the first of the fields that a file has; None in every row if it has none."""
    return next((columns[name] for name in matching(columns, names)), [None] * n)


def _ordered(bank: Parts, path: Path) -> list[bool]:
    """Whether the options of each row are ordered. Raises :class:`InputError` for a cell that is neither true nor
    false, and for ordered options whose order is not that of the file."""
    name = next(iter(matching(bank.columns, ORDERED_NAMES)), "")
    in_order = flags(bank.columns[name], name, lambda row: f"{path}, question {row + 1}") if name else []
    if any(in_order) and bank.options.remark == IN_TURN:
        raise InputError(
            f"{path}: its options are ordered, but their order is not known, because the right one is apart from the "
            "others; give all of them in one list"
        )
    return in_order or [False] * len(bank.questions)


def _without_gaps(texts: Texts, label: int, *, are_columns: bool) -> tuple[Texts, int]:
    """The options without empty ones, and the place of the right one among them: those at the end, and of columns also
    those between others."""
    while texts and not texts[-1]:
        texts = texts[:-1]
    if not are_columns:
        return texts, label if label < len(texts) else -1
    there = tuple(text for text in texts if text)
    return there, sum(map(bool, texts[:label])) if 0 <= label < len(texts) and texts[label] else -1


def _reason(question: str, texts: Texts, label: int) -> str:
    if not question:
        return "no question"
    if len(texts) < 2:
        return "fewer than two options"
    if not all(texts):
        return "an empty option"
    if len(texts) > MOST_OPTIONS:
        return f"more than {MOST_OPTIONS} options"
    return "the right answer twice" if label >= 0 and texts.count(texts[label]) > 1 else "an option twice"


def _sentence(reason: str, bank: Parts, row: int, texts: Texts) -> str:
    if reason == "no question":
        return f"expected a question, found the columns {listed(bank.columns)}"
    if reason in ("fewer than two options", "an empty option"):
        return f"expected at least two options, none of them empty, found {shown(texts)}"
    if reason.startswith("more than"):
        return f"has {len(texts)} options, and a question has at most {MOST_OPTIONS}; leave options out"
    if reason == SEVERAL:
        given = next(cells[row] for cells in bank.answers.values() if not is_missing(cells[row]))
        return f"expected one right answer, found {repr(given)[:60]}; questions with several can't be asked"
    twice = shown(next((text for text in texts if texts.count(text) > 1), ""))
    what = "the right answer" if reason == "the right answer twice" else "the option"
    return f"{what} {twice} is there twice; keep one of them"


def _read_as(
    questions: Sequence[Question], form: str, again: int, renamed: int, left_out: dict[str, int], bank: Parts
) -> str:
    """One line on how a file was read: ``again`` rows are left out because they repeat others, ``renamed`` rows repeat
    others under other ids."""
    return line(
        questions,
        form,
        *bank.remarks,
        f"{counted(again, 'row')} twice, asked once" if again else "",
        f"{counted(renamed, 'row')} twice under other ids" if renamed else "",
        *(f"{count:,} left out: {reason}" for reason, count in left_out.items()),
    )


def canonical(questions: Sequence[Question]) -> str:
    """The questions as JSON lines with the documented names, which every later version reads the same way."""
    lines = []
    for q in questions:
        row: dict[str, Any] = {"id": q.id, "question": q.question, "options": q.options, "label": q.letter}
        more: dict[str, Any] = {"context": q.context, "subject": q.group, "cluster": q.cluster}
        more |= {"ordered": True} if q.ordered else {}
        lines.append(json.dumps(row | {name: value for name, value in more.items() if value}))
    return "\n".join(lines) + "\n"
