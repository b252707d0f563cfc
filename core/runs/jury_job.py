"""Jury pipelines for pages: launch one, tell how far it is, cancel it, continue it. The run engine does the work."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.jury_pipeline import jury_spec
from core.jury_pipeline.jury_spec import JurySpec
from core.runs import engine, store
from core.runs.execution import jury_run

STOPPED = "its process was stopped; launch it again to continue"


@dataclass(frozen=True, slots=True)
class JuryProgress:
    """How far a pipeline is: the ``state`` of its run with a sentence about it, ``done`` of ``total`` of a ``stage``.

    ``losses`` are those of the juror that is or was tuned last, ``jury`` is the result's id.
    """

    state: str
    stage: str = ""
    done: int = 0
    total: int = 0
    message: str = ""
    losses: tuple[float, ...] = ()
    jury: str = ""


def launch(spec: JurySpec) -> str:
    """Put a pipeline into the run queue and return its id; one that is at work or done is left as it is.

    Raises :class:`~core.errors.InputError`, and starts nothing, where its models or questions are not there.
    """
    path_id = jury_spec.create(spec)
    resume(path_id)
    return path_id


def resume(path_id: str) -> None:
    """Continue a pipeline, or begin it."""
    engine.submit(jury_run.spec_of(jury_spec.read_spec(path_id)))


def cancel(path_id: str) -> None:
    """Stop a pipeline; what it has is kept."""
    engine.cancel(jury_run.spec_of(jury_spec.read_spec(path_id)).run_id)


def read_state(path_id: str) -> JuryProgress:
    """How far a pipeline is."""
    folder, run_id = jury_spec.folder_of(path_id), jury_run.spec_of(jury_spec.read_spec(path_id)).run_id
    if run_id not in store.run_ids():
        return _without_run(folder)
    now = engine.status(run_id)
    stage, done, total = (now.progress.stage, now.progress.done, now.progress.total) if now.progress else ("", 0, 0)
    losses = tuple(_read(folder / "losses.json", []))
    return JuryProgress(now.state, stage, done, total, now.message, losses, now.record.provenance.get("jury", ""))


def _without_run(folder: Path) -> JuryProgress:
    """A pipeline that an older version worked at, which was no run and wrote its state into its own folder."""
    before = _read(folder / "state.json", {})
    if before.get("state") in ("done", "failed", "cancelled"):
        return JuryProgress(before["state"], message=before.get("message", ""), jury=before.get("jury", ""))
    return JuryProgress("failed", message=STOPPED)


def _read(path: Path, otherwise: Any) -> Any:
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError):
        return otherwise
