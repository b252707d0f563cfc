"""Backup and restore of what a person would miss: runs, juries, groups, the bin, classes and settings.

A backup is one ``.tar.gz``. Its first member, ``backup.json``, says which Hedge wrote it and when; ``home/`` holds the
files of ``HEDGE_HOME`` as they are, without caches, logs and the files of processes. Runs and classes may continue
meanwhile: each file of a run is written whole or not at all, and the classes' database is copied by SQLite's own backup
function. Questions scored after that are missing, and such a run continues from there.

The run database is in no backup. It holds waiting runs and busy workers, and after a restore nothing does: runs that
were waiting or running are cancelled until a person resumes them.
"""

import gzip
import io
import json
import os
import shutil
import sqlite3
import tarfile
import tempfile
import time
import zlib
from collections.abc import Callable, Collection, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, BinaryIO, cast

from pydantic import Field, TypeAdapter, ValidationError

from core import __version__, access
from core.access import UserRole
from core.errors import InputError, RunError
from core.models.server import permission
from core.settings import settings
from core.storage.database import sqlite_file

SCHEMA = 1
DESCRIPTION = "backup.json"
HOME = "home"
OF_OLDER = ("engine.sqlite", "engine.dump")
"""The copy of the run database in backups of earlier versions, which is not restored."""
CLASSES_FILE = "classes.sqlite"
SCRATCH, ASIDE = ".restore-", "before-restore-"
"""How the folders begin that a restore makes within a home that can't be moved."""
LEFT_OUT = (SCRATCH, ASIDE, "agents", "cache", "logs", permission.FOLDER, "engine.sqlite", f"{CLASSES_FILE}-")
"""What Hedge makes again by itself, has a copy of its own, or belongs to this machine alone; also SQLite's files beside
the database."""
CANCELLED = "Its backup was restored while it was not done; resume it to continue with what is missing."
MOST_AT_ONCE = 1 << 16
"""The bytes of a backup that are read at once; its headers and its description are smaller."""
GROWN = 1.1
GROWN_BYTES = 1 << 26
"""Files may grow while they are copied: by a tenth of all, and by 64 MB."""

Progress = Callable[[int, int], None]
Count = Annotated[int, Field(ge=0, le=1 << 62)]


@dataclass(frozen=True, slots=True)
class Backup:
    """What a backup holds: which Hedge wrote it and when (seconds since the epoch), and the number of ``HEDGE_HOME``'s
    files and bytes. ``database`` is "none", and in backups of earlier versions the kind of the run database in them."""

    hedge: Annotated[str, Field(max_length=40)]
    created: Annotated[float, Field(ge=0, le=1e11)]
    files: Count
    bytes: Count
    database: Annotated[str, Field(max_length=40)] = "none"
    schema: Annotated[int, Field(ge=1)] = SCHEMA


@access.needs(UserRole.ADMINISTRATOR, "back this server up")
def back_up(target: Path, *, progress: Progress = lambda done, total: None) -> Backup:
    """Write a backup to ``target``, which must not exist. ``progress`` is told the bytes done and their total.

    Raises :class:`~core.errors.InputError` if the file exists or can't be written, and
    :class:`~core.errors.RunError` if the classes' database can't be copied.
    """
    if target.exists():
        raise InputError(f"{target} exists already; name a new file, so that the earlier backup is kept")
    home = settings().home
    files = [path for path in _files(home) if path.resolve() != target.resolve()]
    sizes = [path.stat().st_size for path in files]
    part = target.with_name(f"{target.name}.part")
    try:
        with tempfile.TemporaryDirectory(prefix="hedge-backup-") as scratch:
            description = Backup(__version__, time.time(), len(files), sum(sizes))
            with tarfile.open(part, "w:gz", compresslevel=1) as archive:
                _add_text(archive, DESCRIPTION, json.dumps(asdict(description), indent=1))
                done = 0
                for path, size in zip(files, sizes, strict=True):
                    name = f"{HOME}/{path.relative_to(home).as_posix()}"
                    _add(archive, _whole(path, Path(scratch)), name)
                    done += size
                    progress(done, description.bytes)
        part.replace(target)
    except OSError as error:
        raise InputError(f"{target} can't be written ({error.strerror}); choose another place") from None
    finally:
        part.unlink(missing_ok=True)
    return description


def read_description(source: Path) -> Backup:
    """What a backup says of itself.

    Raises :class:`~core.errors.InputError` if it is no backup, or a newer Hedge wrote it.
    """
    with _opened(source, "name a file that `backup` wrote") as archive:
        first = archive.next()
        content = archive.extractfile(first) if first and first.name == DESCRIPTION and _is_plain(first) else None
        text = content.read() if content else b"null"
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        values = None
    schema = values.get("schema") if isinstance(values, dict) else None
    if not isinstance(schema, int):
        raise InputError(f"{source} is not a backup of Hedge; name a file that `backup` wrote")
    if schema > SCHEMA:
        raise InputError(
            f"{source} was written by a newer Hedge, whose backups have schema {str(schema)[:20]}; this Hedge reads up "
            f"to {SCHEMA}; update Hedge"
        )
    try:
        return TypeAdapter(Backup).validate_json(text, strict=True)
    except ValidationError as error:
        first_fault = error.errors(include_input=False)[0]
        raise InputError(
            f"{source} is damaged: {'.'.join(map(str, first_fault['loc']))} of its {DESCRIPTION} is not as `backup` "
            f"writes it ({first_fault['msg']}); take another backup"
        ) from None


@access.needs(UserRole.ADMINISTRATOR, "restore a backup")
def restore(
    source: Path, *, replace: bool = False, progress: Progress = lambda done, total: None
) -> tuple[Backup, list[str], Path | None]:
    """Restore a backup into ``HEDGE_HOME``.

    A home that holds something, and runs that wait in a run database on a server, are only replaced if ``replace`` says
    so. The home is then moved aside, and those runs are cancelled. Returns the backup's description, the runs that
    were waiting or running when it was made, which are cancelled, and the place where the earlier home lies. Raises
    :class:`~core.errors.InputError`, before anything has been changed, where the file is damaged, there is too little
    room for it, or an agent is running.
    """
    from core.runs.agent import liveness
    from core.runs.queue import run_queue
    from core.storage import database

    described, home = read_description(source), settings().home
    if liveness.any_agent_alive():
        raise InputError("an agent is running and would write into what is being restored; stop every agent first")
    full = home.is_dir() and any(_files(home))
    if full and not replace:
        raise InputError(f"{home} holds runs already; add --replace to move them aside, or set HEDGE_HOME")
    waiting = list(run_queue.unfinished()) if database.exists() else []
    if waiting and not replace:
        raise InputError(
            f"in the run database {database.shown()}, {len(waiting)} of the runs are waiting or running; add "
            "--replace to cancel them, or set HEDGE_DATABASE_URL"
        )
    try:
        home.parent.mkdir(parents=True, exist_ok=True)
        # A volume of its own can't be moved, and nobody can write beside it if it lies in the root folder.
        inside = home.is_mount() or not os.access(home.parent, os.W_OK)
        place, prefix = (home, SCRATCH) if inside else (home.parent, f".{home.name}-restore-")
        _check_room(source, described, place)
        scratch = Path(tempfile.mkdtemp(prefix=prefix, dir=place))
        try:
            _unpack(source, scratch, described, progress)
            for run_id in waiting:
                run_queue.cancel(run_id)
            database.forget()
            fresh = scratch / HOME
            fresh.mkdir(exist_ok=True)
            aside = _moved_entries(home, fresh) if inside else _moved(home, fresh)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    except OSError as error:
        raise InputError(
            f"{home} can't be replaced ({error.strerror}); set HEDGE_HOME to a folder that you may write to"
        ) from None
    return described, _cancel_unfinished(), aside


def _cancel_unfinished() -> list[str]:
    """Cancel every restored run that has not ended; their ids."""
    from core.runs import store

    cancelled = []
    for run_id in sorted(path.parent.name for path in settings().runs.glob("*/run.json")):
        try:
            if store.read_record(run_id).state not in store.ENDED:
                store.end(run_id, "cancelled", CANCELLED)
                cancelled.append(run_id)
        except (InputError, OSError):  # a damaged record is shown as such where it is opened, and no worker takes it
            continue
    return cancelled


def _files(home: Path) -> Iterator[Path]:
    """The files of the home that are kept, in the order of their names. A top folder may be a link to another disk."""
    for top in sorted(home.iterdir()) if home.is_dir() else ():
        if top.name.startswith(LEFT_OUT):
            continue
        if top.is_file():
            yield top
        for folder, _, names in os.walk(top):
            for name in sorted(names):
                if (path := Path(folder) / name).is_file() and path.suffix != ".lock":
                    yield path


def _whole(path: Path, scratch: Path) -> Path:
    """The file itself, or of the classes' database a copy of one moment, because a class may write into it now."""
    if path.name != CLASSES_FILE or path.parent != settings().home:
        return path
    copy = scratch / CLASSES_FILE
    try:
        _copy_sqlite(path, copy)
    except sqlite3.Error as error:
        raise RunError(f"the classes' database can't be copied ({error}); move {path} away") from None
    return copy


def _copy_sqlite(source: Path, target: Path) -> None:
    """Copy a SQLite database by its own backup function, which sees one moment of it.

    Raises :class:`sqlite3.Error` if it is damaged or can't be read.
    """
    sqlite_file.check(source)
    with closing(sqlite3.connect(source)) as here, closing(sqlite3.connect(target)) as there:
        here.backup(there)


def _add(archive: tarfile.TarFile, path: Path, name: str) -> None:
    """Add a file as it is now; one that a run has just removed is left out."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return
    about = archive.gettarinfo(str(path), name)
    about.type, about.size = tarfile.REGTYPE, len(content)
    archive.addfile(about, io.BytesIO(content))


def _add_text(archive: tarfile.TarFile, name: str, text: str) -> None:
    about = tarfile.TarInfo(name)
    about.size, about.mtime = len(text.encode()), int(time.time())
    archive.addfile(about, io.BytesIO(text.encode()))


class _SmallReads:
    """A gzip file that is read in small parts: a header that claims to be large would fill the memory."""

    def __init__(self, file: gzip.GzipFile) -> None:
        self._file = file
        self.tell, self.seek = file.tell, file.seek

    def read(self, size: int = -1) -> bytes:
        """Bytes of the content. Raises :class:`tarfile.ReadError` for more than :data:`MOST_AT_ONCE`."""
        if not 0 <= size <= MOST_AT_ONCE:
            raise tarfile.ReadError(f"a part of {size:,} bytes, where no backup has more than {MOST_AT_ONCE:,}")
        return self._file.read(size)


@contextmanager
def _opened(source: Path, way_out: str) -> Iterator[tarfile.TarFile]:
    """The backup for reading. Raises :class:`InputError` if it is damaged, which ends with the ``way_out``."""
    try:
        with gzip.open(source) as content, tarfile.TarFile(fileobj=cast(BinaryIO, _SmallReads(content))) as archive:
            yield archive
    except (EOFError, OverflowError, ValueError, zlib.error, gzip.BadGzipFile, tarfile.TarError) as error:
        raise InputError(f"{source} is damaged or no backup ({error}); {way_out}") from None
    except OSError as error:
        raise InputError(f"{source} can't be unpacked ({error.strerror or error}); {way_out}") from None


def _is_plain(member: tarfile.TarInfo) -> bool:
    """Whether it is a file as backups hold them, of ordinary kind and neither sparse nor a link."""
    return member.type in (tarfile.REGTYPE, tarfile.AREGTYPE) and member.sparse is None and member.size >= 0


def _check_room(source: Path, described: Backup, folder: Path) -> None:
    """Raise :class:`InputError` unless the disk of the folder has room for what the backup says that it holds."""
    free, needed = shutil.disk_usage(folder).free / 1e9, described.bytes / 1e9
    if needed > free:
        raise InputError(
            f"{source} holds {needed:,.1f} GB, and {free:,.1f} GB are free on the disk of {folder}; free some space "
            "there, or set HEDGE_HOME to another disk"
        )


def _unpack(source: Path, folder: Path, described: Backup, progress: Progress) -> None:
    """Unpack all of it: files of a home, not more and not larger than the backup's description says."""
    done, seen = 0, set[str]()
    most = min(described.bytes * GROWN + GROWN_BYTES, shutil.disk_usage(folder).free)
    with _opened(source, "nothing was restored") as archive:
        for member in archive:
            if member.name == DESCRIPTION or member.name in OF_OLDER:
                continue
            _check_member(member, seen)
            seen.add(member.name)
            done += member.size
            if len(seen) > described.files or done > most:
                raise tarfile.TarError(
                    f"it holds more than the {described.files:,} files of {described.bytes:,} bytes that it says"
                )
            _extract(archive, member, folder)
            progress(done, described.bytes)


def _check_member(member: tarfile.TarInfo, seen: Collection[str]) -> None:
    """Raise :class:`tarfile.TarError` unless it is a file that a backup holds, and the first of its name."""
    top, *parts = member.name.split("/")
    named_well = member.name.isprintable() and not {"", ".", ".."} & set(parts)
    if (
        not _is_plain(member)
        or top != HOME
        or not parts
        or not named_well
        or parts[0].lower().startswith(LEFT_OUT)
        or member.name in seen
    ):
        raise tarfile.TarError(f"{member.name[:80]!r} is no file of a backup")


def _extract(archive: tarfile.TarFile, member: tarfile.TarInfo, folder: Path) -> None:
    """Python's own filter for this (``filter="data"``) came with 3.11.4; Debian 12 has 3.11.2."""
    place = folder / member.name
    place.parent.mkdir(parents=True, exist_ok=True)
    content = archive.extractfile(member)
    assert content is not None  # it is a plain file
    with content, place.open("xb") as out:
        shutil.copyfileobj(content, out, MOST_AT_ONCE)
    place.chmod(member.mode & 0o644 | 0o600)
    os.utime(place, (member.mtime, member.mtime))


def _moved(home: Path, fresh: Path) -> Path | None:
    """Put the fresh home in the place of the other one; returns where that one lies now, if it held something."""
    aside = None
    if home.exists():
        aside = home.with_name(f"{home.name}.{_now_aside()}")
        home.replace(aside)
    fresh.replace(home)
    if aside and not any(_files(aside)) and not (aside / "engine.sqlite").exists():
        shutil.rmtree(aside, ignore_errors=True)
        return None
    return aside


def _moved_entries(home: Path, fresh: Path) -> Path | None:
    """The same for a home that stays where it is: what it holds is moved into a folder within it."""
    entries = [path for path in home.iterdir() if not path.name.startswith((SCRATCH, ASIDE))]
    aside = home / _now_aside() if entries else None
    if aside:
        aside.mkdir()
        for path in entries:
            path.replace(aside / path.name)
    for path in fresh.iterdir():
        path.replace(home / path.name)
    return aside


def _now_aside() -> str:
    return f"{ASIDE}{time.strftime('%Y%m%d-%H%M%S')}"
