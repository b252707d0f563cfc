"""Choose an experiment: runs that differ only in how they ask: their prompt form, shots and strategy."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import streamlit as st

from app import state
from app.caches import prompting_cache
from app.components.shared.caveat_notes import caveat_notes
from app.components.shared.run_list import Picker
from app.components.shared.run_picker import one_line
from app.formatting import counted
from app.showcase import showcase
from app.state.prompting import PromptingView
from core.questions.bank_names import bank_name
from core.reports.compare.benchmark import SetRule
from core.reports.prompting import experiments as reports
from core.reports.prompting.experiments import LETTERS_METHOD, PromptingExperiment, PromptingMethod
from core.reports.run_filter import is_own
from core.reports.titles import distinct_titles
from core.runs.model_files import served_weights
from core.runs.store import RunRecord

GONE = "There are no finished runs of the linked experiment here (they may have been deleted). Another one is shown."
Found = Mapping[str, tuple[PromptingExperiment, tuple[RunRecord, ...]]]
"""An experiment's key → the experiment and its runs."""


@dataclass(frozen=True, slots=True)
class ShownExperiment:
    """The experiment on the page: its runs and all of their prompting methods."""

    experiment: PromptingExperiment
    records: tuple[RunRecord, ...]
    readings: tuple[PromptingMethod, ...]

    def base(self, view: PromptingView) -> PromptingMethod:
        """The way with which all others are compared: the view's, or the most similar one."""
        shots = int(view.shots) if view.shots else min(self.shots)
        return _nearest(self.readings, (view.strategy, shots, view.method))

    def second(self, view: PromptingView) -> PromptingMethod | None:
        """The way that is shown beside the base way: the view's, or the most similar one. None if there is no other."""
        base = self.base(view)
        others = [reading for reading in self.readings if reading != base]
        shots = int(view.beside_shots) if view.beside_shots else base.shots
        return _nearest(others, (view.beside_strategy, shots, view.beside)) if others else None

    @property
    def letters(self) -> tuple[PromptingMethod, ...]:
        """The methods that ask for letters."""
        return tuple(reading for reading in self.readings if reading.method == LETTERS_METHOD)

    @property
    def methods(self) -> tuple[str, ...]:
        """The names of the methods that were asked, in display order."""
        return tuple(dict.fromkeys(reading.method for reading in self.readings))

    @property
    def shots(self) -> tuple[int, ...]:
        """The numbers of shots that were asked, in ascending order."""
        return tuple(sorted({reading.shots for reading in self.readings}))


def _nearest(readings: Sequence[PromptingMethod], wanted: tuple[str, int, str]) -> PromptingMethod:
    """The first of the readings that agree with most of a strategy, a number of shots and a method, in this order."""
    return min(
        readings,
        key=lambda reading: [
            has != wants for has, wants in zip((reading.strategy, reading.shots, reading.method), wanted, strict=True)
        ],
    )


def _experiments() -> Found:
    return {experiment.key: (experiment, records) for experiment, records in prompting_cache.experiments().items()}


def linked_experiment(view: PromptingView) -> ShownExperiment | None:
    """The experiment that the view names, or :func:`_default`. None if no run has ended."""
    by_key = _experiments()
    if not by_key:
        st.info(
            "There is no experiment yet. This page will show the accuracy and the prediction sets of each way of "
            "asking. Launch one below; with a pocket model it takes about a minute."
        )
        return None
    key = _with_strategies(by_key).get(view.experiment, "")
    for message in state.until_next_action("experiment", *([GONE] if view.experiment and not key else [])):
        st.warning(message)
    key = key or _default(by_key)
    if view.experiment != key:
        state.change(PromptingView, experiment=key)
    experiment, records = by_key[key]
    caveat_notes(records)
    return ShownExperiment(experiment, records, tuple(reports.readings(records)))


def _with_strategies(by_key: Found) -> dict[str, str]:
    """The key of an experiment by the key that each of its strategies alone has, which earlier versions linked to."""
    return {
        replace(experiment, strategy=strategy).key: key
        for key, (experiment, records) in by_key.items()
        for strategy in reports.strategies(records)
    }


def experiment_choice(chosen: str) -> None:
    """Show which experiment is chosen, with a button to choose another. In the list, its first run stands for it."""
    by_key = _experiments()
    first = {key: _representative(records) for key, (_, records) in by_key.items()}
    keys = {record.run_id: key for key, record in first.items()}
    names = _names(by_key)

    def take(run_ids: tuple[str, ...]) -> None:
        state.change(PromptingView, experiment=keys[run_ids[0]], question="")

    picker = Picker(
        "prompting",
        list(first.values()),
        (first[chosen].run_id,),
        take,
        noun="experiment",
        given_names={run_id: names[key] for run_id, key in keys.items()},
        properties=("models", "tasks", "dtype", "sources"),
        shares_questions=False,
    )
    about = "All finished runs that differ only in how they ask. Choose another experiment."
    one_line(picker, names[chosen], "", help=about)


def _representative(records: Sequence[RunRecord]) -> RunRecord:
    """The run that stands for an experiment: one of the person's own, if there is any."""
    return next((record for record in records if is_own(record)), records[0])


def _default(by_key: Found) -> str:
    """The experiment of the pinned run, else the first that ships with Hedge, else the first."""
    pinned = [
        key for key, (_, records) in by_key.items() if showcase().prompting in [record.run_id for record in records]
    ]
    shipped = [key for key, (_, records) in by_key.items() if not any(map(is_own, records))]
    return next(iter(pinned or shipped or by_key))


def _names(by_key: Found) -> dict[str, str]:
    """The name of each experiment by its key, no two of them alike."""
    alike = {key: _alike(records[0]) for key, (_, records) in by_key.items()}
    served = served_weights([records[0] for _, records in by_key.values()])
    titles = distinct_titles(
        {key: (record.spec, bank_name(record.spec)) for key, record in alike.items()},
        served={key: served[records[0].run_id] for key, (_, records) in by_key.items()},
    )
    return {key: f"{titles[key]} · {counted(len(records), 'run')}" for key, (_, records) in by_key.items()}


def _alike(record: RunRecord) -> RunRecord:
    """The run with those settings at their defaults in which the runs of an experiment differ."""
    same = replace(record.spec, form="letters", strategy="base", shots=0, rotations=False, orders=False, repeats=0)
    return replace(record, spec=same)


def set_rule(view: PromptingView) -> SetRule:
    """How sets are formed on this page."""
    return SetRule(view.alpha, (view.score,))
