"""The data of the lesson's figures."""

from __future__ import annotations

from typing import Any

import streamlit as st

from app.caches.alpha_lab_cache import shifted, worst_pair
from app.caches.run_cache import RunKey, load_evaluation, run_key
from core.reports import lesson as lessons


def lesson_tables(run_id: str) -> dict[str, Any]:
    """What the lesson's component computes its figures from (:func:`core.reports.lesson.lesson_tables`)."""
    return _lesson_tables(run_key(run_id))


@st.cache_resource(max_entries=16, show_spinner="Reading the questions …")  # 0.2 MB per entry. A view needs one
def _lesson_tables(key: RunKey) -> dict[str, Any]:
    found = worst_pair(key.run_id, "lac")
    shift = shifted((key.run_id, found.source), (key.run_id, found.target), "lac") if found else None
    return lessons.lesson_tables(load_evaluation(key), shift, found)
