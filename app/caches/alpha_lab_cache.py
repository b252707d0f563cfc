"""The Alpha lab's cached data: a run's tables, its sets and figures under the lab's options, and coverage under a
shift.
"""

import functools
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from app.caches.by_version import by_version
from app.caches.per_run import PerRun
from app.caches.run_cache import RunKey, evaluation, load_evaluation, run_key
from app.state.alpha_lab import AlphaLabView
from core.errors import InputError
from core.reports import frames
from core.reports.alpha_lab import covariate_shift as shifts
from core.reports.alpha_lab import view as split_views
from core.reports.alpha_lab.covariate_shift import Search, Shifted
from core.reports.alpha_lab.view import SplitView
from core.reports.evaluation import Evaluation
from core.reports.repeated import IN_THE_LAB
from core.reports.report import Report, report


# 0.6 MB per entry, at most 0.9 MB: 9 MB in all. A view needs one.
@by_version(run_key, max_entries=16, show_spinner="Reading the questions …")
def lab_tables(run_id: str) -> dict[str, Any]:
    """The tables from which the Alpha lab's component computes."""
    return frames.lab_tables(evaluation(run_id))


def lab_notes(run_id: str) -> tuple[str, ...]:
    """A sentence to show if the lab's figures do not cover all of a run."""
    return _lab_notes(run_key(run_id))


def _notes(run: Evaluation) -> tuple[str, ...]:
    n = len(run.calibration) + len(run.test)
    notes = []
    if run.clusters is not None:
        notes.append(f"{IN_THE_LAB} The figures below use all rows.")
    most = frames.most_in_lab(run.k)
    if n > most:
        notes.append(
            f"The lab above uses {most:,} of the run's {n:,} questions, drawn at random, so that "
            "dragging stays smooth. The figures below use all of them."
        )
    return tuple(notes)


@dataclass(frozen=True, slots=True)
class SetOptions:
    """How sets are formed from a run's probabilities: the options in the Alpha lab's link, as :mod:`core.reports` takes
    them.
    """

    scores: tuple[str, ...]
    alpha: int
    empty: str
    by: str
    split: SplitView


def sets_of(run_id: str, view: AlphaLabView) -> SetOptions:
    """The lab's options that apply to this run. Options that the run lacks fall back to their defaults.

    Raises :class:`InputError` for a run that can't be shown in any way.
    """
    split = SplitView(
        drop_extra=view.extra == "drop",
        n_calibration=view.n or None,
        split_seed=int(view.split) if view.split else None,
    )
    return SetOptions((view.left, view.right), view.alpha, view.empty, view.by, _applicable(run_key(run_id), split))


@functools.lru_cache(maxsize=1024)  # a few numbers each, looked up faster than Streamlit's caches can
def _applicable(key: RunKey, split: SplitView) -> SplitView:
    """The split, with the default for each option that the run lacks."""
    for given_up in ({}, {"n_calibration": None}, {"drop_extra": False}, {"split_seed": None}):
        split = replace(split, **given_up)
        try:
            evaluation_of_split(key.run_id, split)
        except InputError:
            continue
        break
    run = evaluation_of_split(key.run_id, split)
    if not (len(run.calibration) and len(run.test)):
        raise InputError(
            f"run {key.run_id} has {len(run.calibration)} calibration and {len(run.test)} test questions; both are "
            "needed"
        )
    return split


# 6 kB per entry, at most 10 kB: 6 MB in all. There is one entry for each alpha at which a person releases the slider.
@by_version(run_key, max_entries=1024)
def lab_report(run_id: str, sets: SetOptions) -> Report:
    """The figures of a finished run, with the Alpha lab's options."""
    return report(evaluation_of_split(run_id, sets.split), sets.alpha, scores=sets.scores, empty=sets.empty, by=sets.by)


@by_version(run_key, max_entries=16)  # 0.3 MB, at most 0.5: 6 MB in all. A view needs 1
def evaluation_of_split(run_id: str, split: SplitView) -> Evaluation:
    """A finished run as the lab shows it, for example with another split, fewer calibration questions, or without E and
    F.
    """
    return split_views.look(evaluation(run_id), split)


def subjects(run_id: str) -> tuple[str, ...]:
    """The subjects of a run that have enough questions to calibrate or to test on."""
    return shifts.subjects(evaluation(run_id))


# 0.1 kB per entry, but the search takes a while.
@by_version(run_key, max_entries=256, show_spinner="Searching the pairs of subjects …")
def worst_pair(run_id: str, by: str) -> Search | None:
    """The pair of subjects (calibration, test) with the largest coverage shortfall, and the p-value of the search.

    None if the run has fewer than two subjects.
    """
    run = evaluation(run_id)
    return shifts.search([shifts.side(run, name, by=by) for name in shifts.subjects(run)])


def shifted(source: tuple[str, str | None], target: tuple[str, str | None], by: str) -> Shifted:
    """Coverage if ``source`` calibrates and ``target`` tests. Each is a run and one of its subjects, or None for all of
    them.
    """
    return _shifted((run_key(source[0]), source[1]), (run_key(target[0]), target[1]), by)


_lab_notes = PerRun(lambda key: _notes(load_evaluation(key)), most=4096)  # some sentences each


@st.cache_resource(max_entries=64, show_spinner="Comparing the two sides …")  # 32 kB each: 2 MB. A view needs one
def _shifted(source: tuple[RunKey, str | None], target: tuple[RunKey, str | None], by: str) -> Shifted:
    sides = [shifts.side(load_evaluation(key), group, by=by) for key, group in (source, target)]
    return shifts.shifted(*sides)
