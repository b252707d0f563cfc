"""Actions on runs, one or many at once: launch, cancel, resume, repeat, delete, restore.

As in :mod:`core.runs.engine`, each function raises :class:`~core.errors.RunError` with one sentence if the database
can't be used. If an action is not possible for one of several runs, it is done to the others, and the reason is
returned with the run's id.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from core import access
from core.access import UserRole
from core.errors import AccessError, HedgeError, InputError, UnreadableRunError
from core.models.server import permission
from core.runs import engine, groups, store, trash
from core.runs.groups import Group
from core.runs.model_files import identified
from core.runs.spec import RunSpec
from core.runs.status import RunStatus
from core.runs.trash import TrashedRun

SETTLED = ("queued", "running", "done")
"""States in which launching a run again has no effect."""


@dataclass(frozen=True, slots=True)
class ActionResult:
    """The result of an action on many runs: the runs it was done to, and for each other run why it was not."""

    done: tuple[str, ...]
    refused: dict[str, str]


def existing(specs: Sequence[RunSpec]) -> dict[str, RunStatus]:
    """The existing runs with these specs, which can be opened, resumed or repeated instead of launched."""
    known = set(store.run_ids())
    statuses = {}
    for spec in specs:
        if spec.run_id in known:
            with suppress(UnreadableRunError):  # launching it says so
                statuses[spec] = engine.status(spec.run_id)
    return {now.run_id: now for spec, now in statuses.items() if now.record.spec == spec and now.record.is_computed}


@access.needs(UserRole.LAUNCHER, "launch runs")
def launch(
    specs: Sequence[RunSpec], *, name: str = "", report: Callable[[str], None] | None = None
) -> tuple[Group | None, ActionResult]:
    """Launch all of these runs as one group. ``report`` receives the progress of reading their models' files.

    The group is None if no run starts, because each of them is done, already running, or invalid.
    """
    with suppress(HedgeError):  # each run is refused with its own reason below
        specs = identified(specs, report=report)
    wanted = {spec.run_id: spec for spec in specs}
    settled = {run_id for run_id, now in existing(specs).items() if now.state in SETTLED}
    outcome = _to_each(list(wanted), lambda run_id: engine.submit(wanted[run_id]))
    begins = not settled.issuperset(outcome.done)
    return (groups.create(outcome.done, name=name) if begins else None), outcome


def cancel(run_ids: Sequence[str]) -> ActionResult:
    """Cancel the runs that are queued or running; queued ones first, so that none of them starts."""
    return _to_each(_queued_first(run_ids), engine.cancel)


def resume(run_ids: Sequence[str]) -> ActionResult:
    """Resume the runs that were cancelled, paused or have failed."""
    return _to_each(run_ids, engine.resume)


def repeat(run_ids: Sequence[str]) -> ActionResult:
    """Repeat these runs from the start. Their earlier results stay in the bin for a week."""

    def again(run_id: str) -> None:
        access.check(UserRole.LAUNCHER, "repeat runs", subject=run_id)
        record = store.read_record(run_id)
        spec = record.spec
        if store.is_bundled(run_id):
            raise InputError(f"run {run_id} ships with Hedge and can't be repeated; launch a run with another seed")
        if not record.is_computed:
            raise InputError(f"run {run_id} was imported, so it can't be repeated; choose its settings on New run")
        permission.check_recorded(spec.servers, spec.key_variable, launched_by=record.launched_by)
        engine.check_fits(spec)
        engine.check_room()
        (now,) = identified([replace(spec, model_fingerprint="")])
        if now.run_id == run_id:  # of a model that has changed, the earlier run is another one, and stays
            delete(run_id)
        engine.submit(now)

    return _to_each(run_ids, again)


@access.needs(UserRole.LAUNCHER, "delete runs")
def delete(run_id: str) -> TrashedRun:
    """Move a run to the bin (:mod:`core.runs.trash`), which keeps it for a week.

    A run that is queued, or whose worker is gone, is cancelled first. Raises :class:`~core.errors.InputError` if it
    ships with Hedge, or a worker executes it. Nobody knows who launched a run whose record is damaged, so only an
    administrator may delete it.
    """
    folder = store.folder_of(run_id)
    if store.is_bundled(folder.name):
        raise InputError(f"run {folder.name} ships with Hedge and can't be deleted")
    try:
        now = engine.status(folder.name)
    except UnreadableRunError:
        access.check_owner("", "delete this run", subject=folder.name)
        engine.cancel_unreadable(folder)
        return trash.put_in_bin(folder)
    access.check_owner(now.record.launched_by, "delete this run", subject=now.run_id)
    if now.state == "queued" or (now.state == "running" and not now.worker_alive):
        engine.cancel(now.run_id)
        now = engine.status(now.run_id)
    if not now.ended:
        raise InputError(f"run {now.run_id} is {store.STATE_WORDS[now.state]}; cancel it first, then delete it")
    return trash.put_in_bin(store.folder_of(now.run_id))


def _queued_first(run_ids: Sequence[str]) -> list[str]:
    states = {now.run_id: now.state for now in engine.statuses()}
    return sorted(run_ids, key=lambda run_id: states.get(run_id) != "queued")


def _to_each(run_ids: Sequence[str], action: Callable[[str], object]) -> ActionResult:
    done, refused = [], {}
    for run_id in run_ids:
        try:
            action(run_id)
        except (AccessError, InputError) as error:
            refused[run_id] = str(error)
        else:
            done.append(run_id)
    return ActionResult(tuple(done), refused)
