"""The columns of JSON tables: JSON lines, lists of objects, lists for each column, and frames as pandas writes them."""

from __future__ import annotations

import codecs
import json
from pathlib import Path
from typing import Any

from core.errors import InputError
from core.files.json_text import loads
from core.tables.safe_read import LARGEST_JSON, check_size, json_lines, reason, shown

MOST_COLUMNS = 500
Columns = dict[str, list[Any]]
"""The values of each column."""
LABELLED = {"label", "answer", "gold", "target", "correct_answer"}
"""Keys by which an object of objects is one of questions by their ids."""


def json_columns(path: Path, head: bytes) -> tuple[Columns, tuple[int, ...] | None]:
    """The columns of JSON lines, with each row's line, or of one document: a list of objects, or an object with a list
    for each column.

    ``head`` is the file's beginning. Raises :class:`InputError` that names what was expected and what was found.
    """
    begin = head.removeprefix(codecs.BOM_UTF8).strip()
    first, _, more = begin.partition(b"\n")
    if begin[:1] == b"{" and more and _is_json(first):
        return _json_lines(path)
    document = _document(path)
    columns = _columns(document)
    if columns is None and isinstance(document, dict) and not more:
        return _json_lines(path)
    if columns is None:
        raise InputError(
            f"{path}: expected a list of objects or a list for each column, found {type(document).__name__} "
            f"{shown(document)}"
        )
    if len(columns) > MOST_COLUMNS:
        raise InputError(f"{path}: expected at most {MOST_COLUMNS} fields, found {len(columns)}")
    return columns, None


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _document(path: Path) -> Any:
    if (size := check_size(path)) > LARGEST_JSON:
        raise InputError(
            f"{path}: expected a JSON file of at most {LARGEST_JSON / 1e6:g} MB, found {size / 1e6:.0f} MB; JSON lines "
            "or Parquet may be larger"
        )
    try:
        return loads(path.read_bytes().decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}: expected text in UTF-8, found byte {error.object[error.start]:#04x}; save it as UTF-8"
        ) from error
    except ValueError as error:
        raise InputError(f"{path}: expected a whole JSON document, found none ({reason(error)})") from error


def _columns(document: Any) -> Columns | None:
    """The columns of a JSON document; None if it is no table."""
    if isinstance(document, dict):
        if (found := pandas_columns(document)) is not None:
            return found
        lists = {name: value for name, value in document.items() if isinstance(value, list)}
        if len(lists) >= 2 and len(lists) == len(document) and len({len(value) for value in lists.values()}) == 1:
            return lists
        inner = [value for value in document.values() if isinstance(value, dict)]
        if not lists and len(inner) == 1:  # {"data": {"items": [...]}}
            return _columns(inner[0])
        rows = next((value for value in lists.values() if value and all(isinstance(row, dict) for row in value)), None)
        if rows is None or len(lists) > 1:
            return None
        about = {name: value for name, value in document.items() if isinstance(value, (str, int, float))}
        document = [about | row for row in rows]
    if not (isinstance(document, list) and document and all(isinstance(row, dict) for row in document)):
        return None
    names = list(dict.fromkeys(name for row in document for name in row))
    return {name: [row.get(name) for row in document] for name in names}


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
    if not inner or not all(isinstance(value, dict) and value and value.keys() == inner[0].keys() for value in inner):
        return None
    if [str(key) for key in inner[0]] == [str(i) for i in range(len(inner[0]))]:
        return {name: list(value.values()) for name, value in document.items()} if len(inner) > 1 else None
    if list(document) == [str(i) for i in range(len(inner))] and not any(
        isinstance(cell, dict) for cell in inner[0].values()
    ):
        return {str(name): [value[name] for value in inner] for name in inner[0]}
    if len(inner) > 1 and inner[0].keys() & LABELLED:
        return {"id": list(document)} | {str(name): [value[name] for value in inner] for name in inner[0]}
    return None


def _json_lines(path: Path) -> tuple[Columns, tuple[int, ...]]:
    lines: list[int] = []
    columns: Columns = {}
    for n, (line, row) in enumerate(json_lines(path)):
        for name, value in row.items():
            if name not in columns:
                if len(columns) >= MOST_COLUMNS:
                    raise InputError(f"{path}, line {line}: expected at most {MOST_COLUMNS} fields, found more")
                columns[name] = [None] * n
            columns[name].append(value)
        lines.append(line)
        for values in columns.values():
            if len(values) <= n:
                values.append(None)
    return columns, tuple(lines)
