"""The Compare page's cached data: runs side by side, all pairs of them, and their questions."""

from __future__ import annotations

from functools import partial

import pandas as pd
import pyarrow as pa
import streamlit as st

from app.background import Computation
from app.caches.run_cache import RunKey, load_compared, run_key
from core.reports.compare import benchmark, inspector, run_matrix
from core.reports.compare import claims as tested
from core.reports.compare.benchmark import SetRule
from core.reports.compare.claims import PublishedClaim
from core.reports.compare.run_matrix import RunMatrix
from core.reports.overview import published


def compared(run_ids: tuple[str, ...], rule: SetRule) -> pd.DataFrame:
    """One row per run and score (:func:`core.reports.compare.benchmark.run_rows`)."""
    return _compared(tuple(run_key(run_id) for run_id in run_ids), rule)


def matrix(run_ids: tuple[str, ...], alpha: int, score: str, empty: str) -> Computation[RunMatrix]:
    """All pairs of the runs, with their intervals and tests."""
    return _matrix(tuple(run_key(run_id) for run_id in run_ids), alpha, score, empty)


def claims(run_ids: tuple[str, ...], rule: SetRule, score: str) -> list[PublishedClaim]:
    """The published claims, tested on the runs with sets by ``score``."""
    return _claims(tuple(run_key(run_id) for run_id in run_ids), rule, score)


@st.cache_resource(max_entries=8, show_spinner=False)  # 10 kB per entry, and there are few tables
def published_claims(table: str) -> list[PublishedClaim]:
    """The published claims, tested on a published table."""
    return tested.claims(published.published(table))


def inspector_numbers(run_ids: tuple[str, ...], alpha: int, score: str, empty: str) -> pa.Table:
    """The sets, picks and probabilities of the runs on the questions that they share.

    Raises :class:`InputError` if the runs share fewer than 10 test questions.
    """
    return _numbers(tuple(run_key(run_id) for run_id in run_ids), alpha, score, empty)


def inspector_texts(run_ids: tuple[str, ...]) -> pa.Table:
    """The texts of the questions that the runs share, in the order of :func:`inspector_numbers`."""
    return _texts(tuple(run_key(run_id) for run_id in run_ids))


# 23 kB per entry of 24 runs: 3 MB in all. There is one entry for each alpha at which a person releases the slider.
@st.cache_resource(max_entries=128, show_spinner="Comparing the runs …")
def _compared(keys: tuple[RunKey, ...], rule: SetRule) -> pd.DataFrame:
    runs = [load_compared(key) for key in keys]
    return benchmark.run_rows(runs, benchmark.reports(runs, rule))


@st.cache_resource(max_entries=128, show_spinner=False)  # 10 kB per entry: 1 MB in all
def _claims(keys: tuple[RunKey, ...], rule: SetRule, score: str) -> list[PublishedClaim]:
    rows = _compared(keys, rule)
    return tested.claims(rows[rows["score"] == score])


@st.cache_resource(max_entries=64, show_spinner=False)  # 40 kB per entry of 12 runs: 3 MB in all
def _matrix(keys: tuple[RunKey, ...], alpha: int, score: str, empty: str) -> Computation[RunMatrix]:
    runs = [load_compared(key) for key in keys]
    return Computation(partial(run_matrix.run_matrix, runs, alpha, score=score, empty=empty))


# 0.1 MB per entry of 6 shipped runs, 1 MB for 12 runs with 5,000 test questions: 16 MB at most.
@st.cache_resource(max_entries=16, show_spinner="Reading the questions …")
def _numbers(keys: tuple[RunKey, ...], alpha: int, score: str, empty: str) -> pa.Table:
    runs = [load_compared(key) for key in keys]
    return inspector.inspector_numbers(run_matrix.shared_questions(runs, alpha, score=score, empty=empty))


@st.cache_resource(max_entries=8, show_spinner=False)  # 0.1 MB per entry, 1 MB for 5,000 questions: 8 MB at most
def _texts(keys: tuple[RunKey, ...]) -> pa.Table:
    return inspector.inspector_texts([load_compared(key) for key in keys])
