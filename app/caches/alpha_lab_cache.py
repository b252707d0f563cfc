"""What the Alpha lab reads of a run: its tables, sets and figures under the lab's choices, and the shift."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from app.caches.run_cache import RunKey, evaluation, load_evaluation, run_key
from app.state.alpha_lab import AlphaLabView
from core.errors import InputError
from core.reports import frames
from core.reports.alpha_lab import covariate_shift as shifts
from core.reports.alpha_lab import view as split_views
from core.reports.alpha_lab.covariate_shift import Search, Shifted
from core.reports.alpha_lab.view import SplitView
from core.reports.evaluation import Evaluation
from core.reports.report import Report, report, tie_notes


def lab_tables(run_id: str) -> dict[str, Any]:
    """What the alpha lab's component computes from."""
    return _lab_tables(run_key(run_id))


def lab_notes(run_id: str) -> list[str]:
    """Sentences where the lab's figures are not of all that a run has, or need a word."""
    run = evaluation(run_id)
    n, least = len(run.calibration) + len(run.test), int(run.option_counts.min())
    notes = []
    if n > frames.MOST_IN_LAB:
        notes.append(
            f"The lab above draws {frames.MOST_IN_LAB:,} of the run's {n:,} questions at random, so that dragging "
            "stays fluid; the figures below are of all of them."
        )
    if least < run.k:
        notes.append(
            f"The questions of this run have from {least} to {run.k} options; no set holds an option that its question "
            f"lacks, and UAcc counts with {run.k}."
        )
    return notes + list(tie_notes(run))


@dataclass(frozen=True, slots=True)
class SetOptions:
    """How sets are made of a run's probabilities: what the alpha lab's link says, as :mod:`core.reports` takes it."""

    scores: tuple[str, ...]
    alpha: int
    empty: str
    by: str
    split: SplitView


def sets_of(run_id: str, view: AlphaLabView) -> SetOptions:
    """The lab's choices that this run has; those it hasn't got fall back to their defaults, as the lab shows them.

    Raises :class:`InputError` for a run that can't be looked at in any way.
    """
    split = SplitView(
        drop_extra=view.extra == "drop",
        n_calibration=view.n or None,
        split_seed=int(view.split) if view.split else None,
    )
    for given_up in ({}, {"n_calibration": None}, {"drop_extra": False}, {"split_seed": None}):
        split = replace(split, **given_up)
        try:
            evaluation_of_split(run_id, split)
        except InputError:
            continue
        break
    run = evaluation_of_split(run_id, split)
    if not (len(run.calibration) and len(run.test)):
        raise InputError(
            f"run {run_id} has {len(run.calibration)} calibration and {len(run.test)} test questions; both are needed"
        )
    return SetOptions((view.left, view.right), view.alpha, view.empty, view.by, split)


def lab_report(run_id: str, sets: SetOptions) -> Report:
    """A finished run's figures, with the alpha lab's choices."""
    return _report(run_key(run_id), sets)


def evaluation_of_split(run_id: str, split: SplitView) -> Evaluation:
    """A finished run as the lab looks at it: another split, fewer calibration questions, without E and F."""
    return _evaluation_of_split(run_key(run_id), split)


def subjects(run_id: str) -> tuple[str, ...]:
    """A run's subjects with enough questions to calibrate or to be tested on."""
    return shifts.subjects(load_evaluation(run_key(run_id)))


def worst_pair(run_id: str, by: str) -> Search | None:
    """The subjects, calibrated and tested on, between which coverage falls shortest, with the p-value of the search;
    None for fewer than two."""
    return _worst_pair(run_key(run_id), by)


def shifted(source: tuple[str, str | None], target: tuple[str, str | None], by: str) -> Shifted:
    """Coverage calibrated on ``source`` and tested on ``target``: each a run and a subject of it, or None for all."""
    return _shifted((run_key(source[0]), source[1]), (run_key(target[0]), target[1]), by)


# 0.6 MB, 0.9 at most: 9 MB. A view needs one.
@st.cache_resource(max_entries=16, show_spinner="Reading the questions …")
def _lab_tables(key: RunKey) -> dict[str, Any]:
    return frames.lab_tables(load_evaluation(key))


# 6 kB, 10 at most: 6 MB. One for each alpha that a person lets go at.
@st.cache_resource(max_entries=1024, show_spinner=False)
def _report(key: RunKey, sets: SetOptions) -> Report:
    return report(_evaluation_of_split(key, sets.split), sets.alpha, scores=sets.scores, empty=sets.empty, by=sets.by)


@st.cache_resource(max_entries=16, show_spinner=False)  # 0.3 MB, 0.5 at most: 6 MB. A view needs one
def _evaluation_of_split(key: RunKey, split: SplitView) -> Evaluation:
    return split_views.look(load_evaluation(key), split)


# 0.1 kB; but the search takes a while.
@st.cache_resource(max_entries=256, show_spinner="Searching the pairs of subjects …")
def _worst_pair(key: RunKey, by: str) -> Search | None:
    run = load_evaluation(key)
    return shifts.search([shifts.side(run, name, by=by) for name in shifts.subjects(run)])


@st.cache_resource(max_entries=64, show_spinner="Comparing the two sides …")  # 32 kB: 2 MB. A view needs one
def _shifted(source: tuple[RunKey, str | None], target: tuple[RunKey, str | None], by: str) -> Shifted:
    sides = [shifts.side(load_evaluation(key), group, by=by) for key, group in (source, target)]
    return shifts.shifted(*sides)
