"""What DBOS knows of runs, and the few things that are done to them there.

A run is a DBOS workflow whose id is the run id and whose one argument is the run id too; everything else about
it is in its folder. It waits in one queue, to which no worker listens: a worker takes it there by a claim
(:mod:`core.runs.queue.claims`), which knows of order and memory, and moves it to a queue of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from core.runs.queue import database
from core.runs.queue.database import ANSWER_WITHIN_S, QUEUE, ask

if TYPE_CHECKING:
    from dbos import DBOSClient, WorkflowStatus

WORKFLOW = "run"
VERSION = "1"
"""DBOS leaves a run of another version lying; ours changes only when old runs can't be gone on with."""
TRIES = 3
"""How many workers a run may kill."""

QUEUED = ("ENQUEUED", "DELAYED")
RUNNING = "PENDING"
CANCELLED = "CANCELLED"
GIVEN_UP = "MAX_RECOVERY_ATTEMPTS_EXCEEDED"
CRASHED = "ERROR"
UNFINISHED = (*QUEUED, RUNNING)


@dataclass(frozen=True, slots=True)
class Entry:
    """What the database says about a run.

    ``status`` is DBOS's word, ``executor`` the ``host:slot`` that has it or had it last (empty before the first),
    ``tries`` how often a worker began it since it was last asked for, ``death`` how its last worker died, ``queue``
    where it waits or came from.
    """

    run_id: str
    status: str
    executor: str = ""
    tries: int = 0
    death: str = ""
    queue: str = ""


def entries(run_ids: Sequence[str], *, within_s: float = ANSWER_WITHIN_S) -> dict[str, Entry]:
    """What the database says about these runs; those it does not know are left out."""
    return _listed({"workflow_ids": list(run_ids)}, within_s=within_s) if run_ids else {}


def unfinished(*, within_s: float = ANSWER_WITHIN_S) -> dict[str, Entry]:
    """All runs that are queued or running, the oldest first."""
    return _listed({"status": list(UNFINISHED)}, within_s=within_s)


def ended_since(since: float, *, status: Sequence[str] = (), within_s: float = ANSWER_WITHIN_S) -> dict[str, Entry]:
    """The runs that ended after ``since`` (seconds since the epoch), of these statuses; at most the latest 1,000."""
    when = datetime.fromtimestamp(since, UTC).isoformat()
    options: dict[str, Any] = {"completed_after": when, "limit": 1000, "sort_desc": True}
    return _listed(options | ({"status": list(status)} if status else {}), within_s=within_s)


def enqueue(run_id: str) -> None:
    """Put a run into the queue; one that has ended goes there again with fresh tries, one that has not stays."""

    def question(client: DBOSClient) -> None:
        before = _find(client, run_id)
        if before is None:
            client.enqueue(
                {"workflow_name": WORKFLOW, "queue_name": QUEUE, "workflow_id": run_id, "app_version": VERSION}, run_id
            )
        elif before.status not in UNFINISHED:
            client.update_workflow_attributes(run_id, None)
            _rewind(client, run_id)

    ask(question)


def hand_back(run_id: str, *, within_s: float = ANSWER_WITHIN_S) -> None:
    """Put a run whose worker is known to be dead back among those that wait, with fresh tries."""
    _move(run_id, QUEUE, within_s=within_s)


def hand_to(run_id: str, executor: str) -> None:
    """Put a run that this executor has claimed into the executor's own queue, unless it is there or at work."""

    def question(client: DBOSClient) -> None:
        before = _find(client, run_id)
        if before is None or before.status not in UNFINISHED:
            return
        here = before.executor == executor if before.status == RUNNING else before.queue == queue_of(executor)
        if not here:
            client.resume_workflow(run_id, queue_name=queue_of(executor))

    ask(question)


def open_queue(executor: str) -> None:
    """Make an executor's own queue, from which it takes one run at a time."""
    ask(
        lambda client: client.register_queue(
            queue_of(executor), worker_concurrency=1, polling_interval_sec=database.POLL_QUEUE_S
        )
    )


def queue_of(executor: str) -> str:
    """The name of an executor's own queue."""
    return f"{QUEUE} of {executor}"


def _move(run_id: str, queue: str, *, within_s: float) -> None:
    def question(client: DBOSClient) -> None:
        before = _find(client, run_id)
        if before is not None and before.status in UNFINISHED:
            client.resume_workflow(run_id, queue_name=queue)

    ask(question, within_s=within_s)


def cancel(run_id: str) -> Entry | None:
    """Cancel a run that is queued or running; returns what the database said about it before."""

    def question(client: DBOSClient) -> Entry | None:
        before = _find(client, run_id)
        if before is not None and before.status in UNFINISHED:
            client.cancel_workflow(run_id)
        return before

    return ask(question)


def note_death(run_id: str, reason: str, *, within_s: float = ANSWER_WITHIN_S) -> None:
    """Remember how the worker died that was at this run."""
    ask(lambda client: client.update_workflow_attributes(run_id, {"death": reason}), within_s=within_s)


def _listed(options: dict[str, Any], *, within_s: float) -> dict[str, Entry]:
    if not database.exists():
        return {}
    found = ask(
        lambda client: client.list_workflows(name=WORKFLOW, load_input=False, load_output=False, **options),
        within_s=within_s,
    )
    return {status.workflow_id: _entry(status) for status in found}


def _find(client: DBOSClient, run_id: str) -> Entry | None:
    found = client.list_workflows(workflow_ids=[run_id], load_input=False, load_output=False)
    return _entry(found[0]) if found else None


def _entry(status: WorkflowStatus) -> Entry:
    return Entry(
        run_id=status.workflow_id,
        status=status.status,
        executor=status.executor_id or "",
        tries=status.recovery_attempts or 0,
        death=(status.attributes or {}).get("death", ""),
        queue=status.queue_name or "",
    )


def _rewind(client: DBOSClient, run_id: str) -> None:
    from dbos import error

    try:
        client.rewind_workflow(run_id, queue_name=QUEUE, application_version=VERSION)
    except error.DBOSException:
        again = _find(client, run_id)
        if again is None or again.status not in UNFINISHED:  # otherwise a second page was faster, which is as good
            raise
