"""The One question page's cached data: one question of a run under every score, and the same question in other runs."""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass

import pandas as pd
import pyarrow as pa
import streamlit as st

from app.caches.by_version import by_version
from app.caches.per_run import PerRun, RunKey
from app.caches.run_cache import EVERY_RUN, evaluation, run_key, runs
from core.errors import HedgeError
from core.records import FloatArray, Question
from core.reports import frames, kept_calibration, one_question, question_identity, question_marks
from core.reports.one_question import CalibratedRun, OptionPValues, QuestionAnswer
from core.reports.question_kind import QuestionKind, kind_of_run
from core.runs import store
from core.runs.store import RunRecord


@by_version(run_key, max_entries=32, show_spinner="Reading the questions …")  # at most 97 kB: 2 MB. A search needs one
def question_list(run_id: str) -> pd.DataFrame:
    """The test questions of a finished run, with the columns row, id, group and question."""
    return frames.question_list(evaluation(run_id))


@by_version(run_key, max_entries=16, show_spinner="Reading the questions …")  # 11 bytes a question: 5 kB, at most 11 MB
def question_ids(run_id: str) -> pa.StringArray:
    """The ids of a finished run's test questions, in the order of :func:`question_list`, whose texts take much longer
    to read."""
    return store.tested_ids(run_id)


def first_shown(run_id: str) -> str:
    """The id of the test question with which the page opens (:func:`core.reports.one_question.first_shown`)."""
    return calibrated_run(run_id).first


@dataclass(frozen=True, slots=True)
class ShownQuestion:
    """A test question of a run, its probabilities, and its options under every score. ``no_answer`` says why its
    letters are no answer; it is empty if they are."""

    question: Question
    probabilities: FloatArray
    standings: tuple[OptionPValues, ...]
    no_answer: str


# 11 kB per entry of 400 questions, 28 MB of a million. A view needs at most 41 of them.
@by_version(run_key, max_entries=128, show_spinner="Reading the run …")
def calibrated_run(run_id: str) -> CalibratedRun:
    """A finished run with the calibration scores against which its questions are measured."""
    return kept_calibration.calibrated_run(run_id)


@by_version(run_key, max_entries=256)  # 2 kB per entry: 0.5 MB in all. One per question
def shown_question(run_id: str, question_id: str) -> ShownQuestion:
    """A test question of a finished run under every score."""
    question = store.read_question(run_id, question_id)
    answer, standings = _answer(run_id, question)
    return ShownQuestion(question, answer.probabilities, standings, answer.no_answer)


def question_kind(run_id: str) -> QuestionKind:
    """The kind of a run's questions: how many options they have, and whether a context stands before them."""
    return _question_kind(question_identity.questions_key(run_id), run_id)


@dataclass(frozen=True, slots=True)
class RunsOfQuestion:
    """The runs that asked a question. ``tested`` are those that tested it, the requested run first; ``untested`` counts
    those that used it for calibration or as a demonstration."""

    tested: tuple[RunRecord, ...]
    untested: int


def runs_of_question(run_id: str, question: Question) -> RunsOfQuestion:
    """The finished runs that asked the same question (id, text and options)."""
    stamps = store.run_stamps()
    finished = sorted(runs().finished, key=lambda record: record.run_id != run_id)
    keys = [RunKey(record.run_id, stamps.get(record.run_id, 0)) for record in finished]
    tested, untested = _marks_of_question(run_id, question)
    held = all(map(_marks.held, keys))
    found, others = [], 0
    with nullcontext() if held else st.spinner("Looking for the question in other runs …"):
        for record, key in zip(finished, keys, strict=True):
            try:
                marks = _marks(key)
            except HedgeError:
                continue  # a run that can't be read is reported where it is opened
            if question_marks.holds(marks, tested):
                found.append(record)
            else:
                others += question_marks.holds(marks, untested)
    return RunsOfQuestion(tuple(found), others)


@dataclass(frozen=True, slots=True)
class QuestionInRuns:
    """A question in the runs that tested it.

    ``tested`` has its p-values there. ``unanswered`` counts the runs whose letters are no answer to it, and
    ``left_out`` those that were not read.
    """

    tested: tuple[tuple[RunRecord, tuple[OptionPValues, ...]], ...]
    unanswered: int
    left_out: int


def in_runs(records: Sequence[RunRecord], question: Question, most: int) -> QuestionInRuns:
    """A question in these runs, which tested it, for at most ``most`` of them. The first is the requested one."""
    tested: list[tuple[RunRecord, tuple[OptionPValues, ...]]] = []
    unanswered = left_out = 0
    for record in records:
        try:
            if len(tested) == most:
                left_out += 1
                continue
            answer, standings = _answer(record.run_id, question)
            if answer.no_answer:
                unanswered += record is not records[0]
            else:
                tested.append((record, standings))
        except HedgeError:
            continue  # as above
    return QuestionInRuns(tuple(tested), unanswered, left_out)


@st.cache_resource(max_entries=EVERY_RUN, show_spinner=False)  # three values per entry, one per set of questions
def _question_kind(questions: tuple[str, ...], _run_id: str) -> QuestionKind:
    return kind_of_run(_run_id)


# 1.5 kB per entry: 12 MB in all. A view needs 41, and the next question needs 41 others.
@by_version(run_key, max_entries=8192)
def _answer(run_id: str, question: Question) -> tuple[QuestionAnswer, tuple[OptionPValues, ...]]:
    answer = one_question.read_answer(run_id, question)
    return answer, one_question.standings(calibrated_run(run_id), answer.probabilities, place=answer.row)


@by_version(run_key, max_entries=512)  # two numbers per entry
def _marks_of_question(run_id: str, question: Question) -> tuple[int, int]:
    tested, untested = (question_marks.mark_of(run_id, question, tested=tested) for tested in (True, False))
    return tested, untested


# 8 bytes for each question of a run, which runs with the same questions share: 3 kB per entry of 400 questions.
_marks = PerRun(lambda key: question_marks.marks(key.run_id), most=16_384)
