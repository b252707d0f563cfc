"""The files of the model in a run's identity: recorded when the run is asked for, and the same until it has ended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from core.errors import HedgeError, InputError
from core.files.atomic import guarded
from core.files.tables import drop_chunks
from core.inference.model_fingerprint import ModelFiles, Report, in_spec, known_in_spec, shipped
from core.inference.server.address import served_model
from core.progress import Reporter
from core.runs import store
from core.runs.spec import RunSpec
from core.runs.store import WRITTEN

NOT_READ = "0" * 32
"""Stands for the fingerprint of a model whose files have not been read yet, and so is that of no stored run."""


def identified(specs: Sequence[RunSpec], *, report: Report | None = None) -> list[RunSpec]:
    """The specs with the fingerprints of their models' files, as a run is asked for. Each model is read once, and a
    spec that has a fingerprint keeps it; ``report`` receives the progress.

    Raises :class:`~core.errors.InputError` if there is no such model, or if its files change while they are read.
    """
    values: dict[str, str] = {}
    for spec in specs:
        if has_files(spec) and not spec.model_fingerprint and spec.model not in values:
            values[spec.model] = in_spec(spec.model, report=report)
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


def _with(spec: RunSpec, value: str) -> RunSpec:
    keeps = not value or spec.model_fingerprint or not has_files(spec)
    return spec if keeps else replace(spec, model_fingerprint=value)


@contextmanager
def unchanged(spec: RunSpec, folder: Path, reporter: Reporter) -> Iterator[None]:
    """Raise :class:`~core.errors.InputError` if the model's files are not those of the spec, before the body and before
    each lasting write in it: a library may read the weights from the file while the run is at work.

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
