"""Jury pipelines for pages: launch one, read its progress, cancel it, continue it. The run engine does the work."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core import access
from core.errors import InputError, UnreadableRunError
from core.jury.pipeline import jury_spec
from core.jury.pipeline.jury_spec import JurySpec
from core.models.price import Price
from core.models.server_address import TIMEOUT_S
from core.runs import engine, store
from core.runs.execution import jury_run
from core.runs.store import RunRecord
from core.storage.sealed import read_json

STOPPED = "its process was stopped; launch it again to continue"


@dataclass(frozen=True, slots=True)
class JuryProgress:
    """The progress of a pipeline: the ``state`` of its run with a sentence about it, and ``done`` of ``total`` of a
    ``stage``. ``losses`` belong to the juror that is being tuned or was tuned last, ``jury`` is the result's id.
    """

    state: str
    stage: str = ""
    done: int = 0
    total: int = 0
    message: str = ""
    losses: tuple[float, ...] = ()
    jury: str = ""


def launch(spec: JurySpec, *, price: Price | None = None, timeout_s: float = TIMEOUT_S) -> str:
    """Put a pipeline into the run queue and return its id. A pipeline that is running or done is not changed.

    ``price`` and ``timeout_s`` are those of models on servers. Raises :class:`~core.errors.InputError`, and starts
    nothing, where its models or questions are not there, and :class:`~core.errors.AccessError` for another person's
    pipeline that was stopped.
    """
    spec = jury_spec.checked(spec)
    run = jury_run.spec_of(spec, price=price, timeout_s=timeout_s)
    if run.run_id not in store.run_ids() or access.owns(store.read_record(run.run_id).launched_by):
        jury_spec.create(spec)
    engine.submit(run)
    return spec.path_id


def record_of(path_id: str) -> RunRecord | None:
    """The record of a pipeline's run; None if it has no run, as in older versions."""
    run_id = jury_run.spec_of(jury_spec.read_spec(path_id)).run_id
    return store.read_record(run_id) if run_id in store.run_ids() else None


def resume(path_id: str) -> None:
    """Continue a pipeline with its earlier prices and time limit, or begin it."""
    record = record_of(path_id)
    engine.submit(record.spec if record else jury_run.spec_of(jury_spec.read_spec(path_id)))


def cancel(path_id: str) -> None:
    """Stop a pipeline; its results so far are kept."""
    engine.cancel(jury_run.spec_of(jury_spec.read_spec(path_id)).run_id)


def read_state(path_id: str) -> JuryProgress:
    """The progress of a pipeline."""
    folder = jury_spec.folder_of(path_id)
    try:
        run_id = jury_run.spec_of(jury_spec.read_spec(path_id)).run_id
    except InputError as error:  # damaged; the others are shown
        return JuryProgress("failed", message=str(error))
    if run_id not in store.run_ids():
        return _without_run(folder)
    try:
        now = engine.status(run_id)
    except UnreadableRunError as error:  # the other pipelines are shown
        return JuryProgress("failed", message=str(error))
    stage, done, total = (now.progress.stage, now.progress.done, now.progress.total) if now.progress else ("", 0, 0)
    losses = tuple(_read(folder / "losses.json").get("losses", ()))
    return JuryProgress(now.state, stage, done, total, now.message, losses, now.record.provenance.get("jury", ""))


def _without_run(folder: Path) -> JuryProgress:
    """The progress of a pipeline of an older version, which was not a run and wrote its state into its own folder."""
    before = _read(folder / "state.json")
    if before.get("state") in ("done", "failed", "cancelled"):
        return JuryProgress(before["state"], message=before.get("message", ""), jury=before.get("jury", ""))
    return JuryProgress("failed", message=STOPPED)


def _read(path: Path) -> dict[str, Any]:
    """The fields of a file about a pipeline's progress; none if it is missing or damaged."""
    try:
        return read_json(path, of_list="losses")
    except (OSError, ValueError):
        return {}
