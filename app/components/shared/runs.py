"""Choose a run, and say what to do if there is none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

import streamlit as st

from app import navigation, state
from app.caches import run_cache
from app.formatting import plain
from app.state.alpha_lab import AlphaLabView
from app.state.fields import MOST_COMPARED
from app.state.one_question import OneQuestionView
from app.state.shared import SharedView
from core.runs import store
from core.runs import titles as run_titles
from core.runs.spec import RunSpec
from core.runs.store import RunRecord

PICKER_KEY = "run_picker"
SHOWCASE = RunSpec(model="pocket-8m", task="qa", form="letters", strategy="base", dtype="float32").run_id
"""The run that a page opens if its link names none. It ships with Hedge, so launching a run does not change what the
lab and the lesson show first.
"""


def title(record: RunRecord) -> str:
    """A run's title: its model, its task and what is not at its default, as in ``phi-2 · Summaries · 2 shots``."""
    return run_titles.record_title(record)


def titles(records: Sequence[RunRecord]) -> dict[str, str]:
    """Maps each run's id to its title. Runs whose titles would be alike also say what differs between them."""
    return run_titles.record_titles(records)


def no_runs_yet(what: str) -> None:
    """Say what would be shown (``what``) once a run has ended, with a button that leads to launching one."""
    st.info(f"{what} would be here, once a run has ended. A pocket model's run takes less than a minute.")
    if st.button("Launch the first run"):
        navigation.go(navigation.NEW_RUN)


def default_run(records: Sequence[RunRecord]) -> RunRecord:
    """The run that is shown if nobody has chosen one.

    ``records`` are finished runs, the latest first, and must not be empty. The default is :data:`SHOWCASE` if it is
    among them, else the latest run that ships with Hedge, else the latest run.
    """
    showcase = [record for record in records if record.run_id == SHOWCASE]
    return next(iter(showcase or [record for record in records if store.is_bundled(record.run_id)] or records))


def links_to(finished: Sequence[RunSpec]) -> None:
    """Show links to the pages that show finished runs: the first run in the Alpha lab, all of them on Compare."""
    answered = [spec.run_id for spec in finished if spec.answers]
    read = [spec.model for spec in finished if spec.measures_perplexity]
    if answered:
        which = "Open in the Alpha lab" if len(answered) == 1 else "Open the first in the Alpha lab"
        navigation.link(navigation.ALPHA_LAB, which, run=answered[0])
    if len(answered) > 1:
        which = "Compare these" if len(answered) <= MOST_COMPARED else f"Compare the first {MOST_COMPARED}"
        navigation.link(navigation.COMPARE, which, runs=",".join(answered[:MOST_COMPARED]))
    if read:
        navigation.link(navigation.PERPLEXITY, "Open on the Perplexity page", models=",".join(dict.fromkeys(read)))


def pick_run(view: SharedView, what: str) -> RunRecord | None:
    """Show a choice of a finished run, and return the one that the view names.

    If the view names none, it is :func:`default_run`. If the view names a run that can't be shown, the page says so and
    shows the default run instead. Returns None if there is no finished run. ``what`` is what the page would show.
    """
    found = {record.run_id: record for record in run_cache.runs().finished}
    if not found:
        no_runs_yet(what)
        return None
    if view.run not in found:
        default = default_run(tuple(found.values()))
        if view.run:
            st.warning(plain(_why_not(view.run) + f" The run {title(default)} is shown instead."))
        view = state.change(SharedView, run=default.run_id)
    st.session_state[PICKER_KEY] = view.run
    st.selectbox(
        "Run",
        list(found),
        format_func=titles(tuple(found.values())).__getitem__,
        key=PICKER_KEY,
        on_change=_picked,
        help="Finished runs, the latest first.",
    )
    return found[view.run]


def open_run(run_id: str) -> NoReturn:
    """Open a run in the Alpha lab."""
    state.choose_run(run_id)
    navigation.go(navigation.ALPHA_LAB, **state.address_of(state.fresh(AlphaLabView)))


def open_question(question_id: str) -> NoReturn:
    """Open a question of the selected run on the One question page."""
    opened = state.fresh(OneQuestionView, question=question_id)
    navigation.go(navigation.ONE_QUESTION, **state.address_of(opened))


def open_run_question(run_id: str, question_id: str) -> NoReturn:
    """Open a question of any run on the One question page."""
    state.change(SharedView, run=run_id)
    open_question(question_id)


def _picked() -> None:
    state.choose_run(st.session_state[PICKER_KEY])


def _why_not(run_id: str) -> str:
    known = {record.run_id: record for record in run_cache.runs().unfinished}
    if run_id in known:
        return f"Run {run_id} is {known[run_id].state}; figures are shown when a run has ended well."
    return f"There is no run {run_id[:80]} here (any more)."
