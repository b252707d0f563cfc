"""Runs as every page reads them: the list of all, one run's record, its arrays, its room on the disk."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from core.errors import HedgeError, InputError
from core.reports import evaluation as evaluations
from core.reports.evaluation import Evaluation
from core.runs import store
from core.runs.storage import trash
from core.runs.store import RunRecord

EVERY_RUN = 1024
"""Enough for the 128 runs that ship, 500 of a person's own, and older versions of runs that were repeated."""


@dataclass(frozen=True, slots=True)
class RunKey:
    """One version of a run: ``stamp`` is the time of its ``run.json`` in nanoseconds."""

    run_id: str
    stamp: int


@dataclass(frozen=True, slots=True)
class Runs:
    """All runs, the latest first, and a sentence for each that can't be read."""

    records: tuple[RunRecord, ...]
    problems: tuple[str, ...]

    @property
    def finished(self) -> tuple[RunRecord, ...]:
        """Those that have ended well and answered questions, and so have figures."""
        return tuple(record for record in self.records if record.state == "done" and record.spec.answers)

    @property
    def unfinished(self) -> tuple[RunRecord, ...]:
        """Those that have not ended well."""
        return tuple(record for record in self.records if record.state != "done")


def run_key(run_id: str) -> RunKey:
    """The run as it is now; :class:`InputError` where there is none."""
    path = store.folder_of(run_id) / "run.json"
    try:
        return RunKey(path.parent.name, path.stat().st_mtime_ns)
    except FileNotFoundError as error:
        raise InputError(f"run {run_id!r} is gone; choose another") from error


def runs() -> Runs:
    """Every run there is."""
    records, problems = [], []
    for run_id in store.run_ids():
        try:
            records.append(_record(run_key(run_id)))
        except HedgeError as error:
            problems.append(str(error))
    records.sort(key=lambda record: (record.ended or record.created, record.run_id), reverse=True)
    return Runs(tuple(records), tuple(problems))


def record(run_id: str) -> RunRecord:
    """One run's record; :class:`InputError` where there is none."""
    return _record(run_key(run_id))


def evaluation(run_id: str) -> Evaluation:
    """A finished run's arrays, read-only; :class:`InputError` for any other run."""
    return load_evaluation(run_key(run_id))


def compared_evaluation(run_id: str) -> Evaluation:
    """A run among those that are compared; :class:`InputError` for one that has not ended well."""
    return load_compared(run_key(run_id))


def disk_use(run_id: str) -> int:
    """Bytes that a run's folder takes."""
    return _disk_use(run_key(run_id))


def version(run_id: str) -> str:
    """A name for the run as it is now; another one once it was repeated."""
    key = run_key(run_id)
    return f"{key.run_id}:{key.stamp}"


@st.cache_resource(max_entries=2048, show_spinner=False)  # 1.2 kB; a run at work is written anew again and again
def _record(key: RunKey) -> RunRecord:
    return store.read_record(key.run_id)


# 0.3 MB, 0.5 at most: 10 MB. A view needs one run, or the two or three of a shift.
@st.cache_resource(max_entries=32, show_spinner="Reading the run …")
def load_evaluation(key: RunKey) -> Evaluation:
    """The arrays of one version of a finished run."""
    return evaluations.load(key.run_id)


# 0.3 MB, 0.5 at most: 21 MB. A view needs the 24 runs that are compared at most.
@st.cache_resource(max_entries=64, show_spinner="Reading the runs …")
def load_compared(key: RunKey) -> Evaluation:
    """The same, for pages that show several runs."""
    # Apart from load_evaluation, so that a comparison does not push out the run that is being looked at.
    return evaluations.load(key.run_id)


@st.cache_resource(max_entries=2048, show_spinner=False)  # a number; the same runs as _record
def _disk_use(key: RunKey) -> int:
    return trash.disk_use(store.folder_of(key.run_id))
