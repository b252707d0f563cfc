"""Cached exports: figures in the form in which files contain them, so that preview, caption and files are drawn
once."""

from collections.abc import Sequence

import streamlit as st

from app.caches import jury_cache
from app.caches.jury_cache import JuryKey, jury_key
from app.caches.run_cache import RunKey, load_compared, run_key
from charts.figure_files import FigureFile, figures, jury_figure
from charts.figure_style import FigureStyle
from core.jury.experiment import JuryExperiment, Protocol
from core.reports.compare.benchmark import SetRule
from core.reports.evaluation import Evaluation


def runs_figure(name: str, run_ids: Sequence[str], rule: SetRule, style: FigureStyle) -> tuple[FigureFile, ...]:
    """A figure of runs (:func:`charts.figure_files.figures`): one, or one for each task."""
    return _runs_figure(name, tuple(run_key(run_id) for run_id in run_ids), rule, style)


def evaluations(run_ids: Sequence[str]) -> list[Evaluation]:
    """The arrays of runs, in their order."""
    return [load_compared(run_key(run_id)) for run_id in run_ids]


def figure_of_jury(
    name: str, jury_id: str, protocol: Protocol, experiment: JuryExperiment, called: str, style: FigureStyle
) -> FigureFile:
    """A figure of a jury (:func:`charts.figure_files.jury_figure`), whose evaluation by ``protocol`` is ``found``."""
    return _jury_figure(name, jury_key(jury_id), protocol, experiment, called, style)


# 0.1 MB per entry with its drawing: 3 MB in all. There is one entry for each figure, choice of runs and look.
@st.cache_resource(max_entries=32, show_spinner="Drawing the figure …")
def _runs_figure(name: str, keys: tuple[RunKey, ...], rule: SetRule, style: FigureStyle) -> tuple[FigureFile, ...]:
    return tuple(figures([name], [load_compared(key) for key in keys], rule, style))


@st.cache_resource(max_entries=8, show_spinner="Drawing the figure …")  # as above
def _jury_figure(
    name: str, key: JuryKey, protocol: Protocol, _found: JuryExperiment, called: str, style: FigureStyle
) -> FigureFile:
    return jury_figure(name, jury_cache.judgements(key.jury_id), _found, called, style)
