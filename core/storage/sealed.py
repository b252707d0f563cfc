"""Digests of the files that Hedge keeps, so that a readable but wrong file is noticed.

A JSON object carries a digest of its other fields. A Parquet file carries a digest of its other bytes in a gap before
its footer: a reader finds the footer from the end of the file and the pages by their places, so none looks there. A
file without a digest was written by an older version, or by another program, and is read as it is.
"""

import functools
import hashlib
import json
import math
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

from core.errors import HedgeError
from core.storage.atomic import replacing, write_atomically
from core.storage.json_text import loads

SEALED = "sealed"
"""The field of a JSON object that has the digest of the others."""
MARK = b"hedge-digest\n"
DIGEST_BYTES = 16
FOOTER_END = 8
"""Bytes behind a Parquet file's footer: its length, little-endian in four bytes, and four letters."""
PIECE = 2**20


class DamagedError(ValueError):
    """A file is not what was written; the message is half a sentence that begins with "it"."""


def damage(error: Exception) -> str:
    """What is wrong with a file whose reader raised this error, as half a sentence that begins with "it"."""
    if isinstance(error, (DamagedError, HedgeError)):  # a person reads its words
        return str(error)
    if isinstance(error, FileNotFoundError):
        return "it is missing"
    if isinstance(error, OSError) and error.strerror:
        return f"it can't be read ({error.strerror})"
    return "it is not in the form that Hedge writes"


# ---------------------------------------------------------------- JSON objects


def seal(values: Mapping[str, Any]) -> dict[str, Any]:
    """The object as JSON gives it back, with the digest of its fields."""
    plain = _read(json.dumps({name: value for name, value in values.items() if name != SEALED}).encode())
    return {**plain, SEALED: _digest(plain)}


def unsealed(values: dict[str, Any]) -> dict[str, Any]:
    """The object's own fields. Raises :class:`DamagedError` if its digest is there and is that of others."""
    own = {name: value for name, value in values.items() if name != SEALED}
    if SEALED in values and values[SEALED] != _digest(own):
        raise DamagedError("it is not what was written")
    return own


def write_json(path: Path, values: Mapping[str, Any], *, lasting: bool = True, indent: int | None = None) -> None:
    """Replace a file atomically by a JSON object with its digest."""
    write_atomically(path, json.dumps(seal(values), indent=indent).encode(), lasting=lasting)


def read_json(path: Path, *, of_list: str = "") -> dict[str, Any]:
    """The fields of a JSON object that Hedge wrote. A list, which older versions wrote in some places, is read as an
    object with this one field (``of_list``).

    Raises :class:`DamagedError` if the file holds no JSON object, or another one than was written, and
    :class:`OSError` if it can't be read.
    """
    return unsealed(_read(content_of(path), of_list=of_list))


def content_of(path: Path) -> bytes:
    """All bytes of a file. Raises :class:`DamagedError` if a folder or a pipe lies there, which is never read."""
    check_file(path.stat())
    return path.read_bytes()


def check_file(about: os.stat_result) -> None:
    """Raise :class:`DamagedError` unless this is a file: reading a pipe would never end."""
    if not stat.S_ISREG(about.st_mode):
        raise DamagedError("it is no file")


def json_line(values: Mapping[str, Any]) -> str:
    """A line of a file of JSON lines: an object with its digest."""
    return json.dumps(seal(values)) + "\n"


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The object in each line of a file of JSON lines, without fields if the line is damaged or was cut off. A file
    that is missing has no lines."""
    for line in path.read_bytes().splitlines() if path.is_file() else ():
        try:
            yield unsealed(_read(line))
        except DamagedError:
            yield {}


def _read(content: bytes, *, of_list: str = "") -> dict[str, Any]:
    try:
        values = loads(content)
    except ValueError as error:
        raise DamagedError(f"it is no JSON: {error}" if content.strip(b"\0 \n") else "it is empty") from error
    if of_list and isinstance(values, list):
        values = {of_list: values}
    if not isinstance(values, dict):
        raise DamagedError("it is no JSON object")
    return values


def _digest(values: Mapping[str, Any]) -> str:
    content = json.dumps(values, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(content.encode(), digest_size=DIGEST_BYTES).hexdigest()


# ---------------------------------------------------------------- values with arrays


def write_arrays(path: Path, values: Mapping[str, Any], arrays: Mapping[str, np.ndarray[Any, Any]]) -> None:
    """Replace a file by values that JSON can hold and arrays of numbers, behind a digest. Such files only save time:
    a power cut may lose one.
    """
    shapes = {name: [array.dtype.str, *array.shape] for name, array in arrays.items()}
    head = json.dumps([values, shapes]).encode()
    parts = [len(head).to_bytes(4, "little"), head, *(array.tobytes() for array in arrays.values())]
    digest = hashlib.blake2b(digest_size=DIGEST_BYTES)
    for part in parts:
        digest.update(part)
    with replacing(path, lasting=False) as new, new.open("wb") as file:
        file.writelines([digest.digest(), *parts])


def read_arrays(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]:
    """The values and the read-only arrays of a file that :func:`write_arrays` wrote.

    Raises :class:`DamagedError` if it is not what was written, and :class:`OSError` if it can't be read.
    """
    content = content_of(path)
    start = DIGEST_BYTES + 4
    if content[:DIGEST_BYTES] != hashlib.blake2b(memoryview(content)[DIGEST_BYTES:], digest_size=DIGEST_BYTES).digest():
        raise DamagedError("it is not what was written")
    place = start + int.from_bytes(content[DIGEST_BYTES:start], "little")
    values, shapes = json.loads(content[start:place])
    arrays = {}
    for name, (kind, *shape) in shapes.items():
        arrays[name] = np.frombuffer(content, kind, math.prod(shape), place).reshape(shape)
        place += arrays[name].nbytes
    return values, arrays


# ---------------------------------------------------------------- Parquet files


def seal_parquet(path: Path) -> None:
    """Put the digest of a Parquet file's bytes before its footer."""
    with path.open("r+b") as file:
        start = _footer_start(file)
        digest = _digest_of(file, start, skipped=0)
        file.seek(start)
        footer = file.read()
        file.seek(start)
        file.write(MARK + digest + footer)


def digest_of(path: Path) -> str:
    """BLAKE2b of all bytes of a file but the digest in it, 32 hexadecimal digits; computed once for each change.

    Raises :class:`DamagedError` if a digest is in it and is that of other bytes.
    """
    about = path.stat()
    check_file(about)
    return _checked(path, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns)


def digests_of(paths: Iterable[Path]) -> dict[str, str]:
    """The digests of files in one folder by their names, for the JSON file beside them."""
    return {path.name: digest_of(path) for path in sorted(paths)}


def check_files(folder: Path, digests: Mapping[str, str]) -> None:
    """Raise :class:`DamagedError` unless each of these files is in the folder and has its digest."""
    for name, digest in digests.items():
        try:
            checked_digest(folder / name, digest)
        except (OSError, DamagedError) as error:
            raise DamagedError(f"{name}: {damage(error)}") from error


def checked_digest(path: Path, digest: str = "") -> str:
    """The digest of a file. Raises :class:`DamagedError` if it is damaged, or has not this ``digest``, and
    :class:`OSError` if it can't be read."""
    own = digest_of(path)
    if digest and own != digest:
        raise DamagedError("it is not the file that was written")
    return own


@functools.lru_cache(maxsize=16384)
def _checked(path: Path, inode: int, size: int, *times_ns: int) -> str:
    sealed = len(MARK) + DIGEST_BYTES
    with path.open("rb", buffering=0) as file:
        start = _footer_start(file)
        file.seek(max(start - sealed, 0))
        mark, digest = file.read(len(MARK)), file.read(DIGEST_BYTES)
        is_sealed = start >= sealed and mark == MARK
        own = _digest_of(file, start - sealed, skipped=sealed) if is_sealed else _digest_of(file, 0, skipped=0)
    if is_sealed and own != digest:
        raise DamagedError("it is not what was written")
    return own.hex()


def _footer_start(file: IO[bytes]) -> int:
    """Where the footer of a Parquet file begins; 0 if the file is not a Parquet file."""
    size = file.seek(0, 2)
    if size < FOOTER_END:
        return 0
    file.seek(size - FOOTER_END)
    return max(size - FOOTER_END - int.from_bytes(file.read(4), "little"), 0)


def _digest_of(file: IO[bytes], end: int, *, skipped: int) -> bytes:
    """The digest of the bytes before ``end`` and of those that come ``skipped`` bytes behind it."""
    digest = hashlib.blake2b(digest_size=DIGEST_BYTES)
    file.seek(0)
    while end > 0 and (piece := file.read(min(PIECE, end))):
        digest.update(piece)
        end -= len(piece)
    file.seek(skipped, 1)
    while piece := file.read(PIECE):
        digest.update(piece)
    return digest.digest()
