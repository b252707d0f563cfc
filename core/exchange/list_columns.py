"""Columns of lists as columns of their own: one column for each option.

Some tools write all probabilities of a question into one cell (``[0.7, 0.2, 0.1]``), and all texts of its options into
another. In CSV such a cell is a list in JSON, as Python writes it or as numpy does; in Parquet and JSON it is a list or
an object (``{"A": 0.7, …}``).
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from core.exchange.tabular import Sheet
from core.records import LETTERS

AROUND = r"(?:(?:option|choice|answer|letter|model|label)s?[_ .-]?)?"
FIGURES = (
    (re.compile(rf"^{AROUND}log[_ -]?(p|probs?|probabilit(y|ies)|likelihoods?)$|^lls?$"), "logprob"),
    (re.compile(rf"^{AROUND}logits(_options)?$"), "logit"),
    (re.compile(rf"^{AROUND}(p|probs?|probabilit(y|ies)|softmax|confidences?)$"), "p"),
    (re.compile(rf"^{AROUND}scores?$"), "score"),
)
"""Names of a column of lists of figures, and the beginning of the names of the columns that it becomes."""
TEXTS = re.compile(r"^(options?|choices|answers|endings|option_texts|choice_texts|possible_answers)$")
"""Names of a column of lists of texts."""
LONGEST_CELL = 100_000
NUMPY_LIST = re.compile(r"^\[[\s\d.,eE+\-infa]*\]$")


def widened(sheet: Sheet) -> Sheet:
    """The sheet with a column for each option in place of columns of lists; the same sheet if it has none."""
    columns: dict[str, Any] = {}
    for name in sheet.names:
        lists = _lists(sheet, name)
        if lists is None:
            columns[name] = sheet.table[name]
            continue
        begin, rows = lists
        for i in range(max(len(row) for row in rows)):
            into = f"{begin}_{LETTERS[i]}"
            if into not in sheet.names:
                columns[into] = _column([row[i] if i < len(row) else None for row in rows])
    return sheet if list(columns) == sheet.names else replace(sheet, table=pa.table(columns))


def _lists(sheet: Sheet, name: str) -> tuple[str, list[list[Any]]] | None:
    """The rows of a column of lists, and the beginning of its columns' names; None for any other column."""
    lowered = name.strip().lower()
    begin = next((begin for pattern, begin in FIGURES if pattern.match(lowered)), "option")
    if begin == "option" and not TEXTS.match(lowered):
        return None
    rows = []
    for cell in sheet.table[name].to_pylist():
        row = listed(cell)
        if row is None or len(row) > len(LETTERS):
            return None
        rows.append(row)
    return (begin, rows) if max((len(row) for row in rows), default=0) >= 2 else None


def listed(cell: Any) -> list[Any] | None:
    """A cell as a list: one that is a list, an object by letter or number, or the text of either; None for others.

    >>> listed("['Paris', \\"Lyon\\"]"), listed("[0.7 0.3]"), listed({"B": 0.3, "A": 0.7}), listed("Paris")
    (['Paris', 'Lyon'], ['0.7', '0.3'], [0.7, 0.3], None)
    """
    if cell is None or cell == "":
        return []
    if isinstance(cell, str):
        text = cell.strip()
        if text[:1] not in ("[", "{", "(") or len(text) > LONGEST_CELL:
            return None
        if NUMPY_LIST.match(text) and "," not in text:
            return list(text.strip("[]").split())
        cell = _parsed(text)
    if isinstance(cell, dict):
        if isinstance(cell.get("text"), Sequence) and not isinstance(cell["text"], str):  # as the hub has choices
            return list(cell["text"])
        keys = [str(key).strip().upper() for key in cell]
        marks = next(
            (m for m in (LETTERS, [str(i) for i in range(26)]) if sorted(keys) == sorted(m[: len(keys)])), None
        )
        return [value for _, value in sorted(zip(keys, cell.values(), strict=True))] if marks else None
    if isinstance(cell, (list, tuple)):
        return list(cell)
    return None


def _parsed(text: str) -> Any:
    for read in (json.loads, ast.literal_eval):
        try:
            return read(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
            continue
    return None


def _column(cells: list[Any]) -> pa.Array:
    """Cells of an option as a column: numbers where all are, else texts; an empty one is missing."""
    if all(cell is None or (isinstance(cell, (int, float)) and not isinstance(cell, bool)) for cell in cells):
        return pa.array([None if cell is None else float(cell) for cell in cells], pa.float64(), from_pandas=False)
    return pa.array([None if cell in (None, "") else str(cell) for cell in cells], pa.string())
