"""Backup and restore of what a person would miss: runs, juries, groups, the bin, settings and the run database.

A backup is one ``.tar.gz``. Its first member, ``backup.json``, says which Hedge wrote it and when; ``home/`` holds the
files of ``HEDGE_HOME`` as they are there, without caches, logs and the files of processes; ``engine.sqlite`` or
``engine.dump`` holds the run database. Runs and classes may go on meanwhile: each file of a run is written whole or not
at all, a SQLite database (also that of the classes) is copied by its own backup function, and ``pg_dump`` reads a
Postgres database in one transaction. What is scored after that is missing, and such a run continues from there.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import sqlite3
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from core import __version__, access
from core.access import UserRole
from core.errors import InputError, RunError
from core.inference.server import permission
from core.settings import settings

SCHEMA = 1
DESCRIPTION = "backup.json"
HOME = "home"
SQLITE_FILE, POSTGRES_DUMP = "engine.sqlite", "engine.dump"
CLASSES_FILE = "classes.sqlite"
LEFT_OUT = ("agents", "cache", "logs", permission.FOLDER, SQLITE_FILE, f"{CLASSES_FILE}-")
"""What is made anew by itself, has a copy of its own, or belongs to this machine alone; also SQLite's files beside the
database. A backup that holds it does not bring it back."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Backup:
    """What a backup holds: which Hedge wrote it and when (seconds since the epoch), the number of files and bytes of
    ``HEDGE_HOME``, and the kind of the run database: sqlite, postgresql, or none."""

    hedge: str
    created: float
    files: int
    bytes: int
    database: str
    schema: int = SCHEMA


@access.needs(UserRole.ADMINISTRATOR, "back this server up")
def back_up(target: Path, *, progress: Progress = lambda done, of: None) -> Backup:
    """Write a backup to ``target``, which must not exist. ``progress`` is told the bytes done and their total.

    Raises :class:`~core.errors.InputError` if the file exists or can't be written, and
    :class:`~core.errors.RunError` if the database can't be copied.
    """
    if target.exists():
        raise InputError(f"{target} exists already; name a new file, so that the earlier backup is kept")
    home = settings().home
    files = [path for path in _files(home) if path.resolve() != target.resolve()]
    sizes = [path.stat().st_size for path in files]
    part = target.with_name(f"{target.name}.part")
    try:
        with tempfile.TemporaryDirectory(prefix="hedge-backup-") as scratch:
            copy = _database_copy(Path(scratch))
            made = Backup(__version__, time.time(), len(files), sum(sizes), _kind() if copy else "none")
            with tarfile.open(part, "w:gz", compresslevel=1) as archive:
                _add_text(archive, DESCRIPTION, json.dumps(asdict(made), indent=1))
                if copy:
                    archive.add(copy, copy.name)
                done = 0
                for path, size in zip(files, sizes, strict=True):
                    name = f"{HOME}/{path.relative_to(home).as_posix()}"
                    _add(archive, _whole(path, Path(scratch)), name)
                    done += size
                    progress(done, made.bytes)
        part.replace(target)
    except OSError as error:
        raise InputError(f"{target} can't be written ({error.strerror}); choose another place") from None
    finally:
        part.unlink(missing_ok=True)
    return made


def read_description(source: Path) -> Backup:
    """What a backup says of itself.

    Raises :class:`~core.errors.InputError` if it is no backup, or a newer Hedge wrote it.
    """
    try:
        with tarfile.open(source, "r:gz") as archive:
            first = archive.next()
            content = archive.extractfile(first) if first and first.name == DESCRIPTION else None
            values: dict[str, Any] = json.load(content) if content else {}
    except (OSError, EOFError, tarfile.TarError, ValueError) as error:
        raise InputError(f"{source} can't be read as a backup ({error}); name a file that `backup` wrote") from None
    if not isinstance(values.get("schema"), int):
        raise InputError(f"{source} is not a backup of Hedge; name a file that `backup` wrote")
    if values["schema"] > SCHEMA:
        raise InputError(
            f"{source} was written by Hedge {values.get('hedge')}, whose backups have schema {values['schema']}; "
            f"this Hedge reads up to {SCHEMA}; update Hedge"
        )
    return Backup(**{name: values[name] for name in Backup.__dataclass_fields__})


@access.needs(UserRole.ADMINISTRATOR, "restore a backup")
def restore(
    source: Path, *, replace: bool = False, database: bool = True, progress: Progress = lambda done, of: None
) -> tuple[Backup, Path | None]:
    """Bring a backup back into ``HEDGE_HOME`` and the run database.

    A home that holds something is only replaced if ``replace`` says so; it is then moved aside, and the place where it
    lies is returned with the backup's description. ``database`` false leaves the run database as it is. Raises
    :class:`~core.errors.InputError` or :class:`~core.errors.RunError`, before anything has been changed, where the file
    is damaged, an agent is running, or the database is of another kind.
    """
    from core import database as run_database
    from core.runs.agent import liveness

    said, home = read_description(source), settings().home
    if liveness.any_agent_alive():
        raise InputError("an agent is running and would write into what is being restored; stop every agent first")
    if database and said.database not in ("none", _kind()):
        raise InputError(
            f"{source} holds a run database of kind {said.database}, and here it is {_kind()}; set HEDGE_DATABASE_URL "
            "to one of that kind, or add --without-database: finished runs do not live in it"
        )
    full = home.is_dir() and any(_files(home))
    if full and not replace:
        raise InputError(f"{home} holds runs already; add --replace to move them aside, or set HEDGE_HOME")
    home.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=f".{home.name}-restore-", dir=home.parent))
    try:
        _unpack(source, scratch, said, progress)
        dump = scratch / POSTGRES_DUMP
        if database and dump.is_file():
            _load_dump(dump)
        run_database.forget()
        aside = _moved_aside(home)
        fresh = scratch / HOME
        fresh.mkdir(exist_ok=True)
        fresh.replace(home)
        if said.database == "sqlite" and database:
            shutil.move(scratch / SQLITE_FILE, _sqlite_file())
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return said, aside


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


def _kind() -> str:
    return settings().database.partition(":")[0].partition("+")[0]


def _sqlite_file() -> Path:
    from sqlalchemy import make_url

    return Path(make_url(settings().database).database or SQLITE_FILE).absolute()


def _database_copy(scratch: Path) -> Path | None:
    """A copy of the run database as it is now; None if there is none yet."""
    from core import database

    if not database.exists():
        return None
    if _kind() != "sqlite":
        copy = scratch / POSTGRES_DUMP
        _postgres("pg_dump", "--format=custom", "--no-owner", f"--file={copy}")
        return copy
    copy = scratch / SQLITE_FILE
    try:
        _copy_sqlite(_sqlite_file(), copy)
    except sqlite3.Error as error:
        raise RunError(
            f"the run database can't be copied ({error}); move {_sqlite_file()} away, which holds what waits and no "
            "finished run"
        ) from None
    return copy


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
    """Copy a SQLite database by its own backup function, which sees one moment of it."""
    with closing(sqlite3.connect(source)) as here, closing(sqlite3.connect(target)) as there:
        here.backup(there)


def _load_dump(dump: Path) -> None:
    _postgres("pg_restore", "--clean", "--if-exists", "--no-owner", "--single-transaction", str(dump), dbname=True)


def _postgres(program: str, *arguments: str, dbname: bool = False) -> None:
    """Run a program of Postgres on the run database. The password goes by the environment, not by the command line."""
    from sqlalchemy import make_url

    url = make_url(settings().database)
    plain = url.set(drivername="postgresql", password=None).difference_update_query(["connect_timeout"])
    where = plain.render_as_string()
    environment = os.environ | ({"PGPASSWORD": url.password} if url.password else {})
    try:
        done = subprocess.run(
            [program, *arguments, *(["--dbname", where] if dbname else [where])],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        raise RunError(
            f"{program} is not installed, which copies a Postgres database; install Postgres's client programs "
            "(Debian: postgresql-client), or add --without-database"
        ) from None
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise RunError(f"{program} failed: {said}")


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


def _unpack(source: Path, folder: Path, said: Backup, progress: Progress) -> None:
    """Unpack all of it: regular files within the folder, as every backup holds them. Anything else is refused."""
    done = files = 0
    try:
        with tarfile.open(source, "r:gz") as archive:
            for member in archive:
                if _is_left_out(folder / HOME, folder / member.name):
                    continue
                _extract(archive, member, folder)
                if member.name.startswith(f"{HOME}/"):
                    files, done = files + 1, done + member.size
                    progress(done, said.bytes)
    except (EOFError, tarfile.TarError) as error:
        raise InputError(f"{source} is damaged ({error}); nothing was restored") from None
    except OSError as error:
        raise InputError(f"{source} can't be unpacked ({error.strerror or error}); nothing was restored") from None


def _is_left_out(home: Path, place: Path) -> bool:
    """Whether a restored file would lie where a backup takes nothing from."""
    home, place = home.resolve(), place.resolve()
    return home in place.parents and place.relative_to(home).parts[0].lower().startswith(LEFT_OUT)


def _extract(archive: tarfile.TarFile, member: tarfile.TarInfo, folder: Path) -> None:
    """Python's own filter for this (``filter="data"``) came with 3.11.4; Debian 12 has 3.11.2."""
    place = folder / member.name
    content = archive.extractfile(member) if member.isreg() else None
    if content is None or not place.resolve().is_relative_to(folder.resolve()):
        raise tarfile.TarError(f"{member.name[:80]!r} is no file of a backup")
    place.parent.mkdir(parents=True, exist_ok=True)
    with content, place.open("wb") as out:
        shutil.copyfileobj(content, out)
    place.chmod(member.mode & 0o755)
    os.utime(place, (member.mtime, member.mtime))


def _moved_aside(home: Path) -> Path | None:
    if not home.exists():
        return None
    if not any(_files(home)) and not (home / SQLITE_FILE).exists():
        shutil.rmtree(home)
        return None
    aside = home.with_name(f"{home.name}.before-restore-{time.strftime('%Y%m%d-%H%M%S')}")
    home.replace(aside)
    return aside
