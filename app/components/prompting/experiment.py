"""Choose an experiment: runs that differ only in their prompt form and their shots."""

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

    def find(self, method: str, shots: int) -> PromptingMethod | None:
        """The prompting method with this name and number of shots, or None."""
        return next((reading for reading in self.readings if (reading.method, reading.shots) == (method, shots)), None)

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


def choose(view: PromptingView) -> ShownExperiment | None:
    """The experiment that the view names, or :func:`_default`. None if no run has ended."""
    by_key = {key_record.key: (key_record, records) for key_record, records in prompting_cache.experiments().items()}
    if not by_key:
        st.info(
            "There is no experiment yet. This page will show the accuracy and the prediction sets of each way of "
            "asking. Launch one below; with a pocket model it takes about a minute."
        )
        return None
    for message in state.until_next_action("experiment", *([GONE] if view.experiment not in ("", *by_key) else [])):
        st.warning(message)
    if view.experiment not in by_key:
        view = state.change(PromptingView, experiment=_default(by_key))
    _pick(by_key, view.experiment)
    experiment, records = by_key[view.experiment]
    caveat_notes(records)
    return ShownExperiment(experiment, records, tuple(reports.readings(records)))


def _pick(by_key: Found, chosen: str) -> None:
    """Show which experiment is chosen, with a button to choose another. In the list, its first run stands for it."""
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
        properties=("models", "tasks", "strategy", "dtype", "sources"),
        shares_questions=False,
    )
    one_line(picker, names[chosen], "All finished runs that differ only in how they ask and in their shots.")


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
    same = replace(record.spec, form="letters", shots=0, rotations=False, orders=False, repeats=0)
    return replace(record, spec=same)


def set_rule(view: PromptingView) -> SetRule:
    """How sets are formed on this page."""
    return SetRule(view.alpha, (view.score,))
