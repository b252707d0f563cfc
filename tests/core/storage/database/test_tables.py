"""The clock with which DBOS dates its rows from Python 3.12 on, on a SQLite that does not have it."""

import time

import sqlalchemy as sa

from core.storage import database

CLOCK = sa.text("SELECT unixepoch('subsec')")


def test_rows_are_dated_on_an_old_sqlite_too(home):
    before = time.time()
    seconds = database.transact(lambda connection: connection.execute(CLOCK).scalar())
    assert before - 0.001 <= seconds <= time.time() + 0.001


def test_a_default_of_a_table_is_dated_in_connections_that_are_not_ours(home, tmp_path):
    database.prepare()  # DBOS opens its own connections after this
    engine = sa.create_engine(f"sqlite:///{tmp_path / 'other.sqlite'}")
    with engine.begin() as connection:
        connection.execute(
            sa.text("CREATE TABLE t (id INTEGER, made INTEGER NOT NULL DEFAULT (unixepoch('subsec') * 1000))")
        )
        connection.execute(sa.text("INSERT INTO t (id) VALUES (1)"))
        milliseconds = connection.execute(sa.text("SELECT made FROM t")).scalar()
    engine.dispose()
    assert milliseconds is not None
    assert abs(milliseconds / 1000 - time.time()) < 60
