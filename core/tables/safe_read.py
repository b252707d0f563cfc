"""Reads files from outside within limits. Every error names the file, the line, what was expected and what was
found."""

import codecs
import io
import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from core.errors import InputError
from core.storage.json_text import loads, unique_object, whole_texts
from core.tables.encodings import Source, decoded, opened

LARGEST_FILE = 2_000_000_000
"""The most bytes of a file. A larger file has to be split."""
LARGEST_JSON = 500_000_000
"""The most bytes of a file that is one JSON document, which has to be read whole."""
LONGEST_LINE = 64_000_000
"""The most bytes of one line of JSON lines, or of one member of an archive."""
MOST_QUESTIONS = 1_000_000
"""The most questions of one file."""
SHOWN = 80
"""Characters of a value that a message shows."""
REASON_SHOWN = 120
"""Characters of what another error says that a message shows."""
ENTRY = re.compile(r"[^\s,]")
"""The first character of a JSON list's next entry, or the list's end."""


def check_size(path: Path) -> int:
    """A file's size in bytes. Raises :class:`InputError` if it is no file, empty or larger than what is read."""
    size = check_readable(path)
    if size == 0:
        raise InputError(f"{path}: expected results, found an empty file")
    return size


def check_count(questions: int, where: object) -> None:
    """Raise :class:`InputError` that begins with ``where`` for more questions than are read of one file. A few bytes of
    a compressed file can hold millions of equal rows, and each becomes a question."""
    if questions > MOST_QUESTIONS:
        raise InputError(
            f"{where}: expected at most {MOST_QUESTIONS:,} questions, found {questions:,}; split it into several files"
        )


def check_readable(path: Path) -> int:
    """A file's size in bytes. Raises :class:`InputError` if it is no file or larger than what is read."""
    try:
        if path.is_dir():
            raise InputError(f"{path}: expected a file, found a folder")
        size = path.stat().st_size
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror}") from error
    if size > LARGEST_FILE:
        raise InputError(
            f"{path}: expected at most {LARGEST_FILE / 1e9:g} GB, found {size / 1e9:.1f} GB; split it into several "
            "files"
        )
    return size


def json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a file of JSON lines with their line numbers from 1; blank lines are passed over. A file that is
    one JSON list of objects is read too (lm-eval 0.4.0 and 0.4.1 wrote such files as ``.jsonl``)."""
    check_size(path)
    try:
        with opened(path) as source:
            yield from source_lines(source)
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror}") from error


def source_lines(source: Source) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of an open file of JSON lines, or of one JSON list, with their line numbers from 1."""
    path = source.path
    if source.head(64).removeprefix(codecs.BOM_UTF8).lstrip()[:1] == b"[":
        yield from _listed(source)
        return
    number = 0
    for line in _lines(source.file, path):
        number += 1
        if not line.strip():
            continue
        try:
            value = json_object(line, f"{path}, line {number}")
        except NotUtf8:
            break
        yield number, value
    else:
        return
    source.decode()  # what was read before is ASCII: text in UTF-8 before it would make this raise an error
    for again, line in enumerate(_lines(source.file, path), start=1):
        if again >= number and line.strip():
            yield again, json_object(line, f"{path}, line {again}")


def _lines(file: IO[bytes], path: Path) -> Iterator[bytes]:
    number = 0
    while line := file.readline(LONGEST_LINE + 1):
        number += 1
        if len(line) > LONGEST_LINE:
            raise InputError(
                f"{path}, line {number}: expected a line of at most {LONGEST_LINE:,} bytes, found a longer one"
            )
        yield line


def _listed(source: Source) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a JSON list, each with the line on which it begins."""
    path = source.path
    text = source_text(source)
    decoder, place, line, counted = json.JSONDecoder(object_pairs_hook=unique_object), text.index("[") + 1, 1, 0
    while (entry := ENTRY.search(text, place)) and entry[0] != "]":
        begin = entry.start()
        line, counted = line + text.count("\n", counted, begin), begin
        try:
            value, place = decoder.raw_decode(text, begin)
        except (ValueError, RecursionError) as error:
            raise InputError(
                f"{path}, line {line}: expected a whole JSON object, found none ({reason(error)})"
            ) from error
        if not isinstance(value, dict):
            raise InputError(
                f"{path}, line {line}: expected a JSON object, found {type(value).__name__} {shown(value)}"
            )
        yield line, whole_texts(value)
    if entry is None:
        raise InputError(f"{path}: expected a whole JSON list, found no end of it")


def source_text(source: Source) -> str:
    """The text of an open file that has to be read whole; its encoding is noted where it is a guess."""
    size = source.file.seek(0, io.SEEK_END)
    source.file.seek(0)
    if size > LARGEST_JSON:
        raise InputError(
            f"{source.path}: expected a JSON file of at most {LARGEST_JSON / 1e6:g} MB, found {size / 1e6:.0f} MB; "
            "JSON lines, Parquet or an archive may be larger"
        )
    text, guessed = decoded(source.file.read(), source.path)
    source.guessed = source.guessed or guessed
    return text


class NotUtf8(InputError):
    """Text that is not UTF-8."""


def json_object(content: bytes | str, where: str) -> dict[str, Any]:
    """One JSON object; :class:`InputError` begins with ``where``."""
    try:
        value = loads(content, unique=True)
    except UnicodeDecodeError as error:
        raise NotUtf8(f"{where}: expected text in UTF-8, found byte {error.object[error.start]:#04x}") from error
    except ValueError as error:
        raise InputError(f"{where}: expected a whole JSON object, found {shown(content)} ({reason(error)})") from error
    if not isinstance(value, dict):
        raise InputError(f"{where}: expected a JSON object, found {type(value).__name__} {shown(value)}")
    return value


def json_document(path: Path) -> dict[str, Any]:
    """A file that is one JSON object."""
    return json_object(_whole(path), str(path))


def json_value(path: Path, what: str = "document") -> Any:
    """A file that is one JSON document, a list for example."""
    try:
        return loads(_whole(path), unique=True)
    except ValueError as error:
        raise InputError(f"{path}: expected a whole JSON {what}, found none ({reason(error)})") from error


def json_list(path: Path) -> list[Any]:
    """A file that is one JSON list."""
    value = json_value(path, "list")
    if not isinstance(value, list):
        raise InputError(f"{path}: expected a JSON list, found {type(value).__name__} {shown(value)}")
    return value


def _whole(path: Path) -> str:
    check_size(path)
    try:
        with opened(path) as source:
            return source_text(source)
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror}") from error


def shown(value: Any) -> str:
    """A value as a message shows it: in one line, and not longer than 80 characters."""
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    flat = " ".join(text[: 4 * SHOWN].split())
    return repr(flat if len(flat) <= SHOWN else flat[: SHOWN - 1] + "…")


def reason(error: BaseException) -> str:
    """What an error says, as a message shows it: in one line, and not longer than 120 characters."""
    flat = " ".join(str(error)[: 4 * REASON_SHOWN].split()) or type(error).__name__
    return flat if len(flat) <= REASON_SHOWN else flat[: REASON_SHOWN - 1] + "…"


def number(value: Any, where: str, what: str) -> float:
    """A number that is written as such or as text; −∞ is one, NaN and +∞ are refused."""
    try:
        if isinstance(value, bool):
            raise TypeError
        as_float = float(value)
    except (TypeError, ValueError):
        raise InputError(f"{where}: expected {what} as a number, found {shown(value)}") from None
    if math.isnan(as_float) or as_float == math.inf:
        raise InputError(f"{where}: expected {what} as a number, found {as_float}")
    return as_float
