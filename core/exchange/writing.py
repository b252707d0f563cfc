"""Writes tables: CSV, Parquet, JSON lines. :mod:`core.exchange.workbook` writes XLSX.

A text that a spreadsheet would read as a formula gets an apostrophe in front in CSV, as in a workbook
(:func:`core.tables.tabular.neutral`); Parquet keeps it as it is, because nothing there computes.
"""

import io
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from core.errors import InputError
from core.tables.tabular import neutral

if TYPE_CHECKING:  # slow to import
    import pandas as pd


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


def frame_to_csv(frame: "pd.DataFrame") -> bytes:
    """A frame as pandas writes it, in UTF-8 and without its index, with every text made harmless for a spreadsheet."""

    def harmless(cell: Any) -> Any:
        return neutral(cell) if isinstance(cell, str) else cell

    texts = {str(name): frame[name].map(harmless) for name in frame.select_dtypes(exclude="number")}
    return frame.assign(**texts).rename(columns=harmless).to_csv(index=False).encode()


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
    "tex": "application/x-tex",
    "bib": "application/x-bibtex",
    "txt": "text/plain",
    "svg": "image/svg+xml",
    "pdf": "application/pdf",
    "png": "image/png",
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
