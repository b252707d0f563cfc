"""Choose the runs that are compared, on Compare and on Calibration."""

from __future__ import annotations

import streamlit as st

from app import state
from app.caches import run_cache
from app.components.shared.runs import RUN_HELP, choices, no_runs_yet
from app.formatting import plain, shortened
from app.showcase import default_comparison
from app.state.fields import MOST_COMPARED
from app.state.shared import NO_RUNS, SharedView

RUNS_KEY = "compared_runs"
DEFAULT_KEY = "compare_the_default"
FIRST_SHOWN = 6


def choose(view: SharedView, what: str = "Runs side by side", *, first: int = FIRST_SHOWN) -> tuple[str, ...]:
    """Show the choice of the runs that are compared. Without a choice, these are the showcase and its sisters, or the
    ``first`` of them.

    Returns an empty tuple if there are no runs, which a message says with ``what`` the page would show, or if a person
    removed all of them.
    """
    records = run_cache.runs().finished
    found = choices(records)
    if not found:
        no_runs_yet(what)
        return ()
    default = default_comparison([record.run_id for record in records], most=first)
    cleared = view.runs == NO_RUNS
    linked = [] if cleared else [name for name in view.runs.split(",") if name]
    gone = [name for name in linked if name not in found]
    for name in gone:
        st.warning(plain(f"There is no finished run {shortened(name)} here (it may have been deleted)."))
    chosen = [name for name in linked if name in found] or ([] if cleared else default)
    st.session_state[RUNS_KEY] = chosen
    st.multiselect(
        "Runs",
        list(found),
        format_func=found.__getitem__,
        key=RUNS_KEY,
        on_change=_take_runs,
        max_selections=MOST_COMPARED,
        # Streamlit highlights "Select all" when the list opens, so Enter would select every run.
        select_all=False,
        help=RUN_HELP,
    )
    if cleared:
        _say_none_chosen(len(default))
    return tuple(chosen)


def _take_runs() -> None:
    state.change(SharedView, runs=",".join(st.session_state[RUNS_KEY]) or NO_RUNS)


def _show_default() -> None:
    state.change(SharedView, runs="")


def _say_none_chosen(runs: int) -> None:
    """Say that no run is chosen, with a button that selects the page's default runs again."""
    st.info("No run is chosen. Choose at least one run above.")
    said = "Show the first run again" if runs == 1 else f"Show the first {runs} runs again"
    st.button(said, key=DEFAULT_KEY, on_click=_show_default)
