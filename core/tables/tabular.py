"""Reads a table from outside as columns, with the line of each row: CSV, Parquet, JSON, JSON lines or XLSX.

The content says which of them a file is; its name is not asked.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
import math
import re
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from core.conformal.probabilities import in_double
from core.errors import InputError
from core.records import BoolArray, FloatArray
from core.tables.json_table import MOST_COLUMNS, json_columns
from core.tables.safe_read import check_size, reason, shown

MOST_UNPACKED = 4_000_000_000
"""The most bytes that a Parquet file may unpack to."""
BATCH = 8192
DELIMITERS = ",;\t|"
FORMULA_STARTS = "=+-@\t\r"
HEAD = 1_000_000
"""Bytes of a file's beginning that are looked at."""
SEPARATOR_LINE = re.compile(r'^"?sep=(?P<delimiter>[,;|\t])"?$')
"""The line that Excel writes before a header to name the delimiter."""
MOST_BEFORE = 50
"""The most lines before a header that are skipped."""
COMMA_NUMBER = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?")
TEXT_16 = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


@dataclass(frozen=True, slots=True)
class Sheet:
    """The columns of a file, or of one sheet of a workbook, which is then named.

    Cells of CSV are text, an empty one is missing; others have the file's types. ``lines`` has the line of each row
    where it can't be counted. ``skipped`` lines of a CSV stand before its header.
    """

    path: Path
    table: pa.Table
    kind: str
    lines: tuple[int, ...] | None = None
    name: str = ""
    skipped: int = 0

    @property
    def names(self) -> list[str]:
        """The columns' names."""
        return [str(name) for name in self.table.column_names]

    def where(self, row: int) -> str:
        """The file and the place of a row (counted from 0) in it, as a message begins."""
        if self.kind == "xlsx" and self.lines is not None:
            return f"{self.path}, sheet {self.name!r}, row {self.lines[row]}"
        if self.kind in ("parquet", "json"):
            return f"{self.path}, row {self.lines[row] if self.lines else row + 1}"
        if self.lines is not None:
            return f"{self.path}, line {self.lines[row]}"
        return f"{self.path}, line {2 + self.skipped + row + self._newlines(row)}"

    def part(self, rows: BoolArray, columns: Sequence[str]) -> Sheet:
        """Some rows (n,) and columns, which keep their places in the file."""
        lines = self.lines
        if lines is None and self.kind in ("parquet", "json"):
            lines = tuple(range(1, len(rows) + 1))
        elif lines is None:
            within = np.zeros(len(rows), dtype=np.int64)  # line ends within each row's cells
            for one in self.table.columns:
                if pa.types.is_string(one.type) or pa.types.is_large_string(one.type):
                    within += pc.fill_null(pc.count_substring(one, "\n"), 0).to_numpy()
            lines = tuple((2 + self.skipped + np.arange(len(rows)) + np.cumsum(within) - within).tolist())
        table = self.table.select(list(columns)).filter(pa.array(rows))
        return replace(self, table=table, lines=tuple(np.array(lines)[rows].tolist()))

    def _newlines(self, row: int) -> int:
        """Line ends within the cells of the rows before."""
        before = self.table.slice(0, row)
        texts = [one for one in before.columns if pa.types.is_string(one.type) or pa.types.is_large_string(one.type)]
        counts = [pc.sum(pc.count_substring(column, "\n")).as_py() or 0 for column in texts]
        return int(sum(counts))

    def texts(self, name: str, *, as_is: bool = False) -> list[str]:
        """A column as text, stripped unless ``as_is``; missing cells are empty."""
        cells = ["" if value is None else str(value) for value in self.table[name].to_pylist()]
        return cells if as_is else [cell.strip() for cell in cells]

    def numbers(self, name: str) -> FloatArray:
        """A column as float64, NaN if a cell is missing. Decimal commas and percent signs are understood.

        Raises :class:`InputError` for the first cell that is not a number, or that says NaN.
        """
        column = self.table[name]
        missing = pc.is_null(column).to_numpy(zero_copy_only=False)
        try:
            if pa.types.is_boolean(column.type) or pa.types.is_temporal(column.type):
                raise pa.ArrowInvalid("no number")
            if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
                column = pc.utf8_trim_whitespace(column)
            if not pa.types.is_float32(column.type):
                column = column.cast(pa.float64())
            values: FloatArray = in_double(column.to_numpy(zero_copy_only=False))
        except (pa.ArrowException, ValueError, TypeError):
            cells = self.table[name].to_pylist()
            percent = any(isinstance(cell, str) and cell.strip().endswith("%") for cell in cells)
            read = [as_number(cell, percent=percent) for cell in cells]
            row = next((i for i, number in enumerate(read) if number is None), -1)
            if row >= 0:
                lacks = percent and as_number(cells[row], percent=False) is not None
                wanted = "a percent sign, as in other rows," if lacks else "a number"
                raise InputError(
                    f"{self.where(row)}: expected {wanted} in {name!r}, found {shown(cells[row])}"
                ) from None
            values = np.array(read, dtype=np.float64)
        bad = np.isnan(values) & ~missing
        if bad.any():
            raise InputError(f"{self.where(int(np.argmax(bad)))}: expected a number in {name!r}, found NaN")
        return values


def as_number(cell: Any, *, percent: bool) -> float | None:
    """A cell as a number, NaN if it is missing, None if it is no number; in a column with percent signs, all have one.

    >>> as_number("0,25", percent=False), as_number("25 %", percent=True), as_number("25", percent=True)
    (0.25, 0.25, None)
    """
    if cell is None or (isinstance(cell, str) and not cell.strip()):
        return math.nan
    if isinstance(cell, bool):
        return None
    text = str(cell).strip()
    if percent != text.endswith("%"):
        return None
    text = text.removesuffix("%").strip()
    if COMMA_NUMBER.fullmatch(text):
        text = text.replace(",", ".")
    try:
        return float(text) / (100 if percent else 1)
    except ValueError:
        return None


def open_sheet(path: Path) -> Sheet:
    """Read a table, the first one of a workbook.

    Raises :class:`InputError` that names the file, the line, what was expected and what was found.
    """
    return open_sheets(path)[0]


def open_sheets(path: Path) -> list[Sheet]:
    """Read the tables of a file: one, or one for each sheet of a workbook.

    Raises :class:`InputError` that names the file, the line, what was expected and what was found.
    """
    check_size(path)
    with path.open("rb") as file:
        head = file.read(HEAD)
    if head.startswith(b"PAR1"):
        sheets = [_parquet(path)]
    elif head.startswith(b"PK"):
        sheets = _workbook(path)
    elif head.removeprefix(codecs.BOM_UTF8).lstrip()[:1] in (b"{", b"["):
        sheets = [_json(path, head)]
    else:
        sheets = [_csv(path, head)]
    for sheet in sheets:
        if sheet.table.num_rows == 0:
            raise InputError(f"{path}: expected rows below the header, found none")
        if len(set(sheet.names)) != len(sheet.names):
            twice = next(name for name in sheet.names if sheet.names.count(name) > 1)
            raise InputError(f"{path}, line 1: expected every column once, found {twice!r} again")
    return sheets


def _csv(path: Path, head: bytes) -> Sheet:
    encoding = next((name for mark, name in TEXT_16.items() if head.startswith(mark)), "utf-8-sig")
    try:
        lines = head[: len(head) // 2 * 2].decode(encoding).splitlines() if encoding == "utf-16" else None
        if lines is None:
            begin = head.removeprefix(codecs.BOM_UTF8)
            lines = begin.decode("utf-8", "replace").splitlines()
            begin.splitlines()[before_header(lines)].decode() if lines else ""
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}, line 1: expected text in UTF-8, found byte {error.object[error.start]:#04x}; save it as UTF-8"
        ) from error
    skipped = before_header(lines)
    told = next((found for line in lines[:skipped] if (found := SEPARATOR_LINE.match(line))), None)
    line = lines[skipped] if lines else ""
    delimiter = told["delimiter"] if told else max(DELIMITERS, key=line.count)
    try:
        names = next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error as error:
        raise InputError(
            f"{path}, line 1: expected a header of short names, found {shown(line)} ({reason(error)})"
        ) from error
    if len(names) < 2 or "\0" in line:
        raise InputError(f"{path}, line 1: expected a header with several columns, found {shown(line)}")
    if len(names) > MOST_COLUMNS:
        raise InputError(f"{path}, line 1: expected at most {MOST_COLUMNS} columns, found {len(names)}")
    try:
        table = pa_csv.read_csv(
            io.BytesIO(path.read_bytes().decode("utf-16").encode()) if encoding == "utf-16" else path,
            read_options=pa_csv.ReadOptions(use_threads=False, block_size=1 << 24, skip_rows=skipped),
            parse_options=pa_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            convert_options=pa_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), null_values=[""], strings_can_be_null=True
            ),
        )
    except (pa.ArrowException, OSError, ValueError, UnicodeDecodeError) as error:
        _check_utf8(path)
        said = " ".join(str(error).split())[:160]
        raise InputError(
            f"{path}: expected {len(names)} columns of UTF-8 text in every line, but reading them failed: {said}"
        ) from error
    if line.startswith("#"):
        table = table.rename_columns([names[0].lstrip("# "), *table.column_names[1:]])
    return Sheet(path, table, "csv", skipped=skipped)


def _check_utf8(path: Path) -> None:
    """Raise :class:`InputError` with the first line that is no text in UTF-8."""
    with path.open("rb") as file:
        for n, line in enumerate(file, start=1):
            try:
                line.decode("utf-8-sig")
            except UnicodeDecodeError as error:
                raise InputError(
                    f"{path}, line {n}: expected text in UTF-8, found byte {line[error.start]:#04x}; save it as UTF-8"
                ) from error


def before_header(lines: Sequence[str]) -> int:
    """How many lines of a CSV stand before its header: empty ones, comments (#), Excel's ``sep=``, and titles, which
    fill one cell of several. The last comment is the header where numbers follow it, as numpy writes one.

    >>> before_header(["# mine", "", "Results;;", "A;B;label", "0.5;0.5;A"])
    3
    >>> before_header(["# mine", "# A,B,label", "0.5,0.5,0"])
    1
    """
    for n, line in enumerate(lines[:MOST_BEFORE]):
        cells = max((line.split(mark) for mark in DELIMITERS), key=len)
        title = len(cells) > 2 and sum(bool(cell.strip()) for cell in cells) < 2
        comment = line.startswith("#") and not _names_numbers(line, lines[n + 1 : n + 2])
        if line.strip() and not comment and not title and not SEPARATOR_LINE.match(line):
            return n
    return 0


def _names_numbers(comment: str, after: Sequence[str]) -> bool:
    """Whether a comment has a name for each cell of the line after it, of which two are numbers."""
    names = max((comment.split(mark) for mark in DELIMITERS), key=len)
    cells = max((line.split(mark) for line in after for mark in DELIMITERS), key=len, default=[])
    numbers = [as_number(cell, percent=False) is not None for cell in cells if cell.strip()]
    named = not any(as_number(name.lstrip("# "), percent=False) is not None for name in names)
    return len(cells) == len(names) > 2 and sum(numbers) >= 2 and named


def _workbook(path: Path) -> list[Sheet]:
    """The sheets of a workbook (XLSX) that are tables: a row of names, and rows below it."""
    from openpyxl import load_workbook

    try:
        with zipfile.ZipFile(path) as archive:
            unpacked = sum(info.file_size for info in archive.infolist())
            if "xl/workbook.xml" not in archive.namelist():
                raise InputError(f"{path}: expected a table or a workbook (XLSX), found another zip archive")
        if unpacked > MOST_UNPACKED:
            raise InputError(
                f"{path}: expected a workbook that unpacks to at most {MOST_UNPACKED / 1e9:g} GB, found more"
            )
        with path.open("rb") as file:  # of a path, openpyxl asks the ending
            book = load_workbook(file, read_only=True, data_only=True)
            found = [_worksheet(path, sheet.title, sheet.iter_rows(values_only=True)) for sheet in book.worksheets]
            book.close()
    except InputError:
        raise
    except Exception as error:  # a damaged workbook makes zipfile, the XML reader and openpyxl raise what they like
        raise InputError(f"{path}: expected a whole workbook (XLSX), found none ({type(error).__name__})") from error
    sheets = [sheet for sheet in found if sheet is not None]
    if not sheets:
        raise InputError(f"{path}: expected a sheet with a row of names and rows below it, found none")
    return sheets


def _worksheet(path: Path, name: str, rows: Iterable[tuple[Any, ...]]) -> Sheet | None:
    numbered = ((n, row) for n, row in enumerate(rows, start=1) if sum(cell not in (None, "") for cell in row) > 1)
    _, header = next(numbered, (0, ()))
    names = [str(cell) if cell is not None else "" for cell in header]
    wide = max((i for i, cell in enumerate(names, start=1) if cell), default=0)
    if wide < 2 or wide > MOST_COLUMNS:
        return None
    body = list(numbered)
    if not body:
        return None
    columns = {names[i]: _array([row[i] if i < len(row) else None for _, row in body]) for i in range(wide) if names[i]}
    return Sheet(path, pa.table(columns), "xlsx", tuple(n for n, _ in body), name)


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


def _json(path: Path, head: bytes) -> Sheet:
    columns, lines = json_columns(path, head)
    kind = "json" if lines is None else "jsonl"
    return Sheet(path, pa.table({name: _array(values) for name, values in columns.items()}), kind, lines)


def _array(values: list[Any]) -> pa.Array:
    """Values of a JSON field; numbers and text mixed become text."""
    if any(isinstance(value, float) and value != value for value in values):
        return pa.array([None if value is None else str(value) for value in values], pa.string())
    if any(isinstance(value, (list, dict)) for value in values):  # read cell by cell where a column of lists is meant
        return pa.array([value if value is None or isinstance(value, str) else json.dumps(value) for value in values])
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
