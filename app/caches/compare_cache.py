"""The Compare page's cached data: runs side by side, and two runs question by question."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from app.caches.run_cache import RunKey, load_compared, run_key
from core.reports.compare import benchmark, paired
from core.reports.compare.benchmark import SetRule
from core.reports.compare.paired import Pair


def compared(run_ids: tuple[str, ...], rule: SetRule) -> pd.DataFrame:
    """One row per run and score (:func:`core.reports.compare.benchmark.run_rows`)."""
    return _compared(tuple(run_key(run_id) for run_id in run_ids), rule)


def pair(first: str, second: str, alpha: int, score: str) -> tuple[Pair, pd.DataFrame]:
    """Two runs compared question by question: their figures, their tests, and the questions."""
    return _pair(run_key(first), run_key(second), alpha, score)


# 23 kB per entry of 24 runs: 3 MB in all. There is one entry for each alpha at which a person releases the slider.
@st.cache_resource(max_entries=128, show_spinner="Comparing the runs …")
def _compared(keys: tuple[RunKey, ...], rule: SetRule) -> pd.DataFrame:
    runs = [load_compared(key) for key in keys]
    return benchmark.run_rows(runs, benchmark.reports(runs, rule))


# 0.1 MB per entry: 6 MB in all. There is one entry for each pair of runs and alpha.
@st.cache_resource(max_entries=64, show_spinner="Comparing the two runs …")
def _pair(first: RunKey, second: RunKey, alpha: int, score: str) -> tuple[Pair, pd.DataFrame]:
    a, b = load_compared(first), load_compared(second)
    return paired.compare([(a, b)], alpha, score=score)[0], paired.questions(a, b, alpha, score=score)
