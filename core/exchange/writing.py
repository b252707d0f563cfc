"""Writes tables: CSV, Parquet, XLSX with one sheet per table, Markdown.

A text that a spreadsheet would take for a formula gets an apostrophe in front, in CSV, XLSX and Markdown
(:func:`core.exchange.tabular.neutral`); Parquet keeps it as it is, because nothing there computes.
"""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from core.errors import InputError
from core.exchange.tabular import neutral

XLSX_ROWS = 1_048_575
XLSX_CELL = 32_767
SHEET_NAME = 31
NOT_IN_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
DIGITS = 4


def neutralised(table: pa.Table) -> pa.Table:
    """The table with every text made harmless for a spreadsheet."""
    columns = []
    for column in table.columns:
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            column = pa.array([None if text is None else neutral(text) for text in column.to_pylist()], pa.string())
        columns.append(column)
    return pa.table(columns, names=[neutral(str(name)) for name in table.column_names])


def to_csv(table: pa.Table) -> bytes:
    """UTF-8 with a header; numbers with all their digits."""
    into = io.BytesIO()
    pa_csv.write_csv(neutralised(table), into)
    return into.getvalue()


def to_parquet(table: pa.Table) -> bytes:
    """Parquet, compressed."""
    into = io.BytesIO()
    pq.write_table(table, into, compression="zstd")
    return into.getvalue()


def to_json_lines(table: pa.Table) -> bytes:
    """One JSON object per row. Missing values and NaN are left out; infinite values are text (``-inf``)."""

    def value(cell: Any) -> Any:
        return str(cell) if isinstance(cell, float) and math.isinf(cell) else cell

    rows = [
        {name: value(cell) for name, cell in row.items() if cell is not None and cell == cell}
        for row in table.to_pylist()
    ]
    return "".join(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows).encode()


def to_xlsx(tables: Mapping[str, pa.Table]) -> bytes:
    """A workbook with one sheet per table. Raises :class:`InputError` if a table has more rows than a sheet holds."""
    from openpyxl import Workbook

    book = Workbook(write_only=True)
    for name, table in tables.items():
        if table.num_rows > XLSX_ROWS:
            raise InputError(
                f"{name} has {table.num_rows:,} rows and a sheet of XLSX holds {XLSX_ROWS:,}; use CSV or Parquet"
            )
        sheet = book.create_sheet(re.sub(r"[\[\]:*?/\\]", " ", name)[:SHEET_NAME])
        sheet.freeze_panes = "A2"
        sheet.append([_cell(sheet, str(column)) for column in table.column_names])
        for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
            sheet.append([_cell(sheet, value) for value in row])
    into = io.BytesIO()
    book.save(into)
    return into.getvalue()


def _cell(sheet: Any, value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    if not isinstance(value, str):
        return value
    from openpyxl.cell import WriteOnlyCell

    cell = WriteOnlyCell(sheet, value=NOT_IN_XML.sub("", neutral(value))[:XLSX_CELL])
    cell.data_type = "s"  # text, whatever it begins with
    return cell


def to_markdown(tables: Mapping[str, pa.Table], *, title: str = "", notes: tuple[str, ...] = ()) -> bytes:
    """A document with a table under each name; numbers with four digits."""
    parts = [f"# {_plain(title)}\n"] if title else []
    parts += [f"{_plain(note)}\n" for note in notes]
    for name, table in tables.items():
        parts.append(f"## {_plain(name)}\n")
        head = [_plain(str(column)) for column in table.column_names]
        numeric = [pa.types.is_floating(t) or pa.types.is_integer(t) for t in table.schema.types]
        lines = [head, ["---:" if is_number else "---" for is_number in numeric]]
        lines += [
            [_shown(value) for value in row]
            for row in zip(*(column.to_pylist() for column in table.columns), strict=True)
        ]
        parts.append("\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n")
    return "\n".join(parts).encode()


def _shown(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float):
        return f"{value:.{DIGITS}f}" if math.isfinite(value) else ("∞" if value > 0 else "−∞")
    return _plain(str(value))


def _plain(text: str) -> str:
    return re.sub(r"([\\|<>`*\[\]])", r"\\\1", " ".join(neutral(text).split()))


ONE_TABLE: dict[str, Callable[[pa.Table], bytes]] = {
    "csv": to_csv,
    "parquet": to_parquet,
    "jsonl": to_json_lines,
}
"""From a format to what makes a file of one table."""

MEDIA_TYPES = {
    "csv": "text/csv",
    "parquet": "application/vnd.apache.parquet",
    "jsonl": "application/jsonl",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "md": "text/markdown",
    "json": "application/json",
    "zip": "application/zip",
    "html": "text/html",
}


def write(folder: Path, name: str, content: bytes) -> Path:
    """Put a file into a folder, which is made where it is missing. Raises :class:`InputError` if it can't be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / name
        path.write_bytes(content)
    except OSError as error:
        raise InputError(f"{folder / name} can't be written: {error.strerror}") from error
    return path
