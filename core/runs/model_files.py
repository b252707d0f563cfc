"""The files of the model in a run's identity: recorded when the run is asked for, and the same until it has ended."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from core.errors import HedgeError, InputError
from core.models.model_fingerprint import ModelFiles, Report, in_spec, known_in_spec, shipped
from core.models.model_sources import ModelSource, resolve
from core.models.server_address import ServedWeights, served_model
from core.progress import Reporter
from core.runs import store
from core.runs.spec import RunSpec
from core.runs.store import WRITTEN, RunRecord
from core.storage.atomic import guarded
from core.storage.tables import drop_chunks

NOT_READ = "0" * 32
"""Stands for the fingerprint of a model whose files have not been read yet, and so is that of no stored run."""


def resolved(spec: RunSpec) -> ModelSource | None:
    """The model that Hedge loads for this run; None if it has none (:func:`has_files`)."""
    return resolve(spec.model) if has_files(spec) else None


def identified(
    specs: Sequence[RunSpec], *, report: Report | None = None, source: ModelSource | None = None
) -> list[RunSpec]:
    """The specs with the fingerprints of their models' files, as a run is asked for. Each model is read once, and a
    spec that has a fingerprint keeps it; ``report`` receives the progress. ``source`` is the resolved model of a single
    spec, if the caller has it.

    Raises :class:`~core.errors.InputError` if there is no such model, or if its files change while they are read.
    """
    values: dict[str, str] = {}
    for spec in specs:
        if has_files(spec) and not spec.model_fingerprint and spec.model not in values:
            values[spec.model] = in_spec(spec.model, report=report, source=source)
    return [_with(spec, values.get(spec.model, "")) for spec in specs]


def known(specs: Sequence[RunSpec]) -> list[RunSpec]:
    """As :func:`identified`, for a page that is being drawn: a model that can't be read in a moment gets the
    fingerprint :data:`NOT_READ`."""
    values: dict[str, str] = {}
    for spec in specs:
        if has_files(spec) and spec.model not in values:
            values[spec.model] = NOT_READ
            with suppress(HedgeError):  # the launch says what is wrong with the model
                value = known_in_spec(spec.model)
                values[spec.model] = NOT_READ if value is None else value
    return [_with(spec, values.get(spec.model, "")) for spec in specs]


def has_files(spec: RunSpec) -> bool:
    """Whether Hedge loads one model for this run, and so knows its files. The models of a jury are in its own
    request."""
    return not (spec.is_imported or spec.servers or spec.makes_jury or served_model(spec.model))


def recorded_weights(record: RunRecord) -> ServedWeights | None:
    """What the run's servers held by the name of its model; None if the run has no servers or did not record it."""
    engine = record.provenance.get("engine")
    if not record.spec.servers or not isinstance(engine, dict):
        return None
    return ServedWeights.from_json(engine.get("weights"))


def served_weights(records: Sequence[RunRecord]) -> dict[str, str]:
    """What tells finished runs apart that asked one model on the same servers while these held different weights under
    its name: the day and the time of the first run that asked those weights, by run id. Empty for all other runs.
    """
    kinds: dict[str, list[tuple[ServedWeights, str, list[str]]]] = {}
    for record in sorted(records, key=lambda each: each.started or each.created):
        weights = recorded_weights(record)
        if weights is None:
            continue
        of_model = kinds.setdefault(record.spec.asked_model, [])
        same = next((run_ids for earlier, _, run_ids in of_model if earlier.alike(weights)), None)
        if same is None:
            day = time.strftime("%Y-%m-%d %H:%M", time.gmtime(record.started or record.created))
            of_model.append((weights, f"weights of {day}", same := []))
        same.append(record.run_id)
    apart = {
        run_id: words
        for of_model in kinds.values()
        if len(of_model) > 1
        for _, words, run_ids in of_model
        for run_id in run_ids
    }
    return {record.run_id: apart.get(record.run_id, "") for record in records}


def _with(spec: RunSpec, value: str) -> RunSpec:
    keeps = not value or spec.model_fingerprint or not has_files(spec)
    return spec if keeps else replace(spec, model_fingerprint=value)


@contextmanager
def unchanged(spec: RunSpec, folder: Path, reporter: Reporter) -> Iterator[None]:
    """Raise :class:`~core.errors.InputError` if the model's files are not those of the spec, before the body and before
    each lasting write in it: a library may read the weights from the file while the run is running.

    Results of an earlier try whose weights were not recorded are dropped, unless they are known to be the same.
    """
    if not has_files(spec):
        yield
        return
    expected = spec.model_fingerprint or ("" if spec.model in shipped() else None)
    files = ModelFiles(spec.model, expected, report=reporter.report)
    earlier = store.read_record(spec.run_id).provenance.get("model_files", {})
    if expected is None and (folder / "chunks").exists() and earlier.get("fingerprint", "") != files.value:
        drop_chunks(folder)
        (folder / store.BARE).unlink(missing_ok=True)
        reporter.log("the model may have changed since the last try, which is dropped")
    if files.value:
        store.note(spec.run_id, model_files=files.to_json())

    def confirm() -> None:
        try:
            files.check()
        except InputError:
            (folder / "chunks" / WRITTEN).unlink(missing_ok=True)  # its lines are written one by one
            raise

    with guarded(confirm):
        yield
        confirm()
