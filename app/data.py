"""All caches. Arrays and frames in them are shared by every session: read them, never write.

A run is keyed by its id and its stamp (when ``run.json`` was last written), so a repeated run is read anew.
"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import pyarrow as pa
import streamlit as st

from core.errors import HedgeError, InputError
from core.records import FloatArray, Question
from core.reports import evaluation as evaluations
from core.reports import frames, one_question
from core.reports.evaluation import Evaluation
from core.reports.one_question import Bench, Standing
from core.reports.report import Report, report
from core.reports.view import extra_options
from core.runs import store
from core.runs.store import RunRecord


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
        """Those that have ended well, and so have figures."""
        return tuple(record for record in self.records if record.state == "done")

    @property
    def unfinished(self) -> tuple[RunRecord, ...]:
        """The others."""
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
    return _evaluation(run_key(run_id))


def version(run_id: str) -> str:
    """A name for the run as it is now; another one once it was repeated."""
    key = run_key(run_id)
    return f"{key.run_id}:{key.stamp}"


def lab_tables(run_id: str) -> dict[str, pa.Table]:
    """What the alpha lab's component computes from."""
    return _lab_tables(run_key(run_id))


def run_report(run_id: str, alpha: int, empty: str) -> Report:
    """A finished run's figures at ``alpha`` thousandths."""
    return _report(run_key(run_id), alpha, empty)


def question_list(run_id: str) -> pd.DataFrame:
    """The test questions of a finished run: row, id, group, question."""
    return _question_list(run_key(run_id))


@dataclass(frozen=True, slots=True)
class ShownQuestion:
    """A test question of a run, its probabilities and its options under every score."""

    question: Question
    probabilities: FloatArray
    standings: tuple[Standing, ...]


def bench(run_id: str) -> Bench:
    """A finished run as what questions are measured by."""
    return _bench(run_key(run_id))


def shown_question(run_id: str, question_id: str) -> ShownQuestion:
    """A test question of a finished run under every score."""
    return _shown_question(run_key(run_id), question_id)


def closing_options(run_id: str) -> int:
    """How many of a run's options are the closing ones that are no answers: E and F, or none."""
    return len(_extra_options(run_key(run_id)))


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Where else a question was asked: the runs that tested it with its standings there, the first of them the one
    that was asked about, how many others used it to calibrate or to demonstrate, and how many were not looked at."""

    tested: tuple[tuple[RunRecord, tuple[Standing, ...]], ...]
    untested: int
    left_out: int


def elsewhere(run_id: str, question_id: str, most: int) -> Elsewhere:
    """The same question (id, text and options) in every finished run, in at most ``most`` of them."""
    same = _index(run_key(run_id))[question_id][1]
    tested, untested, left_out = [], 0, 0
    found = runs().finished
    for record in sorted(found, key=lambda record: record.run_id != run_id):
        try:
            key = run_key(record.run_id)
            role, digest = _index(key).get(question_id, ("", ""))
            if digest != same:
                continue
            if role != "test":
                untested += 1
            elif len(tested) == most:
                left_out += 1
            else:
                tested.append((record, _standings(key, question_id)))
        except HedgeError:
            continue  # a run that can't be read is named where it is opened
    return Elsewhere(tuple(tested), untested, left_out)


def overview(found: Runs, alpha: int) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """A row for each finished run at ``alpha`` thousandths, and a sentence for each whose files can't be read."""
    summaries, problems = [], []
    for run in found.finished:
        try:
            summaries.append(_summary(run_key(run.run_id)))
        except HedgeError as error:
            problems.append(str(error))
    return frames.overview_at(summaries, alpha), tuple(problems)


@st.cache_resource(max_entries=2048, show_spinner=False)
def _record(key: RunKey) -> RunRecord:
    return store.read_record(key.run_id)


@st.cache_resource(max_entries=8, show_spinner="Reading the run …")
def _evaluation(key: RunKey) -> Evaluation:
    return evaluations.load(key.run_id)


@st.cache_resource(max_entries=4, show_spinner="Reading the questions …")
def _lab_tables(key: RunKey) -> dict[str, pa.Table]:
    return frames.lab_tables(_evaluation(key))


@st.cache_resource(max_entries=8, show_spinner="Reading the questions …")
def _question_list(key: RunKey) -> pd.DataFrame:
    return frames.question_list(_evaluation(key))


@st.cache_resource(max_entries=256, show_spinner=False)
def _shown_question(key: RunKey, question_id: str) -> ShownQuestion:
    run, by = _evaluation(key), _bench(key)
    row = by.rows[question_id]
    return ShownQuestion(frames.question(run, row), by.probabilities[row], _standings(key, question_id))


@st.cache_resource(max_entries=32, show_spinner="Reading the run …")
def _bench(key: RunKey) -> Bench:
    # Not through _evaluation: a question of many runs would push out the one that is being looked at.
    return one_question.bench(evaluations.load(key.run_id))


@st.cache_resource(max_entries=256, show_spinner=False)
def _extra_options(key: RunKey) -> tuple[int, ...]:
    return extra_options(_evaluation(key))


@st.cache_resource(max_entries=4096, show_spinner=False)
def _standings(key: RunKey, question_id: str) -> tuple[Standing, ...]:
    by = _bench(key)
    row = by.rows[question_id]
    return one_question.standings(by, by.probabilities[row], place=row)


@st.cache_resource(max_entries=64, show_spinner="Looking for the question in other runs …")
def _index(key: RunKey) -> dict[str, tuple[str, str]]:
    return one_question.question_index(key.run_id)


@st.cache_resource(max_entries=512, show_spinner="Reading the runs …")
def _summary(key: RunKey) -> frames.RunSummary:
    # Not through _evaluation: an overview of many runs would push out the one that is being looked at.
    return frames.summarise(evaluations.load(key.run_id))


@st.cache_resource(max_entries=1024, show_spinner=False)
def _report(key: RunKey, alpha: int, empty: str) -> Report:
    return report(_evaluation(key), alpha, empty=empty)
