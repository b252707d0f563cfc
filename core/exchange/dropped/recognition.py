"""The kind of a dropped file, by its content: asked of each record of :data:`~.kinds.KINDS`.

A name is asked only where two files of a run have to find each other, never for what a file is.
"""

import codecs
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from backports.zstd import zipfile

from core.errors import InputError
from core.exchange.archive import DAMAGED
from core.exchange.dropped.kind import Kind, SheetView
from core.exchange.dropped.kinds import KINDS, UNCLEAR
from core.exchange.dropped.other_tools import check_delimiters
from core.exchange.unpickle import load_arrays
from core.models.perplexity import conversation_files
from core.storage.json_text import loads
from core.tables.encodings import LINE_END, opened
from core.tables.json_table import first_line
from core.tables.safe_read import check_size, json_value
from core.tables.tabular import Sheet, before_header, open_sheets

HEAD = 1 << 20
"""Bytes of a file's beginning that are looked at."""


def kind_of(path: Path) -> str:
    """The kind of a file, a name of :data:`~.kinds.KINDS`. Raises :class:`InputError` for a file that is empty,
    damaged, or nothing that is known."""
    check_size(path)
    with opened(path) as source:
        head = source.head(HEAD)
    begin = head.lstrip()
    if kind := _first(lambda kind: begin.startswith(kind.begins)):
        return kind
    if head.startswith(b"PK"):
        kind = archive_kind(path) or "workbook"
        return _of_workbook(path) if kind == "workbook" else kind
    if head.startswith(b"PAR1"):
        return _of_sheets(open_sheets(path), path)
    if head[:1] == b"\x80" and head[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"):
        return _of_pickle(path)
    if kind := _first(lambda kind: kind.head and kind.head(head)):
        return kind
    return _of_text(path, head)


def archive_kind(path: Path) -> str:
    """The kind that a zip archive is, by its members; empty for a plain archive. A damaged one is refused."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except DAMAGED as error:
        raise InputError(f"expected a whole zip archive, found none ({str(error)[:100]}); fetch it again") from error
    if not names:
        raise InputError("the archive is empty")
    return _first(lambda kind: kind.archive and kind.archive(names, path))


def _of_workbook(path: Path) -> str:
    """The kind of a workbook's first table, if that is for another page or a person is asked; its results may be in a
    later one."""
    try:
        kind = _of_sheets(open_sheets(path), path)
    except InputError:
        return "workbook"  # errors are reported where it is read
    return kind if kind in ("questions", "conversation", UNCLEAR) else "workbook"


def _first(recognises: Callable[[Kind], object]) -> str:
    return next((name for name, kind in KINDS.items() if recognises(kind)), "")


def _of_pickle(path: Path) -> str:
    values = load_arrays(path.read_bytes(), path)
    if kind := _first(lambda kind: kind.pickled and kind.pickled(values)):
        return kind
    raise InputError(
        f"{path}: expected a pickle that lists rows with logits_options (or logits and answer), found "
        f"{type(values).__name__}"
    )


# ---------------------------------------------------------------- text


def _of_text(path: Path, head: bytes) -> str:
    begin = head.removeprefix(codecs.BOM_UTF8).lstrip()
    if begin[:1] in (b"{", b"[") and not conversation_files.BRACKETED.match(begin):
        kind = _of_json(path, begin)
        return kind if kind else _of_sheets(open_sheets(path), path)
    if b"\0" in head[:4096]:
        raise InputError(f"{path}: expected results, found a binary file of no known format")
    every = LINE_END.split(begin.decode("utf-8", "replace"))
    lines = [line for line in every[before_header(every) :] if line.strip()]
    if begin[:1] == b"#" and conversation_files.is_conversation_text(whole := [line for line in every if line.strip()]):
        lines = whole  # "### Human: …" is no comment
    if not lines:
        raise InputError(f"{path}: expected results, found an empty file")
    if kind := _first(lambda kind: kind.text and kind.text(lines)):
        return kind
    check_delimiters(lines, path)
    marks = max(lines[0].count(mark) for mark in ",;\t|")
    if marks == 0 or (len(lines) == 1 and marks == 1):
        return "text"
    try:
        return _of_sheets(open_sheets(path), path)
    except InputError:
        if re.search(r"[.!?]\s*$", lines[0]) or sum(len(line.split()) > 8 for line in lines[:20]) > 10:
            return "text"  # prose with commas in its first line
        raise


def _of_json(path: Path, begin: bytes) -> str:
    """The kind of a JSON document or of JSON lines, by the keys; empty for a table."""
    with opened(path) as source:
        first, more = first_line(source, begin)
    try:
        values = loads(first.decode("utf-8", "replace"))
        lines = isinstance(values, dict) and bool(more)
    except ValueError:
        values, lines = None, False
    if not lines:
        values = json_value(path)
        if isinstance(values, list):
            kind = _first(lambda kind: kind.entries and kind.entries(values))
            values = values[0] if values and isinstance(values[0], dict) else None
        elif isinstance(values, dict):
            kind = _first(lambda kind: kind.document and kind.document(values))
        else:
            raise InputError(f"{path}: expected results, found a JSON document that is a {type(values).__name__}")
        if kind not in ("", "table") or values is None:
            return kind if kind != "table" else ""
    return _first(lambda kind: kind.line and kind.line(values))


# ---------------------------------------------------------------- tables


def _of_sheets(sheets: Sequence[Sheet], path: Path) -> str:
    """The kind of a table by its columns, and by what is in them."""
    view = SheetView(sheets[0])
    if {"doc_id", "resps"} <= view.names:
        raise InputError(
            f"{path}: expected samples of lm-eval as it writes them, found a table of them; import its samples_….jsonl"
        )
    return _first(lambda kind: kind.table and kind.table(view)) or "table"
