"""The Stream lab's cached data: the scores of two runs' questions."""

from __future__ import annotations

from typing import Any

import streamlit as st

from app.caches.run_cache import RunKey, load_compared, load_evaluation, run_key
from core.reports import stream_lab


def stream_tables(first: str, second: str | None, score: str) -> dict[str, Any]:
    """The tables from which the Stream lab's component computes, for two runs, or one without a change.

    Raises :class:`~core.errors.InputError` for runs that can't be one stream.
    """
    return _stream_tables(run_key(first), None if second is None else run_key(second), score)


def option_count(run_id: str) -> int:
    """The number of options of a finished run's questions."""
    return load_compared(run_key(run_id)).k


# 0.2 MB per entry, at most 11 MB for two runs of 100,000 questions: 3 MB in all. A view needs one.
@st.cache_resource(max_entries=16, show_spinner="Reading the questions …")
def _stream_tables(first: RunKey, second: RunKey | None, score: str) -> dict[str, Any]:
    runs = load_evaluation(first), None if second is None else load_evaluation(second)
    return stream_lab.stream_tables(stream_lab.stream_pool(*runs, score))
