"""All caches. Arrays and frames in them are shared by every session: read them, never write.

A run is keyed by its id and its stamp (when ``run.json`` was last written), so a repeated run is read anew.

A full cache drops the entry that was used longest ago. A page that goes through more runs than the cache holds thus
never finds one of them again, and computes all of them at every view. So a cache that a page fills from all runs holds
:data:`EVERY_RUN`, and the others hold the runs that several pages show at once. The comment beside a cache says how
much memory one entry takes for a run of 2,129 questions with 6 options, the largest that ships; most entries grow with
the number of questions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
import pyarrow as pa
import streamlit as st

from app import token_process
from app.state import View
from core.errors import HedgeError, InputError
from core.records import FloatArray, Question
from core.reports import evaluation as evaluations
from core.reports import frames, one_question
from core.reports import lesson as lessons
from core.reports.alpha_lab import covariate_shift as shifts
from core.reports.alpha_lab import view as views
from core.reports.alpha_lab.covariate_shift import Search, Shifted
from core.reports.alpha_lab.view import SplitView as Look
from core.reports.calibration import calibrated as calibrations
from core.reports.calibration import temperature
from core.reports.calibration.calibrated import CalibrationFigures
from core.reports.calibration.recalibrated import Recalibrated
from core.reports.calibration.recalibrated import recalibrated as recalibrate
from core.reports.compare import benchmark, paired
from core.reports.compare.benchmark import SetRule
from core.reports.compare.paired import Pair
from core.reports.evaluation import Evaluation
from core.reports.one_question import CalibratedRun, OptionPValues
from core.reports.report import Report, report, tie_notes
from core.runs import banks, store
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
    return _evaluation(run_key(run_id))


def version(run_id: str) -> str:
    """A name for the run as it is now; another one once it was repeated."""
    key = run_key(run_id)
    return f"{key.run_id}:{key.stamp}"


def lab_tables(run_id: str) -> dict[str, Any]:
    """What the alpha lab's component computes from."""
    return _lab_tables(run_key(run_id))


def dial_rows(run_id: str) -> pa.Table:
    """What the temperature's component computes from."""
    return _dial_rows(run_key(run_id))


def lab_notes(run_id: str) -> list[str]:
    """Sentences where the lab's figures are not of all that a run has, or need a word."""
    run = evaluation(run_id)
    n, least = len(run.calibration) + len(run.test), int(run.option_counts.min())
    notes = []
    if n > frames.MOST_IN_LAB:
        notes.append(
            f"The lab above draws {frames.MOST_IN_LAB:,} of the run's {n:,} questions at random, so that dragging "
            "stays fluid; the figures below are of all of them."
        )
    if least < run.k:
        notes.append(
            f"The questions of this run have from {least} to {run.k} options; no set holds an option that its question "
            f"lacks, and UAcc counts with {run.k}."
        )
    return notes + list(tie_notes(run))


@dataclass(frozen=True, slots=True)
class SetOptions:
    """How sets are made of a run's probabilities: what the alpha lab's link says, as :mod:`core.reports` takes it."""

    scores: tuple[str, ...]
    alpha: int
    empty: str
    by: str
    look: Look


def sets_of(run_id: str, view: View) -> SetOptions:
    """The lab's choices that this run has; those it hasn't got fall back to their defaults, as the lab shows them.

    Raises :class:`InputError` for a run that can't be looked at in any way.
    """
    look = Look(
        drop_extra=view.extra == "drop",
        n_calibration=view.n or None,
        split_seed=int(view.split) if view.split else None,
    )
    for given_up in ({}, {"n_calibration": None}, {"drop_extra": False}, {"split_seed": None}):
        look = replace(look, **given_up)
        try:
            looked(run_id, look)
        except InputError:
            continue
        break
    run = looked(run_id, look)
    if not (len(run.calibration) and len(run.test)):
        raise InputError(
            f"run {run_id} has {len(run.calibration)} calibration and {len(run.test)} test questions; both are needed"
        )
    return SetOptions((view.left, view.right), view.alpha, view.empty, view.by, look)


def lab_report(run_id: str, sets: SetOptions) -> Report:
    """A finished run's figures, with the alpha lab's choices."""
    return _report(run_key(run_id), sets)


def looked(run_id: str, look: Look) -> Evaluation:
    """A finished run as the lab looks at it: another split, fewer calibration questions, without E and F."""
    return _looked(run_key(run_id), look)


def subjects(run_id: str) -> tuple[str, ...]:
    """A run's subjects with enough questions to calibrate or to be tested on."""
    return shifts.subjects(_evaluation(run_key(run_id)))


def lesson_facts(run_id: str, alpha: int) -> dict[str, str]:
    """The figures that a lesson may speak of, in words, at alpha thousandths."""
    return _lesson_facts(run_key(run_id), alpha)


def worst_pair(run_id: str, by: str) -> Search | None:
    """The subjects, calibrated and tested on, between which coverage falls shortest, with the p-value of the search;
    None for fewer than two."""
    return _worst_pair(run_key(run_id), by)


def shifted(source: tuple[str, str | None], target: tuple[str, str | None], by: str) -> Shifted:
    """Coverage calibrated on ``source`` and tested on ``target``: each a run and a subject of it, or None for all."""
    return _shifted((run_key(source[0]), source[1]), (run_key(target[0]), target[1]), by)


def question_list(run_id: str) -> pd.DataFrame:
    """The test questions of a finished run: row, id, group, question."""
    return _question_list(run_key(run_id))


@dataclass(frozen=True, slots=True)
class ShownQuestion:
    """A test question of a run, its probabilities and its options under every score."""

    question: Question
    probabilities: FloatArray
    standings: tuple[OptionPValues, ...]


def bench(run_id: str) -> CalibratedRun:
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

    tested: tuple[tuple[RunRecord, tuple[OptionPValues, ...]], ...]
    untested: int
    left_out: int


def elsewhere(run_id: str, question_id: str, most: int) -> Elsewhere:
    """The same question (id, text and options) in every finished run, in at most ``most`` of them."""
    same = _index(run_key(run_id))[question_id][1]
    tested: list[tuple[RunRecord, tuple[OptionPValues, ...]]] = []
    untested = left_out = 0
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


def overview(found: Runs, alpha: int, score: str = "lac") -> tuple[pd.DataFrame, tuple[str, ...]]:
    """A row for each finished run at ``alpha`` thousandths, and a sentence for each whose files can't be read.

    A row has the figures of LAC, APS and ``score``.
    """
    summaries, problems = [], []
    for run in found.finished:
        try:
            key = run_key(run.run_id)
            summary = _summary(key)
            if score not in summary.scores:
                summary = replace(summary, scores={**summary.scores, score: _score_summary(key, score)})
            summaries.append(summary)
        except HedgeError as error:
            problems.append(str(error))
    return frames.overview_at(summaries, alpha), tuple(problems)


def compared(run_ids: tuple[str, ...], asked: SetRule) -> pd.DataFrame:
    """A row a run and score (:func:`core.reports.compare.benchmark.run_rows`)."""
    return _compared(tuple(run_key(run_id) for run_id in run_ids), asked)


def pair(first: str, second: str, alpha: int, score: str) -> tuple[Pair, pd.DataFrame]:
    """Two runs question by question: their figures and tests, and the questions."""
    return _pair(run_key(first), run_key(second), alpha, score)


def calibrated(run_id: str, within: str, bins: int, by: str) -> list[CalibrationFigures]:
    """The calibration of a finished run, a diagram a stratum."""
    return _calibrated(run_key(run_id), within, bins, by)


def bin_questions(run_id: str, within: str, stratum: str, number: int, bins: int, by: str) -> pd.DataFrame:
    """The test questions of a bin (from 1) of a diagram."""
    return _bin_questions(run_key(run_id), within, stratum, number, bins, by)


def recalibrated(run_id: str, alpha: int) -> tuple[Recalibrated, ...]:
    """A finished run before and after every recalibration."""
    return _recalibrated(run_key(run_id), alpha)


def nominal_coverage(run_id: str) -> pd.DataFrame:
    """Coverage asked for and had, at every alpha."""
    return _nominal_coverage(run_key(run_id))


@st.cache_resource(max_entries=64, show_spinner="Asking the model …")  # grows with the text
def token_view(model: str, text: str) -> dict[str, Any]:
    """A person's own text token by token."""
    return token_process.token_view(model, text)


@st.cache_resource(max_entries=64, show_spinner="Measuring calibration …")  # 15 kB
def _calibrated(key: RunKey, within: str, bins: int, by: str) -> list[CalibrationFigures]:
    return calibrations.calibrated(_small(key), within=within, bins=bins, by=by)


@st.cache_resource(max_entries=64, show_spinner=False)  # 15 kB
def _bin_questions(key: RunKey, within: str, stratum: str, number: int, bins: int, by: str) -> pd.DataFrame:
    return calibrations.bin_questions(_small(key), within, stratum, number, bins=bins, by=by)


@st.cache_resource(max_entries=64, show_spinner="Recalibrating …")  # 12 kB
def _recalibrated(key: RunKey, alpha: int) -> tuple[Recalibrated, ...]:
    return tuple(recalibrate(_small(key), alpha))


@st.cache_resource(max_entries=64, show_spinner=False)  # 15 kB
def _nominal_coverage(key: RunKey) -> pd.DataFrame:
    return calibrations.nominal_coverage(_small(key))


@st.cache_resource(max_entries=128, show_spinner="Comparing the runs …")  # some 20 kB a run, 24 runs at most
def _compared(keys: tuple[RunKey, ...], asked: SetRule) -> pd.DataFrame:
    runs = [_small(key) for key in keys]
    return benchmark.run_rows(runs, benchmark.reports(runs, asked))


@st.cache_resource(max_entries=64, show_spinner="Comparing the two runs …")  # 0.1 MB
def _pair(first: RunKey, second: RunKey, alpha: int, score: str) -> tuple[Pair, pd.DataFrame]:
    a, b = _small(first), _small(second)
    return paired.compare([(a, b)], alpha, score=score)[0], paired.questions(a, b, alpha, score=score)


def compared_evaluation(run_id: str) -> Evaluation:
    """A run among those that are compared; :class:`InputError` for one that has not ended well."""
    return _small(run_key(run_id))


@st.cache_resource(max_entries=64, show_spinner="Reading the runs …")  # 0.5 MB
def _small(key: RunKey) -> Evaluation:
    # Apart from _evaluation, so that a comparison does not push out the run that is being looked at.
    return evaluations.load(key.run_id)


@st.cache_resource(max_entries=2048, show_spinner=False)  # 6 kB; a run at work is written anew again and again
def _record(key: RunKey) -> RunRecord:
    return store.read_record(key.run_id)


@st.cache_resource(max_entries=32, show_spinner="Reading the run …")  # 0.5 MB
def _evaluation(key: RunKey) -> Evaluation:
    return evaluations.load(key.run_id)


@st.cache_resource(max_entries=16, show_spinner="Reading the questions …")  # 0.5 MB
def _lab_tables(key: RunKey) -> dict[str, Any]:
    return frames.lab_tables(_evaluation(key))


@st.cache_resource(max_entries=16, show_spinner="Reading the run …")  # 0.1 MB
def _dial_rows(key: RunKey) -> pa.Table:
    return temperature.dial_rows(_evaluation(key))


@st.cache_resource(max_entries=32, show_spinner="Reading the questions …")  # 0.1 MB
def _question_list(key: RunKey) -> pd.DataFrame:
    return frames.question_list(_evaluation(key))


@st.cache_resource(max_entries=256, show_spinner=False)  # 5 kB
def _shown_question(key: RunKey, question_id: str) -> ShownQuestion:
    run, by = _evaluation(key), _bench(key)
    row = by.rows[question_id]
    return ShownQuestion(frames.question(run, row), by.asked(row), _standings(key, question_id))


@st.cache_resource(max_entries=128, show_spinner="Reading the run …")  # 0.3 MB
def _bench(key: RunKey) -> CalibratedRun:
    # A view of one question needs up to 41 of them; 124 of the runs that ship answer questions.
    # Not through _evaluation: a question of many runs would push out the one that is being looked at.
    return one_question.bench(evaluations.load(key.run_id))


@st.cache_resource(max_entries=EVERY_RUN, show_spinner=False)  # under 1 kB
def _extra_options(key: RunKey) -> tuple[int, ...]:
    return views.extra_options(_evaluation(key))


@st.cache_resource(max_entries=8192, show_spinner=False)  # 4 kB
def _standings(key: RunKey, question_id: str) -> tuple[OptionPValues, ...]:
    by = _bench(key)
    row = by.rows[question_id]
    return one_question.standings(by, by.asked(row), place=row)


@st.cache_resource(max_entries=EVERY_RUN, show_spinner="Looking for the question in other runs …")  # 0.1 kB
def _index(key: RunKey) -> dict[str, tuple[str, str]]:
    return _index_of(banks.questions_key(key.run_id), key.run_id)


@st.cache_resource(max_entries=64, show_spinner=False)  # 0.6 MB
def _index_of(questions: tuple[str, ...], _run_id: str) -> dict[str, tuple[str, str]]:
    # Runs of the same questions share one index: the 124 shipped runs that answer questions need only 6 of them.
    return one_question.question_index(_run_id)


@st.cache_resource(max_entries=EVERY_RUN, show_spinner="Reading the runs …")  # 0.2 MB
def _summary(key: RunKey) -> frames.RunSummary:
    # Not through _evaluation: an overview of many runs would push out the one that is being looked at.
    return frames.summarise(evaluations.load(key.run_id))


@st.cache_resource(max_entries=EVERY_RUN, show_spinner="Reading the runs …")  # 0.1 MB
def _score_summary(key: RunKey, score: str) -> frames.ScoreSummary:
    return frames.summarise_score(evaluations.load(key.run_id), score)


@st.cache_resource(max_entries=1024, show_spinner=False)  # 15 to 40 kB
def _report(key: RunKey, sets: SetOptions) -> Report:
    return report(_looked(key, sets.look), sets.alpha, scores=sets.scores, empty=sets.empty, by=sets.by)


@st.cache_resource(max_entries=16, show_spinner=False)  # up to 0.5 MB
def _looked(key: RunKey, look: Look) -> Evaluation:
    return views.look(_evaluation(key), look)


@st.cache_resource(max_entries=256, show_spinner=False)  # some kB of text; a person who drags alpha asks for many
def _lesson_facts(key: RunKey, alpha: int) -> dict[str, str]:
    found = _worst_pair(key, "lac")
    shift = _shifted((key, found.source), (key, found.target), "lac") if found else None
    return lessons.facts(_evaluation(key), shift, found, alpha=alpha)


@st.cache_resource(max_entries=256, show_spinner="Searching the pairs of subjects …")  # 9 kB
def _worst_pair(key: RunKey, by: str) -> Search | None:
    run = _evaluation(key)
    return shifts.search([shifts.side(run, name, by=by) for name in shifts.subjects(run)])


@st.cache_resource(max_entries=64, show_spinner="Comparing the two sides …")  # 33 kB
def _shifted(source: tuple[RunKey, str | None], target: tuple[RunKey, str | None], by: str) -> Shifted:
    sides = [shifts.side(_evaluation(key), group, by=by) for key, group in (source, target)]
    return shifts.shifted(*sides)
