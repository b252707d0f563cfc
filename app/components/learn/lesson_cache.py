"""The data of the lessons' figures."""

from __future__ import annotations

from typing import Any

import streamlit as st

from app.caches import jury_cache, prompting_cache, run_cache
from app.caches.alpha_lab_cache import shifted, worst_pair
from app.caches.jury_cache import JuryKey, jury_key
from app.caches.run_cache import RunKey, load_evaluation, run_key
from core.reports import lesson as lessons
from core.reports.course import asking, calibration, juries
from core.reports.prompting.experiments import PromptingExperiment, readings
from core.runs import store


def lesson_tables(run_id: str) -> dict[str, Any]:
    """The data from which the lesson's component computes its figures (:func:`core.reports.lesson.lesson_tables`)."""
    return _lesson_tables(run_key(run_id))


@st.cache_resource(max_entries=16, show_spinner="Reading the questions …")  # 0.2 MB per entry. A view needs one
def _lesson_tables(key: RunKey) -> dict[str, Any]:
    found = worst_pair(key.run_id, "lac")
    shift = shifted((key.run_id, found.source), (key.run_id, found.target), "lac") if found else None
    return lessons.lesson_tables(load_evaluation(key), shift, found)


def calibration_tables(run_id: str) -> dict[str, Any]:
    """The data of the lesson on calibration (:func:`core.reports.course.calibration.calibration_tables`)."""
    return _calibration_tables(run_key(run_id))


@st.cache_resource(max_entries=16, show_spinner="Reading the questions …")  # 0.1 MB per entry. A view needs one
def _calibration_tables(key: RunKey) -> dict[str, Any]:
    return calibration.calibration_tables(load_evaluation(key))


def jury_tables(jury_id: str) -> dict[str, Any]:
    """The data of the lesson on juries (:func:`core.reports.course.juries.jury_tables`)."""
    return _jury_tables(jury_key(jury_id))


@st.cache_resource(max_entries=4, show_spinner="Comparing the jurors …")  # 0.1 MB per entry. A view needs one
def _jury_tables(key: JuryKey) -> dict[str, Any]:
    return juries.jury_tables(jury_cache.judgements(key.jury_id))


def asking_tables(run_id: str) -> dict[str, Any]:
    """The data of the lesson on asking (:func:`core.reports.course.asking.asking_tables`), of a run's experiment. Runs
    of a person's own that would belong to it are left out."""
    return _asking_tables(run_key(run_id))


@st.cache_resource(max_entries=2, show_spinner="Comparing the ways of asking …")  # 0.2 MB per entry. A view needs one
def _asking_tables(key: RunKey) -> dict[str, Any]:
    experiment = PromptingExperiment.of(run_cache.record(key.run_id).spec)
    records = [one for one in prompting_cache.experiments()[experiment] if store.is_bundled(one.run_id)]
    chosen = [one for one in readings(records) if one.method in asking.WAYS]
    return asking.asking_tables({one: prompting_cache.evaluation(one) for one in chosen})
