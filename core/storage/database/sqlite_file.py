"""The SQLite files that Hedge keeps, the run database and the classes: their paths, and how damage is noticed.

SQLite reads a flipped bit in a value as another value. So each row of a guarded table has a copy in the same file, its
values as SQL text. Triggers write it in the same transaction, whichever program changes the row. A row that differs
from its copy is damaged. So is a file that ``PRAGMA integrity_check`` does not find whole, or whose tables are not as
they were made. Rows from before there were copies get them when the file is next opened.

================  ======================================================================================
``hedge_copies``  ``place`` (the table), ``row`` (its primary key as SQL) and ``content``
place ``""``      of the file itself: ``columns`` of its guarded tables, and a digest of the SQL of all
================  ======================================================================================
"""

import hashlib
import json
import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from core.errors import RunError
from core.storage.database import write_ahead_log

PATH_BYTES = 504
"""The longest path that SQLite opens on Linux and macOS: 512 bytes less eight for ``-journal``."""
WAIT_S = 30.0
"""How long a check waits for a process that is writing."""
SHARE = 0.05
"""Checks of a file that keeps changing take at most this share of the time."""
WORDS = 100
"""The most characters of SQLite's own words in a sentence; they quote what is damaged."""
NO_DAMAGE = frozenset(
    getattr(sqlite3, f"SQLITE_{name}")
    for name in ("AUTH", "BUSY", "CANTOPEN", "FULL", "IOERR", "LOCKED", "NOMEM", "PERM", "READONLY")
)
"""SQLite's codes for other reasons why a file can't be read."""
COPIES = "hedge_copies"
MADE = f"CREATE TABLE {COPIES} (place TEXT, row TEXT, content TEXT NOT NULL, PRIMARY KEY (place, row)) WITHOUT ROWID"
EVENTS = {"insert": ("NEW",), "update": ("OLD", "NEW"), "delete": ("OLD",)}

Columns = dict[str, tuple[list[str], list[str]]]
"""Of each guarded table, all its columns and those of its primary key."""


def checked_path(path: Path) -> Path:
    """The path, if SQLite can open it. Raises :class:`~core.errors.RunError` if it is too long."""
    length = len(os.fsencode(path))
    if length > PATH_BYTES:
        raise RunError(
            f"the path of {path.name} has {length} bytes, and SQLite opens no path of more than {PATH_BYTES}; set "
            "HEDGE_HOME to a folder with a shorter path"
        )
    return path


@contextmanager
def opened(file: Path) -> Iterator[sqlite3.Connection]:
    """A separate connection, which opens a transaction only when it is told to."""
    with closing(sqlite3.connect(file, timeout=WAIT_S, isolation_level=None)) as connection:
        yield connection


# ---------------------------------------------------------------- checks


class DamagedFileError(sqlite3.DatabaseError):
    """The file is not as it was written; the message is half a sentence."""


class Watch:
    """Checks a file before it is first used, and after it has changed, unless that would take too much of the time."""

    def __init__(self) -> None:
        self._seen: tuple[int, ...] = ()
        self._due = 0.0

    def look(self, file: Path) -> None:
        """Check the file if necessary. Raises :class:`sqlite3.Error` if it is damaged or can't be read."""
        begun = time.monotonic()
        if (seen := _state(file)) == self._seen or begun < self._due:
            return
        check(file)
        took = time.monotonic() - begun
        self._seen, self._due = seen, begun + took / SHARE


def _state(file: Path) -> tuple[int, ...]:
    """What differs after the file has been replaced or changed; empty for one that is missing."""
    try:
        about = file.stat()
    except FileNotFoundError:
        return ()
    return about.st_ino, about.st_size, about.st_mtime_ns


def check(file: Path) -> None:
    """Compare a file with its copies.

    Raises :class:`DamagedFileError` if it is damaged, and another :class:`sqlite3.Error` if it can't be read.
    """
    if not file.exists() or not file.stat().st_size:
        return  # a new one
    log = file.with_name(f"{file.name}-wal")
    if not _is_whole(log):
        raise DamagedFileError(f"it is damaged: {log.name}, which has its last changes, is not what was written")
    try:
        with opened(file) as connection:
            connection.execute("BEGIN")  # all of it at one moment
            (state,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
            if state != "ok":
                raise DamagedFileError(f"it is damaged: {state.splitlines()[-1]}")
            _check_tables(connection)
    except (sqlite3.Error, UnicodeDecodeError) as error:
        if isinstance(error, DamagedFileError) or getattr(error, "sqlite_errorcode", 0) & 0xFF in NO_DAMAGE:
            raise
        words = error.object.decode(errors="replace") if isinstance(error, UnicodeDecodeError) else str(error)
        raise DamagedFileError(f"it is damaged: {words.splitlines()[0][:WORDS]}") from error


def _is_whole(log: Path) -> bool:
    try:  # twice, because a process may begin the log again while it is read
        return any(write_ahead_log.is_whole(log.read_bytes()) for _ in range(2))
    except FileNotFoundError:
        return True


def _check_tables(connection: sqlite3.Connection) -> None:
    names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    if COPIES not in names:
        if any(name.startswith(COPIES) for name in names):
            raise DamagedFileError(f"it is damaged: its table {COPIES} is missing")
        return  # an older Hedge made it, or another program
    try:
        about = _about(connection)
        if about["version"] == _version(connection) and about["tables"] != _tables(connection):
            raise DamagedFileError("it is damaged: its tables are not those that were made")
        for table, (columns, keys) in about["columns"].items():
            _check_rows(connection, table, columns, keys)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise DamagedFileError(f"it is damaged: {COPIES} does not name its tables") from error


def _check_rows(connection: sqlite3.Connection, table: str, columns: Sequence[str], keys: Sequence[str]) -> None:
    wrong = connection.execute(
        f"SELECT {_text(keys, 't')} FROM {_name(table)} AS t LEFT JOIN {COPIES} AS c ON c.place = ? AND "
        f"c.row = {_text(keys, 't')} WHERE c.content IS NOT {_text(columns, 't')} LIMIT 1",
        [table],
    ).fetchone()
    if wrong:
        raise DamagedFileError(f"it is damaged: the row {wrong[0]} of {table} is not what was written")
    counts = connection.execute(
        f"SELECT (SELECT count(*) FROM {_name(table)}), (SELECT count(*) FROM {COPIES} WHERE place = ?)", [table]
    ).fetchone()
    if counts[0] != counts[1]:
        raise DamagedFileError(f"it is damaged: {table} has {counts[0]} rows, and {counts[1]} were written")


# ---------------------------------------------------------------- copies


def guard(connection: sqlite3.Connection, tables: Sequence[str]) -> None:
    """Keep a copy of each row of these tables from now on, within the open transaction or a new one.

    Where that is so already and the tables are as they were, nothing is written.
    """
    columns = {table: _columns(connection, table) for table in tables}
    if _is_guarded(connection, columns):
        return
    with _transaction(connection):
        if _is_guarded(connection, columns):  # another process was faster
            return
        drop_guard(connection)
        connection.execute(MADE)
        for table, (all_columns, keys) in columns.items():
            for event, rows in EVENTS.items():
                connection.execute(_trigger(table, event, rows, all_columns, keys))
            connection.execute(
                f"INSERT INTO {COPIES} SELECT ?, {_text(keys, 't')}, {_text(all_columns, 't')} "
                f"FROM {_name(table)} AS t",
                [table],
            )
        about = {"columns": columns, "version": _version(connection), "tables": _tables(connection)}
        connection.execute(f"INSERT INTO {COPIES} VALUES ('', '', ?)", [json.dumps(about)])


def drop_guard(connection: sqlite3.Connection) -> None:
    """Delete all copies and what writes them."""
    triggers = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'trigger' AND name LIKE ?", [f"{COPIES}%"]
    )
    for (name,) in triggers.fetchall():
        connection.execute(f"DROP TRIGGER {_name(name)}")
    connection.execute(f"DROP TABLE IF EXISTS {COPIES}")


def _is_guarded(connection: sqlite3.Connection, columns: Columns) -> bool:
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", [COPIES]).fetchone():
        return False
    about = _about(connection)
    return (about["version"], about["columns"]) == (_version(connection), json.loads(json.dumps(columns)))


def _about(connection: sqlite3.Connection) -> dict[str, Any]:
    """What the copies say of the file itself."""
    (content,) = connection.execute(f"SELECT content FROM {COPIES} WHERE place = ''").fetchone()
    return dict(json.loads(content))


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    if connection.in_transaction:
        yield
        return
    connection.execute("BEGIN IMMEDIATE")
    with connection:
        yield


def _trigger(table: str, event: str, rows: Sequence[str], columns: Sequence[str], keys: Sequence[str]) -> str:
    """SQL by which the copy of a row follows the row. Other conflict clauses than the caller's are none in a trigger,
    so the earlier copy is deleted first."""
    steps = [f"DELETE FROM {COPIES} WHERE place = '{table}' AND row = {_text(keys, row)};" for row in rows]
    if event != "delete":
        steps.append(f"INSERT INTO {COPIES} VALUES ('{table}', {_text(keys, 'NEW')}, {_text(columns, 'NEW')});")
    return f"CREATE TRIGGER {COPIES}_{table}_{event} AFTER {event} ON {_name(table)} BEGIN {' '.join(steps)} END"


def _columns(connection: sqlite3.Connection, table: str) -> tuple[list[str], list[str]]:
    about = connection.execute(f"PRAGMA table_info({_name(table)})").fetchall()
    return [row[1] for row in about], [row[1] for row in about if row[5]]


def _version(connection: sqlite3.Connection) -> int:
    """A number that goes up whenever a table, an index or a trigger is made or changed."""
    (version,) = connection.execute("PRAGMA schema_version").fetchone()
    return int(version)


def _tables(connection: sqlite3.Connection) -> str:
    """A digest of the SQL by which the tables, indexes and triggers were made."""
    rows = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name")
    return hashlib.blake2b(json.dumps(rows.fetchall()).encode(), digest_size=16).hexdigest()


def _text(columns: Sequence[str], row: str) -> str:
    """SQL for the values of a row as text."""
    return " || ',' || ".join(f"quote({row}.{_name(column)})" for column in columns)


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
