"""The switch that hides published figures, and a sentence on their source."""

import streamlit as st

from app import state
from app.state.compare import CompareView
from app.state.overview import OverviewView
from core.reports.overview.published import SOURCES

KEY = "published_switch"
HELP = (
    "Figures that papers print of models from 1.8 B to 72 B parameters. They were not computed here: they stand in "
    "marks of their own, the score does not change them, and their set sizes are at alpha 0.1."
)


def show(view: OverviewView | CompareView) -> None:
    """Show the switch. The choice is kept in the page's address."""
    st.session_state[KEY] = view.published == "on"
    st.toggle("Published figures", key=KEY, on_change=_take, args=(type(view),), help=HELP)


def _take(page: type[OverviewView] | type[CompareView]) -> None:
    state.change(page, published="on" if st.session_state[KEY] else "off")


def source_lines(source: str) -> list[str]:
    """Where the figures of a published table are from, and how they were made."""
    table = SOURCES[source]
    return [f"Published by {table.title} ({table.printed}), not computed here", table.note]
