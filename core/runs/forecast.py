"""What a run will ask of this machine, said before it is launched.

Questions are drawn as the run would draw them; memory is the queue's own estimate (:mod:`core.runs.needs`); disk and
time go by runs that have ended here: of the same model, type, form and shots on this host. Without one, time is
unknown and not guessed.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow.parquet as pq

from core.errors import HedgeError, InputError
from core.runs import engine, house, needs, store
from core.runs.asked import draw_questions
from core.runs.spec import RunSpec
from core.runs.store import RunRecord

BYTES_A_QUESTION = 700
"""Of text, options and logits together, where no run here says better: what runs of the bundled tasks take."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """One run before it is launched.

    ``state`` is that of the run where it exists already, else empty; ``refused`` why it can't be launched, else
    empty. ``seconds`` is None where no run like it has been measured on this host, and so is ``rate`` (questions a
    second).
    """

    spec: RunSpec
    state: str
    refused: str
    questions: int
    memory_gib: float
    disk_bytes: int
    rate: float | None
    seconds: float | None


def forecasts(specs: Sequence[RunSpec]) -> list[Forecast]:
    """The forecast of each spec, in their order; nothing is written and no weights are loaded."""
    known = set(store.run_ids())
    measured = _measured()
    return [_forecast(spec, known=spec.run_id in known, measured=measured) for spec in specs]


def _forecast(spec: RunSpec, *, known: bool, measured: dict[tuple[object, ...], list[tuple[float, float]]]) -> Forecast:
    refused, questions = "", 0
    try:
        questions = len(draw_questions(spec).scored)
        engine.check_fits(spec)
    except InputError as error:
        refused = str(error)
    like = measured.get(_kind(spec), [])
    rate = statistics.median(rate for rate, _ in like) if like else None
    each = statistics.median(size for _, size in like) if like else BYTES_A_QUESTION
    return Forecast(
        spec=spec,
        state=engine.status(spec.run_id).state if known else "",
        refused=refused,
        questions=questions,
        memory_gib=needs.memory_gib(spec),
        disk_bytes=round(questions * each),
        rate=rate,
        seconds=questions / rate if rate else None,
    )


def _measured() -> dict[tuple[object, ...], list[tuple[float, float]]]:
    """By kind of run: questions a second, and bytes a question, of every run that has ended well on this host."""
    found: dict[tuple[object, ...], list[tuple[float, float]]] = {}
    for run_id in store.run_ids():
        try:
            record = store.read_record(run_id)
            if measure := _measure(record):
                found.setdefault(_kind(record.spec), []).append(measure)
        except (HedgeError, OSError):  # damaged, and says so wherever it is opened
            continue
    return found


def _measure(record: RunRecord) -> tuple[float, float] | None:
    import platform

    seconds = record.provenance.get("scoring_seconds")
    if record.state != "done" or not seconds or record.provenance.get("host") != platform.node():
        return None
    folder = store.folder_of(record.run_id)
    questions = pq.read_metadata(folder / "logits.parquet").num_rows
    resumed = any("goes on after" in line for line in store.read_log(record.run_id))
    return None if resumed or not questions else (questions / seconds, house.disk_use(folder) / questions)


def _kind(spec: RunSpec) -> tuple[object, ...]:
    return spec.model, spec.dtype, spec.form, spec.shots, spec.task
