"""Forecasts of a matrix of runs. Slow parts are cached. Queries neither the database nor the hub."""

import shutil
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from app.caches import run_cache
from app.caches.by_version import by_version
from app.caches.run_cache import EVERY_RUN, run_key
from core.errors import HedgeError
from core.models import counting, model_sources
from core.models.devices import slots as device_slots
from core.models.devices.slots import CPU, Slot, slots
from core.models.server_address import TIMEOUT_S
from core.questions import catalogue, split_task
from core.reports import forecast as forecasts
from core.reports.forecast import Forecast, Work
from core.runs.agent import host_reports, liveness
from core.runs.model_files import known as known_specs
from core.runs.prompts import Combination
from core.runs.spec import RunSpec
from core.runs.store import RunRecord
from core.settings import settings

if TYPE_CHECKING:  # pandas, for which the first paint would have to wait
    import pandas as pd

    from core.reports.question_plan import Pilot

LOADED_HERE: dict[str, Any] = {
    "model": "any",
    "model_fingerprint": "",
    "dtype": "float32",
    "batch_size": None,
    "device": "",
    "servers": (),
    "key_variable": "",
    "price_read": 0.0,
    "price_written": 0.0,
    "budget": None,
    "timeout_s": TIMEOUT_S,
}
"""Fields of a spec that do not change the run's prompts."""


MOST_PILOTS = 4
"""The most models whose finished runs are looked at for a plan of questions."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The requested runs, what each will take, and those that exist already, by id."""

    runs: tuple[Forecast, ...]
    existing: dict[str, RunRecord]
    devices: tuple[Slot, ...]
    free_disk: int

    @property
    def new(self) -> tuple[Forecast, ...]:
        """The requested runs that are not done yet."""
        done = {run_id for run_id, record in self.existing.items() if record.state == "done"}
        return tuple(forecast for forecast in self.runs if forecast.spec.run_id not in done)

    @property
    def to_time(self) -> tuple[Forecast, ...]:
        """The runs whose work, time and cost are shown: those that are not done, or all if all are done."""
        return self.new or self.runs

    @property
    def seconds(self) -> float | None:
        """Seconds until the last of them has ended on the available devices, or None if one has no measured rate."""
        return forecasts.whole_time(self.to_time, lanes=len(self.devices))

    @property
    def cost(self) -> float | None:
        """The cost of the new runs on servers, or None if no prices are given."""
        costs = [forecast.cost for forecast in self.to_time]
        return None if None in costs else sum(cost for cost in costs if cost)

    @property
    def on_servers(self) -> bool:
        """Whether servers hold the models of these runs."""
        return bool(self.runs) and bool(self.runs[0].spec.servers)


def plan(combination: Combination) -> Plan:
    """A forecast of what was requested. Raises :class:`~core.errors.InputError` if such runs are not possible."""
    specs = known_specs(combination.specs(named=_named))
    records = run_cache.runs().records
    known = {record.run_id: record for record in records}
    devices = _devices()
    runs = tuple(
        forecasts.forecast(spec, earlier=records, devices=devices, worked=work, text_of_token=_held) for spec in specs
    )
    existing = {spec.run_id: known[spec.run_id] for spec in specs if spec.run_id in known}
    return Plan(runs, existing, devices, free_disk())


def work(spec: RunSpec) -> Work | None:
    """The work of a run: its prompts, which do not depend on the model and the precision."""
    same = replace(spec, **LOADED_HERE)
    return _work(same, stamp(spec.task), catalogue.at_hand(spec.task))


def pilot(spec: RunSpec, alpha: int) -> "Pilot":
    """How the answers of two models to the task's questions differ: from finished runs of two models, from one run, or
    from a guess. Runs that were asked in the same way come first, then those of the same model, then the latest. Of the
    first few, the two that differ most are taken, because two adapters of one model would promise too much."""
    from core.reports import question_plan

    finished = [record for record in run_cache.runs().finished if record.spec.task == spec.task]
    finished.sort(key=lambda record: (_asked(record.spec) != _asked(spec), record.spec.model != spec.model))
    by_model = {record.spec.model: record.run_id for record in reversed(finished)}
    latest = list(dict.fromkeys(by_model[record.spec.model] for record in finished))
    pilots: list[Pilot] = []
    for chosen in [*((latest[0], other) for other in latest[1:MOST_PILOTS]), *((name,) for name in latest[:1])]:
        if len(chosen) == 2 or not pilots:
            with suppress(HedgeError):  # they share too few questions, or one of them can't be read
                pilots.append(_pilot(chosen, alpha))
    return max(pilots, key=lambda pilot: pilot.spread.differing, default=question_plan.guess())


def _asked(spec: RunSpec) -> tuple[object, ...]:
    return spec.form, spec.shots, spec.strategy


@by_version(run_key, max_entries=128)  # 1 kB per entry
def _pilot(run_ids: tuple[str, ...], alpha: int) -> "Pilot":
    from core.reports import question_plan

    return question_plan.pilot_of([run_cache.compared_evaluation(run_id) for run_id in run_ids], alpha)


@st.cache_resource(max_entries=64, show_spinner=False)  # 2 kB per entry
def question_curve(pilot: "Pilot", alpha: int, share: float, chosen: int) -> "pd.DataFrame":
    """What fewer and more questions show (:func:`core.reports.question_plan.curve`)."""
    from core.reports import question_plan

    return question_plan.curve(pilot, alpha, share, chosen=chosen)


def free_disk() -> int:
    """Free bytes on the disk that holds the runs."""
    home = settings().home
    return shutil.disk_usage(next(path for path in (home, *home.parents) if path.exists())).free


def has_gpu() -> bool:
    """Whether this host has a GPU that runs may use."""
    return _slots()[0].name != CPU


@st.cache_resource(ttl=600, show_spinner=False)
def default_dtype() -> str:
    """The precision of a run for which none was chosen."""
    return device_slots.default_dtype()


def devices_here() -> list[str]:
    """The GPUs of this host that a run may be given to, as torch names them; none if there is nothing to choose."""
    slots = _slots()
    return [slot.name.replace("gpu", "cuda:") for slot in slots] if len(slots) > 1 else []


def stamp(task: str) -> int:
    """The time at which a task's file or folder was last written, in nanoseconds; 0 if the task is not a file."""
    if not catalogue.is_file(task):
        return 0
    try:
        return Path(split_task(task)[1] or task).expanduser().stat().st_mtime_ns
    except OSError:
        return 0


def _named(model: str) -> str:
    """The model's name as in a spec. Does not ask the hub whether it has the model; the launch does that."""
    is_hub = model_sources.HUB_ID.match(model) and not Path(model).expanduser().is_dir()
    return model if is_hub else model_sources.canonical(model)


def _held(model: str, work: Work) -> float | None:
    return _characters_per_token(model, counting.is_here(model), work.sample)


def _devices() -> tuple[Slot, ...]:
    """The devices of this host and, if a database is shared, of the other hosts. Only the database knows which are
    alive.
    """
    published = host_reports.published_slots()
    here = published.pop(liveness.host(), ()) or _slots()
    return (*here, *(slot for others in published.values() for slot in others)) if settings().database_url else here


# 13 kB per entry, at most 23 kB: 3 MB for 500 runs, 14 MB when full. A matrix may contain that many runs.
@st.cache_resource(max_entries=EVERY_RUN, show_spinner=False)
def _work(spec: RunSpec, stamp: int, at_hand: bool) -> Work | None:
    return forecasts.work_of(spec)


@st.cache_resource(max_entries=EVERY_RUN, show_spinner=False)  # one number per model and text sample
def _characters_per_token(model: str, here: bool, texts: tuple[str, ...]) -> float | None:
    return counting.characters_per_token(model, texts)


@st.cache_resource(ttl=600, show_spinner=False)
def _slots() -> tuple[Slot, ...]:
    return slots()
