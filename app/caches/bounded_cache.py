"""The figures of runs in which only an upper bound of some letters is known: each lies between two ends."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from app.caches.run_cache import RunKey, run_key
from core.records import Question
from core.reports import bounded, frames
from core.reports.bounded import BoundedCurves, BoundedReport, BoundedRun
from core.reports.report import DEFAULT_SCORES


def bounded_run(run_id: str, scores: tuple[str, ...] = DEFAULT_SCORES) -> BoundedRun:
    """A finished run with the bounds of these scores. Raises :class:`InputError` for a run that can't be shown."""
    return _bounded_run(run_key(run_id), scores)


def curves(run_id: str, scores: tuple[str, ...]) -> dict[str, BoundedCurves]:
    """The figures of each of these scores at every alpha."""
    return _curves(run_key(run_id), scores)


def bounded_report(run_id: str, alpha: int, scores: tuple[str, ...] = DEFAULT_SCORES) -> BoundedReport:
    """The figures of a run at ``alpha`` thousandths."""
    return _report(run_key(run_id), alpha, scores)


def question_list(run_id: str) -> pd.DataFrame:
    """The test questions of a run, with the columns row, id, group and question."""
    return _question_list(run_key(run_id))


def question(run_id: str, row: int) -> Question:
    """The question in a row of the run."""
    return frames.question(bounded_run(run_id).run, row)


@st.cache_resource(max_entries=16, show_spinner=False)  # 0.2 MB per entry: 3 MB in all. A view needs one
def _question_list(key: RunKey) -> pd.DataFrame:
    return frames.question_list(_bounded_run(key, DEFAULT_SCORES).run)


@st.cache_resource(max_entries=16, show_spinner="Reading the run …")  # 1 MB per entry: 16 MB in all. A view needs one
def _bounded_run(key: RunKey, scores: tuple[str, ...]) -> BoundedRun:
    return bounded.bounded_run(key.run_id, scores=scores)


@st.cache_resource(max_entries=64, show_spinner=False)  # 0.1 MB per entry: 6 MB in all
def _curves(key: RunKey, scores: tuple[str, ...]) -> dict[str, BoundedCurves]:
    of = _bounded_run(key, scores)
    return {name: bounded.bounded_curves(of, name) for name in of.scores}


@st.cache_resource(max_entries=1024, show_spinner=False)  # 5 kB per entry: 5 MB. One for each run and released alpha
def _report(key: RunKey, alpha: int, scores: tuple[str, ...]) -> BoundedReport:
    return bounded.report_of(_bounded_run(key, scores), alpha)
