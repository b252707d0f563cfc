"""The Overview's rows: a summary of every finished run."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import streamlit as st

from app.caches.run_cache import EVERY_RUN, RunKey, Runs, run_key
from core.errors import HedgeError
from core.reports import evaluation as evaluations
from core.reports import frames


def overview(found: Runs, alpha: int, score: str = "lac") -> tuple[pd.DataFrame, tuple[str, ...]]:
    """One row per finished run at ``alpha`` thousandths, and one sentence for each run whose files can't be read.

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


# 0.2 MB per entry: 26 MB for the runs that ship, 128 MB with 500 more.
@st.cache_resource(max_entries=EVERY_RUN, show_spinner="Reading the runs …")
def _summary(key: RunKey) -> frames.RunSummary:
    # Not through _evaluation: an overview of many runs would evict the run that a person is looking at.
    return frames.summarise(evaluations.load(key.run_id))


# 0.1 MB per entry: 63 MB for one score of 628 runs. With that many runs, the cache holds one score at a time.
@st.cache_resource(max_entries=EVERY_RUN, show_spinner="Reading the runs …")
def _score_summary(key: RunKey, score: str) -> frames.ScoreSummary:
    return frames.summarise_score(evaluations.load(key.run_id), score)
