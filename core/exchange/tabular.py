"""Reads a table from outside as columns: CSV, Parquet or JSON lines, with the line of each row."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from core.errors import InputError
from core.exchange.safe_read import check_size, json_lines, shown
from core.records import FloatArray

MOST_COLUMNS = 500
MOST_UNPACKED = 4_000_000_000
"""The most bytes that a Parquet file may unpack to."""
BATCH = 8192
DELIMITERS = ",;\t|"
ENDINGS = (".csv", ".tsv", ".parquet", ".jsonl", ".ndjson")
FORMULA_STARTS = "=+-@\t\r"


@dataclass(frozen=True, slots=True)
class Sheet:
    """The columns of a file. Cells of CSV are text, an empty one is missing; others have the file's types."""

    path: Path
    table: pa.Table
    kind: str
    lines: tuple[int, ...] | None = None

    @property
    def names(self) -> list[str]:
        """The columns' names."""
        return [str(name) for name in self.table.column_names]

    def where(self, row: int) -> str:
        """The file and the place of a row (counted from 0) in it, as a message begins."""
        if self.kind == "parquet":
            return f"{self.path}, row {row + 1}"
        if self.lines is not None:
            return f"{self.path}, line {self.lines[row]}"
        return f"{self.path}, line {2 + row + self._newlines(row)}"

    def _newlines(self, row: int) -> int:
        """Line ends within the cells of the rows before."""
        before = self.table.slice(0, row)
        counts = [pc.sum(pc.count_substring(column, "\n")).as_py() or 0 for column in before.columns]
        return int(sum(counts))

    def texts(self, name: str, *, as_is: bool = False) -> list[str]:
        """A column as text, stripped unless ``as_is``; missing cells are empty."""
        cells = ["" if value is None else str(value) for value in self.table[name].to_pylist()]
        return cells if as_is else [cell.strip() for cell in cells]

    def numbers(self, name: str) -> FloatArray:
        """A column as float64, NaN if a cell is missing.

        Raises :class:`InputError` for the first cell that is not a number, or that says NaN.
        """
        column = self.table[name]
        missing = pc.is_null(column).to_numpy(zero_copy_only=False)
        try:
            if pa.types.is_boolean(column.type) or pa.types.is_temporal(column.type):
                raise pa.ArrowInvalid("no number")
            if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
                column = pc.utf8_trim_whitespace(column)
            values: FloatArray = column.cast(pa.float64()).to_numpy(zero_copy_only=False).astype(np.float64)
        except (pa.ArrowException, ValueError, TypeError):
            row = next(i for i, cell in enumerate(self.table[name].to_pylist()) if not _is_number(cell))
            raise InputError(
                f"{self.where(row)}: expected a number in {name!r}, found {shown(self.table[name][row].as_py())}"
            ) from None
        bad = np.isnan(values) & ~missing
        if bad.any():
            raise InputError(f"{self.where(int(np.argmax(bad)))}: expected a number in {name!r}, found NaN")
        return values


def _is_number(cell: Any) -> bool:
    if cell is None:
        return True
    if isinstance(cell, bool):
        return False
    try:
        float(cell)
    except (TypeError, ValueError):
        return False
    return True


def open_sheet(path: Path) -> Sheet:
    """Read a table; :class:`InputError` names the file, the line, what was expected and what was found."""
    check_size(path)
    ending = path.suffix.lower()
    if ending in (".csv", ".tsv"):
        sheet = _csv(path)
    elif ending == ".parquet":
        sheet = _parquet(path)
    elif ending in (".jsonl", ".ndjson"):
        sheet = _json_lines(path)
    else:
        raise InputError(
            f"{path}: expected a table that ends in {', '.join(ENDINGS)}, found {path.suffix or 'no ending'}"
        )
    if sheet.table.num_rows == 0:
        raise InputError(f"{path}: expected rows below the header, found none")
    if len(set(sheet.names)) != len(sheet.names):
        twice = next(name for name in sheet.names if sheet.names.count(name) > 1)
        raise InputError(f"{path}, line 1: expected every column once, found {twice!r} again")
    return sheet


def _csv(path: Path) -> Sheet:
    with path.open("rb") as file:
        head = file.readline(1_000_000)
    try:
        line = head.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}, line 1: expected text in UTF-8, found byte {head[error.start]:#04x}") from error
    delimiter = max(DELIMITERS, key=line.count)
    names = next(csv.reader([line], delimiter=delimiter), [])
    if len(names) < 2 or "\0" in line:
        raise InputError(f"{path}, line 1: expected a header with several columns, found {shown(line)}")
    if len(names) > MOST_COLUMNS:
        raise InputError(f"{path}, line 1: expected at most {MOST_COLUMNS} columns, found {len(names)}")
    try:
        table = pa_csv.read_csv(
            path,
            read_options=pa_csv.ReadOptions(use_threads=False, block_size=1 << 24),
            parse_options=pa_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            convert_options=pa_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), null_values=[""], strings_can_be_null=True
            ),
        )
    except (pa.ArrowException, OSError, ValueError, UnicodeDecodeError) as error:
        said = " ".join(str(error).split())[:160]
        raise InputError(
            f"{path}: expected {len(names)} columns of UTF-8 text in every line, found otherwise ({said})"
        ) from (error)
    return Sheet(path, table, "csv")


def _parquet(path: Path) -> Sheet:
    try:
        with pq.ParquetFile(path, memory_map=False) as file:
            if file.metadata.num_columns > MOST_COLUMNS:
                raise InputError(f"{path}: expected at most {MOST_COLUMNS} columns, found {file.metadata.num_columns}")
            batches, unpacked = [], 0
            for batch in file.iter_batches(batch_size=BATCH):  # a dictionary may hide how much there is
                unpacked += batch.nbytes
                if unpacked > MOST_UNPACKED:
                    raise InputError(
                        f"{path}: expected a file that unpacks to at most {MOST_UNPACKED / 1e9:g} GB, found more"
                    )
                batches.append(batch)
            return Sheet(path, pa.Table.from_batches(batches, file.schema_arrow), "parquet")
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InputError(f"{path}: expected a whole Parquet file, found none ({str(error)[:120]})") from error


def _json_lines(path: Path) -> Sheet:
    lines: list[int] = []
    columns: dict[str, list[Any]] = {}
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
    arrays = {name: _array(values) for name, values in columns.items()}
    return Sheet(path, pa.table(arrays), "jsonl", tuple(lines))


def _array(values: list[Any]) -> pa.Array:
    """Values of a JSON field; numbers and text mixed become text."""
    if any(isinstance(value, float) and value != value for value in values):
        return pa.array([None if value is None else str(value) for value in values], pa.string())
    try:
        return pa.array(values)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        return pa.array([None if value is None else str(value) for value in values], pa.string())


def neutral(text: str) -> str:
    """The text with an apostrophe in front if a spreadsheet would take it for a formula.

    >>> neutral("=1+1")
    "'=1+1"
    """
    return f"'{text}" if text.lstrip("'")[:1] in tuple(FORMULA_STARTS) else text


def meant(text: str) -> str:
    """The inverse of :func:`neutral`.

    >>> meant("'=1+1")
    '=1+1'
    """
    return text[1:] if text.startswith("'") and text.lstrip("'")[:1] in tuple(FORMULA_STARTS) else text
