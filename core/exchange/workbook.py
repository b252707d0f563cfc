"""Writes tables as an XLSX workbook: Office Open XML, ECMA-376, part 1, chapter 18.

Every cell of a column is written by the same few steps of Arrow on the whole column, and a sheet goes into the archive
in batches of rows. A writer that makes each cell an object takes 40 times as long (tests/benchmarks/RESULTS.md).

Texts stand in their cells (``inlineStr``), so no spreadsheet takes one for a formula, and a text that begins like one
gets an apostrophe in front all the same, because a person may save the sheet as CSV
(:func:`core.tables.tabular.neutral`).
"""

import io
import re
import zipfile
from collections.abc import Mapping
from types import MappingProxyType
from typing import IO
from xml.sax.saxutils import escape

import pyarrow as pa
import pyarrow.compute as pc

from core.errors import InputError
from core.tables.tabular import neutral

ROWS = 1_048_575
"""The rows that a sheet holds below its header."""
CELL = 32_767
"""The characters that a cell holds."""
NAME = 31
"""The characters that a sheet's name holds."""
NOT_IN_XML = r"[\x00-\x08\x0b\x0c\x0e-\x1f\x{fffe}\x{ffff}]"
FORMULA = r"^('*[=+\-@\t\r])"
"""What :func:`core.tables.tabular.neutral` puts an apostrophe in front of."""
BATCH = 4096
NARROWEST, WIDEST = 8, 60
"""A column's width in characters."""
MEASURED = 200
"""Rows whose texts decide how wide a column is."""

FORMATS = ("General", "#,##0", "0.0%", "0.00", "0.000", "0.0000", "0.0")
"""The number formats of the cells' styles, in the order of the styles; the header's style comes after them."""
FORMAT_OF = (
    (re.compile(r"^(accuracy|coverage|empty_rate|letter_mass)(_low|_high)?$"), "0.0%"),
    (re.compile(r"^(mean_set_size|set_size_low|set_size_high)$"), "0.00"),
    (re.compile(r"^(mean_)?confidence( \d+)?$"), "0.0%"),
    (re.compile(r"^right( \d+)?$"), "General"),
    (re.compile(r"^threshold$"), "General"),  # it may differ from 1 by less than four digits show
    (re.compile(r"^(alpha|uacc.*|ece.*|brier.*|nll|p_.*|p|.*_p_value)$"), "0.000"),
)
"""The number format of a column of fractions by its name; any other has four digits."""

CONTENT_TYPES = (
    '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/>'
    '<Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.'
    'sheet.main+xml"/>'
    '<Override PartName="/xl/styles.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.'
    'styles+xml"/>{sheets}</Types>'
)
SHEET_TYPE = (
    '<Override PartName="/xl/worksheets/sheet{i}.xml" ContentType="application/vnd.openxmlformats-officedocument.'
    'spreadsheetml.worksheet+xml"/>'
)
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'


def workbook(tables: Mapping[str, pa.Table], formats: Mapping[str, str] = MappingProxyType({})) -> bytes:
    """A workbook with one sheet per table: columns as wide as their texts, numbers with a format each, a header that
    stays in place and filters. Missing values and NaN are empty cells; infinite values are texts (``inf``).

    ``formats`` maps columns to one of :data:`FORMATS`; the names of other columns decide. Raises :class:`InputError` if
    a table has more rows than a sheet holds, or if there is no table.
    """
    if not tables:
        raise InputError("a workbook needs at least one table, got none")
    for name, table in tables.items():
        if table.num_rows > ROWS:
            raise InputError(
                f"{name} has {table.num_rows:,} rows and a sheet of XLSX holds {ROWS:,}; use CSV or Parquet"
            )
    names = _sheet_names(list(tables))
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        places = range(1, len(names) + 1)
        archive.writestr("[Content_Types].xml", CONTENT_TYPES.format(sheets="".join(map(_sheet_type, places))))
        archive.writestr("_rels/.rels", _relationships({"rId1": ("officeDocument", "xl/workbook.xml")}))
        links = {f"rId{i}": ("worksheet", f"worksheets/sheet{i}.xml") for i in places}
        archive.writestr("xl/_rels/workbook.xml.rels", _relationships(links | {"rId0": ("styles", "styles.xml")}))
        archive.writestr("xl/workbook.xml", _book(names, list(tables.values())))
        archive.writestr("xl/styles.xml", _styles())
        for i, table in zip(places, tables.values(), strict=True):
            with archive.open(f"xl/worksheets/sheet{i}.xml", "w") as sheet:
                _write_sheet(sheet, table, formats, selected=i == 1)
    return into.getvalue()


def _sheet_type(i: int) -> str:
    return SHEET_TYPE.format(i=i)


def _sheet_names(names: list[str]) -> list[str]:
    """The tables' names without what a sheet's name can't have, no two of them alike."""
    sheet_names: list[str] = []
    for name in names:
        short = re.sub(r"[\[\]:*?/\\\x00-\x1f]", " ", name)[:NAME].strip("' ") or "table"
        taken, number = {sheet_name.casefold() for sheet_name in sheet_names}, 2
        unique = short
        while unique.casefold() in taken:
            end = f" {number}"
            unique, number = short[: NAME - len(end)] + end, number + 1
        sheet_names.append(unique)
    return sheet_names


def _relationships(links: Mapping[str, tuple[str, str]]) -> str:
    relationships = "".join(
        f'<Relationship Id="{key}" Type="{OFFICE}/{kind}" Target="{target}"/>' for key, (kind, target) in links.items()
    )
    return f'{HEAD}<Relationships xmlns="{PACKAGE}">{relationships}</Relationships>'


def _book(names: list[str], tables: list[pa.Table]) -> str:
    quoted = {'"': "&quot;"}
    sheets = "".join(
        f'<sheet name="{escape(name, quoted)}" sheetId="{i}" r:id="rId{i}"/>' for i, name in enumerate(names, start=1)
    )
    # A spreadsheet keeps the range of a sheet's filter as a hidden name beside it.
    filters = "".join(
        f'<definedName name="_xlnm._FilterDatabase" localSheetId="{i}" hidden="1">{_quoted(name)}!$A$1:'
        f"${_letters(max(table.num_columns, 1))}${table.num_rows + 1}</definedName>"
        for i, (name, table) in enumerate(zip(names, tables, strict=True))
    )
    return (
        f'{HEAD}<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>{sheets}</sheets>'
        f"<definedNames>{filters}</definedNames></workbook>"
    )


def _quoted(name: str) -> str:
    return escape("'{}'".format(name.replace("'", "''")))


def _styles() -> str:
    """The styles: one for each number format, and the header's, which is bold on grey."""
    own = "".join(
        f'<numFmt numFmtId="{164 + i}" formatCode="{form}"/>' for i, form in enumerate(FORMATS) if form != "General"
    )
    cells = "".join(
        f'<xf numFmtId="{164 + i if form != "General" else 0}" fontId="0" fillId="0" borderId="0" xfId="0" '
        'applyNumberFormat="1"/>'
        for i, form in enumerate(FORMATS)
    )
    fill = '<fill><patternFill patternType="{}">{}</patternFill></fill>'
    grey = '<fgColor rgb="FFE9ECEF"/><bgColor indexed="64"/>'
    return (
        f'{HEAD}<styleSheet xmlns="{MAIN}"><numFmts count="{len(FORMATS) - 1}">{own}</numFmts>'
        '<fonts count="2"><font><sz val="11"/><name val="Calibri"/></font>'
        '<font><b/><sz val="11"/><name val="Calibri"/></font></fonts>'
        f'<fills count="3">{fill.format("none", "")}{fill.format("gray125", "")}{fill.format("solid", grey)}</fills>'
        '<borders count="1"><border/></borders>'
        '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>'
        f'<cellXfs count="{len(FORMATS) + 1}">{cells}'
        '<xf numFmtId="0" fontId="1" fillId="2" borderId="0" xfId="0" applyFont="1" applyFill="1"/></cellXfs>'
        '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>'
    )


def _write_sheet(into: IO[bytes], table: pa.Table, formats: Mapping[str, str], *, selected: bool) -> None:
    columns = max(table.num_columns, 1)
    names = [str(name) for name in table.column_names]
    widths = "".join(
        f'<col min="{i}" max="{i}" width="{_width(name, table.column(i - 1))}" customWidth="1"/>'
        for i, name in enumerate(names, start=1)
    )
    header = "".join(
        f'<c r="{_letters(i)}1" t="inlineStr" s="{len(FORMATS)}"><is><t>{escape(_plain(name))}</t></is></c>'
        for i, name in enumerate(names, start=1)
    )
    into.write(
        (
            f'{HEAD}<worksheet xmlns="{MAIN}"><sheetViews><sheetView workbookViewId="0"'
            f'{" tabSelected=" + chr(34) + "1" + chr(34) if selected else ""}><pane ySplit="1" topLeftCell="A2" '
            'activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>'
            f'{f"<cols>{widths}</cols>" if widths else ""}<sheetData><row r="1">{header}</row>'
        ).encode()
    )
    for start in range(0, table.num_rows, BATCH):
        into.write(_rows(table.slice(start, BATCH).combine_chunks(), start + 2, formats))
    end = f"{_letters(columns)}{table.num_rows + 1}"
    into.write(f'</sheetData><autoFilter ref="A1:{end}"/></worksheet>'.encode())


def _rows(batch: pa.Table, first: int, formats: Mapping[str, str]) -> bytes:
    """The XML of a batch of rows, numbered from ``first``."""
    numbers = pa.array([str(first + i) for i in range(batch.num_rows)], pa.large_string())
    cells = [
        _cells(name, column.chunk(0) if column.num_chunks else pa.array([], column.type), _letters(i), numbers, formats)
        for i, (name, column) in enumerate(zip(batch.column_names, batch.columns, strict=True), start=1)
    ]
    # (rows,) texts, one for each row; a missing cell adds nothing
    rows = pc.binary_join_element_wise(
        *(_text(part) if isinstance(part, str) else part for part in ('<row r="', numbers, '">', *cells, "</row>")),
        _text(""),
        null_handling="replace",
        null_replacement="",
    )
    return "".join(rows.to_pylist()).encode()


def _cells(name: str, column: pa.Array, letters: str, numbers: pa.Array, formats: Mapping[str, str]) -> pa.Array:
    """The XML of a column's cells, (rows,); that of a missing one is missing."""
    kind = column.type
    if pa.types.is_boolean(kind):
        return _wrapped(letters, numbers, ' t="b"><v>', pc.cast(column.cast(pa.int8()), pa.large_string()), "</v></c>")
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        style = f' s="{FORMATS.index(formats.get(name) or _number_format(str(name), kind))}"><v>'
        if pa.types.is_integer(kind):
            return _wrapped(letters, numbers, style, pc.cast(column, pa.large_string()), "</v></c>")
        finite = pc.if_else(pc.is_finite(column), column, None)
        cells = _wrapped(letters, numbers, style, pc.cast(finite, pa.large_string()), "</v></c>")
        endless = pc.if_else(pc.is_inf(column), column, None)
        if endless.null_count == len(endless):
            return cells
        return pc.coalesce(cells, _texts(letters, numbers, pc.cast(endless, pa.large_string())))
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        column = pa.array([None if value is None else str(value) for value in column.to_pylist()], pa.large_string())
    return _texts(letters, numbers, column.cast(pa.large_string()))


def _texts(letters: str, numbers: pa.Array, column: pa.Array) -> pa.Array:
    column = pc.replace_substring_regex(column, NOT_IN_XML, "")
    column = pc.replace_substring_regex(column, FORMULA, r"'\1")
    column = pc.utf8_slice_codeunits(column, 0, CELL)
    for plain, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\r", "&#13;")):
        column = pc.replace_substring(column, plain, entity)
    return _wrapped(letters, numbers, ' t="inlineStr"><is><t xml:space="preserve">', column, "</t></is></c>")


def _wrapped(letters: str, numbers: pa.Array, before: str, values: pa.Array, after: str) -> pa.Array:
    parts = (_text(f'<c r="{letters}'), numbers, _text(f'"{before}'), values, _text(after), _text(""))
    return pc.binary_join_element_wise(*parts, null_handling="emit_null")


def _text(value: str) -> pa.Scalar:
    return pa.scalar(value, pa.large_string())


def _number_format(name: str, kind: pa.DataType) -> str:
    if pa.types.is_integer(kind):
        return "General" if name in ("seed", "bin") else "#,##0"
    return next((form for names, form in FORMAT_OF if names.match(name)), "0.0000")


def _plain(text: str) -> str:
    return re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", "", neutral(text))[:CELL]


def _width(name: str, column: pa.ChunkedArray) -> int:
    """The characters that a column needs for its name, its filter's arrow and its first texts."""
    longest = len(name) + 3
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        shown = pc.max(pc.utf8_length(column.slice(0, MEASURED))).as_py() or 0
        longest = max(longest, shown + 1)
    return max(NARROWEST, min(WIDEST, longest))


def _letters(column: int) -> str:
    """A column's name: 1 is A, 27 is AA."""
    name = ""
    while column:
        column, place = divmod(column - 1, 26)
        name = chr(65 + place) + name
    return name
