"""Reads files from outside within limits. Every error names the file, the line, what was expected and what was
found."""

from __future__ import annotations

import codecs
import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core.errors import InputError
from core.files.json_text import loads, whole_texts

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
    """Raise :class:`InputError` that begins with ``where`` for more questions than are read of one file.

    A few bytes of a compressed file can hold millions of equal rows, and each becomes a question.
    """
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
    """The objects of a file of JSON lines with their line numbers from 1; blank lines are passed over.

    A file that is one JSON list of objects is read too (lm-eval 0.4.0 and 0.4.1 wrote such files as ``.jsonl``).
    """
    check_size(path)
    try:
        with path.open("rb") as file:
            if file.read(64).removeprefix(codecs.BOM_UTF8).lstrip()[:1] == b"[":
                yield from _listed(path)
                return
            file.seek(0)
            number = 0
            while line := file.readline(LONGEST_LINE + 1):
                number += 1
                if len(line) > LONGEST_LINE:
                    raise InputError(
                        f"{path}, line {number}: expected a line of at most {LONGEST_LINE:,} bytes, found a longer one"
                    )
                if line.strip():
                    yield number, json_object(line, f"{path}, line {number}")
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror}") from error


def _listed(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a JSON list, each with the line on which it begins."""
    if (size := path.stat().st_size) > LARGEST_JSON:
        raise InputError(
            f"{path}: expected a JSON list of at most {LARGEST_JSON / 1e6:g} MB, found {size / 1e6:.0f} MB; JSON lines "
            "may be larger"
        )
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        found = error.object[error.start]
        raise InputError(f"{path}: expected text in UTF-8, found byte {found:#04x}; save it as UTF-8") from error
    decoder, place, line, counted = json.JSONDecoder(), text.index("[") + 1, 1, 0
    while (entry := ENTRY.search(text, place)) and entry[0] != "]":
        begin = entry.start()
        line, counted = line + text.count("\n", counted, begin), begin
        try:
            found, place = decoder.raw_decode(text, begin)
        except (ValueError, RecursionError) as error:
            raise InputError(
                f"{path}, line {line}: expected a whole JSON object, found none ({reason(error)})"
            ) from error
        if not isinstance(found, dict):
            raise InputError(
                f"{path}, line {line}: expected a JSON object, found {type(found).__name__} {shown(found)}"
            )
        yield line, whole_texts(found)
    if entry is None:
        raise InputError(f"{path}: expected a whole JSON list, found no end of it")


def json_object(content: bytes, where: str) -> dict[str, Any]:
    """One JSON object; :class:`InputError` begins with ``where``."""
    try:
        found = loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise InputError(f"{where}: expected text in UTF-8, found byte {content[error.start]:#04x}") from error
    except ValueError as error:
        raise InputError(f"{where}: expected a whole JSON object, found {shown(content)} ({reason(error)})") from error
    if not isinstance(found, dict):
        raise InputError(f"{where}: expected a JSON object, found {type(found).__name__} {shown(found)}")
    return found


def json_document(path: Path) -> dict[str, Any]:
    """A file that is one JSON object."""
    return json_object(_whole(path), str(path))


def json_list(path: Path) -> list[Any]:
    """A file that is one JSON list."""
    content = _whole(path)
    try:
        found = loads(content.decode("utf-8-sig"))
    except ValueError as error:
        raise InputError(f"{path}: expected a whole JSON list, found none ({reason(error)})") from error
    if not isinstance(found, list):
        raise InputError(f"{path}: expected a JSON list, found {type(found).__name__} {shown(found)}")
    return found


def _whole(path: Path) -> bytes:
    """The content of a file that has to be read whole."""
    size = check_size(path)
    if size > LARGEST_JSON:
        raise InputError(
            f"{path}: expected a JSON file of at most {LARGEST_JSON / 1e6:g} MB, found {size / 1e6:.0f} MB; JSON lines "
            "or an archive may be larger"
        )
    try:
        return path.read_bytes()
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
        found = float(value)
    except (TypeError, ValueError):
        raise InputError(f"{where}: expected {what} as a number, found {shown(value)}") from None
    if math.isnan(found) or found == math.inf:
        raise InputError(f"{where}: expected {what} as a number, found {found}")
    return found
