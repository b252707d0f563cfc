"""Members of a zip archive from outside, unpacked within limits, zstd ones too (which Python 3.11 does not read)."""

from __future__ import annotations

import struct
import zipfile
import zlib
from pathlib import Path

import pyarrow as pa

from core.errors import InputError
from core.exchange.safe_read import LONGEST_LINE, check_size

ZSTD = 93
LOCAL_HEADER = struct.Struct("<4s5HLLLHH")
MOST_MEMBERS = 1_000_000
MOST_UNPACKED = 4_000_000_000
"""Bytes of all members together that are unpacked."""


class Archive:
    """A zip archive open for reading; every member is bounded by what it unpacks to, not by what it says it does."""

    def __init__(self, path: Path) -> None:
        check_size(path)
        self.path = path
        self._unpacked = 0
        try:
            self._zip = zipfile.ZipFile(path)
            self.names = self._zip.namelist()
        except (zipfile.BadZipFile, zlib.error, OSError, ValueError, NotImplementedError, struct.error) as error:
            raise InputError(f"{path}: expected a whole zip archive, found none ({str(error)[:120]})") from error
        if len(self.names) > MOST_MEMBERS:
            raise InputError(f"{path}: expected at most {MOST_MEMBERS:,} members, found {len(self.names):,}")

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()

    def read(self, name: str) -> bytes:
        """A member's content; :class:`InputError` where it is damaged or unpacks to more than is read."""
        where = f"{self.path}, member {name}"
        try:
            info = self._zip.getinfo(name)
            if info.flag_bits & 1:
                raise InputError(f"{where}: expected plain content, found an encrypted member")
            content = self._zstd(info) if info.compress_type == ZSTD else self._other(info)
        except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, struct.error, NotImplementedError) as error:
            raise InputError(f"{where}: expected a whole member, found a damaged one ({str(error)[:120]})") from error
        except (OSError, pa.ArrowException, ValueError) as error:
            raise InputError(f"{where}: expected a whole member, found a damaged one ({str(error)[:120]})") from error
        self._unpacked += len(content)
        if len(content) > LONGEST_LINE or self._unpacked > MOST_UNPACKED:
            raise InputError(
                f"{where}: expected at most {LONGEST_LINE:,} bytes in a member and {MOST_UNPACKED:,} in all, found "
                "more; an archive that unpacks to so much is not read"
            )
        return content

    def _other(self, info: zipfile.ZipInfo) -> bytes:
        with self._zip.open(info) as member:
            return member.read(LONGEST_LINE + 1)

    def _zstd(self, info: zipfile.ZipInfo) -> bytes:
        if info.compress_size > LONGEST_LINE:
            return b"\0" * (LONGEST_LINE + 1)  # too long whatever is in it
        with self.path.open("rb") as file:
            file.seek(info.header_offset)
            header = LOCAL_HEADER.unpack(file.read(LOCAL_HEADER.size))
            if header[0] != b"PK\x03\x04":
                raise zipfile.BadZipFile("no local header")
            file.seek(header[-2] + header[-1], 1)
            packed = file.read(info.compress_size)
        with pa.CompressedInputStream(pa.BufferReader(packed), "zstd") as stream:
            content: bytes = stream.read(LONGEST_LINE + 1)
        if len(content) <= LONGEST_LINE and zlib.crc32(content) != info.CRC:
            raise zipfile.BadZipFile("its checksum is another")
        return content
