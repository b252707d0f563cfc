"""Choose a run, link to what shows it, and say what to do if there is none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

import streamlit as st

from app import navigation, state
from app.caches import run_cache
from app.formatting import plain
from app.navigation import PageEntry
from app.showcase import default_run
from app.state.alpha_lab import AlphaLabView
from app.state.fields import MOST_COMPARED
from app.state.one_question import OneQuestionView
from app.state.shared import SharedView
from core.reports import titles as run_titles
from core.reports.file_names import stem
from core.runs import store
from core.runs.banks import bank_name
from core.runs.spec import RunSpec
from core.runs.store import RunRecord

PICKER_KEY = "run_picker"
OWN = "Yours: "
"""What the name of a person's own run begins with in a list to choose from."""


RUN_HELP = (
    "Your own finished runs come first, then those that ship with Hedge, by task and model. Type a part of a name to "
    "find a run. A name says how the questions were asked only where this differs from the default."
)


def title(record: RunRecord) -> str:
    """A run's title: its model, its task and what is not at its default, as in ``phi-2 · Summaries · 2 shots``."""
    return run_titles.record_title(record)


def file_stem(record: RunRecord) -> str:
    """What the names of files about a run begin with: ``hedge_phi-2_summaries``."""
    return stem([(record.spec, bank_name(record.spec, record.provenance))])


def titles(records: Sequence[RunRecord]) -> dict[str, str]:
    """Maps each run's id to its title. Runs whose titles would be alike also say what differs between them."""
    return run_titles.record_titles(records)


def choices(records: Sequence[RunRecord]) -> dict[str, str]:
    """Maps each run's id to its name in a list to choose from, in the list's order.

    A person's own runs come first in the order of ``records`` and are marked as :data:`OWN`. Those that ship with Hedge
    follow, grouped by task and then by model.
    """
    names = titles(records)
    own = [record for record in records if not store.is_bundled(record.run_id)]
    shipped = sorted((record for record in records if store.is_bundled(record.run_id)), key=run_titles.reading_order)
    return {record.run_id: OWN + names[record.run_id] for record in own} | {
        record.run_id: names[record.run_id] for record in shipped
    }


def no_runs_yet(what: str) -> None:
    """Say what would be shown (``what``) once a run has ended, with a button that leads to launching one."""
    st.info(
        f"There is no finished run yet. {what} will be here once a run has ended. With a pocket model, that "
        "takes less than a minute."
    )
    if st.button("Launch the first run"):
        navigation.go(navigation.NEW_RUN)


def shown_on(record: RunRecord) -> tuple[PageEntry, dict[str, str], str]:
    """The page that shows a finished run, the view that opens it there, and the words of a link to it."""
    if record.spec.makes_jury:
        return navigation.JURY, {"jury": record.provenance.get("jury", "")}, "Open on the Jury page"
    if record.spec.measures_perplexity:
        return navigation.PERPLEXITY, {"models": record.spec.model}, "Open on the Perplexity page"
    return navigation.ALPHA_LAB, {"run": record.run_id}, "Open in the Alpha lab"


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

    If the view names none, it is :func:`~app.showcase.default_run`. If the view names a run that can't be shown,
    the page says so and shows the default run instead. Returns None if there is no finished run. ``what`` is what the
    page would show.
    """
    found = {record.run_id: record for record in run_cache.runs().finished}
    if not found:
        no_runs_yet(what)
        return None
    if view.run not in found:
        default = default_run(tuple(found.values()))
        if view.run:
            st.warning(plain(_why_not(view.run) + f" The run {title(default)} is shown instead."))
        view = state.change(type(view), run=default.run_id)
    names = choices(tuple(found.values()))
    st.session_state[PICKER_KEY] = view.run
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            "Run",
            list(names),
            format_func=names.__getitem__,
            key=PICKER_KEY,
            on_change=_picked,
            args=(type(view),),
            help=RUN_HELP,
        )
        st.caption(plain(run_titles.details(found[view.run].spec)), width="content")
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


def _picked(page: type[SharedView]) -> None:
    state.choose_run(st.session_state[PICKER_KEY], page)


def _why_not(run_id: str) -> str:
    known = {record.run_id: record for record in run_cache.runs().unfinished}
    if run_id in known:
        return f"Run {run_id} is {known[run_id].state}; its figures are shown once it has finished successfully."
    return f"There is no run {run_id[:80]} here (it may have been deleted)."
