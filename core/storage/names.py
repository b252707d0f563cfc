"""Names of files and folders that a person, a file or a model gives: which can be, and how long ones are cut."""

import errno
import os
from pathlib import Path

from core.errors import InputError

LONGEST_NAME = 255
"""Bytes of the name of a file or a folder, on all common file systems."""
LONGEST_PATH = 4095
"""Bytes of a whole path."""
SHOWN = 40


def named(text: str | Path) -> Path:
    """The path that a person names, in which ``~`` is the home folder.

    Raises :class:`InputError` if no file can have this name.
    """
    try:
        path = Path(text).expanduser()
        content = os.fsencode(path)
    except (RuntimeError, UnicodeEncodeError) as error:  # an unknown person's home, a broken character
        raise InputError(f"{_shown(text)} is no name of a file ({error}); choose another name") from error
    if b"\0" in content:
        raise InputError(f"{_shown(text)} has a null byte, which no file's name has; choose another name")
    longest = max(content.split(os.sep.encode()), key=len)
    if len(longest) > LONGEST_NAME:
        raise InputError(_too_long(longest, LONGEST_NAME, "a file's name"))
    if len(content) > LONGEST_PATH:
        raise InputError(_too_long(content, LONGEST_PATH, "a path"))
    return path


def is_folder(text: str) -> bool:
    """Whether a text names a folder that is there."""
    try:
        return named(text).is_dir()
    except (InputError, OSError):
        return False


def cut_name(name: str, *, most: int = LONGEST_NAME) -> str:
    """The name of a file without what goes beyond ``most`` bytes; its ending stays, and no character is cut in two.

    >>> cut_name("é" * 9 + ".csv", most=10)
    'ééé.csv'
    """
    content = name.encode("utf-8", "replace")
    if len(content) <= most:
        return name
    stem, dot, ending = content.rpartition(b".")
    end = dot + ending if stem and len(ending) <= 10 else b""
    return (content[: most - len(end)].decode("utf-8", "ignore") + end.decode("utf-8", "ignore"))[: len(name)]


def problem(error: BaseException) -> str:
    """The sentence for an error that a name caused which no file can have; empty for another error."""
    if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
        return _too_long(os.fsencode(error.filename or ""), LONGEST_NAME, "a file's name")
    if isinstance(error, ValueError) and "null byte" in str(error):
        return "a name has a null byte, which no file's name has; choose another name"
    if isinstance(error, RuntimeError) and "home directory" in str(error):
        return "a name begins with ~ and somebody whom this machine does not know; write the whole path"
    return ""


def _too_long(content: bytes, most: int, what: str) -> str:
    return (
        f"{_shown(os.fsdecode(content))} has {len(content):,} bytes, and {what} may have {most:,}; choose a shorter one"
    )


def _shown(text: str | Path) -> str:
    name = str(text)
    return repr(name if len(name) <= SHOWN else f"{name[: SHOWN - 1]}…")
