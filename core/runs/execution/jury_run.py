"""Jury runs; each makes a jury by a pipeline (:mod:`core.jury.pipeline`)."""

from pathlib import Path
from typing import Any

from core import access
from core.jury.pipeline import jury_spec
from core.jury.pipeline.jury_spec import JurySpec
from core.models.price import Price
from core.models.server.spending import Spending
from core.models.server_address import TIMEOUT_S
from core.runs import store
from core.runs.execution.progress import ProgressReporter
from core.runs.spec import JURY, RunSpec


def spec_of(jury: JurySpec, *, price: Price | None = None, timeout_s: float = TIMEOUT_S) -> RunSpec:
    """The spec of the run that makes this jury; the models on servers may cost ``price`` and take ``timeout_s`` for
    each answer."""
    paid = price or Price()
    return RunSpec(
        jury.base,
        f"{JURY}@{jury.path_id}",
        dtype=jury.dtype,
        form=JURY,
        seed=jury.seed,
        price_read=paid.read,
        price_written=paid.written,
        budget=paid.budget,
        timeout_s=timeout_s,
    )


def read_request(spec: RunSpec) -> JurySpec:
    """The request of a run. Raises :class:`~core.errors.InputError` if the pipeline's folder is gone."""
    return jury_spec.read_spec(spec.task.partition("@")[2])


def perform(spec: RunSpec, folder: Path, reporter: ProgressReporter) -> dict[str, Any]:
    """Do what is left of the pipeline; returns the jury's id for ``run.json``."""
    from core.jury.pipeline import jury_stages  # imports pandas

    jury = read_request(spec)
    reporter.begin(f"{len(jury.jurors)} jurors")
    spending = Spending(spec.price, store.read_record(spec.run_id).spent)
    try:
        with access.acting_as(access.launcher(store.read_record(spec.run_id).launched_by)):
            return {"jury": jury_stages.make(jury, reporter, spending=spending, timeout_s=spec.timeout_s)}
    finally:
        store.note(spec.run_id, spent=spending.tokens)
