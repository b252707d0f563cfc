"""The columns of JSON tables: JSON lines, lists of objects, lists for each column, and frames as pandas writes them."""

import codecs
from functools import partial
from typing import Any

from core.errors import InputError
from core.storage.json_text import loads
from core.tables.encodings import Source
from core.tables.field_names import CLASS_NAMES, ROLES, TRAINING
from core.tables.safe_read import reason, shown, source_lines, source_text

MOST_COLUMNS = 500
LONGEST_LINE = 1 << 26
"""Bytes of a first line that are looked at."""
Columns = dict[str, list[Any]]
"""The values of each column."""
LABELLED = {
    *("label", "answer", "gold", "target", "correct_answer", "answerkey", "answer_idx", "cop", "correct_option"),
    "final_decision",
}
"""Keys by which an object of objects is one of questions by their ids."""
VIEWER_KEYS = {"row_idx", "row"}
"""Keys of a row as the data viewer of the Hugging Face hub answers."""
SHARED_NAMES = {*CLASS_NAMES, "choices", "names", "labels_names"}
"""Keys of the options' names beside arrays of their figures."""


def json_columns(source: Source, head: bytes) -> tuple[Columns, tuple[int, ...] | None]:
    """The columns of JSON lines, with each row's line, or of one document: a list of objects, an object with a list
    for each column, or an object that holds either.

    ``head`` is the file's beginning. Raises :class:`InputError` that names what was expected and what was found.
    """
    path = source.path
    first, more = first_line(source, head)
    if first[:1] == b"{" and more and _is_json(first):
        return _json_lines(source)
    try:
        document = loads(source_text(source))
    except ValueError as error:
        raise InputError(f"{path}: expected a whole JSON document, found none ({reason(error)})") from error
    columns = _columns(document)
    if columns is None and isinstance(document, dict) and not more:
        source.file.seek(0)
        return _json_lines(source)
    if columns is None:
        raise InputError(
            f"{path}: expected a list of objects or a list for each column, found {type(document).__name__} "
            f"{shown(document)}"
        )
    if len(columns) > MOST_COLUMNS:
        raise InputError(f"{path}: expected at most {MOST_COLUMNS} fields, found {len(columns)}")
    return columns, None


def first_line(source: Source, head: bytes) -> tuple[bytes, bytes]:
    """The first line of an open file and the beginning of what follows, where ``head`` may end within that line."""
    first, _, more = head.removeprefix(codecs.BOM_UTF8).strip().partition(b"\n")
    if first[:1] == b"{" and not more:
        source.file.seek(0)
        lines = iter(partial(source.file.readline, LONGEST_LINE), b"")
        first = next((line for line in lines if line.removeprefix(codecs.BOM_UTF8).strip()), b"")
        first, more = first.removeprefix(codecs.BOM_UTF8).strip(), source.file.read(4096).strip()
        source.file.seek(0)
    return first, more


def _is_json(line: bytes) -> bool:
    try:
        loads(line.decode("utf-8", "replace"))
    except ValueError:
        return False
    return True


def _columns(document: Any) -> Columns | None:
    if isinstance(document, dict):
        if (columns := pandas_columns(document)) is not None:
            return columns
        return _columns_of_object(document)
    if not (isinstance(document, list) and document):
        return None
    if all(isinstance(row, list) and len(row) == len(document[0]) > 1 for row in document):
        header, *rows = document  # as a sheet's values: names first
        if rows and all(isinstance(name, str) and name for name in header) and len(set(header)) == len(header):
            return {name: [row[i] for row in rows] for i, name in enumerate(header)}
    if not all(isinstance(row, dict) for row in document):
        return None
    if all(row.keys() & VIEWER_KEYS == {"row_idx", "row"} and isinstance(row["row"], dict) for row in document):
        document = [row["row"] for row in document]
    names = list(dict.fromkeys(name for row in document for name in row))
    return {name: [row.get(name) for row in document] for name in names}


def _columns_of_object(document: dict[str, Any]) -> Columns | None:
    """The columns of an object: a list for each column, rows in a list of objects, or the rows of each split."""
    lists = {name: value for name, value in document.items() if isinstance(value, list)}
    about = {name: value for name, value in document.items() if isinstance(value, (str, int, float))}
    inner = [value for value in document.values() if isinstance(value, dict)]
    if not lists and len(inner) == 1:  # {"data": {"items": [...]}}
        return _columns(inner[0])
    tables = {name: value for name, value in lists.items() if value and all(isinstance(row, dict) for row in value)}
    splits = {name: rows for name, rows in tables.items() if name.strip().lower() in {*ROLES, *TRAINING}}
    if len(splits) > 1 and len(splits) == len(tables):
        return _columns([about | {"split": name} | row for name, rows in splits.items() for row in rows])
    if {"features", "rows"} <= tables.keys():  # as the data viewer of the Hugging Face hub answers
        return _columns(tables["rows"])
    if len(tables) == 1 == len(lists):
        (rows,) = tables.values()
        return _columns([about | row for row in rows])
    return _arrays(lists, about)


def _arrays(lists: Columns, about: dict[str, Any]) -> Columns | None:
    """The columns of an object of arrays: a list for each column, and the options' names once for all rows. A value
    that is no list, such as a model's name, applies to each row."""
    wide = next((value for value in lists.values() if value and isinstance(value[0], list)), None)
    n = len(wide) if wide else max((len(value) for value in lists.values()), default=0)
    columns = {name: value for name, value in lists.items() if len(value) == n}
    others = [name for name in lists if name not in columns]
    if others and not (
        len(others) == 1
        and wide
        and others[0].strip().lower() in SHARED_NAMES
        and len(lists[others[0]]) == len(wide[0])
        and all(isinstance(name, str) for name in lists[others[0]])
    ):
        return None
    if len(columns) < 2:
        return None
    columns = {_singular(name, columns): value for name, value in columns.items()}
    shared = {"options": [lists[others[0]]] * n} if others else {}
    return {name: [value] * n for name, value in about.items()} | columns | shared


def _singular(name: str, columns: Columns) -> str:
    """The name of a column for one that is named in the plural, as arrays of labels are ("labels", "targets")."""
    singular = name.removesuffix("s")
    is_label = (
        singular.lower() in LABELLED
        and singular not in columns
        and not any(isinstance(cell, (list, dict)) for cell in columns[name][:1])
    )
    return singular if is_label else name


def pandas_columns(document: dict[str, Any]) -> Columns | None:
    """The columns of a JSON object as pandas writes a frame, or of labelled questions by their ids; None for others.

    ``orient`` is "columns" (an object of the rows for each column, which is the default), "index" (an object of the
    columns for each row) or "split" (``columns`` and ``data``).
    """
    names, rows = document.get("columns"), document.get("data")
    if isinstance(names, list) and isinstance(rows, list):
        same = all(isinstance(row, list) and len(row) == len(names) for row in rows)
        return {str(name): [row[i] for row in rows] for i, name in enumerate(names)} if same and rows else None
    inner = list(document.values())
    if not inner or not all(isinstance(value, dict) and value for value in inner):
        return None
    if all(value.keys() == inner[0].keys() for value in inner):
        if [str(key) for key in inner[0]] == [str(i) for i in range(len(inner[0]))]:
            return {name: list(value.values()) for name, value in document.items()} if len(inner) > 1 else None
        if list(document) == [str(i) for i in range(len(inner))] and not any(
            isinstance(cell, dict) for cell in inner[0].values()
        ):
            return {str(name): [value[name] for value in inner] for name in inner[0]}
    if len(inner) > 1 and all(LABELLED & {str(key).lower() for key in value} for value in inner):
        names = dict.fromkeys(name for value in inner for name in value)
        return {"id": list(document)} | {str(name): [value.get(name) for value in inner] for name in names}
    return None


def _json_lines(source: Source) -> tuple[Columns, tuple[int, ...]]:
    lines: list[int] = []
    columns: Columns = {}
    for n, (line, row) in enumerate(source_lines(source)):
        for name, value in row.items():
            if name not in columns:
                if len(columns) >= MOST_COLUMNS:
                    raise InputError(f"{source.path}, line {line}: expected at most {MOST_COLUMNS} fields, found more")
                columns[name] = [None] * n
            columns[name].append(value)
        lines.append(line)
        for values in columns.values():
            if len(values) <= n:
                values.append(None)
    return columns, tuple(lines)
