"""The right option of every row of a table or a question bank, read from all rows at once.

A cell names it by its column, its letter, its text or its number. Numbers may count from 0 or from 1. All rows decide
that: 0 occurs only where they count from 0, and the number of options only where they count from 1. Where neither
occurs, other evidence may decide, and otherwise a person is asked (:class:`~core.errors.Undecided`).
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.errors import InputError, Undecided
from core.records import LETTERS, OPTION_NAMES, BoolArray, IntArray
from core.tables.field_names import PICK_NAMES, RIGHT_NAMES
from core.tables.read_as import span
from core.tables.safe_read import shown

LETTER_AMONG_WORDS = re.compile(
    r"(?:the )?(?:correct |right )?(?:answer|option|choice)(?: is)?[ :=]+\(?(?P<after>[A-Z])[.)]?"
    r"|\(?(?P<before>[A-Z])[).:] .*",
    re.IGNORECASE | re.DOTALL,
)
"""A letter among words: "Answer: B", "Option B", "B) Paris"."""
NUMBER = re.compile(r"-?\d{1,9}")
AROUND = "()[]. '\""
TRUE_FALSE = {"false": 0, "true": 1}
UNANSWERED = {"", "-1", "-1.0", "nan", "none", "null", "n/a", "?", "_", "unknown"}
"""Cells of test sets whose answers are not published."""
SURE_Z, CHANCE_Z = 6.0, 2.0
"""One reading decides if its hits are this many standard deviations above those of shuffled labels, and those of
the other reading less than this many."""


@dataclass(frozen=True, slots=True)
class Labels:
    """The right options (n,), counted from 0, the ``form`` in which the file names them, in words, and the ``reason``
    for that form where the numbers alone do not decide it. ``is_given``: a person decided it, and not the file."""

    labels: IntArray
    form: str
    reason: str = ""
    is_given: bool = False

    @property
    def words(self) -> str:
        """How the answers were read, and why if the numbers alone do not decide."""
        return f"answers as {self.form}" + (f" ({self.reason})" if self.reason else "")


def read_labels(
    cells: Sequence[str],
    counts: IntArray,
    *,
    texts: Sequence[Sequence[str]] = (),
    names: Sequence[str] = (),
    start: int | None = None,
    where: Callable[[int], str],
    column: str = "label",
    beside: Mapping[str, Sequence[str]] | None = None,
    picks: IntArray | None = None,
) -> Labels:
    """The right option of every row; ``counts`` (n,) says how many options each row has.

    ``texts`` are the options of each row, or none; ``names`` the options' columns, or none; ``start`` the number of the
    first option, where a person gave it; ``where(row)`` the beginning of a message. ``beside`` are other columns by
    their names, which may say the same in another way, and ``picks`` (n,) a model's choices, counted from 0, with −1
    for a row without one.

    Raises :class:`InputError` for a cell that names no option, and :class:`~core.errors.Undecided`.
    """
    cells = [cell.strip().removesuffix(".0") for cell in cells]
    distinct = set(cells)
    if {cell.lower() for cell in distinct} <= UNANSWERED:
        raise InputError(
            f"{where(0)}: expected the right option in {column!r}, found {shown(cells[0])} in every row, so the file "
            "has no right answers"
        )
    if distinct <= set(names):
        place = {name: i for i, name in enumerate(names)}
        form = "letters" if distinct <= set(OPTION_NAMES) else "names of columns"
        form = "numbers of columns" if all(map(str.isdecimal, distinct)) else form
        read = Labels(np.array([place[cell] for cell in cells], dtype=np.int64), form)
    elif all(NUMBER.fullmatch(cell) for cell in distinct):
        numbers = np.array([int(cell) for cell in cells], dtype=np.int64)
        read = _numbers(numbers, cells, counts, texts, names, start, where, column, beside or {}, picks)
    else:
        read = _words(cells, counts, texts, names, start, where, column)
    _check(read.labels, cells, counts, where, column)
    return read


# ---------------------------------------------------------------- letters, names and texts


def _words(
    cells: Sequence[str],
    counts: IntArray,
    texts: Sequence[Sequence[str]],
    names: Sequence[str],
    start: int | None,
    where: Callable[[int], str],
    column: str,
) -> Labels:
    """Labels that are not all numbers: each is the text of an option, or its column's name or its letter."""
    if {cell.lower() for cell in set(cells)} <= set(TRUE_FALSE) and (counts == 2).all() and not texts:
        return Labels(np.array([TRUE_FALSE[cell.lower()] for cell in cells], dtype=np.int64), "true or false")
    numbered = np.array([bool(NUMBER.fullmatch(cell)) for cell in cells])
    labels = np.full(len(cells), -1, dtype=np.int64)
    forms: dict[str, int] = {}
    marks: dict[str, tuple[int, str] | None] = {}
    most = int(counts.max(initial=0))
    for row, cell in enumerate(cells):
        own = texts[row] if len(texts) else ()
        if (at := _text_at(cell, own)) is not None:
            labels[row], form = at, "texts"
        else:
            if cell not in marks:
                marks[cell] = _marked(cell, names, most)
            mark = marks[cell]
            if mark is None and numbered[row]:
                continue
            if mark is None:
                raise InputError(
                    f"{where(row)}: expected the right option in {column!r} as a letter, a number, the name of its "
                    f"column or its text, found {shown(cell)}"
                )
            labels[row], form = mark
        forms[form] = forms.get(form, 0) + 1
        numbered[row] = False
    if numbered.any():  # letters in most rows and numbers in others, as ARC has them
        rows = np.flatnonzero(numbered).tolist()
        part = read_labels(
            [cells[row] for row in rows],
            counts[rows],
            start=start,
            where=lambda row: where(rows[row]),
            column=column,
        )
        labels[rows] = part.labels
        forms[part.form] = len(rows)
    return Labels(labels, " and ".join(sorted(forms, key=lambda form: -forms[form])))


def _text_at(cell: str, own: Sequence[str]) -> int | None:
    """The place of the one option with this text; None if there is none, or several."""
    if len(cell) < 2:  # a small letter may be meant as a letter
        return own.index(cell) if cell in own and own.count(cell) == 1 else None
    stripped = [text.strip() for text in own]
    if count := stripped.count(cell):
        return stripped.index(cell) if count == 1 else None
    folded = [text.casefold() for text in stripped]
    return folded.index(cell.casefold()) if folded.count(cell.casefold()) == 1 else None


def _marked(cell: str, names: Sequence[str], most: int) -> tuple[int, str] | None:
    """The option (from 0) that a cell names by its column or its letter, and which of them it is."""
    if cell in names:
        return names.index(cell), "letters" if cell in OPTION_NAMES else "names of columns"
    among_words = LETTER_AMONG_WORDS.fullmatch(cell)
    mark = ((among_words["after"] or among_words["before"]) if among_words else cell.strip(AROUND)).upper()
    if len(mark) == 1 and mark in LETTERS:
        return LETTERS.index(mark), "letters"
    return (OPTION_NAMES.index(mark), "letters") if most > len(LETTERS) and mark in OPTION_NAMES else None


def _check(labels: IntArray, cells: Sequence[str], counts: IntArray, where: Callable[[int], str], column: str) -> None:
    bad = (labels < 0) | (labels >= counts)
    if bad.any():
        row = int(np.argmax(bad))
        last = OPTION_NAMES[min(int(counts[row]), len(OPTION_NAMES)) - 1]
        raise InputError(
            f"{where(row)}: expected one of {counts[row]} options that can be right (A to {last}, or its number) in "
            f"{column!r}, found {shown(cells[row])}"
        )


# ---------------------------------------------------------------- numbers


def _numbers(
    numbers: IntArray,
    cells: Sequence[str],
    counts: IntArray,
    texts: Sequence[Sequence[str]],
    names: Sequence[str],
    start: int | None,
    where: Callable[[int], str],
    column: str,
    beside: Mapping[str, Sequence[str]],
    picks: IntArray | None,
) -> Labels:
    """Labels that are all numbers: of options from 0 or from 1, or texts of options that are numbers."""
    if start is not None:
        try:
            seen = _numbers(numbers, cells, counts, texts, names, None, where, column, beside, picks)
        except InputError:
            seen = None
        is_given = seen is None or bool((seen.labels != numbers - start).any())
        return Labels(numbers - start, f"numbers from {start}", is_given=is_given)
    fits = [bool(((numbers >= first) & (numbers < counts + first)).all()) for first in (0, 1)]
    as_texts = _all_texts(cells, texts)
    if as_texts is not None and not any(fits[first] and (numbers - first == as_texts).all() for first in (0, 1)):
        if not any(fits):
            return Labels(as_texts, "texts")
        first = int(not fits[0])
        row = int(np.argmax(numbers - first != as_texts))
        raise Undecided(
            f"{where(row)}: the answer {cells[row]} in {column!r} may be the number of an option or the text of one, "
            f"and so may every other; --labels-from {first} takes them as numbers, or give the answers as letters"
        )
    if fits[0] != fits[1]:
        return Labels(numbers - fits[1], f"numbers from {int(fits[1])}")
    if fits[0]:
        decision = _decided(numbers, counts, texts, names, beside, picks)
        if decision is None:
            raise Undecided(_question(numbers, cells, counts, where, column))
        return Labels(numbers - decision[0], f"numbers from {decision[0]}", decision[1])
    if (bad := (numbers == counts)).any() and (numbers == 0).any():
        row = int(np.argmax(bad))
        raise InputError(
            f"{where(row)}: expected numbers of options in {column!r} from 0 or from 1, found both 0 and "
            f"{cells[row]} of {counts[row]} options"
        )
    return Labels(numbers - int((numbers >= 1).all()), "numbers")  # one of them is out of range, which is named


def _question(
    numbers: IntArray, cells: Sequence[str], counts: IntArray, where: Callable[[int], str], column: str
) -> str:
    first, last = OPTION_NAMES[numbers[0] - 1], OPTION_NAMES[numbers[0]]
    least, most = int(numbers.min()), int(numbers.max())
    range_of_all = f"all are {least}" if least == most else f"they run from {least} to {most}"
    return (
        f"{where(0)}: the answer {cells[0]} in {column!r} is option {last} if numbers count from 0 and {first} if they "
        f"count from 1, and no row decides which ({range_of_all}, of {span(counts.tolist())} options); say "
        "--labels-from 0 or --labels-from 1"
    )


def _all_texts(cells: Sequence[str], texts: Sequence[Sequence[str]]) -> IntArray | None:
    """Every row's option with the cell's text; None unless all rows have one."""
    if not len(texts):
        return None
    places = []
    for cell, own in zip(cells, texts, strict=True):
        if (at := _text_at(cell, own)) is None:
            return None
        places.append(at)
    return np.array(places, dtype=np.int64)


# ---------------------------------------------------------------- where numbers could count from 0 or from 1


def _decided(
    numbers: IntArray,
    counts: IntArray,
    texts: Sequence[Sequence[str]],
    names: Sequence[str],
    beside: Mapping[str, Sequence[str]],
    picks: IntArray | None,
) -> tuple[int, str] | None:
    """The number of the first option and what decides it; None if nothing does, or if two things disagree."""
    for name, cells in beside.items():
        first = _same_answer(numbers, cells, texts) if name.strip().lower() not in (*PICK_NAMES, *RIGHT_NAMES) else None
        if first is None and picks is not None:
            first = _of_predictions(numbers, cells, picks, name)
        if first is not None:
            return first, f"as {name[:40]!r} shows"
    clues = []
    if (first := _first_number(names)) is not None and numbers.min() < numbers.max():
        clues.append((first, f"as the columns {names[0][:40]} to {names[-1][:40]} do"))
    if picks is not None and (first := _of_hits(numbers, picks)) is not None:
        hits = [float((picks == numbers - start).mean()) for start in (0, 1)]
        clues.append((first, f"because {hits[first]:.1%} are then right, and {hits[1 - first]:.1%} otherwise"))
    return clues[0] if clues and len({first for first, _ in clues}) == 1 else None


def _same_answer(numbers: IntArray, cells: Sequence[str], texts: Sequence[Sequence[str]]) -> int | None:
    """Where numbers count from, if another column names the same option of every row by its letter or text."""
    places: list[int] = []
    for row, cell in enumerate(cells):
        at = _text_at(cell.strip(), texts[row]) if len(texts) else None
        if at is None:
            mark = _marked(cell.strip(), (), 0)
            if mark is None:
                return None
            at = mark[0]
        places.append(at)
    return next((first for first in (0, 1) if (numbers - first == np.array(places)).all()), None)


def _of_predictions(numbers: IntArray, cells: Sequence[str], picks: IntArray, name: str) -> int | None:
    """Where numbers count from, by a column of predictions, or one that says whether these were right."""
    known = picks >= 0
    if not known.any():
        return None
    plain = [cell.strip().lower().removesuffix(".0") for cell in cells]
    lower = name.strip().lower()
    fitting: list[BoolArray] = []
    if lower in PICK_NAMES and all(NUMBER.fullmatch(cell) for cell in set(plain)):
        predicted = np.array([int(cell) for cell in plain])
        fitting = [picks == predicted - first for first in (0, 1)]
    elif lower in RIGHT_NAMES and set(plain) <= {"true", "false", "1", "0", "yes", "no", "correct", "incorrect"}:
        right = np.array([cell in ("true", "1", "yes", "correct") for cell in plain])
        if right.any():
            fitting = [(picks == numbers - first) == right for first in (0, 1)]
    agreeing = [bool(fit[known].all()) for fit in fitting]
    return agreeing.index(True) if sum(agreeing) == 1 else None


def _first_number(names: Sequence[str]) -> int | None:
    """The number of the first column, where columns count from 0 or from 1."""
    marks = [re.search(r"\d+(?=\D*$)", name) for name in names]
    numbers = [int(mark[0]) for mark in marks if mark and len(mark[0]) < 10]
    first = numbers[0] if numbers else -1
    return first if first in (0, 1) and numbers == list(range(first, first + len(names))) else None


def _of_hits(numbers: IntArray, picks: IntArray) -> int | None:
    """Where numbers count from, if a model is right far more often than with shuffled labels under one reading, and
    not more often under the other.

    The model's picks and the labels are compared with all permutations of the labels, so that a model that prefers one
    letter, or labels that prefer one, decide nothing. Neither does a model of ordered classes whose picks are mostly
    next to the truth: they agree with labels on both sides of it, and so with those beyond the other reading too. If
    they are mostly on one side of it, nothing in the file tells this from labels that are read wrongly.
    """
    known = picks >= 0
    z = {first: _above_shuffled(picks[known], numbers[known] - first) for first in (-1, 0, 1, 2)}
    readings = ((0, 1, 2), (1, 0, -1))  # a reading, the other, and the next number beyond it
    for first, other, beyond in readings:
        if z[first] >= SURE_Z and z[other] < CHANCE_Z and z[beyond] < SURE_Z / 2:
            return first
    return None


def _above_shuffled(picks: IntArray, labels: IntArray) -> float:
    """By how many standard deviations more of the picks are right than with the labels in random order. With a_c picks
    and b_c labels of option c, n rows and S = Σ a_c b_c, the hits of shuffled labels have the mean S / n and the
    variance S / n + (S² − Σ a_c b_c (a_c + b_c − 1)) / (n (n − 1)) − S² / n²."""
    picks, labels = picks[labels >= 0], labels[labels >= 0]
    n = len(picks)
    if n < 2:
        return 0.0
    k = int(max(picks.max(), labels.max())) + 1
    a, b = (np.bincount(values, minlength=k).astype(np.float64) for values in (picks, labels))
    products = a * b
    total = float(products.sum())
    variance = total / n + (total**2 - float((products * (a + b - 1)).sum())) / (n * (n - 1)) - (total / n) ** 2
    return float((picks == labels).sum() - total / n) / math.sqrt(variance) if variance > 1e-9 else 0.0
