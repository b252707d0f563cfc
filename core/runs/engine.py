"""The run engine as pages and the command line use it: submit a run, watch it, cancel it, resume it.

Nothing is executed here. A run is written to its folder and put into the database's queue; a worker of a host
agent takes it from there, and both outlive this process. Every function raises
:class:`~core.errors.RunError` with one sentence, within five seconds, where the database can't be used.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace

from core.errors import HedgeError, InputError, RunBusyError, RunError
from core.runs import status as states
from core.runs import store
from core.runs.agent import liveness
from core.runs.agent.worker_process import start_detached
from core.runs.devices.slots import Slot, check_precision, published, slots
from core.runs.queue import database, run_queue
from core.runs.queue.run_queue import QueueEntry
from core.runs.spec import RunSpec
from core.runs.status import RunStatus
from core.runs.store import RunRecord
from core.settings import settings

IDLE_MINUTES = 30
"""How long an agent that Hedge started on its own stays without a run."""
AGENT_STARTS_WITHIN_S = 10.0
STOPS_WITHIN_S = 4.0


def submit(spec: RunSpec) -> str:
    """Submit a run and return its id. Equal specs are the same run.

    A run that is queued, running or done is left as it is. One that failed or was cancelled is resumed. Raises
    :class:`~core.errors.InputError`, and writes nothing, if the model or the task is unknown.
    """
    if spec.run_id in store.run_ids():
        if (now := status(spec.run_id)).state != "done":
            if now.ended:  # a budget or a key may be another than in the earlier try
                store.update_record(spec.run_id, spec=spec)
            resume(spec.run_id)
        return spec.run_id
    from core.runs.execution.execute import preflight

    preflight(spec)
    check_fits(spec)
    with _agent_meanwhile():
        database.prepare()
        with _writable_home():
            store.create(RunRecord(spec=spec, state="queued", created=time.time()))
    _enqueue(spec.run_id)
    return spec.run_id


@contextmanager
def _agent_meanwhile() -> Iterator[None]:
    """Start the agent and its worker while the body runs. They take most of the time until the first question.

    If the body fails, an agent that was not there before is ended again.
    """
    before = liveness.agent_alive()

    def start() -> None:
        with suppress(HedgeError):  # the error is raised when the run is queued, which starts the agent again
            ensure_agent()

    starting = threading.Thread(target=start, daemon=True, name="hedge-agent-ahead")
    starting.start()
    try:
        yield
    except BaseException:
        starting.join()
        if not before:
            liveness.end_agent()
        raise
    starting.join()


def check_fits(spec: RunSpec) -> None:
    """Raise :class:`~core.errors.InputError` if no device of this host or of another live host can hold the run."""
    from core.runs.execution.execute import memory_gib

    devices = [*slots(), *_live_devices()]
    check_precision(spec.dtype, devices)
    if reason := _too_large(memory_gib(spec), devices):
        raise InputError(
            f"model {spec.model_name} in {spec.dtype} {reason}; choose a smaller one, or add a host with more"
        )


def _too_large(needed_gib: float, devices: Sequence[Slot]) -> str:
    """Why no device is large enough, as a sentence; empty if one is."""
    largest = max(devices, key=lambda slot: slot.memory_gib, default=None)
    if largest is None or needed_gib <= largest.memory_gib:
        return ""
    return f"needs about {needed_gib:.1f} GiB, and the largest device, {largest.label}, has {largest.memory_gib:.1f}"


def _live_devices() -> list[Slot]:
    said, live = published(), liveness.live_hosts()
    return [slot for host in live for slot in said.get(host, ())]


def _with_reason(now: RunStatus, entry: QueueEntry | None, devices: Sequence[Slot]) -> RunStatus:
    """Add to a queued run's status why no live device can take it."""
    if now.state != "queued" or now.message or entry is None:
        return now
    reason = _too_large(entry.needs_gib, devices)
    return replace(now, message=f"It waits for a host with more memory: it {reason}.") if reason else now


def cancel(run_id: str) -> None:
    """Cancel a run that is queued or running; what it has finished is kept.

    A queued run never starts; a running one stops within two seconds. Cancelling a cancelled run is no error. Raises
    :class:`~core.errors.InputError` if the run is done or has failed, or if another process than the agent executes it.
    """
    now = status(run_id)
    if now.state == "cancelled":
        return
    if now.ended:
        raise InputError(f"run {now.run_id} is {now.state}; only a queued or running run can be cancelled")
    before = run_queue.cancel(now.run_id)
    if before is None or before.status not in run_queue.UNFINISHED:
        if states.is_executed(now.record, before) and not now.message == states.STOPPING:
            raise InputError(
                f"run {now.run_id} is being executed by another process on this host, not by the agent; stop it there"
            )
        return
    states.settle(replace(before, status=run_queue.CANCELLED))
    liveness.wake()


def resume(run_id: str) -> None:
    """Resume a run that was cancelled or failed, keeping what it has finished. A queued or running run is left alone.

    Raises :class:`~core.errors.InputError` if the run is done.
    """
    now = _when_stopped(run_id)
    if now.state == "done":
        raise InputError(
            f"run {now.run_id} is done; nothing is left to do, and repeating it would give the same result"
        )
    if now.ended:
        store.update_record(now.run_id, state="queued", message="", ended=None)
        store.log(store.folder_of(now.run_id), "resumed")
        _enqueue(now.run_id)
        return
    if now.state == "running" and not now.worker_alive and liveness.host_of(now.worker) != liveness.host():
        for entry in run_queue.entries([now.run_id]).values():
            run_queue.put_back(entry, fresh=True)
    ensure_agent()


def status(run_id: str) -> RunStatus:
    """The status of a run now. A unique beginning of its id is enough.

    Raises :class:`~core.errors.InputError` if there is no such run.
    """
    record = store.read_record(run_id)
    entry = None
    if record.state != "done":
        entry = run_queue.entries([record.run_id]).get(record.run_id)
        # Read again: a run that ended between the two reads would seem to have ended without a reason.
        record = store.read_record(record.run_id)
    now = states.of(record, entry, agent=liveness.any_agent_alive())
    return _with_reason(now, entry, _live_devices()) if now.state == "queued" else now


def statuses(*, recent_s: float = 24 * 3600.0) -> list[RunStatus]:
    """The person's unfinished runs and those that ended within ``recent_s`` seconds.

    The running ones come first, then the queue in its order, then what has ended, the latest first.
    """
    agent, devices = liveness.any_agent_alive(), _live_devices()
    entries = run_queue.unfinished() | run_queue.ended_since(time.time() - recent_s)
    # A run of `python -m core run` is in no queue; its progress file gives it away.
    here = {path.parent.name for path in settings().runs.glob("*/progress.json")} - set(entries)
    found = []
    for run_id in [*entries, *sorted(here)]:
        try:
            now = states.of(store.read_record(run_id), entries.get(run_id), agent=agent)
            found.append(_with_reason(now, entries.get(run_id), devices))
        except InputError:  # deleted or damaged, which the database does not know
            continue
    kinds = {"running": 0, "queued": 1}
    # The sort is stable, and the database returned the queued runs in the queue's order.
    return sorted(found, key=lambda now: (kinds.get(now.state, 2), -(now.record.ended or 0) if now.ended else 0))


def check_free(run_id: str) -> None:
    """Raise :class:`~core.errors.RunBusyError` if a worker of any host is executing this run.

    Call this before executing a run without the engine. If the database can't be asked, only the lock on the run's
    folder protects it, on this host.
    """
    try:
        worker = _worker_of(run_id)
        busy = liveness.worker_alive(worker)
    except RunError:
        return
    if busy:
        raise RunBusyError(f"run {run_id} is at work on {worker}; wait for it, or cancel it first")


def put_first(run_ids: Sequence[str]) -> None:
    """Move these queued runs to the front of the queue, in this order.

    Raises :class:`~core.errors.InputError` if one of them is not queued.
    """
    names = [store.folder_of(run_id).name for run_id in run_ids]
    for name in names:
        if (now := status(name)).state != "queued":
            raise InputError(f"run {name} is {now.state}; only a queued run can be put first")
    run_queue.reorder(names)


def reorder(run_ids: Sequence[str]) -> None:
    """Give the whole queue this order. Runs that have started or ended meanwhile are skipped; new ones come last."""
    waiting = {run_id for run_id, entry in run_queue.unfinished().items() if entry.status in run_queue.QUEUED}
    run_queue.reorder([run_id for run_id in run_ids if run_id in waiting])


def agent_alive() -> bool:
    """Whether an agent lives on this host."""
    return liveness.agent_alive()


def ensure_agent() -> None:
    """Start this host's agent if none is running, detached, so that it outlives this process and its terminal.

    Raises :class:`~core.errors.RunError` if it does not start.
    """
    with _writable_home():
        liveness.wake()
        if not liveness.agent_alive():
            # If several pages start one at once, all but one agent find the lock held and end.
            start_detached(
                ("core.runs.agent.host_agent", str(IDLE_MINUTES)),
                log=f"agent-{liveness.host()}.log",
                up=liveness.agent_alive,
                within_s=AGENT_STARTS_WITHIN_S,
                what="no agent could be started on this host",
            )


@contextmanager
def _writable_home() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise RunError(
            f"{error.filename or settings().home} can't be written ({error.strerror}); free some space, or set "
            "HEDGE_HOME to another folder"
        ) from error


def _enqueue(run_id: str) -> None:
    from core.runs.execution.execute import memory_gib

    try:
        run_queue.enqueue(run_id, needs_gib=memory_gib(store.read_record(run_id).spec))
    except RunError as error:
        store.end(run_id, "failed", str(error))
        raise
    ensure_agent()


def _when_stopped(run_id: str) -> RunStatus:
    """The run's status once a stopping worker has stopped, because two workers must never execute one run.

    A run that has just failed is its worker's in the database for a moment longer, and could not be queued in it.
    """
    end = time.monotonic() + STOPS_WITHIN_S
    while (now := status(run_id)).message == states.STOPPING or (now.ended and _worker_of(now.run_id)):
        if time.monotonic() > end:
            if now.ended:  # its worker died in that moment, and the next one continues it
                return now
            raise RunError(f"run {now.run_id} is still stopping; try again in a moment")
        time.sleep(0.1)
    return now


def _worker_of(run_id: str) -> str:
    """The executor that has begun the run and has not ended it in the database; empty if there is none."""
    entry = run_queue.entries([run_id]).get(run_id)
    return entry.executor if entry and entry.status == run_queue.RUNNING else ""
