"""The bytes of a file from outside as text in UTF-8: compressed files are unpacked within limits, and other encodings
are decoded.

A mark at the beginning says UTF-8, UTF-16 or UTF-32. Text without one is UTF-8. Text that is not UTF-8 is Windows-1252
if all of its bytes together look like that; this is a guess, so the account of how a file was read names it.
"""

import bz2
import codecs
import gzip
import io
import lzma
import re
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
from backports import zstd

from core.errors import InputError
from core.records import BoolArray

MOST_UNPACKED = 4_000_000_000
"""The most bytes that a file, or all archives that are read together, may unpack to."""
MOST_RATIO = 200
"""How many times its own size a compressed file may unpack to, if that is more than :data:`ALWAYS`."""
ALWAYS = 200_000_000
"""Bytes that any compressed file may unpack to."""
PIECE = 1 << 20
IN_MEMORY = 1 << 26
"""Bytes of an unpacked file that are held in memory; a larger one lies on the disk while it is read."""
ByteArray = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Compression:
    """How a compressed file begins, the ending of its name, and what opens it."""

    begin: bytes
    ending: str
    open: Callable[..., Any]


COMPRESSIONS = {
    "gzip": Compression(b"\x1f\x8b", ".gz", gzip.open),
    "bzip2": Compression(b"BZh", ".bz2", bz2.open),
    "xz": Compression(b"\xfd7zXZ", ".xz", lzma.open),
    "Zstandard": Compression(b"\x28\xb5\x2f\xfd", ".zst", zstd.open),
}
"""Compressed files that hold one file, by the name of their format."""
DAMAGED = (EOFError, OSError, zlib.error, lzma.LZMAError, zstd.ZstdError, ValueError)
"""What a damaged compressed file raises."""
MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),  # begins as UTF-16 does, so it comes first
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
UNMARKED = ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")
LOOKED_AT = 4096
"""Bytes of a beginning that are looked at for UTF-16 and UTF-32 without a mark."""
WINDOWS = "Windows-1252"
LINE_END = re.compile(r"\r\n|\r|\n")
"""What ends a line. U+2028 and U+0085 do not: they stand within texts."""
CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x19\x1b-\x1f]")
"""Bytes that text does not have."""
ODD_SHARE = 0.1
"""The share of bytes above 0x7F in unlikely places up to which a text may be Windows-1252."""
BETWEEN_LETTERS = np.frombuffer("’‘´-–—·…".encode("cp1252"), dtype=np.uint8)
"""Characters that may stand between two letters."""


@dataclass(slots=True)
class Source:
    """An open file whose bytes are text in UTF-8, or a binary format such as Parquet.

    ``file`` is at its beginning. ``as_it_is`` says that its bytes are those of the file at ``path``. ``guessed`` names
    an encoding that no mark says; it is empty for UTF-8.
    """

    path: Path
    file: IO[bytes]
    as_it_is: bool = True
    guessed: str = ""

    def decode(self) -> None:
        """Decode the whole file, whose text turned out not to be UTF-8, and go to its beginning. Raises
        :class:`InputError` that names the line and the byte if its encoding is not known."""
        self.file.seek(0)
        text, guessed = decoded(self.file.read(), self.path)
        self.guessed = guessed or self.guessed
        self.file, self.as_it_is = io.BytesIO(text.encode()), False

    def head(self, size: int) -> bytes:
        """The first ``size`` bytes; the file is at its beginning again."""
        self.file.seek(0)
        head = self.file.read(size)
        self.file.seek(0)
        return head


@contextmanager
def opened(path: Path, content: bytes | None = None) -> Iterator[Source]:
    """Open a file, or the ``content`` of one that a person knows as ``path``: unpacked if it is compressed, and in
    UTF-8 if it is UTF-16 or UTF-32. Other encodings show only while the text is read; :meth:`Source.decode` is for
    them. Raises :class:`InputError` for a compressed file that is damaged or unpacks to too much."""
    with path.open("rb") if content is None else io.BytesIO(content) as packed:
        compression = compression_of(packed.read(8))
        packed.seek(0)
        if not compression:
            yield _in_utf8(Source(path, packed, as_it_is=content is None))
            return
        size, most = 0, most_unpacked(path.stat().st_size if content is None else len(content))
        with tempfile.SpooledTemporaryFile(max_size=IN_MEMORY) as file:
            for piece in unpacked(packed, compression):
                size += len(piece)
                check_unpacked(size, most)
                file.write(piece)
            file.seek(0)
            yield _in_utf8(Source(path, file, as_it_is=False))


def _in_utf8(source: Source) -> Source:
    head = source.head(LOOKED_AT)
    if marked(head) or unmarked(head):
        source.decode()
    return source


def compression_of(head: bytes) -> str:
    """How a single compressed file is packed, a name of :data:`COMPRESSIONS`; empty for others."""
    return next((name for name, compression in COMPRESSIONS.items() if head.startswith(compression.begin)), "")


def unpacked(packed: IO[bytes], compression: str) -> Iterator[bytes]:
    """The pieces that a compressed file holds. Raises :class:`InputError` for a damaged one."""
    try:
        with COMPRESSIONS[compression].open(packed, "rb") as member:
            while piece := member.read(PIECE):
                yield piece
    except DAMAGED as error:
        words = " ".join(str(error).split())[:100]
        raise InputError(f"expected a whole {compression} file, found none ({words}); fetch it again") from error


def most_unpacked(size: int) -> int:
    """The most bytes that a compressed file or an archive of ``size`` bytes may unpack to."""
    return min(MOST_UNPACKED, max(MOST_RATIO * size, ALWAYS))


def check_unpacked(size: int, most: int, *, rest: int = 0) -> None:
    """Raise :class:`InputError` if a compressed file or an archive unpacks to more than ``most`` bytes, or if the
    ``rest`` of what all of them together may unpack to is negative."""
    if size > most or rest < 0:
        raise InputError(
            f"it unpacks to more than {most / 1e6:,.0f} MB, and no more is unpacked; unpack it yourself and import "
            "the files that matter"
        )


def marked(head: bytes) -> str:
    """The encoding that a mark at the beginning says, UTF-16 or UTF-32; empty for UTF-8, and where there is no mark."""
    return next((encoding for mark, encoding in MARKS if head.startswith(mark)), "")


def unmarked(head: bytes) -> str:
    """UTF-16 or UTF-32 without a mark, told by zeros at the same place of each character; empty for others."""
    begin = head[: LOOKED_AT // 4 * 4]
    begin = begin[: len(begin) // 4 * 4] or begin[: len(begin) // 2 * 2]
    if begin.count(0) <= len(begin) // 3:
        return ""
    for encoding in reversed(UNMARKED):
        try:
            text = begin.decode(encoding)
        except UnicodeDecodeError:
            continue
        readable = all(char.isprintable() or char in "\r\n\t" for char in text)
        if readable and sum(char.isascii() for char in text) > len(text) / 2:
            return encoding
    return ""


def decoded(content: bytes, where: object) -> tuple[str, str]:
    """The text of a file's bytes without its mark, and the encoding if that is a guess (else empty).

    Raises :class:`InputError` that begins with ``where`` and the line.

    >>> decoded("Zürich".encode("cp1252"), "a.csv"), decoded("Zürich".encode(), "a.csv")
    (('Zürich', 'Windows-1252'), ('Zürich', ''))
    """
    if encoding := marked(content) or unmarked(content[:LOOKED_AT]):
        try:
            return content.decode(encoding), "" if marked(content) else encoding[:6].upper()
        except UnicodeDecodeError as error:
            raise InputError(
                f"{where}: expected text in {encoding[:6].upper()}, as the file begins, found otherwise; save it as "
                "UTF-8"
            ) from error
    try:
        return content.decode("utf-8-sig"), ""
    except UnicodeDecodeError as error:
        if looks_windows(content):
            return content.decode("cp1252"), WINDOWS
        before = content[: error.start].decode("utf-8", "replace")
        raise InputError(
            f"{where}, line {1 + len(LINE_END.findall(before))}: expected text in UTF-8, found byte "
            f"{error.object[error.start]:#04x}; save it as UTF-8"
        ) from error


def read_text(path: Path) -> tuple[str, str]:
    """The text of a file that is read whole, and its encoding if that is a guess (else empty)."""
    with opened(path) as source:
        if source.guessed:
            return source.file.read().decode(), source.guessed
        return decoded(source.file.read(), path)


def looks_windows(content: bytes) -> bool:
    """Whether text that is not UTF-8 is Windows-1252, which holds Latin-1, by all of its bytes above 0x7F. Damaged
    UTF-8 has whole sequences of UTF-8 beside the damage, capitals with an accent within words (its first bytes) or
    signs within words (its others). Cyrillic and Asian encodings have such letters side by side."""
    try:
        content.decode("cp1252")
    except UnicodeDecodeError:
        return False
    if CONTROLS.search(content):
        return False
    every = np.frombuffer(b" " + content + b"  ", dtype=np.uint8)
    at = np.flatnonzero(every >= 0x80)
    here, before, after = every[at], every[at - 1], every[at + 1]

    def letters(values: ByteArray) -> BoolArray:
        lower = values | 0x20
        ascii_letters = (lower >= ord("a")) & (lower <= ord("z"))
        all_letters: BoolArray = ascii_letters | ((values >= 0xC0) & (values != 0xD7) & (values != 0xF7))
        return all_letters

    letter = letters(here)
    small_before = ((before >= ord("a")) & (before <= ord("z"))) | (before >= 0xE0)
    odd = letter & (here < 0xE0) & small_before & (here != 0xDF)  # a capital behind a small letter
    odd |= (here == 0xC3) & (after >= ord("a"))  # Ã before anything but a capital: the first byte of é, ü, ç
    odd |= letter & letters(before) & (before >= 0xC0) & letters(after) & (after >= 0xC0)  # in the middle of three
    odd |= ~letter & letters(before) & letters(after) & ~np.isin(here, BETWEEN_LETTERS)
    odd |= (here == 0x80) & letters(before)  # €: the second byte of ’ and “
    whole = (before >= 0xC2) & (before <= 0xDF) & (here <= 0xBF)  # two bytes of UTF-8
    third = every[at - 2]
    whole |= (third >= 0xE0) & (third <= 0xEF) & (before >= 0x80) & (before <= 0xBF) & (here <= 0xBF)
    return int((odd | whole).sum()) <= ODD_SHARE * len(at)
