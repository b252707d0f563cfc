"""The Overview's rows: a summary of every run that it shows, and one question of the run on its cards."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pandas as pd
import streamlit as st

from app.caches.run_cache import EVERY_RUN, RunKey, load_evaluation, run_key
from core.errors import HedgeError
from core.reports import evaluation as evaluations
from core.reports import frames
from core.reports.frames import RunSummary
from core.reports.overview.example_question import ExampleQuestion, example_question
from core.runs.store import RunRecord

EXAMPLE_ALPHA = 100
"""The alpha, in thousandths, at which the question on a card is chosen. It stays while alpha moves."""


def overview(records: Iterable[RunRecord], alpha: int, score: str = "lac") -> tuple[pd.DataFrame, tuple[str, ...]]:
    """One row per finished run at ``alpha`` thousandths, and one sentence for each run whose files can't be read.

    A row has the figures of LAC, APS and ``score``.
    """
    summaries, problems = [], []
    for record in records:
        try:
            summaries.append(summary(record.run_id, score))
        except HedgeError as error:
            problems.append(str(error))
    return frames.overview_at(summaries, alpha), tuple(problems)


def summary(run_id: str, score: str = "lac") -> RunSummary:
    """A finished run's figures at every alpha, those of LAC, APS and ``score``.

    Raises :class:`HedgeError` if its files can't be read.
    """
    key = run_key(run_id)
    found = _summary(key)
    if score in found.scores:
        return found
    return replace(found, scores={**found.scores, score: _score_summary(key, score)})


def example(run_id: str, score: str) -> ExampleQuestion:
    """A test question of a finished run that shows what a set by ``score`` is."""
    return _example(run_key(run_id), score)


# 0.2 MB per entry: 26 MB for the runs that ship, 128 MB with 500 more.
@st.cache_resource(max_entries=EVERY_RUN, show_spinner="Reading the runs …")
def _summary(key: RunKey) -> RunSummary:
    # Not through load_evaluation: an overview of many runs would evict the run that a person is looking at.
    return frames.summarise(evaluations.load(key.run_id))


# 0.1 MB per entry: 63 MB for one score of 628 runs. With that many runs, the cache holds one score at a time.
@st.cache_resource(max_entries=EVERY_RUN, show_spinner="Reading the runs …")
def _score_summary(key: RunKey, score: str) -> frames.ScoreSummary:
    return frames.summarise_score(evaluations.load(key.run_id), score)


@st.cache_resource(max_entries=32, show_spinner=False)  # 2 kB per entry: one question and its options
def _example(key: RunKey, score: str) -> ExampleQuestion:
    threshold = summary(key.run_id, score).scores[score].curve.thresholds[EXAMPLE_ALPHA - 1]
    return example_question(load_evaluation(key), score, float(threshold))
