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
from dataclasses import dataclass, field, replace
from itertools import islice
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
from core.tables.encodings import LINE_END, MOST_UNPACKED, Source, opened
from core.tables.json_table import MOST_COLUMNS, Columns, json_columns
from core.tables.safe_read import check_size, reason, shown

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
WIDTHS_OF = 20
"""Rows of a CSV whose widths say which delimiter it has."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """The columns of a file, or of one sheet of a workbook, which is then named.

    Cells of CSV are text, an empty one is missing; others have the file's types. ``lines`` has the line of each row
    where it can't be counted. ``skipped`` lines of a CSV stand before its header. ``encoding`` names that of a text
    where it is a guess. ``short`` is a sentence on the first row that has fewer cells than the header, if there is one.
    ``nested`` has the lists and objects of JSON, which are text in the table.
    """

    path: Path
    table: pa.Table
    kind: str
    lines: tuple[int, ...] | None = None
    name: str = ""
    skipped: int = 0
    encoding: str = ""
    short: str = ""
    nested: dict[str, list[Any]] = field(default_factory=dict)

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

    def rows(self) -> list[dict[str, Any]]:
        """The rows as objects, with the lists and objects of JSON and Parquet as they are."""
        try:
            columns = [self.nested.get(name) or self.table[name].to_pylist() for name in self.names]
        except UnicodeDecodeError as error:
            raise InputError(f"{self.path}: expected text in UTF-8, found a damaged file ({reason(error)})") from error
        return [dict(zip(self.names, row, strict=True)) for row in zip(*columns, strict=True)]

    def part(self, rows: BoolArray, columns: Sequence[str]) -> Sheet:
        """Some rows (n,) and columns, which keep their places in the file."""
        lines = self.lines
        if lines is None and self.kind in ("parquet", "json"):
            lines = tuple(range(1, len(rows) + 1))
        elif lines is None:
            within = np.zeros(len(rows), dtype=np.int64)  # line ends within each row's cells
            for column in self.table.columns:
                if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
                    within += pc.fill_null(pc.count_substring(column, "\n"), 0).to_numpy()
            lines = tuple((2 + self.skipped + np.arange(len(rows)) + np.cumsum(within) - within).tolist())
        table = self.table.select(list(columns)).filter(pa.array(rows))
        nested = {
            name: [value for value, here in zip(values, rows, strict=True) if here]
            for name, values in self.nested.items()
        }
        return replace(self, table=table, lines=tuple(np.array(lines)[rows].tolist()), nested=nested)

    def _newlines(self, row: int) -> int:
        """Line ends within the cells of the rows before."""
        before = self.table.slice(0, row)
        texts = [
            column
            for column in before.columns
            if pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
        ]
        counts = [pc.sum(pc.count_substring(column, "\n")).as_py() or 0 for column in texts]
        return int(sum(counts))

    def texts(self, name: str, *, as_is: bool = False) -> list[str]:
        """A column as text, stripped unless ``as_is``; missing cells are empty."""
        cells = ["" if value is None else str(value) for value in self.table[name].to_pylist()]
        return cells if as_is else [cell.strip() for cell in cells]

    def numbers(self, name: str) -> FloatArray:
        """A column as float64, NaN if a cell is missing. Decimal commas and percent signs are understood. Raises
        :class:`InputError` for the first cell that is not a number, or that says NaN."""
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
    """Read a table, the first one of a workbook. Raises :class:`InputError` that names the file, the line, what was
    expected and what was found."""
    return open_sheets(path)[0]


def open_sheets(path: Path) -> list[Sheet]:
    """Read the tables of a file, which may be compressed: one, or one for each sheet of a workbook. Raises
    :class:`InputError` that names the file, the line, what was expected and what was found."""
    check_size(path)
    try:
        with opened(path) as source:
            return source_sheets(source)
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror or type(error).__name__}") from error


def source_sheets(source: Source) -> list[Sheet]:
    """The tables of an open file, as :func:`open_sheets` reads them."""
    path = source.path
    sheets = [replace(sheet, encoding=source.guessed) for sheet in _read(source)]
    for sheet in sheets:
        if sheet.table.num_rows == 0:
            raise InputError(f"{path}: expected rows below the header, found none")
        if len(set(sheet.names)) != len(sheet.names):
            twice = next(name for name in sheet.names if sheet.names.count(name) > 1)
            raise InputError(f"{path}, line 1: expected every column once, found {twice!r} again")
    return sheets


def open_columns(path: Path) -> tuple[Columns, str]:
    """The cells of each column of a file's first table as Python values, with lists and objects as they are, and the
    encoding of a text where it is a guess (else empty). Raises :class:`InputError` as :func:`open_sheets` does."""
    check_size(path)
    with opened(path) as source:
        head = source.head(HEAD)
        if _is_json(head):
            return json_columns(source, head)[0], source.guessed
    sheet = open_sheet(path)
    return {name: sheet.table[name].to_pylist() for name in sheet.names}, sheet.encoding


def _is_json(head: bytes) -> bool:
    return head.removeprefix(codecs.BOM_UTF8).lstrip()[:1] in (b"{", b"[")


def _read(source: Source) -> list[Sheet]:
    head = source.head(HEAD)
    if head.startswith(b"PAR1"):
        return [_parquet(source)]
    if head.startswith(b"PK"):
        return _workbook(source)
    if _is_json(head):
        return [_json(source, head)]
    return [_csv(source, head)]


def _csv(source: Source, head: bytes) -> Sheet:
    path = source.path
    begin = head.removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace")
    lines = LINE_END.split(begin, MOST_BEFORE + 1)
    skipped = before_header(lines)
    separator = next((match for line in lines[:skipped] if (match := SEPARATOR_LINE.match(line))), None)
    line = lines[skipped]
    if "\N{REPLACEMENT CHARACTER}" in line and _decoded_again(source):  # Arrow does not check names
        return _csv(source, source.head(HEAD))
    records = LINE_END.split(begin, skipped)[-1] if skipped else begin
    delimiter = separator["delimiter"] if separator else _delimiter(line, records, cut=len(head) == HEAD)
    try:
        names = next(csv.reader(io.StringIO(records, newline=""), delimiter=delimiter), [])
    except csv.Error as error:
        raise InputError(
            f"{path}, line 1: expected a header of short names, found {shown(line)} ({reason(error)})"
        ) from error
    if len(names) < 2 or "\0" in line:
        raise InputError(f"{path}, line 1: expected a header with several columns, found {shown(line)}")
    if len(names) > MOST_COLUMNS:
        raise InputError(f"{path}, line 1: expected at most {MOST_COLUMNS} columns, found {len(names)}")
    short = ""
    try:
        table = _arrow_table(source, names, delimiter, skipped)
    except (pa.ArrowException, OSError, ValueError) as error:
        if _decoded_again(source):
            return _csv(source, source.head(HEAD))
        problem = " ".join(str(error).split())[:160]
        failed = InputError(
            f"{path}: expected {len(names)} columns of UTF-8 text in every line, but reading them failed: {problem}"
        )
        failed.__cause__ = error
        table, short = _uneven_table(source, names, delimiter, skipped, failed)
    if line.startswith("#"):
        table = table.rename_columns([names[0].lstrip("# "), *table.column_names[1:]])
    return Sheet(path, table, "csv", skipped=skipped, short=short)


def _decoded_again(source: Source) -> bool:
    """Whether a text turns out to be in another encoding than UTF-8. Damaged text raises :class:`InputError`."""
    before = source.guessed
    source.decode()
    return source.guessed != before


def _delimiter(line: str, records: str, *, cut: bool) -> str:
    """The delimiter that the header has most of; another one if only that gives the first rows the same width.

    ``cut`` says that the text ends within a row.
    """
    likely = sorted((mark for mark in DELIMITERS if mark in line), key=line.count, reverse=True)
    for delimiter in likely:
        try:
            rows = list(islice(csv.reader(io.StringIO(records, newline=""), delimiter=delimiter), WIDTHS_OF))
        except csv.Error:
            continue
        whole = rows[:-1] if cut and 1 < len(rows) < WIDTHS_OF else rows
        if len({len(row) for row in whole if row}) == 1:
            return delimiter
    return likely[0] if likely else DELIMITERS[0]


def _arrow_table(source: Source, names: list[str], delimiter: str, skipped: int) -> pa.Table:
    return pa_csv.read_csv(
        source.path if source.as_it_is else source.file,
        read_options=pa_csv.ReadOptions(use_threads=False, block_size=1 << 24, skip_rows=skipped),
        parse_options=pa_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        convert_options=pa_csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()), null_values=[""], strings_can_be_null=True
        ),
    )


def _uneven_table(
    source: Source, names: list[str], delimiter: str, skipped: int, failed: InputError
) -> tuple[pa.Table, str]:
    """The rows of a CSV whose rows have fewer cells than its header, or more if those are empty; and a sentence on the
    first row that lacks cells. Raises ``failed`` for any other file."""
    k, short = len(names), ""
    columns: list[list[str | None]] = [[] for _ in names]
    text = io.TextIOWrapper(source.file, encoding="utf-8-sig", newline="")
    try:
        for _ in range(skipped):
            text.readline()
        reader = csv.reader(text, delimiter=delimiter, strict=True)
        next(reader)
        begin = 1 + skipped + reader.line_num
        for row in reader:
            if len(row) > k and any(row[k:]):
                raise failed
            if 0 < len(row) < k and not short:
                short = f"{source.path}, line {begin}: expected {k} columns, as in the header, found {len(row)}"
            for column, cell in zip(columns, [*row, *[""] * (k - len(row))] if row else [], strict=False):
                column.append(cell or None)
            begin = 1 + skipped + reader.line_num
    except (csv.Error, StopIteration):
        raise failed from failed.__cause__
    finally:
        text.detach()
    return pa.Table.from_arrays([pa.array(column, pa.string()) for column in columns], names=names), short


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
    """Whether a comment has a name for each cell of the line after it, where two cells are numbers."""
    names = max((comment.split(mark) for mark in DELIMITERS), key=len)
    cells = max((line.split(mark) for line in after for mark in DELIMITERS), key=len, default=[])
    numbers = [as_number(cell, percent=False) is not None for cell in cells if cell.strip()]
    named = not any(as_number(name.lstrip("# "), percent=False) is not None for name in names)
    return len(cells) == len(names) > 2 and sum(numbers) >= 2 and named


def _workbook(source: Source) -> list[Sheet]:
    """The sheets of a workbook (XLSX) that are tables: a row of names, and rows below it."""
    from openpyxl import load_workbook

    path = source.path
    try:
        with zipfile.ZipFile(source.file) as archive:
            unpacked = sum(info.file_size for info in archive.infolist())
            if "xl/workbook.xml" not in archive.namelist():
                raise InputError(f"{path}: expected a table or a workbook (XLSX), found another zip archive")
        if unpacked > MOST_UNPACKED:
            raise InputError(
                f"{path}: expected a workbook that unpacks to at most {MOST_UNPACKED / 1e9:g} GB, found more"
            )
        source.file.seek(0)
        book = load_workbook(source.file, read_only=True, data_only=True)  # of a path, openpyxl asks the ending
        worksheets = [_worksheet(path, sheet.title, sheet.iter_rows(values_only=True)) for sheet in book.worksheets]
        book.close()
    except InputError:
        raise
    except Exception as error:  # a damaged workbook makes zipfile, the XML reader and openpyxl raise anything
        raise InputError(f"{path}: expected a whole workbook (XLSX), found none ({type(error).__name__})") from error
    sheets = [sheet for sheet in worksheets if sheet is not None]
    if not sheets:
        raise InputError(f"{path}: expected a sheet with a row of names and rows below it, found none")
    return sheets


def _worksheet(path: Path, name: str, rows: Iterable[tuple[Any, ...]]) -> Sheet | None:
    filled = ((n, row) for n, row in enumerate(rows, start=1) if sum(cell not in (None, "") for cell in row) > 1)
    _, header = next(filled, (0, ()))
    names = [str(cell) if cell is not None else "" for cell in header]
    wide = max((i for i, cell in enumerate(names, start=1) if cell), default=0)
    if wide < 2 or wide > MOST_COLUMNS:
        return None
    body = list(filled)
    if not body:
        return None
    columns = {names[i]: _array([row[i] if i < len(row) else None for _, row in body]) for i in range(wide) if names[i]}
    return Sheet(path, pa.table(columns), "xlsx", tuple(n for n, _ in body), name)


def _parquet(source: Source) -> Sheet:
    path = source.path
    try:
        with pq.ParquetFile(path if source.as_it_is else source.file, memory_map=False) as file:
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
            table = pa.Table.from_batches(batches, file.schema_arrow)
            table.column_names  # noqa: B018 - names that are not UTF-8 raise an error
            return Sheet(path, table, "parquet")
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InputError(f"{path}: expected a whole Parquet file, found none ({str(error)[:120]})") from error


def _json(source: Source, head: bytes) -> Sheet:
    columns, lines = json_columns(source, head)
    kind = "json" if lines is None else "jsonl"
    nested = {name: values for name, values in columns.items() if any(isinstance(v, (list, dict)) for v in values)}
    table = pa.table({name: _array(values) for name, values in columns.items()})
    return Sheet(source.path, table, kind, lines, nested=nested)


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
