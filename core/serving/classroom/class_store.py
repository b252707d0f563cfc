"""``HEDGE_HOME/classes.sqlite``: classes, their seats and answers. Every change is written before it is acknowledged.

The file is in WAL mode, so that a backup reads it while a class writes. A class's own server holds the class in memory
(:mod:`core.serving.classroom.live_class`) and reads the file once, when it first hears of a class.
"""

import json
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.errors import RunError
from core.serving.classroom.quiz import Quiz
from core.settings import settings
from core.storage.database import sqlite_file
from core.storage.json_text import loads

FILE = "classes.sqlite"
KEPT_DAYS = 7
"""A class is deleted this many days after its end, with its seats, names and answers."""
TABLES = """
CREATE TABLE IF NOT EXISTS classes (
    code TEXT PRIMARY KEY, owner TEXT NOT NULL, opened REAL NOT NULL, ends REAL NOT NULL, quiz TEXT NOT NULL,
    phase TEXT NOT NULL, position INTEGER NOT NULL, alpha INTEGER NOT NULL, score TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS seats (
    code TEXT NOT NULL REFERENCES classes ON DELETE CASCADE, seat INTEGER NOT NULL, token TEXT NOT NULL,
    name TEXT NOT NULL, PRIMARY KEY (code, seat), UNIQUE (code, token)
) STRICT;
CREATE TABLE IF NOT EXISTS answers (
    code TEXT NOT NULL REFERENCES classes ON DELETE CASCADE, seat INTEGER NOT NULL, question INTEGER NOT NULL,
    shares TEXT NOT NULL, turn INTEGER NOT NULL, PRIMARY KEY (code, seat, question)
) STRICT;
"""
GUARDED = ("classes", "seats", "answers")


@dataclass(frozen=True, slots=True)
class ClassRow:
    """A class as it is stored. Times are seconds since the epoch; ``alpha`` is in thousandths."""

    code: str
    owner: str
    opened: float
    ends: float
    quiz: Quiz
    phase: str
    position: int
    alpha: int
    score: str


@dataclass(frozen=True, slots=True)
class SeatRow:
    """A seat with the hash of its token and a name, which may be empty."""

    seat: int
    token: str
    name: str


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """A seat's shares of a question, in whole per cent; the answer with the higher ``turn`` is the later."""

    seat: int
    question: int
    shares: tuple[int, ...]
    turn: int


_lock = threading.Lock()
_open: dict[tuple[Path, int], sqlite3.Connection] = {}
"""The connection in use, by the file and its inode: another home, or a restored file, is opened again."""


def path() -> Path:
    """The file with the classes. Raises :class:`RunError` if SQLite can't open such a path."""
    return sqlite_file.checked_path(settings().home / FILE)


@contextmanager
def _connection() -> Iterator[sqlite3.Connection]:
    """The file, in a transaction of its own.

    Raises :class:`RunError` if it can't be used.
    """
    file = path()
    with _lock:
        try:
            with _connected(file) as connection:
                yield connection
        except sqlite_file.DamagedFileError as error:
            raise RunError(
                f"the classes in {file} can't be used: {error}; move the file away, and new classes can be opened"
            ) from error
        except (sqlite3.Error, OSError) as error:
            raise RunError(
                f"the file with the classes can't be used ({error}); make room on the disk, or move {file} away"
            ) from error


def _connected(file: Path) -> sqlite3.Connection:
    inode = file.stat().st_ino if file.exists() else 0
    if (file, inode) not in _open:
        _close()
        file.parent.mkdir(parents=True, exist_ok=True)
        sqlite_file.check(file)
        connection = sqlite3.connect(file, check_same_thread=False, timeout=5)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")  # a commit survives the process; a checkpoint, the machine
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA secure_delete = ON")
        connection.executescript(TABLES)
        sqlite_file.guard(connection, GUARDED)
        _open[file, file.stat().st_ino] = connection
        return connection
    return _open[file, inode]


def forget() -> None:
    """Close the file. The next use opens it again."""
    with _lock:
        _close()


def _close() -> None:
    while _open:
        _open.popitem()[1].close()


def exists() -> bool:
    """Whether there has ever been a class in this home."""
    return path().is_file()


# ---------------------------------------------------------------- classes


def add(row: ClassRow) -> None:
    """Store a new class."""
    with _connection() as connection:
        values = [row.code, row.owner, row.opened, row.ends, json.dumps(row.quiz.to_json()), row.phase, row.position]
        connection.execute("INSERT INTO classes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", [*values, row.alpha, row.score])


def set_quiz(code: str, quiz: Quiz) -> None:
    """Store the quiz of a class with the answers of its model."""
    with _connection() as connection:
        connection.execute("UPDATE classes SET quiz = ? WHERE code = ?", [json.dumps(quiz.to_json()), code])


def delete_old(*, now: float) -> None:
    """Delete the classes that ended :data:`KEPT_DAYS` before ``now`` (seconds since the epoch) or earlier."""
    if exists():
        with _connection() as connection:
            connection.execute("DELETE FROM classes WHERE ends <= ?", [now - KEPT_DAYS * 86_400])


def set_stage(code: str, *, phase: str, position: int, alpha: int, score: str, ends: float) -> None:
    """Store where a class is."""
    with _connection() as connection:
        connection.execute(
            "UPDATE classes SET phase = ?, position = ?, alpha = ?, score = ?, ends = ? WHERE code = ?",
            [phase, position, alpha, score, ends, code],
        )


def read(code: str) -> tuple[ClassRow, list[SeatRow], list[AnswerRow]] | None:
    """A class with its seats and answers; None if there is none with this code."""
    if not exists():
        return None
    with _connection() as connection:
        row = connection.execute("SELECT * FROM classes WHERE code = ?", [code]).fetchone()
        if row is None:
            return None
        seats = connection.execute("SELECT seat, token, name FROM seats WHERE code = ? ORDER BY seat", [code])
        own = connection.execute("SELECT seat, question, shares, turn FROM answers WHERE code = ?", [code])
        return (
            _class_row(row),
            [SeatRow(*seat) for seat in seats],
            [AnswerRow(seat, question, tuple(loads(shares)), turn) for seat, question, shares, turn in own],
        )


def codes(*, after: float) -> list[tuple[str, str, float]]:
    """Code, owner and time of opening of the classes that end ``after`` a time, the latest first."""
    if not exists():
        return []
    with _connection() as connection:
        return list(
            connection.execute("SELECT code, owner, opened FROM classes WHERE ends > ? ORDER BY opened DESC", [after])
        )


def _class_row(row: tuple[Any, ...]) -> ClassRow:
    code, owner, opened, ends, quiz, *rest = row
    return ClassRow(code, owner, opened, ends, Quiz.from_json(loads(quiz)), *rest)


# ---------------------------------------------------------------- seats and answers


def add_seat(code: str, seat: SeatRow) -> None:
    """Store a new seat."""
    with _connection() as connection:
        connection.execute("INSERT INTO seats VALUES (?, ?, ?, ?)", [code, seat.seat, seat.token, seat.name])


def has_seat(code: str, token: str) -> bool:
    """Whether a seat of the class has a token with this hash."""
    if not exists():
        return False
    with _connection() as connection:
        rows = connection.execute("SELECT 1 FROM seats WHERE code = ? AND token = ?", [code, token])
        return rows.fetchone() is not None


def free_seats(code: str, seats: Sequence[int]) -> None:
    """Delete seats with their names and answers."""
    with _connection() as connection:
        for table in ("answers", "seats"):
            connection.executemany(f"DELETE FROM {table} WHERE code = ? AND seat = ?", [(code, seat) for seat in seats])


def put_answer(code: str, answer: AnswerRow) -> None:
    """Store a seat's answer to a question, in the place of an earlier one."""
    with _connection() as connection:
        connection.execute(
            "INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?)",
            [code, answer.seat, answer.question, json.dumps(answer.shares), answer.turn],
        )
