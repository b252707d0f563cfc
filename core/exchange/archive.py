"""Members of a zip archive from outside, unpacked within limits.

``backports.zstd`` is Python 3.14's ``zipfile``: unlike that of Python 3.11 it reads members compressed by Zstandard, as
inspect writes them, and unpacks no more at once than it was asked for, whatever the method.
"""

from __future__ import annotations

import lzma
import struct
import zlib
from pathlib import Path

from backports.zstd import ZstdError, zipfile

from core.errors import InputError
from core.tables.safe_read import LONGEST_LINE, check_size

MOST_MEMBERS = 1_000_000
MOST_UNPACKED = 4_000_000_000
"""Bytes of all members together that are unpacked."""
DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    ZstdError,
    struct.error,
    EOFError,
    KeyError,
    OSError,
    ValueError,
    NotImplementedError,
)
"""What a damaged archive or member makes ``zipfile`` raise."""


class Archive:
    """A zip archive open for reading; every member is bounded by what it unpacks to, not by what it says it does."""

    def __init__(self, path: Path) -> None:
        check_size(path)
        self.path = path
        self._unpacked = 0
        try:
            self._zip = zipfile.ZipFile(path)
            self.names = self._zip.namelist()
        except DAMAGED as error:
            raise InputError(f"{path}: expected a whole zip archive, found none ({str(error)[:120]})") from error
        if len(self.names) > MOST_MEMBERS:
            raise InputError(f"{path}: expected at most {MOST_MEMBERS:,} members, found {len(self.names):,}")

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()

    def read(self, name: str) -> bytes:
        """A member's content. Raises :class:`InputError` if it is damaged or unpacks to more than is read."""
        where = f"{self.path}, member {name}"
        try:
            info = self._zip.getinfo(name)
            if info.flag_bits & 1:
                raise InputError(f"{where}: expected plain content, found an encrypted member")
            with self._zip.open(info) as member:
                content = member.read(LONGEST_LINE + 1)
        except DAMAGED as error:
            raise InputError(f"{where}: expected a whole member, found a damaged one ({str(error)[:120]})") from error
        self._unpacked += len(content)
        if len(content) > LONGEST_LINE or self._unpacked > MOST_UNPACKED:
            raise InputError(
                f"{where}: expected at most {LONGEST_LINE:,} bytes in a member and {MOST_UNPACKED:,} in all, found "
                "more; an archive that unpacks to so much is not read"
            )
        return content
