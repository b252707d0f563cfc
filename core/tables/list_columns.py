"""Columns of lists as columns of their own: one column for each option.

Some tools write all probabilities of a question into one cell (``[0.7, 0.2, 0.1]``), and all texts of its options into
another. In CSV such a cell is a list in JSON, as Python writes it or as numpy does; in Parquet and JSON it is a list or
an object (``{"A": 0.7, …}``). Others have an object for each option (``[{"token": "A", "logprob": -0.4}, …]``).
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from core.errors import InputError
from core.records import LETTERS, MOST_OPTIONS, OPTION_NAMES
from core.tables.binary_column import both_classes
from core.tables.cells import LONGEST_CELL, parsed, value_of
from core.tables.tabular import Sheet
from core.tables.token_lists import token_columns

AROUND = r"(?:(?:option|choice|answer|letter|model|label)s?[_ .-]?)?"
BY_NUMBER = "proba"
"""The beginning of the names of columns of a classifier, whose classes have numbers."""
FIGURES = (
    (re.compile(rf"^{AROUND}log[_ -]?(p|probs?|probabilit(y|ies)|likelihoods?)$|^lls?$"), "logprob"),
    (re.compile(rf"^{AROUND}logits(_options)?$"), "logit"),
    (re.compile(rf"^{AROUND}(p|probs?|probabilit(y|ies)|softmax|confidences?)$"), "p"),
    (re.compile(rf"^{AROUND}scores?$"), "score"),
    (re.compile(r"^(?:(?:y|pred|predict|predicted|class|test)_)?(?:probas?|probs?|probabilities|scores?)$"), BY_NUMBER),
)
"""Names of a column of lists of figures, and the beginning of the names of the columns that it becomes."""
TEXTS = re.compile(r"^(options?|choices|answers|endings|option_texts|choice_texts|possible_answers)$")
"""Names of a column of lists of texts."""
NAMES = ("token", "letter", "label", "option", "choice", "key", "id")
"""In an object for each option, the key of its letter."""
MOST_LISTED = 10_000
"""The most entries of a list that is looked at."""
NUMPY_LIST = re.compile(r"^\[[\s\d.,eE+\-infa]*\]$")


def widened(sheet: Sheet) -> Sheet:
    """The sheet with a column for each option in place of columns of lists; the same sheet if it has none."""
    columns: dict[str, Any] = {}
    for name in sheet.names:
        if by_class := _by_class(sheet, name):
            columns |= {into: cells for into, cells in by_class.items() if into not in sheet.names}
            continue
        lists = _objects(sheet, name) or _lists(sheet, name)
        if not lists and (listed := token_columns(sheet, name)):
            columns |= {into: cells for into, cells in listed.items() if into not in sheet.names}
            continue
        if not lists:
            columns[name] = sheet.table[name]
            continue
        for begin, rows in lists.items():
            for i in range(max(len(row) for row in rows)):
                into = f"{begin}_{i if begin == BY_NUMBER else OPTION_NAMES[i]}"
                if into not in sheet.names:
                    columns[into] = _column([row[i] if i < len(row) else None for row in rows])
    return both_classes(sheet if list(columns) == sheet.names else replace(sheet, table=pa.table(columns)))


def _objects(sheet: Sheet, name: str) -> dict[str, list[list[Any]]]:
    """The rows of a column with an object for each option, by the beginning of its columns' names; else nothing. An
    object has the option's letter and one figure, and may have its text. Tokens beside the letters, as servers list
    them, are left out."""
    cells = sheet.table[name]
    first = _items(cells[0].as_py()) if sheet.table.num_rows else None
    figure = next((str(key) for key in (first or [{}])[0] if _figure(str(key))), "")
    letter = next((key for key in NAMES if first and key in first[0]), "")
    if not figure or not letter:
        return {}
    by_beginning: dict[str, list[list[Any]]] = {_figure(figure): [], "option": []}
    for cell in cells.to_pylist():
        by_letter: dict[str, dict[Any, Any]] = {}
        for item in _items(cell) or []:
            mark = str(item.get(letter)).strip()
            if len(mark) == 1 and mark in LETTERS and by_letter.setdefault(mark, item) is not item:
                return {}  # a letter with and without a space before it: two figures for one option
        k = len(by_letter)
        if k < 2 or set(by_letter) != set(LETTERS[:k]):
            return {}
        for begin, key in ((_figure(figure), figure), ("option", "text")):
            by_beginning[begin].append([by_letter[mark].get(key) for mark in LETTERS[:k]])
    if any(text is None for row in by_beginning["option"] for text in row):
        del by_beginning["option"]
    return by_beginning


def _by_class(sheet: Sheet, name: str) -> dict[str, pa.Array]:
    """The columns of a column of objects with the figure of each class by its name, the same names in each row; none of
    others, and of objects whose names are letters or numbers."""
    begin = _figure(name)
    first = value_of(sheet.table[name][0].as_py()) if begin and sheet.table.num_rows else None
    if not isinstance(first, dict) or listed(first) is not None or not 2 <= len(first) <= MOST_OPTIONS:
        return {}
    rows = [value for cell in sheet.table[name].to_pylist() if isinstance(value := value_of(cell), dict)]
    figures = (cell for row in rows for cell in row.values())
    if (
        len(rows) < sheet.table.num_rows
        or any(row.keys() != first.keys() for row in rows)
        or not all(type(cell) in (int, float) for cell in figures)
    ):
        return {}
    return {f"{begin}_{key}": _column([row[key] for row in rows]) for key in first}


def _items(cell: Any) -> list[dict[Any, Any]] | None:
    """A cell as a list of objects; None for others."""
    cell = value_of(cell)
    return cell if isinstance(cell, list) and cell and all(isinstance(item, dict) for item in cell) else None


def _lists(sheet: Sheet, name: str) -> dict[str, list[list[Any]]]:
    """The rows of a column of lists, by the beginning of its columns' names; nothing for any other column."""
    begin, is_list = _figure(name), TEXTS.match(name.strip().lower())
    first = sheet.table[name][0].as_py() if sheet.table.num_rows else None
    if not begin and not is_list and not isinstance(value_of(first), dict):
        return {}
    cells = sheet.table[name].to_pylist()
    if not begin and not is_list:
        objects = [value for cell in cells if isinstance(value := value_of(cell), dict)]
        inner = next((str(key) for key in (objects[0] if objects else {}) if _figure(str(key))), "")
        begin = _figure(inner)
        if not begin or len(objects) < len(cells):
            return {}
        cells = [values.get(inner) for values in objects]
    begin = begin or "option"
    rows = []
    for cell in cells:
        row = listed(cell)
        if row is None or len(row) > MOST_LISTED:
            return {}
        rows.append(row)
    if (most := max((len(row) for row in rows), default=0)) > MOST_OPTIONS and begin != "option":
        raise InputError(
            f"{sheet.path}: expected at most {MOST_OPTIONS} options, found {most} in {name!r}; in a notebook, "
            "hedge.sets takes up to 1,000"
        )
    if most > MOST_OPTIONS:
        return {}
    return {begin: rows} if max((len(row) for row in rows), default=0) >= 2 else {}


def _figure(name: str) -> str:
    """The beginning of the columns' names that a column of figures becomes; empty for another column."""
    return next((begin for pattern, begin in FIGURES if pattern.match(name.strip().lower())), "")


def listed(cell: Any) -> list[Any] | None:
    """A cell as a list: one that is a list, an object by letter or number, or the text of either; None for others.

    >>> listed("['Paris', \\"Lyon\\"]"), listed("[0.7 0.3]"), listed({"B": 0.3, "A": 0.7}), listed("Paris")
    (['Paris', 'Lyon'], ['0.7', '0.3'], [0.7, 0.3], None)
    """
    if cell is None or cell == "":
        return []
    if isinstance(cell, str):
        text = cell.strip()
        if not text.startswith(("[", "{", "(", "array(")) or len(text) > LONGEST_CELL:
            return None
        if NUMPY_LIST.match(text) and "," not in text:
            return list(text.strip("[]").split())
        cell = parsed(text)
    if isinstance(cell, dict):
        if isinstance(cell.get("text"), Sequence) and not isinstance(cell["text"], str):  # as the hub has choices
            return list(cell["text"])
        keys = [str(key).strip().upper() for key in cell]
        numbers = [str(i) for i in range(MOST_OPTIONS)]
        marks = next((m for m in (OPTION_NAMES, numbers) if sorted(keys) == sorted(m[: len(keys)])), None)
        by_mark = dict(zip(keys, cell.values(), strict=True))
        return [by_mark[mark] for mark in marks[: len(keys)]] if marks else None
    if isinstance(cell, (list, tuple)):
        return list(cell)
    return None


def _column(cells: list[Any]) -> pa.Array:
    """Cells of an option as a column: numbers where all are, else texts; an empty one is missing."""
    if all(cell is None or (isinstance(cell, (int, float)) and not isinstance(cell, bool)) for cell in cells):
        return pa.array([None if cell is None else float(cell) for cell in cells], pa.float64(), from_pandas=False)
    return pa.array([None if cell in (None, "") else str(cell) for cell in cells], pa.string())
