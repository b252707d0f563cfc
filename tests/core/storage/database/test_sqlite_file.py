"""How damage to a SQLite file is noticed, and what is none."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from core.storage.database import sqlite_file
from core.storage.database.sqlite_file import COPIES, DamagedFileError, Watch, check, drop_guard, guard, opened

pytestmark = pytest.mark.quick

MADE = (
    "CREATE TABLE people (code TEXT, seat INTEGER, share REAL, name TEXT, PRIMARY KEY (code, seat))",
    "CREATE TABLE votes (id INTEGER PRIMARY KEY, code TEXT, seat INTEGER, vote BLOB, "
    "FOREIGN KEY (code, seat) REFERENCES people ON DELETE CASCADE)",
)
ROWS = [("a", seat, seat / 7, f"it's {seat} \u00fc") for seat in range(20)]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.sqlite"
    with opened(path) as connection:
        for statement in MADE:
            connection.execute(statement)
        connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", ROWS)
    return path


@pytest.fixture
def guarded(file: Path) -> Iterator[sqlite3.Connection]:
    """An open connection to the file, whose rows have copies."""
    with opened(file) as connection:
        guard(connection, ["people", "votes"])
        connection.execute("PRAGMA foreign_keys = ON")
        yield connection


def without_trigger(connection: sqlite3.Connection, statement: str) -> None:
    """Change a row as a flipped bit does: nothing hears of it."""
    (trigger,) = connection.execute(
        "SELECT sql FROM sqlite_master WHERE type = 'trigger' AND name LIKE ?", [f"%people_{statement[:6]}"]
    ).fetchone()
    connection.execute(f"DROP TRIGGER {COPIES}_people_{statement[:6]}")
    connection.execute(statement)
    connection.execute(trigger)


def test_a_file_without_copies_is_read_as_before_and_gets_them(file):
    check(file)
    with opened(file) as connection:
        guard(connection, ["people", "votes"])
        assert connection.execute("SELECT * FROM people ORDER BY seat").fetchall() == ROWS
        assert connection.execute(f"SELECT count(*) FROM {COPIES}").fetchone() == (21,)
    check(file)


def test_every_way_of_changing_rows_changes_their_copies(file, guarded):
    for statement in (
        "INSERT INTO people VALUES ('b', 1, 0.1, NULL)",
        "INSERT OR REPLACE INTO people VALUES ('b', 1, 1e300, 'x'',y')",
        "INSERT OR IGNORE INTO people VALUES ('b', 1, 5, 'ignored')",
        "INSERT INTO people VALUES ('b', 1, 2, 'z') ON CONFLICT DO UPDATE SET name = excluded.name",
        "UPDATE people SET seat = seat + 100 WHERE code = 'a'",
        "UPDATE people SET share = share / 3",
        "INSERT INTO votes VALUES (1, 'b', 1, x'00ff'), (2, 'b', 1, x'')",
        "DELETE FROM people WHERE code = 'b'",
        "DELETE FROM people WHERE seat % 2",
        "VACUUM",
    ):
        guarded.execute(statement)
        check(file)
    assert guarded.execute("SELECT count(*) FROM votes").fetchone() == (0,)
    guard(guarded, ["people", "votes"])
    assert guarded.execute(f"SELECT count(*) FROM {COPIES}").fetchone() == (11,)


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("update people SET name = 'another' WHERE seat = 3", "the row 'a',3 of people is not what was written"),
        ("update people SET share = 0.4285714285714286 WHERE seat = 3", "the row 'a',3 of people"),
        ("insert INTO people VALUES ('c', 1, 0, '')", "the row 'c',1 of people"),
        ("delete FROM people WHERE seat = 19", "people has 19 rows, and 20 were written"),
    ],
)
def test_a_row_that_is_not_what_was_written(file, guarded, statement, sentence):
    without_trigger(guarded, statement)
    with pytest.raises(DamagedFileError, match=sentence):
        check(file)


def test_tables_that_are_not_those_that_were_made(file, guarded):
    guarded.execute("PRAGMA writable_schema = ON")
    guarded.execute("UPDATE sqlite_master SET sql = replace(sql, 'ON DELETE CASCADE', 'ON DELETE SET NULL')")
    with pytest.raises(DamagedFileError, match="its tables are not those that were made"):
        check(file)


def test_new_columns_and_indexes_are_no_damage_and_are_guarded_too(file, guarded):
    guarded.execute("ALTER TABLE people ADD COLUMN phone TEXT DEFAULT 'none'")
    guarded.execute("CREATE INDEX by_name ON people (name)")
    check(file)
    guard(guarded, ["people", "votes"])
    check(file)
    without_trigger(guarded, "update people SET phone = 'x' WHERE seat = 4")
    with pytest.raises(DamagedFileError, match="the row 'a',4 of people"):
        check(file)


def test_without_the_copies_a_column_can_be_dropped(file, guarded):
    with pytest.raises(sqlite3.OperationalError, match=COPIES):
        guarded.execute("ALTER TABLE people DROP COLUMN share")
    drop_guard(guarded)
    guarded.execute("ALTER TABLE people DROP COLUMN share")
    guard(guarded, ["people", "votes"])
    check(file)


def test_a_file_that_another_process_writes_is_not_damaged(file, guarded, monkeypatch):
    monkeypatch.setattr(sqlite_file, "WAIT_S", 0.01)
    guarded.execute("BEGIN EXCLUSIVE")
    with pytest.raises(sqlite3.OperationalError, match="locked") as error:
        check(file)
    assert not isinstance(error.value, DamagedFileError)


def test_a_file_is_checked_when_it_is_first_seen_and_after_it_has_changed(file, guarded, monkeypatch):
    checked = []
    monkeypatch.setattr(sqlite_file, "check", lambda file: checked.append(file))
    monkeypatch.setattr(sqlite_file, "SHARE", 1e9)  # at any rate
    watch = Watch()
    watch.look(file)
    watch.look(file)
    assert checked == [file]
    guarded.execute("DELETE FROM people WHERE seat = 3")
    watch.look(file)
    assert checked == [file, file]


# ---------------------------------------------------------------- the write-ahead log


@pytest.fixture
def log(file: Path, guarded: sqlite3.Connection) -> Path:
    """The log of a process that was killed: the last of its changes are in no other file."""
    guarded.execute("PRAGMA journal_mode = WAL")
    for seat in range(20):
        guarded.execute("UPDATE people SET name = ? WHERE seat = ?", [f"new {seat}", seat])
    folder = file.parent / "left"
    folder.mkdir()
    for name in (file.name, f"{file.name}-wal"):
        (folder / name).write_bytes((file.parent / name).read_bytes())
    return folder / f"{file.name}-wal"


def test_no_flipped_bit_of_the_log_loses_a_change(log, tmp_path):
    content, rng = log.read_bytes(), np.random.default_rng(1)
    check(log.with_name("a.sqlite"))
    frame = 24 + 4096
    last = 8 * (len(content) - frame)
    bits = [*rng.integers(8 * len(content), size=30), *rng.integers(last, last + 8 * frame, size=30)]
    bits += [8 * place for place in (0, 8, 16, 31, 32, 40, 48, len(content) - frame + 8, len(content) - frame + 16)]
    main = log.with_name("a.sqlite").read_bytes()
    for number, bit in enumerate(bits):
        folder = tmp_path / str(number)
        folder.mkdir()
        flipped = bytearray(content)
        flipped[bit // 8] ^= 1 << int(bit % 8)
        (folder / "a.sqlite").write_bytes(main)
        (folder / "a.sqlite-wal").write_bytes(flipped)
        with pytest.raises(DamagedFileError, match=r"-wal, which has its last changes, is not what was written"):
            check(folder / "a.sqlite")


@pytest.mark.parametrize("missing", [1, 2000, 4100])
@pytest.mark.parametrize("how", ["cut off", "empty"])
def test_a_log_that_a_power_cut_left_unfinished_is_used_as_far_as_it_goes(log, missing, how):
    content = log.read_bytes()
    log.write_bytes(content[:-missing] + (b"" if how == "cut off" else bytes(missing)))
    file = log.with_name("a.sqlite")
    check(file)
    with opened(file) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM people ORDER BY seat")]
    assert names[:19] == [f"new {seat}" for seat in range(19)]
