"""The names of runs, links to the pages that show them, and what to do if there is none."""

from collections.abc import Sequence
from typing import NoReturn

import streamlit as st

from app import navigation, state
from app.navigation import PageEntry
from app.state.alpha_lab import AlphaLabView
from app.state.fields import MOST_COMPARED
from app.state.one_question import OneQuestionView
from app.state.shared import SharedView
from core.reports import titles as run_titles
from core.runs.spec import RunSpec
from core.runs.store import RunRecord


def title(record: RunRecord) -> str:
    """A run's title: its model, its task and what is not at its default, as in ``phi-2 · Summaries · 2 shots``."""
    return run_titles.record_title(record)


def titles(records: Sequence[RunRecord]) -> dict[str, str]:
    """Maps each run's id to its title. Runs whose titles would be alike also say what differs between them."""
    return run_titles.record_titles(records)


def no_runs_yet(what: str) -> None:
    """Say what would be shown (``what``) once a run has ended, with a button that leads to launching one."""
    if not navigation.is_open(navigation.NEW_RUN):
        st.info(f"There is no finished run yet. {what} will be here once a run has ended.")
        return
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
        navigation.link(navigation.COMPARE, which, runs=",".join(answered[:MOST_COMPARED]), published="off")
    if read:
        navigation.link(navigation.PERPLEXITY, "Open on the Perplexity page", models=",".join(dict.fromkeys(read)))


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
