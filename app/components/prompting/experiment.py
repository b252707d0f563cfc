"""Choose an experiment: runs that differ only in their prompt form and their shots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import streamlit as st

from app import state
from app.caches import prompting_cache
from app.components.shared.runs import OWN
from app.formatting import counted
from app.showcase import showcase
from app.state.prompting import PromptingView
from core.reports.compare.benchmark import SetRule
from core.reports.prompting import experiments as reports
from core.reports.prompting.experiments import LETTERS_METHOD, PromptingExperiment, PromptingMethod
from core.reports.titles import distinct_titles, reading_order
from core.runs import store
from core.runs.banks import bank_name
from core.runs.store import RunRecord

EXPERIMENT_KEY = "prompting_experiment"
Found = Mapping[str, tuple[PromptingExperiment, tuple[RunRecord, ...]]]
"""An experiment's key → the experiment and its runs."""


@dataclass(frozen=True, slots=True)
class ShownExperiment:
    """The experiment on the page: its runs and all of their prompting methods."""

    experiment: PromptingExperiment
    records: tuple[RunRecord, ...]
    readings: tuple[PromptingMethod, ...]

    def find(self, method: str, shots: int) -> PromptingMethod | None:
        """The prompting method with this name and number of shots, or None."""
        return next((one for one in self.readings if (one.method, one.shots) == (method, shots)), None)

    @property
    def letters(self) -> tuple[PromptingMethod, ...]:
        """The methods that ask for letters."""
        return tuple(one for one in self.readings if one.method == LETTERS_METHOD)

    @property
    def methods(self) -> tuple[str, ...]:
        """The names of the methods that were asked, in display order."""
        return tuple(dict.fromkeys(one.method for one in self.readings))

    @property
    def shots(self) -> tuple[int, ...]:
        """The numbers of shots that were asked, in ascending order."""
        return tuple(sorted({one.shots for one in self.readings}))


def choose(view: PromptingView) -> ShownExperiment | None:
    """The experiment that the view names, or :func:`_default`. None if no run has ended."""
    found = {one.key: (one, records) for one, records in prompting_cache.experiments().items()}
    if not found:
        st.info(
            "There is no experiment yet. This page will show the accuracy and the prediction sets of each way of "
            "asking. Launch one below; with a pocket model it takes about a minute."
        )
        return None
    if view.experiment not in found:
        if view.experiment:
            st.warning(
                "There are no finished runs of the linked experiment here (they may have been deleted). Another one "
                "is shown."
            )
        view = state.change(PromptingView, experiment=_default(found))
    names = _names(found)
    st.session_state[EXPERIMENT_KEY] = view.experiment
    st.selectbox(
        "Model and questions",
        list(names),
        format_func=names.__getitem__,
        key=EXPERIMENT_KEY,
        on_change=_take_experiment,
        help="An experiment is all finished runs that differ only in how they ask and in their shots.",
    )
    experiment, records = found[view.experiment]
    return ShownExperiment(experiment, records, tuple(reports.readings(records)))


def _take_experiment() -> None:
    state.change(PromptingView, experiment=st.session_state[EXPERIMENT_KEY], question="")


def _default(found: Found) -> str:
    """The experiment of the pinned run, else the first that ships with Hedge, else the first."""
    pinned = [key for key, (_, records) in found.items() if showcase().prompting in [one.run_id for one in records]]
    shipped = [key for key, (_, records) in found.items() if not _is_own(records)]
    return next(iter(pinned or shipped or found))


def _is_own(records: Sequence[RunRecord]) -> bool:
    return not all(store.is_bundled(record.run_id) for record in records)


def _names(found: Found) -> dict[str, str]:
    """The name of each experiment by its key, in the order of a list: a person's own first, as in lists of runs."""
    first = {key: _alike(records[0]) for key, (_, records) in found.items()}
    titles = distinct_titles({key: (record.spec, bank_name(record.spec)) for key, record in first.items()})
    own = [key for key, (_, records) in found.items() if _is_own(records)]
    shipped = sorted((key for key in found if key not in own), key=lambda key: reading_order(first[key]))
    said = {key: f"{titles[key]} · {counted(len(found[key][1]), 'run')}" for key in found}
    return {key: OWN + said[key] for key in own} | {key: said[key] for key in shipped}


def _alike(record: RunRecord) -> RunRecord:
    """The run with those settings at their defaults in which the runs of an experiment differ."""
    same = replace(record.spec, form="letters", shots=0, rotations=False, orders=False, repeats=0)
    return replace(record, spec=same)


def set_rule(view: PromptingView) -> SetRule:
    """How sets are formed on this page."""
    return SetRule(view.alpha, (view.score,))
