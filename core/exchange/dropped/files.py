"""The files of a drop: folders are walked, archives (zip, tar) and compressed files unpacked within limits, also inside
archives.

How much an archive unpacks to is checked by what it says before anything is unpacked, and again while it is.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

from backports.zstd import tarfile, zipfile

from core.errors import InputError
from core.exchange.archive import DAMAGED
from core.exchange.dropped.recognition import archive_kind
from core.storage.names import cut_name
from core.tables import encodings
from core.tables.encodings import MOST_UNPACKED

MOST_FILES = 5_000
"""Files of one drop."""
DEEPEST = 3
"""Archives inside archives that are opened."""
LITTER = re.compile(r"^(\..*|__MACOSX|Thumbs\.db|desktop\.ini|__pycache__)$", re.I)
"""What systems leave in folders and archives."""
ALWAYS_LITTER = re.compile(r"^(\.DS_Store|\._.*|Thumbs\.db|desktop\.ini)$", re.I)
"""Files that nobody wants to import, even if they are dropped alone."""
OTHER_ARCHIVES = {b"7z\xbc\xaf\x27\x1c": "7z", b"Rar!": "RAR"}
DAMAGED_TAR = (tarfile.TarError, *encodings.DAMAGED)


@dataclass(frozen=True, slots=True)
class DroppedFile:
    """A file to read, and the name under which a person knows it: its path within what was dropped."""

    path: Path
    name: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """A file that is not read, and why, in one sentence.

    ``undecided``: it would be read if a person said whether the numbers of its right options count from 0 or from 1
    (``start``), or whether its whole numbers count picks (``counts``).
    """

    name: str
    sentence: str
    undecided: Literal["", "start", "counts"] = ""

    @property
    def doubt(self) -> str:
        """The sentence without the options of the command line, which stand behind a semicolon."""
        return re.split(r"; [^;]*--", self.sentence)[0]


@dataclass(frozen=True, slots=True)
class Gathered:
    """The files of a drop, those of archives unpacked below ``scratch``; and what could not be opened."""

    files: tuple[DroppedFile, ...]
    refused: tuple[Refusal, ...]


def gather(
    paths: Sequence[Path],
    *,
    scratch: Path,
    name: Callable[[Path], str] = str,
    at: Callable[[Path, str], None] = lambda path, name: None,
) -> Gathered:
    """The files at ``paths``; ``name`` gives the name under which a person knows one of them.

    ``scratch`` is an empty folder for what archives hold. ``at`` is called with each path and its name before it is
    opened.
    """
    gathering = _Gathering(scratch)
    for path in paths:
        at(path, name(path))
        if not ALWAYS_LITTER.match(path.name):
            gathering.add(path, name(path), depth=0)
    return Gathered(tuple(gathering.files), tuple(gathering.refused))


class _Gathering:
    """The files so far, and how much archives have unpacked to."""

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch
        self.files: list[DroppedFile] = []
        self.refused: list[Refusal] = []
        self.unpacked = 0
        self.of_archive: dict[Path, int] = {}

    def add(self, path: Path, name: str, *, depth: int) -> None:
        """Add a file, all files of a folder, or all files of an archive."""
        if path.is_dir():
            for inner in sorted(path.iterdir()):
                if not LITTER.match(inner.name) and not inner.is_symlink():
                    self.add(inner, f"{name}/{inner.name}", depth=depth)
            return
        before = len(self.files)
        try:
            if len(self.files) >= MOST_FILES:
                raise InputError(f"expected at most {MOST_FILES:,} files at once, found more; import the rest later")
            unpack = _unpacker(path)
            if unpack is None:
                self.files.append(DroppedFile(self._utf8(path), name))
                return
            if depth >= DEEPEST:
                raise InputError(f"an archive inside {DEEPEST} others is not opened; unpack it first")
            into = self._folder(path, name)
            if unpack is _decompress:  # one file, which lies in no folder of its own
                into = into / path.parent.name
            refusals_before = len(self.refused)
            for member in unpack(path, into, self._take):
                self.add(member, f"{name}/{member.relative_to(into).as_posix()}", depth=depth + 1)
            if len(self.files) == before and len(self.refused) == refusals_before:
                raise InputError("the archive holds no file that can be read")
        except InputError as error:
            del self.files[before:]  # what came out of an archive before it turned out to be damaged
            self.refused.append(Refusal(name, str(error).removeprefix(f"{path}: ").replace(str(path), name)))
        except OSError as error:
            self.refused.append(Refusal(name, f"it can't be read: {error.strerror or type(error).__name__}"))

    def _utf8(self, path: Path) -> Path:
        """The file; a copy in UTF-8, in a folder of the same name, if it begins with the mark of UTF-16 or UTF-32."""
        with path.open("rb") as file:
            if not encodings.marked(file.read(4)):
                return path
        text, _ = encodings.decoded(path.read_bytes(), path)
        self._take(len(text), path)
        into = self._folder(path, path.name) / path.parent.name
        into.mkdir()
        (into / path.name).write_text(text, encoding="utf-8", newline="")
        return into / path.name

    def _folder(self, path: Path, name: str) -> Path:
        """A new folder for what an archive holds, with the archive's name, which a reader may use as a model's."""
        place = len(list(self.scratch.iterdir())) if self.scratch.is_dir() else 0
        into = self.scratch / str(place) / (re.sub(r"(\.tar)?\.\w+$", "", path.name) or "archive")
        into.mkdir(parents=True)
        return into

    def _take(self, size: int, archive: Path) -> None:
        self.unpacked += size
        self.of_archive[archive] = self.of_archive.get(archive, 0) + size
        most = encodings.most_unpacked(archive.stat().st_size)
        encodings.check_unpacked(self.of_archive[archive], most, rest=MOST_UNPACKED - self.unpacked)


Take = Callable[[int, Path], None]
Unpack = Callable[[Path, Path, Take], Iterable[Path]]


def _unpacker(path: Path) -> Unpack | None:
    """What unpacks a file; None for one that is no archive, or whose format happens to be one (npz, XLSX, a log)."""
    with path.open("rb") as file:
        head = file.read(8)
    other = next((name for begin, name in OTHER_ARCHIVES.items() if head.startswith(begin)), None)
    if other:
        raise InputError(f"it is a {other} archive, which is not opened; unpack it, or make a zip of it")
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return None if archive_kind(path) else _unzip
    if _is_tar(path):
        return _untar
    return _decompress if encodings.compression_of(head) else None


def _is_tar(path: Path) -> bool:
    try:
        return tarfile.is_tarfile(path)
    except DAMAGED_TAR:
        return False


def _inside(into: Path, name: str) -> Path | None:
    """Where a member goes; None for one that is litter or wants to be outside."""
    parts = [part for part in re.split(r"[/\\]", name) if part not in ("", ".")]
    if not parts or ".." in parts or any(LITTER.match(part) or ":" in part for part in parts):
        return None
    return into.joinpath(*(cut_name(part, most=200) for part in parts))


def _copied(source: IO[bytes], target: Path, take: Take, archive: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("wb") as file:
        while piece := source.read(encodings.PIECE):
            take(len(piece), archive)
            file.write(piece)


def _unzip(path: Path, into: Path, take: Take) -> Iterator[Path]:
    try:
        with zipfile.ZipFile(path) as archive:
            infos = [info for info in archive.infolist() if not info.is_dir()]
            if len(infos) > MOST_FILES:
                raise InputError(f"expected at most {MOST_FILES:,} files in an archive, found {len(infos):,}")
            most, stated = encodings.most_unpacked(path.stat().st_size), sum(info.file_size for info in infos)
            if stated > most:
                raise InputError(
                    f"it unpacks to {stated / 1e6:,.0f} MB, and at most {most / 1e6:,.0f} MB are unpacked; unpack "
                    "it yourself and import the files that matter"
                )
            for info in infos:
                target = _inside(into, info.filename)
                if target is None:
                    continue
                if info.flag_bits & 1:
                    raise InputError("expected an archive without a password, found one with; unpack it first")
                with archive.open(info) as member:
                    _copied(member, target, take, path)
                yield target
    except DAMAGED as error:
        raise InputError(f"expected a whole zip archive, found none ({str(error)[:100]}); fetch it again") from error


def _untar(path: Path, into: Path, take: Take) -> Iterator[Path]:
    try:
        with tarfile.open(path, "r|*") as archive:
            for n, info in enumerate(archive):
                if n >= MOST_FILES:
                    raise InputError(f"expected at most {MOST_FILES:,} files in an archive, found more")
                take(0 if info.isreg() else info.size, path)
                target = _inside(into, info.name) if info.isreg() else None
                member = archive.extractfile(info) if target is not None else None
                if target is not None and member is not None:
                    _copied(member, target, take, path)
                    yield target
    except DAMAGED_TAR as error:
        raise InputError(f"expected a whole tar archive, found none ({str(error)[:100]}); fetch it again") from error


def _decompress(path: Path, into: Path, take: Take) -> Iterator[Path]:
    with path.open("rb") as file:
        compression = encodings.compression_of(file.read(8))
    ending = encodings.COMPRESSIONS[compression].ending
    target = into / (path.name.removesuffix(ending) if path.name.endswith(ending) else f"{path.name}.unpacked")
    target.parent.mkdir(parents=True, exist_ok=True)
    with path.open("rb") as packed, target.open("wb") as file:
        for piece in encodings.unpacked(packed, compression):
            take(len(piece), path)
            file.write(piece)
    yield target
