"""The title of the browser's tab: what the page shows, the page, and Hedge."""

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from app.formatting import shortened

APP = "Hedge"
SHOWN_KEY = "tab_title"
NAME_KEY = "tab_name"
LONGEST = 60
"""Characters of a name."""


def shown() -> str:
    """The title that the tab has had since the last run of a page, so that it does not change while a page runs."""
    return str(st.session_state.get(SHOWN_KEY, APP))


@contextmanager
def titled(page: str) -> Iterator[None]:
    """Run a page, whose title is ``page``, in the block. The tab gets the name that the page has given in the end."""
    plain = f"{page} · {APP}"
    if not shown().endswith(plain):
        _show(plain)
    st.session_state[NAME_KEY] = ""
    try:
        yield
    finally:
        name = st.session_state[NAME_KEY]
        _show(f"{shortened(name, LONGEST)} · {plain}" if name else plain)


def name_tab(name: str) -> None:
    """Name what the open page shows, such as a run or a question."""
    st.session_state[NAME_KEY] = name


def _show(title: str) -> None:
    if title != shown():
        st.session_state[SHOWN_KEY] = title
        st.set_page_config(page_title=title)
