"""The right option of every row of a table, named by its column, its letter, its number or its text."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from core.errors import InputError
from core.exchange.table_columns import Columns
from core.records import LETTERS, OPTION_NAMES, IntArray
from core.tables.safe_read import shown
from core.tables.tabular import Sheet

SAID = re.compile(
    r"(?:the )?(?:correct |right )?(?:answer|option|choice)(?: is)?[ :=]+\(?(?P<after>[A-Z])[.)]?"
    r"|\(?(?P<before>[A-Z])\) .*",
    re.IGNORECASE | re.DOTALL,
)
"""A letter among words: "Answer: B", "Option B", "B) Paris"."""


def labels_of(sheet: Sheet, columns: Columns, counts: IntArray, texts: Sequence[Sequence[str]]) -> IntArray:
    """The right options (n,), counted from 0; ``texts`` are those of the options, a list a column, or none."""
    cells = [cell.removesuffix(".0") for cell in sheet.texts(columns.label)]
    numbers = _all_numbers(cells)
    start = _label_from(columns, cells, counts)
    labels = np.empty(len(cells), dtype=np.int64)
    known: dict[str, int | None] = {}
    for row, cell in enumerate(cells):
        if cell not in known:
            known[cell] = _marked(cell, columns.options, start)
        at = known[cell]
        if at is None or not 0 <= at < counts[row] or (texts and not numbers):
            own = [column[row].strip() for column in texts[: counts[row]]]
            at = own.index(cell) if own.count(cell) == 1 else at
        if at is None:
            raise InputError(
                f"{sheet.where(row)}: expected the right option in {columns.label!r} as a letter, a number, the name "
                f"of its column or its text, found {shown(cell)}"
            )
        labels[row] = at
    bad = (labels < 0) | (labels >= counts)
    if columns.extra:
        bad |= labels >= len(columns.options) - 2
    if bad.any():
        row = int(np.argmax(bad))
        can = int(counts[row]) - 2 * columns.extra
        raise InputError(
            f"{sheet.where(row)}: expected one of {can} options that can be right (A to {OPTION_NAMES[can - 1]}, or "
            f"numbers from {start}), found {shown(cells[row])}"
        )
    return labels


def _all_numbers(cells: Sequence[str]) -> bool:
    return all(re.fullmatch(r"-?\d{1,9}", cell) for cell in set(cells))


def _marked(cell: str, options: Sequence[str], start: int) -> int | None:
    """The option (from 0) that a label's cell names by its column, its letter or its number; None for any other."""
    if cell in options:
        return options.index(cell)
    said = SAID.fullmatch(cell)
    letter = (said["after"] or said["before"]) if said else cell.strip("()[]. ")
    if len(letter) == 1 and letter.upper() in LETTERS:
        return LETTERS.index(letter.upper())
    return int(cell) - start if re.fullmatch(r"-?\d{1,9}", cell) else None


def _label_from(columns: Columns, cells: Sequence[str], counts: IntArray) -> int:
    """Where numbers count from: told, or 1 if they run up to the number of options and are never 0."""
    if columns.label_from is not None:
        return columns.label_from
    if set(cells) & set(columns.options) or not all(cell.isdecimal() for cell in set(cells)):
        return 0
    numbers = np.array([int(cell[:9]) for cell in cells])
    return int((numbers >= 1).all() and (numbers <= counts).all() and (numbers == counts).any())
