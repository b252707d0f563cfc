"""The starting state (seed) of a live component, so that a rerun does not undo what a person moves in the browser.

A component's data stays the same between reruns, and Streamlit then sends a reference instead of the arrays. The seed
gets a new revision, which the browser obeys, only if the data changed, or if something other than the component changed
the view: a link, another control, the back button.
"""

from dataclasses import dataclass, replace
from typing import Any

import streamlit as st


@dataclass(frozen=True, slots=True)
class Seed:
    """The browser's starting state for a version of the data.

    ``revision`` counts how often the seed changed, and ``shown`` is what the browser was last known to show.
    """

    version: str
    start: Any
    revision: int
    shown: Any


def seed(key: str, version: str, view: Any) -> Seed:
    """The last seed of the component ``key``, or a new one if it has to start again from ``view``.

    ``version`` identifies the data. ``view`` is the part of the page's view that the component shows.
    """
    last: Seed | None = st.session_state.get(_name(key))
    mounted = key in st.session_state  # its state is dropped with the page, and a new component starts from the seed
    if last is None or not mounted or (last.version, last.shown) != (version, view):
        last = Seed(version, view, last.revision + 1 if last else 0, view)
        st.session_state[_name(key)] = last
    return last


def was_shown(key: str) -> bool:
    """Whether the component ``key`` was mounted in this session."""
    return _name(key) in st.session_state


def browser_shows(key: str, view: Any) -> None:
    """Record what a person moved the component to, because the browser shows that already."""
    st.session_state[_name(key)] = replace(st.session_state[_name(key)], shown=view)


def _name(key: str) -> str:
    return f"{key}_seed"
