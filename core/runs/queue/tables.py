"""Hedge's own tables beside DBOS's, in the same database: what waits in which order, who has what, who lives.

================  =====================================================================================
``hedge_schema``  one number; a database of a newer Hedge is refused, one of an older gets what it lacks
``hedge_queue``   a row a run: its place in the queue, the memory it needs, and which worker has it (the claim)
``hedge_hosts``   a row a host: a count that goes up with every heartbeat
================  =====================================================================================

A claim's ``epoch`` goes up whenever a run changes hands, so that a worker which was cut off, stopped or believed
dead can see that the run is no longer its own before it writes (a fencing token: Kleppmann, *How to do distributed
locking*, 2016).
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from core.errors import RunError

SCHEMA = 1
BUSY_S = 30
CREATION_LOCK = 7_345_213
"""An advisory lock of Postgres, so that of many hosts that come at once one creates the tables."""

METADATA = sa.MetaData()

schema = sa.Table("hedge_schema", METADATA, sa.Column("version", sa.Integer, primary_key=True))

queue = sa.Table(
    "hedge_queue",
    METADATA,
    sa.Column("run_id", sa.Text, primary_key=True),
    sa.Column("place", sa.Float, index=True),  # NULL: the run neither waits nor runs
    sa.Column("needs_gib", sa.Float, nullable=False, default=0.0),
    sa.Column("executor", sa.Text, nullable=False, default=""),
    sa.Column("epoch", sa.Integer, nullable=False, default=0),
    sa.Column("losses", sa.Integer, nullable=False, default=0),
)

hosts = sa.Table(
    "hedge_hosts",
    METADATA,
    sa.Column("host", sa.Text, primary_key=True),
    sa.Column("beats", sa.BigInteger, nullable=False),
    sa.Column("seen", sa.Float, nullable=False),  # by the database's clock, the only one that all hosts share
)


def connect(address: str) -> sa.Engine:
    """A pool of connections to the database, with Hedge's tables made where they are missing.

    Raises :class:`~core.errors.RunError` where a newer Hedge has made them.
    """
    url = sa.make_url(address)
    engine = _sqlite(url) if url.drivername.startswith("sqlite") else _postgres(url)
    try:
        with engine.begin() as connection:
            if engine.dialect.name == "postgresql":
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(CREATION_LOCK)))
            _bring_up(connection)
    except BaseException:
        engine.dispose()
        raise
    return engine


def _bring_up(connection: sa.Connection) -> None:
    if sa.inspect(connection).has_table(schema.name):
        found = connection.execute(sa.select(sa.func.max(schema.c.version))).scalar() or 0
        if found > SCHEMA:
            raise RunError(
                f"the run database was made by a newer Hedge (its schema is {found}, this one knows {SCHEMA}); "
                "update Hedge on this host, or set HEDGE_DATABASE_URL to another database"
            )
        if found == SCHEMA:
            return
    METADATA.create_all(connection)
    connection.execute(schema.insert().values(version=SCHEMA))


def _postgres(url: sa.URL) -> sa.Engine:
    return sa.create_engine(url.set(drivername="postgresql+psycopg"), pool_size=2, pool_pre_ping=True)


def _sqlite(url: sa.URL) -> sa.Engine:
    engine = sa.create_engine(url, connect_args={"timeout": BUSY_S}, pool_size=2)

    @sa.event.listens_for(engine, "connect")
    def immediate(connection: Any, record: Any) -> None:
        connection.isolation_level = "IMMEDIATE"  # a reader that becomes a writer would fail where two meet

    return engine
