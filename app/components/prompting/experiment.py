"""Choose an experiment: runs that differ only in their prompt form and their shots."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from app import state
from app.caches import prompting_cache
from app.formatting import counted
from app.state.prompting import PromptingView
from core.reports.compare.benchmark import SetRule
from core.reports.prompting import experiments as reports
from core.reports.prompting.experiments import LETTERS_METHOD, PromptingExperiment, PromptingMethod
from core.runs.banks import bank_name, task_title
from core.runs.store import RunRecord

EXPERIMENT_KEY = "prompting_experiment"


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
    """The experiment that the view names, or the one with the most forms. None if no run has ended."""
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
        view = state.change(PromptingView, experiment=next(iter(found)))
    st.session_state[EXPERIMENT_KEY] = view.experiment
    st.selectbox(
        "Model and questions",
        list(found),
        format_func=lambda key: _title(*found[key]),
        key=EXPERIMENT_KEY,
        on_change=_take_experiment,
        help="An experiment is all finished runs that differ only in how they ask and in their shots.",
    )
    experiment, records = found[view.experiment]
    return ShownExperiment(experiment, records, tuple(reports.readings(records)))


def _take_experiment() -> None:
    state.change(PromptingView, experiment=st.session_state[EXPERIMENT_KEY], question="")


def _title(experiment: PromptingExperiment, records: tuple[RunRecord, ...]) -> str:
    spec = records[0].spec
    said = [spec.model_name, task_title(spec.task, bank_name(spec)), experiment.strategy, experiment.dtype]
    said += ["chat"] * (experiment.prompt_format == "chat") + ["own system prompt"] * bool(experiment.system)
    said += [counted(experiment.samples, "question")] if experiment.samples else []
    return " · ".join([*said, counted(len(records), "run")])


def set_rule(view: PromptingView) -> SetRule:
    """How sets are formed on this page."""
    return SetRule(view.alpha, (view.score,))
