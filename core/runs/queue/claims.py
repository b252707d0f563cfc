"""Which run waits where, which worker has it, and whether it still has.

A run waits with a place and is taken by the first worker whose device has the memory that it needs. The worker
that takes it holds a :class:`Claim` until the run ends. Each change of hands counts the epoch up; what a worker
writes of a run it writes after :meth:`Claim.confirm`, which tells it where another has it by now.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import sqlalchemy as sa

from core.errors import RunError, RunLostError
from core.runs.queue import database
from core.runs.queue.database import ANSWER_WITHIN_S, transact
from core.runs.queue.tables import queue

WAIT_FOR_DATABASE_S = 1.0


@dataclass(frozen=True, slots=True)
class Claim:
    """A run in the hands of a worker, from one taking to the next."""

    run_id: str
    executor: str
    epoch: int

    def confirm(self) -> None:
        """Return while the run is this worker's; :class:`~core.errors.RunLostError` where it no longer is.

        Where several hosts share a database that is out of reach, another may be taking the run: this waits until
        the database answers. A database file has only one host, which takes from no worker that lives, and needs no
        asking.
        """
        if not database.is_shared():
            return
        while True:
            try:
                held = get(self.run_id)
            except RunError:
                time.sleep(WAIT_FOR_DATABASE_S)
                continue
            if held != self:
                raise RunLostError(f"run {self.run_id} was given to another worker while this one could not be seen")
            return


@dataclass(frozen=True, slots=True)
class Place:
    """A run in the queue: the lower its place, the sooner its turn; ``executor`` is who has it, empty for nobody."""

    run_id: str
    place: float
    needs_gib: float
    executor: str
    epoch: int
    losses: int


def add(run_id: str, *, needs_gib: float) -> None:
    """Let a run wait at the end of the queue; one that waits or is at work already stays where it is."""

    def work(connection: sa.Connection) -> None:
        last = connection.execute(sa.select(sa.func.max(queue.c.place))).scalar() or 0.0
        values = {"place": last + 1, "needs_gib": needs_gib, "losses": 0}
        known = connection.execute(sa.select(queue.c.place).where(queue.c.run_id == run_id)).one_or_none()
        if known is None:
            connection.execute(queue.insert().values(run_id=run_id, executor="", epoch=0, **values))
        elif known.place is None:
            connection.execute(queue.update().where(queue.c.run_id == run_id).values(executor="", **values))

    transact(work)


def take(executor: str, *, memory_gib: float) -> Claim | None:
    """Give this worker the first waiting run that its device can hold; None where there is none."""

    def work(connection: sa.Connection) -> Claim | None:
        first = (
            sa.select(queue.c.run_id, queue.c.epoch)
            .where(queue.c.place.is_not(None), queue.c.executor == "", queue.c.needs_gib <= memory_gib)
            .order_by(queue.c.place)
            .limit(1)
            .with_for_update(skip_locked=True)
        )
        found = connection.execute(first).one_or_none()
        if found is None:
            return None
        taken = connection.execute(
            queue.update()
            .where(queue.c.run_id == found.run_id, queue.c.executor == "", queue.c.epoch == found.epoch)
            .values(executor=executor, epoch=found.epoch + 1)
        )
        return Claim(found.run_id, executor, found.epoch + 1) if taken.rowcount == 1 else None

    return transact(work)


def held(executor: str) -> list[Claim]:
    """The runs that this worker has."""
    rows = _places(queue.c.executor == executor)
    return [Claim(row.run_id, row.executor, row.epoch) for row in rows]


def get(run_id: str) -> Claim | None:
    """Who has this run; None where nobody has."""
    rows = [row for row in _places(queue.c.run_id == run_id) if row.executor]
    return Claim(rows[0].run_id, rows[0].executor, rows[0].epoch) if rows else None


def places(*, within_s: float = ANSWER_WITHIN_S) -> dict[str, Place]:
    """All runs that wait or are at work, in the queue's order."""
    if not database.exists():
        return {}
    return {row.run_id: row for row in _places(queue.c.place.is_not(None), within_s=within_s)}


def let_go(claim: Claim, *, back: bool, within_s: float = ANSWER_WITHIN_S) -> bool:
    """End a claim: ``back`` to its place in the queue, or out of it; False where it had changed hands already."""
    values: dict[str, object] = {"executor": "", "epoch": claim.epoch + 1}
    return _change(claim, values if back else values | {"place": None}, within_s=within_s)


def take_away(claim: Claim, *, within_s: float = ANSWER_WITHIN_S) -> bool:
    """End the claim of a worker that is lost, and count the loss; False where another host was faster."""
    values = {"executor": "", "epoch": claim.epoch + 1, "losses": queue.c.losses + 1}
    return _change(claim, values, within_s=within_s)


def withdraw(run_id: str) -> None:
    """Take a run that still waits out of the queue; one that a worker has leaves it by that worker."""
    condition = sa.and_(queue.c.run_id == run_id, queue.c.executor == "")
    transact(lambda connection: connection.execute(queue.update().where(condition).values(place=None)))


def reorder(run_ids: Collection[str]) -> None:
    """Let these waiting runs come first, in this order."""

    def work(connection: sa.Connection) -> None:
        first = connection.execute(sa.select(sa.func.min(queue.c.place))).scalar()
        start = (first if first is not None else 0.0) - len(run_ids)
        for i, run_id in enumerate(run_ids):
            connection.execute(
                queue.update().where(queue.c.run_id == run_id, queue.c.place.is_not(None)).values(place=start + i)
            )

    transact(work)


def _change(claim: Claim, values: Mapping[str, object], *, within_s: float) -> bool:
    condition = sa.and_(
        queue.c.run_id == claim.run_id, queue.c.executor == claim.executor, queue.c.epoch == claim.epoch
    )
    work = queue.update().where(condition).values(**values)
    return transact(lambda connection: connection.execute(work).rowcount == 1, within_s=within_s)


def _places(condition: sa.ColumnElement[bool], *, within_s: float = ANSWER_WITHIN_S) -> list[Place]:
    columns = (queue.c.run_id, queue.c.place, queue.c.needs_gib, queue.c.executor, queue.c.epoch, queue.c.losses)
    question = sa.select(*columns).where(condition).order_by(queue.c.place)
    rows = transact(lambda connection: connection.execute(question).all(), within_s=within_s)
    return [Place(*row) for row in rows]
