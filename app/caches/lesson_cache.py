"""The figures that the lesson mentions."""

from __future__ import annotations

import streamlit as st

from app.caches.alpha_lab_cache import shifted, worst_pair
from app.caches.run_cache import RunKey, load_evaluation, run_key
from core.reports import lesson as lessons


def lesson_facts(run_id: str, alpha: int) -> dict[str, str]:
    """The figures that a lesson may mention, formatted as text, at alpha in thousandths."""
    return _lesson_facts(run_key(run_id), alpha)


@st.cache_resource(max_entries=256, show_spinner=False)  # 0.8 kB per entry; dragging alpha requests many
def _lesson_facts(key: RunKey, alpha: int) -> dict[str, str]:
    found = worst_pair(key.run_id, "lac")
    shift = shifted((key.run_id, found.source), (key.run_id, found.target), "lac") if found else None
    return lessons.facts(load_evaluation(key), shift, found, alpha=alpha)
