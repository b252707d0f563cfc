"""The queue of runs, which is DBOS's: what it knows of runs, and the few things that are done to them there.

A run is a DBOS workflow whose id is the run id and whose one argument is the run id too; everything else about it is in
its folder. DBOS's row of it says where it is:

=============================  =============================================================================
``ENQUEUED`` in :data:`QUEUE`  it waits; the lowest priority is the next
``ENQUEUED`` in a worker's     :func:`take` has given it to that worker, whose DBOS starts it in a moment
``PENDING``                    that worker executes it, for the ``recovery_attempts``-th time
anything else                  it has ended
=============================  =============================================================================

DBOS starts a run in the worker that has it, starts it again when that worker was killed and is back, and counts how
often. When a run is given up is not for DBOS to decide, because it can't know whose fault a death was
(:mod:`core.runs.agent.tries`). Four more things it can't do, and they are done here by one statement each on its table:

- Of several queues that a worker listens to, DBOS takes one run each, at once and in no order among them. One queue for
  each size of memory would therefore give a worker several runs and the pages' order no meaning. So a worker listens to
  a queue of its own, and :func:`take` moves the first run that its device can hold there.
- DBOS sets a priority when a run is enqueued and never again; :func:`reorder` sets it later.
- DBOS does not notice that a host is dead (:mod:`core.runs.queue.hosts`), and its ``resume_workflow`` asks for no
  condition, by which two hosts that notice at once would start a run twice. :func:`put_back` moves a run only where it
  is still as it was seen.
- A run that is done over keeps its priority; :func:`enqueue` puts it at the end.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

import sqlalchemy as sa

from core.errors import RunError, RunLostError
from core.processes.log_lines import complain
from core.storage import database
from core.storage.database import ask, transact
from core.storage.database.tables import workflows

if TYPE_CHECKING:
    from dbos import EnqueueOptions, WorkflowStatus

T = TypeVar("T")

WORKFLOW = "run"
QUEUE = "runs"
VERSION = "1"
"""DBOS leaves a run of another version lying; ours changes only when old runs can't be continued."""
WAIT_FOR_DATABASE_S = 0.5

QUEUED = ("ENQUEUED", "DELAYED")
RUNNING = "PENDING"
CANCELLED = "CANCELLED"
GIVEN_UP = "MAX_RECOVERY_ATTEMPTS_EXCEEDED"
"""How older versions gave a run up."""
CRASHED = "ERROR"
UNFINISHED = (*QUEUED, RUNNING)

_row = workflows.c
_waits = sa.and_(_row.queue_name == QUEUE, _row.status == QUEUED[0])


@dataclass(frozen=True, slots=True)
class QueueEntry:
    """What the database says about a run.

    ``status`` is DBOS's word, ``executor`` the ``host:slot`` that executes it or did so last (empty before the first),
    ``tries`` how often a worker began it since it was last asked for, ``death`` how its last worker died (empty once
    another has begun it), ``queue`` where it waits or came from, ``priority`` its place among those that wait, the
    lowest first, ``needs_gib`` the memory that its device must have, and ``slot`` the one slot that may take it
    (empty: any).

    ``kept`` is the size of the work that the run had kept when it last had more than before, and ``deaths`` and
    ``beginnings`` are since then (:mod:`core.runs.agent.tries`).
    """

    run_id: str
    status: str
    executor: str = ""
    tries: int = 0
    death: str = ""
    queue: str = ""
    priority: int = 0
    needs_gib: float = 0.0
    slot: str = ""
    deaths: tuple[str, ...] = ()
    beginnings: int = 0
    kept: int = 0

    @property
    def holder(self) -> str:
        """The executor that has the run, whether it has begun it yet or not; empty if it waits or has ended."""
        if self.status == RUNNING:
            return self.executor
        return self.queue.removeprefix(queue_of("")) if self.status in QUEUED and self.queue != QUEUE else ""


@dataclass(frozen=True, slots=True)
class Lease:
    """A worker's right to a run: its executor id and the number of its try, which change where another begins it."""

    run_id: str
    executor: str
    tries: int

    def is_wanted(self) -> bool:
        """Whether the run is still this worker's and has not been cancelled."""
        entry = entries([self.run_id]).get(self.run_id)
        return entry is not None and entry.status == RUNNING and self._is_mine(entry)

    def confirm(self) -> None:
        """Return while the run is this worker's. Raises :class:`~core.errors.RunLostError` if it no longer is.

        Where several hosts share a database that is out of reach, another may be taking the run: this waits until
        the database answers. A database file has only one host, which takes from no worker that lives, and needs no
        asking.
        """
        if database.is_shared():
            entry = wait_for_entry(self.run_id)
            if entry is None or entry.status in QUEUED or not self._is_mine(entry):
                raise RunLostError(f"run {self.run_id} was given to another worker while this one could not be seen")

    def _is_mine(self, entry: QueueEntry) -> bool:
        return (entry.executor, entry.tries) == (self.executor, self.tries)


# ---------------------------------------------------------------- what there is


def entries(run_ids: Sequence[str], *, within_s: float | None = None) -> dict[str, QueueEntry]:
    """What the database says about these runs; those it does not know are left out."""
    return _listed({"workflow_ids": list(run_ids)}, within_s=within_s) if run_ids else {}


def wait_for_entry(run_id: str) -> QueueEntry | None:
    """What the database says about a run; waits until the database answers. Only a worker has the time for this."""
    return _wait(lambda: entries([run_id]).get(run_id), run_id)


def unfinished(*, within_s: float | None = None) -> dict[str, QueueEntry]:
    """All runs that are queued or running, in the order of the queue."""
    listed = _listed({"status": list(UNFINISHED)}, within_s=within_s)
    return dict(sorted(listed.items(), key=lambda item: item[1].priority))


def waiting(*, within_s: float | None = None) -> list[QueueEntry]:
    """The runs that no worker has, in the order of the queue."""
    listed = _listed({"status": list(QUEUED), "queue_name": QUEUE}, within_s=within_s).values()
    return sorted(listed, key=lambda entry: entry.priority)


def ended_since(since: float, *, status: Sequence[str] = (), within_s: float | None = None) -> dict[str, QueueEntry]:
    """The runs that ended after ``since`` (seconds since the epoch), of these statuses; at most the latest 1,000."""
    when = datetime.fromtimestamp(since, UTC).isoformat()
    options: dict[str, Any] = {"completed_after": when, "limit": 1000, "sort_desc": True}
    return _listed(options | ({"status": list(status)} if status else {}), within_s=within_s)


# ---------------------------------------------------------------- what is done by pages


def enqueue(run_id: str, *, needs_gib: float, slot: str = "") -> None:
    """Let a run wait at the end of the queue; one that has ended does so with fresh tries, any other stays.

    ``slot`` names the one slot that may take it, where a person chose a device.
    """
    before = entries([run_id]).get(run_id)
    if before is not None and before.status in UNFINISHED:
        return
    last = transact(lambda connection: connection.execute(sa.select(sa.func.max(_row.priority)).where(_waits)).scalar())
    place, attributes = max(0, last or 0) + 1, {"needs_gib": needs_gib, "slot": slot}
    if before is not None:
        transact(lambda connection: _set_place(connection, run_id, place))
        ask(lambda client: client.update_workflow_attributes(run_id, attributes))
        try:
            ask(lambda client: client.rewind_workflow(run_id, queue_name=QUEUE, application_version=VERSION))
        except RunError:
            again = entries([run_id]).get(run_id)
            if again is None or again.status not in UNFINISHED:  # otherwise a second page was faster, which is as good
                raise
        return
    options: EnqueueOptions = {
        "workflow_name": WORKFLOW,
        "queue_name": QUEUE,
        "workflow_id": run_id,
        "app_version": VERSION,
        "priority": place,
        "attributes": attributes,
    }
    ask(lambda client: client.enqueue(options, run_id))


def cancel(run_id: str, *, within_s: float | None = None) -> QueueEntry | None:
    """Cancel a run that is queued or running; returns what the database said about it before."""
    before = entries([run_id], within_s=within_s).get(run_id)
    if before is not None and before.status in UNFINISHED:
        ask(lambda client: client.cancel_workflow(run_id), within_s=within_s)
    return before


def reorder(run_ids: Sequence[str]) -> None:
    """Let these waiting runs come first, in this order."""

    def work(connection: sa.Connection) -> None:
        first = connection.execute(sa.select(sa.func.min(_row.priority)).where(_waits)).scalar()
        for place, run_id in enumerate(run_ids, start=(first or 0) - len(run_ids)):
            _set_place(connection, run_id, place)

    transact(work)


# ---------------------------------------------------------------- what is done by workers and agents


def queue_of(executor: str) -> str:
    """The name of an executor's own queue."""
    return f"{QUEUE} of {executor}"


def open_queue(executor: str) -> None:
    """Make an executor's own queue, from which it takes one run at a time."""
    name = queue_of(executor)
    ask(lambda client: client.register_queue(name, worker_concurrency=1, polling_interval_sec=database.POLL_QUEUE_S))


def take(executor: str, *, memory_gib: float, above_gib: float = -1.0) -> str | None:
    """Give this worker the first waiting run that its device can hold; returns its id, empty if there is none.

    A worker of several devices takes only runs that need more than ``above_gib``, what one device has, and a run for
    which a person named a device goes to that device alone. None if the worker has a run already.
    """
    own = queue_of(executor)
    needs = sa.func.coalesce(_row.attributes["needs_gib"].as_float(), 0.0)
    slot = sa.func.coalesce(_row.attributes["slot"].as_string(), "")
    first = (
        sa.select(_row.workflow_uuid)
        .where(_waits, needs <= memory_gib, needs > above_gib, slot.in_(("", executor.rpartition(":")[2])))
        .order_by(_row.priority, _row.created_at)
        .limit(1)
        .with_for_update(skip_locked=True)
    )

    def work(connection: sa.Connection) -> str | None:
        if connection.execute(_held(executor)).first():
            return None
        run_id = connection.execute(first).scalar()
        moved = connection.execute(
            workflows.update().where(_row.workflow_uuid == run_id, _waits).values(queue_name=own)
        )
        return str(run_id) if moved.rowcount == 1 else ""

    return transact(work)


def has_run(executor: str) -> bool:
    """Whether a run is this worker's, begun or not."""
    return transact(lambda connection: connection.execute(_held(executor)).first()) is not None


def _held(executor: str) -> sa.Select[tuple[str]]:
    """The run that a worker has."""
    own = queue_of(executor)
    return sa.select(_row.workflow_uuid).where(_row.queue_name == own, _row.status.in_(UNFINISHED)).limit(1)


def put_back(entry: QueueEntry, *, fresh: bool, within_s: float | None = None) -> bool:
    """Let a run that a worker has wait again, in its old place; False if it is no longer as ``entry`` says.

    ``fresh`` forgets its tries, as this time nobody was at fault; deaths of earlier workers count as before. DBOS's
    start of it that is under way finds it gone.
    """
    values = {"status": QUEUED[0], "queue_name": QUEUE, "owner_xid": None, "started_at_epoch_ms": None}
    as_seen = sa.and_(
        _row.workflow_uuid == entry.run_id,
        _row.status == entry.status,
        _row.queue_name == entry.queue,
        _row.recovery_attempts == entry.tries,
    )
    change = workflows.update().where(as_seen).values(values | ({"recovery_attempts": 0} if fresh else {}))
    moved = transact(lambda connection: connection.execute(change).rowcount == 1, within_s=within_s)
    if moved and fresh:
        note(entry.run_id, beginnings=0, within_s=within_s)
    return moved


def note(run_id: str, *, within_s: float | None = None, **attributes: Any) -> None:
    """Change what the database remembers of a run, fields of :class:`QueueEntry`."""
    ask(lambda client: client.update_workflow_attributes(run_id, attributes, merge=True), within_s=within_s)


def wait_to_note(run_id: str, **attributes: Any) -> None:
    """:func:`note`, once the database answers. Only a worker has the time for this."""
    _wait(lambda: note(run_id, **attributes), run_id)


def _wait(question: Callable[[], T], run_id: str) -> T:
    while True:
        try:
            return question()
        except RunError as error:
            complain(f"{run_id}: {error}", run=run_id)
            time.sleep(WAIT_FOR_DATABASE_S)


def _set_place(connection: sa.Connection, run_id: str, place: int) -> None:
    connection.execute(workflows.update().where(_row.workflow_uuid == run_id).values(priority=place))


def _listed(options: dict[str, Any], *, within_s: float | None) -> dict[str, QueueEntry]:
    if not database.exists():
        return {}
    statuses = ask(
        lambda client: client.list_workflows(name=WORKFLOW, load_input=False, load_output=False, **options),
        within_s=within_s,
    )
    return {status.workflow_id: _entry(status) for status in statuses}


def _entry(status: WorkflowStatus) -> QueueEntry:
    attributes = status.attributes or {}
    return QueueEntry(
        run_id=status.workflow_id,
        status=status.status,
        executor=status.executor_id or "",
        tries=status.recovery_attempts or 0,
        death=attributes.get("death", ""),
        queue=status.queue_name or "",
        priority=status.priority or 0,
        needs_gib=attributes.get("needs_gib", 0.0),
        slot=attributes.get("slot", ""),
        deaths=tuple(attributes.get("deaths", ())),
        beginnings=attributes.get("beginnings", 0),
        kept=attributes.get("kept", 0),
    )
