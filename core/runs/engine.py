"""The run engine as pages and the command line use it: submit a run, watch it, cancel it, resume it.

Nothing is executed here. A run is written to its folder and put into the database's queue; a worker of a host agent
takes it from there, and both outlive this process. If the database can't be used, every function raises
:class:`~core.errors.RunError` with one sentence, within five seconds.
"""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from core import access
from core.access import UserRole, quotas
from core.errors import HedgeError, InputError, RunBusyError, RunError
from core.models.devices import fitting
from core.models.devices.slots import Slot, named_device, slots
from core.models.model_sources import ModelSource
from core.models.server import permission
from core.runs import status as states
from core.runs import store
from core.runs.agent import host_reports, liveness
from core.runs.agent.worker_process import start_agent
from core.runs.model_files import identified, resolved
from core.runs.queue import run_queue
from core.runs.queue.run_queue import QueueEntry
from core.runs.spec import RunSpec
from core.runs.status import RunStatus
from core.runs.store import STATE_WORDS, RunRecord
from core.settings import settings, writable_home
from core.storage import database
from core.storage.file_lock import is_held

STOPS_WITHIN_S = 4.0


@access.needs(UserRole.LAUNCHER, "launch runs")
def submit(spec: RunSpec) -> str:
    """Submit a run and return its id. Equal specs are the same run. The spec gets the fingerprint of its model's files
    if it has none (:func:`~core.runs.model_files.identified`), so a model whose files were replaced makes another run.

    A run that is queued, running or done is left as it is. One that failed, paused or was cancelled is resumed, with
    the budget and the key of ``spec``, if the actor may change it. Raises :class:`~core.errors.InputError`, and writes
    nothing, if the model or the task is unknown, if the spec is that of an imported run, or if several devices are
    named to share its questions, which only a run in the foreground does.
    """
    if "," in spec.device:
        raise InputError(
            f"a queued run takes one device, or as many as its model needs, got {spec.device}; name one device, or "
            "execute the run here (run without --queue), where several devices share its questions"
        )
    if spec.is_imported:
        raise InputError(f"run {spec.run_id} was imported, so it can't be executed; choose its settings on New run")
    source = resolved(spec)
    (spec,) = identified([spec], source=source)
    if spec.run_id in store.run_ids():
        now = status(spec.run_id)
        store.check_same(spec, now.record)
        if (now.ended and now.state != "done") or access.owns(now.record.launched_by):
            access.check_owner(now.record.launched_by, "resume this run", subject=now.run_id)
            permission.check(spec.servers, spec.key_variable, launched_by=now.record.launched_by)
            if now.ended and now.state != "done":  # budget and key may differ from those of the earlier try
                now = _when_stopped(now)
                _continue(replace(now, record=replace(now.record, spec=spec)))
            elif now.state != "done":
                _continue(_when_stopped(now))
        return spec.run_id
    from core.runs.execution.execute import preflight

    permission.check(spec.servers, spec.key_variable)
    preflight(spec, source)
    needs_gib = check_fits(spec, source)
    check_room()
    with _agent_meanwhile():
        database.prepare()
        with writable_home():
            store.create(RunRecord(spec=spec, state="queued", created=time.time(), provenance=access.launched()))
    _enqueue(spec, needs_gib)
    return spec.run_id


def check_room() -> None:
    """Raise :class:`~core.errors.QuotaError` if the actor may queue no further run now, or the disk is nearly full."""
    quotas.check_disk()
    quotas.check_waiting(lambda name: sum(_launched_by(run_id) == name for run_id in run_queue.unfinished()))


def _launched_by(run_id: str) -> str | None:
    with suppress(InputError):  # deleted, which the database does not know
        return store.read_record(run_id).launched_by
    return None


@contextmanager
def _agent_meanwhile() -> Iterator[None]:
    """Start the agent and its worker while the body runs. They take most of the time until the first question.

    If the body fails, an agent that was not there before is ended again.
    """
    before = liveness.agent_alive()

    def start() -> None:
        with suppress(HedgeError):  # the error is raised when the run is queued, which starts the agent again
            ensure_agent()

    starting = threading.Thread(target=access.carried(start), daemon=True, name="hedge-agent-ahead")
    starting.start()
    try:
        yield
    except BaseException:
        starting.join()
        if not before:
            liveness.end_agent()
        raise
    starting.join()


def check_fits(spec: RunSpec, source: ModelSource | None = None) -> float:
    """The GiB of memory that the run needs. Raises :class:`~core.errors.InputError` if no device of this host or of
    another live host can hold it."""
    from core.runs.execution.execute import check_memory

    return check_memory(spec, [*slots(), *_live_devices()], source)


def _live_devices() -> list[Slot]:
    published, live = host_reports.published_slots(), liveness.live_hosts()
    return [slot for host in live for slot in published.get(host, ())]


def _with_reason(now: RunStatus, entry: QueueEntry | None, devices: Sequence[Slot]) -> RunStatus:
    """Add to a queued run's status why no live device can take it."""
    if now.state != "queued" or now.message or entry is None:
        return now
    reason = fitting.too_large(entry.needs_gib, devices)
    return replace(now, message=f"It waits for a host with more memory: it {reason}.") if reason else now


@access.needs(UserRole.LAUNCHER, "cancel runs")
def cancel(run_id: str) -> None:
    """Cancel a run that is queued or running; what it has finished is kept.

    A queued run never starts; a running one stops within two seconds. Cancelling a cancelled run is no error. Raises
    :class:`~core.errors.InputError` if the run is done or has failed, or if a process other than the agent executes it.
    """
    now = status(run_id)
    access.check_owner(now.record.launched_by, "cancel this run", subject=now.run_id)
    if now.state == "cancelled":
        return
    if now.ended:
        raise InputError(
            f"run {now.run_id} is {STATE_WORDS[now.state]}; only a waiting or running run can be cancelled"
        )
    before = run_queue.cancel(now.run_id)
    if before is None or before.status not in run_queue.UNFINISHED:
        if states.is_executed(now.record, before) and not now.message == states.STOPPING:
            raise InputError(
                f"run {now.run_id} is being executed by another process on this host, not by the agent; stop it there"
            )
        return
    states.settle(replace(before, status=run_queue.CANCELLED))
    liveness.wake()


def cancel_unreadable(folder: Path) -> None:
    """Take a run whose record is damaged out of the queue. Raises :class:`~core.errors.InputError` if a process of this
    host executes it."""
    with suppress(OSError):
        if is_held(liveness.run_lock(folder)):
            raise InputError(f"run {folder.name} is being executed by a process of this host; stop it first")
    with suppress(RunError):  # of a run that has ended, the database knows nothing
        run_queue.cancel(folder.name)


@access.needs(UserRole.LAUNCHER, "resume runs")
def resume(run_id: str, *, budget: float | None = None) -> None:
    """Resume a run that was cancelled, paused or failed, keeping what it has finished. A queued or running run is left
    alone. ``budget`` replaces the one that the run has, over all its tries.

    Raises :class:`~core.errors.InputError` if the run is done, and for a budget that can't continue it;
    :class:`~core.errors.AccessError` for another person's run, or if its servers may not be asked.
    """
    now = _when_stopped(status(run_id))
    access.check_owner(now.record.launched_by, "resume this run", subject=now.run_id)
    _continue(now, budget=budget)


def _continue(now: RunStatus, *, budget: float | None = None) -> None:
    """:func:`resume`, for a run of the actor with this status, whose record has the spec to continue with."""
    if now.state == "done":
        raise InputError(
            f"run {now.run_id} has finished; nothing is left to do, and repeating it would give the same result"
        )
    spec = _with_budget(now, budget)
    permission.check_recorded(spec.servers, spec.key_variable, launched_by=now.record.launched_by)
    if now.ended:
        from core.runs.execution.execute import memory_gib

        check_room()
        store.update_record(now.run_id, state="queued", message="", ended=None, spec=spec)
        store.log(store.folder_of(now.run_id), "resumed")
        _enqueue(spec, memory_gib(spec, ask=True))
        return
    if now.state == "running" and not now.worker_alive and liveness.host_of(now.worker) != liveness.host():
        for entry in run_queue.entries([now.run_id]).values():
            if run_queue.put_back(entry, fresh=True):
                run_queue.note(now.run_id, deaths=[])  # a person asks for it
    ensure_agent()


def _with_budget(now: RunStatus, budget: float | None) -> RunSpec:
    """The run's spec, with another budget if one is given. Raises :class:`~core.errors.InputError` if that can't be, or
    if the budget that the run has is spent."""
    record = now.record
    spec = record.spec
    if budget is None:
        if record.at_budget:
            raise InputError(
                f"run {now.run_id} has reached its budget of {spec.price.in_words(spec.budget or 0.0)}; resume it with "
                "a larger one (--budget)"
            )
        return spec
    if not spec.servers and not spec.makes_jury:
        raise InputError(f"run {now.run_id} asks no server, so it has no budget; resume it without one")
    if not now.ended:
        raise InputError(
            f"run {now.run_id} is {STATE_WORDS[now.state]}; cancel it first, then resume it with another budget"
        )
    if budget <= (spent := spec.price.cost(*record.spent)):
        raise InputError(
            f"run {now.run_id} has cost {spec.price.in_words(spent)} already; the budget counts all its tries, so give "
            f"more than that, got {spec.price.in_words(budget)}"
        )
    return replace(spec, budget=budget)


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
    now = states.status_of(record, entry, agent=liveness.any_agent_alive())
    return _with_reason(now, entry, _live_devices()) if now.state == "queued" else now


def statuses(*, recent_s: float = 24 * 3600.0) -> list[RunStatus]:
    """The person's unfinished runs and those that ended within ``recent_s`` seconds.

    The running ones come first, then the queue in its order, then what has ended, the latest first.
    """
    agent, devices = liveness.any_agent_alive(), _live_devices()
    entries = run_queue.unfinished() | run_queue.ended_since(time.time() - recent_s)
    # A run of `hedge run` is in no queue; its progress file gives it away.
    here = {path.parent.name for path in settings().runs.glob("*/progress.json")} - set(entries)
    statuses = []
    for run_id in [*entries, *sorted(here)]:
        try:
            now = states.status_of(store.read_record(run_id), entries.get(run_id), agent=agent)
            statuses.append(_with_reason(now, entries.get(run_id), devices))
        except InputError:  # deleted or damaged; the database does not know that
            continue
    kinds = {"running": 0, "queued": 1}
    # The sort is stable, and the database returned the queued runs in the queue's order.
    return sorted(statuses, key=lambda now: (kinds.get(now.state, 2), -(now.record.ended or 0) if now.ended else 0))


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
        raise RunBusyError(f"run {run_id} is running on {worker}; wait for it, or cancel it first")


@access.needs(UserRole.LAUNCHER, "change the order of the queue")
def put_first(run_ids: Sequence[str]) -> None:
    """Move these queued runs to the front of the queue, in this order.

    Raises :class:`~core.errors.InputError` if one of them is not queued, and :class:`~core.errors.AccessError` if one
    is another person's.
    """
    names = [store.folder_of(run_id).name for run_id in run_ids]
    for name in names:
        now = status(name)
        access.check_owner(now.record.launched_by, "put this run first", subject=name)
        if now.state != "queued":
            raise InputError(f"run {name} is {STATE_WORDS[now.state]}; only a waiting run can be put first")
    run_queue.reorder(names)


@access.needs(UserRole.LAUNCHER, "change the order of the queue")
def reorder(run_ids: Sequence[str]) -> None:
    """Give the whole queue this order. Runs that have started or ended meanwhile are skipped; new ones come last.

    Raises :class:`~core.errors.AccessError` if that changes the order of other people's runs among themselves.
    """
    waiting = [run_id for run_id, entry in run_queue.unfinished().items() if entry.status in run_queue.QUEUED]
    order = [run_id for run_id in dict.fromkeys(run_ids) if run_id in waiting]
    others = {run_id: owner for run_id in waiting if not access.owns(owner := _launched_by(run_id) or "")}
    fixed = [run_id for run_id in waiting if run_id in others]
    moved = [run_id for run_id in order if run_id in others]
    moved += [run_id for run_id in fixed if run_id not in moved]
    for now, before in zip(moved, fixed, strict=True):
        if now != before:
            access.check_owner(others[now], "move this run in the queue", subject=now)
    run_queue.reorder(order)


def agent_alive() -> bool:
    """Whether an agent lives on this host."""
    return liveness.agent_alive()


def ensure_agent() -> None:
    """Start this host's agent if none is running, detached, so that it outlives this process and its terminal.

    With ``HEDGE_START_AGENT=0``, as on a cluster's login node, none is started.

    Raises :class:`~core.errors.RunError` if it does not start.
    """
    with writable_home():
        liveness.wake()
        if settings().start_agent and not liveness.agent_alive():
            start_agent(up=liveness.agent_alive)


def ensure_agent_if_needed() -> bool:
    """Start this host's agent if unfinished runs wait for one and no agent is running, here or on another host.

    Returns whether one was started. Raises :class:`~core.errors.RunError` if it does not start.
    """
    if not settings().start_agent or not run_queue.unfinished() or liveness.any_agent_alive():
        return False
    ensure_agent()
    return True


def _enqueue(spec: RunSpec, needs_gib: float) -> None:
    try:
        run_queue.enqueue(spec.run_id, needs_gib=needs_gib, slot=named_device(spec.device))
    except RunError as error:
        store.end(spec.run_id, "failed", str(error))
        raise
    ensure_agent()


def _when_stopped(now: RunStatus) -> RunStatus:
    """The run's status once a stopping worker has stopped, because two workers must never execute one run.

    A run that has just failed is its worker's in the database for a moment longer, and could not be queued in it.
    """
    end = time.monotonic() + STOPS_WITHIN_S
    while now.message == states.STOPPING or (now.ended and _worker_of(now.run_id)):
        if time.monotonic() > end:
            if now.ended:  # its worker died in that moment, and the next one continues it
                return now
            raise RunError(f"run {now.run_id} is still stopping; try again in a moment")
        time.sleep(0.1)
        now = status(now.run_id)
    return now


def _worker_of(run_id: str) -> str:
    """The executor that has begun the run and has not ended it in the database; empty if there is none."""
    entry = run_queue.entries([run_id]).get(run_id)
    return entry.executor if entry and entry.status == run_queue.RUNNING else ""
