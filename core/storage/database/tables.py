"""The tables that Hedge reads and writes by SQL: two of its own, and the one in which DBOS keeps runs.

===================  ====================================================================================
``hedge_schema``     one number; a database of a newer Hedge is refused, an older one is brought up to date
``hedge_hosts``      a row for each host: a count that goes up with every heartbeat
``workflow_status``  DBOS's own table, a row for each run; https://docs.dbos.dev/explanations/system-tables
===================  ====================================================================================

Until schema 1 runs waited in a table of Hedge's own, ``hedge_queue``. Bringing such a database up to date gives every
run that waits there its place and its need of memory in DBOS's table; a run that a worker held stays with that worker.
An agent of that older Hedge on this host is ended first, because it would not find the old table; hosts that
share a database are updated together.
"""

import sqlite3
import time
from typing import Any

import sqlalchemy as sa

from core.errors import RunError
from core.settings import settings
from core.storage.file_lock import end_holder

SCHEMA = 2
BUSY_S = 30
ALONE = {"postgresql": "SELECT pg_advisory_xact_lock(7345213)", "sqlite": "BEGIN IMMEDIATE"}
"""What keeps others from making the tables at the same time, until the end of the transaction."""

METADATA = sa.MetaData()

schema = sa.Table("hedge_schema", METADATA, sa.Column("version", sa.Integer, primary_key=True))

hosts = sa.Table(
    "hedge_hosts",
    METADATA,
    sa.Column("host", sa.Text, primary_key=True),
    sa.Column("beats", sa.BigInteger, nullable=False),
    sa.Column("seen", sa.Float, nullable=False),  # by the database's clock, the only one that all hosts share
)

workflows = sa.Table(
    "workflow_status",
    sa.MetaData(),  # not METADATA: DBOS creates this one
    sa.Column("workflow_uuid", sa.Text, primary_key=True),
    sa.Column("status", sa.Text),
    sa.Column("queue_name", sa.Text),
    sa.Column("priority", sa.Integer),
    sa.Column("recovery_attempts", sa.BigInteger),
    sa.Column("owner_xid", sa.Text),
    sa.Column("started_at_epoch_ms", sa.BigInteger),
    sa.Column("created_at", sa.BigInteger),
    sa.Column("attributes", sa.JSON),
    schema="dbos",
)

SUBSECONDS_SINCE = (3, 42)
"""The first SQLite whose ``unixepoch`` knows ``subsec``; older ones return NULL."""

_old_queue = sa.table("hedge_queue", sa.column("run_id"), sa.column("place"), sa.column("needs_gib"))


def add_subseconds() -> None:
    """Let ``unixepoch('subsec')`` work on an older SQLite, such as Debian 12's, in all connections of this process.

    DBOS dates its rows with it from Python 3.12 on. It opens its own connections, so the function is added to every
    connection that SQLAlchemy opens.
    """
    if sqlite3.sqlite_version_info < SUBSECONDS_SINCE and not sa.event.contains(sa.Pool, "connect", _add_unixepoch):
        sa.event.listen(sa.Pool, "connect", _add_unixepoch)


def _add_unixepoch(connection: Any, record: Any) -> None:
    if isinstance(connection, sqlite3.Connection):
        connection.create_function("unixepoch", 1, _unixepoch)


def _unixepoch(modifier: object) -> float:
    if modifier not in ("subsec", "subsecond"):
        raise ValueError(f"unixepoch takes 'subsec' here, got {modifier!r}")
    return round(time.time(), 3)


def connect(url: sa.URL) -> sa.Engine:
    """A pool of connections to the database, with Hedge's tables made or brought up to date.

    Raises :class:`~core.errors.RunError` if a newer Hedge has made them.
    """
    add_subseconds()
    if url.get_backend_name() == "sqlite":
        # Without IMMEDIATE a reader that becomes a writer would fail where two meet.
        options = {"timeout": BUSY_S, "isolation_level": "IMMEDIATE"}
        engine = sa.create_engine(url, connect_args=options, pool_size=2)
        engine = engine.execution_options(schema_translate_map={"dbos": None})
    else:
        engine = sa.create_engine(url.set(drivername="postgresql+psycopg"), pool_size=2, pool_pre_ping=True)
    try:
        with engine.begin() as connection:
            if not _is_up(connection):
                if sa.inspect(connection).has_table(_old_queue.name):
                    end_holder(settings().host_folder / "agent.lock")
                connection.execute(sa.text(ALONE[engine.dialect.name]))
                if not _is_up(connection):  # another may have been faster
                    _bring_up(connection)
    except BaseException:
        engine.dispose()
        raise
    return engine


def _is_up(connection: sa.Connection) -> bool:
    """Whether the tables are as this Hedge knows them."""
    if not sa.inspect(connection).has_table(schema.name):
        return False
    version = connection.execute(sa.select(sa.func.max(schema.c.version))).scalar() or 0
    if version > SCHEMA:
        raise RunError(
            f"the run database was made by a newer Hedge (its schema is {version}, this one knows {SCHEMA}); "
            "update Hedge on this host, or set HEDGE_DATABASE_URL to another database"
        )
    return bool(version == SCHEMA)


def _bring_up(connection: sa.Connection) -> None:
    if sa.inspect(connection).has_table(_old_queue.name):
        _move_old_queue(connection)
    METADATA.create_all(connection)
    connection.execute(schema.insert().values(version=SCHEMA))


def _move_old_queue(connection: sa.Connection) -> None:
    """Give the runs of ``hedge_queue`` their order and their memory in DBOS's table, and drop it."""
    waiting = sa.select(_old_queue.c.run_id, _old_queue.c.needs_gib).where(_old_queue.c.place.is_not(None))
    for place, row in enumerate(connection.execute(waiting.order_by(_old_queue.c.place)).all(), start=1):
        changed = workflows.update().where(workflows.c.workflow_uuid == row.run_id)
        connection.execute(changed.values(priority=place, attributes={"needs_gib": row.needs_gib}))
    connection.execute(sa.text(f"DROP TABLE {_old_queue.name}"))
