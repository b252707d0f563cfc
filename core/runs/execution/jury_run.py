"""Jury runs, each of which makes a jury by a pipeline (:mod:`core.jury_pipeline`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from core.jury_pipeline import jury_spec
from core.jury_pipeline.jury_spec import JurySpec
from core.runs.execution.progress import ProgressReporter
from core.runs.spec import JURY, RunSpec


def spec_of(jury: JurySpec) -> RunSpec:
    """The spec of the run that makes this jury."""
    return RunSpec(jury.base, f"{JURY}@{jury.path_id}", dtype=jury.dtype, form=JURY, seed=jury.seed)


def prepare(jury: JurySpec) -> RunSpec:
    """Write the pipeline's folder, after a look at its models and questions; returns the spec of its run."""
    return spec_of(jury_spec.read_spec(jury_spec.create(jury)))


def read_request(spec: RunSpec) -> JurySpec:
    """What a run was asked for. Raises :class:`~core.errors.InputError` if the pipeline's folder is gone."""
    return jury_spec.read_spec(spec.task.partition("@")[2])


def perform(spec: RunSpec, folder: Path, reporter: ProgressReporter) -> dict[str, Any]:
    """Do what is left of the pipeline; returns the jury's id for ``run.json``."""
    from core.jury_pipeline import jury_stages  # which brings pandas along

    jury = read_request(spec)
    reporter.begin(f"{len(jury.jurors)} jurors")
    return {"jury": jury_stages.make(jury, reporter)}
