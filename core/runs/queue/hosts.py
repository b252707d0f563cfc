"""The heartbeats of hosts that share a Postgres database.

A heartbeat counts a number up. A watcher notes by its own steady clock when it last saw the number change,
so that no clock of another host, and none that is set, can make a live host look dead (:class:`HostWatch`, by which
runs are taken from dead hosts). A page that has just opened can't have watched; it goes by the database's clock
(:func:`ages`).
"""

import time
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from core.storage import database
from core.storage.database import transact
from core.storage.database.tables import hosts

BEAT_EVERY_S = 1.0
STALE_S = 5.0
"""A host whose heartbeat has not changed for this long counts as dead."""
AWAY_S = 0.5
FRESH_S = 0.5


def beat(host: str, *, within_s: float) -> None:
    """Record a heartbeat of a host's agent."""

    def work(connection: sa.Connection) -> None:
        counted = hosts.update().where(hosts.c.host == host).values(beats=hosts.c.beats + 1, seen=_now())
        if connection.execute(counted).rowcount == 0:
            connection.execute(hosts.insert().values(host=host, beats=1, seen=_now()))

    transact(work, within_s=within_s)


def leave(host: str, *, within_s: float) -> None:
    """Record that a host's agent has ended on purpose."""
    transact(lambda connection: connection.execute(hosts.delete().where(hosts.c.host == host)), within_s=within_s)


def beats(*, within_s: float) -> dict[str, int]:
    """The count of every host."""
    question = sa.select(hosts.c.host, hosts.c.beats)
    rows = transact(lambda connection: connection.execute(question).all(), within_s=within_s)
    return {row.host: row.beats for row in rows}


def ages() -> dict[str, float]:
    """Seconds since each host's last heartbeat; empty if the database is one host's own file."""
    if not database.is_shared():
        return {}
    question = sa.select(hosts.c.host, _now() - hosts.c.seen)
    return {name: float(age) for name, age in transact(lambda c: c.execute(question).all())}


def alive() -> frozenset[str]:
    """The hosts with a recent heartbeat, as read at most half a second ago."""
    global _LATELY
    address, now = database.url(), time.monotonic()
    if _LATELY[0] != address or now - _LATELY[1] > FRESH_S:
        _LATELY = address, now, frozenset(name for name, age in ages().items() if age < STALE_S)
    return _LATELY[2]


_LATELY: tuple[str, float, frozenset[str]] = ("", 0.0, frozenset())
"""The last answer of :func:`alive`: whose, when, what."""


class HostWatch:
    """One observer's record of the other hosts' heartbeats."""

    def __init__(self) -> None:
        self._watched: dict[tuple[str, int], float] = {}
        """For how many seconds each host was watched since its count was first seen."""
        self._looked = 0.0

    def dead(self, counts: Mapping[str, int]) -> set[str]:
        """The hosts whose count has not changed for :data:`STALE_S` seconds of this observer's watching.

        Of a longer while between two looks, as when the database was gone and nobody's heart could beat, only
        :data:`AWAY_S` counts, so that an observer who is slow finds the dead later than others, and not never.
        """
        now = time.monotonic()
        passed, self._looked = now - self._looked, now
        watched = passed if passed <= STALE_S / 2 else AWAY_S
        self._watched = {
            item: self._watched[item] + watched if item in self._watched else 0.0 for item in counts.items()
        }
        return {name for (name, _), seconds in self._watched.items() if seconds >= STALE_S}


def _now() -> sa.ColumnElement[Any]:
    return sa.extract("epoch", sa.func.clock_timestamp())
