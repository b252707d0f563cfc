"""What a live component starts from, so that a rerun does not take away what a person is moving in the browser.

A component's data stays the same between reruns, and streamlit then sends a reference instead of the arrays. What it
starts from (the seed) gets a new revision, which the browser obeys, only where the data are others, or where something
else than the component changed the view: a link, another control, the way back.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import streamlit as st


@dataclass(frozen=True, slots=True)
class Seed:
    """What the browser starts from with which data, how often that changed, and what it was last known to show."""

    version: str
    start: Any
    revision: int
    shown: Any


def seed(key: str, version: str, view: Any) -> Seed:
    """The last seed of the component ``key``, or the next one where it has to start anew from ``view``.

    ``version`` names the data; ``view`` is the part of the page's view that the component shows.
    """
    last: Seed | None = st.session_state.get(_name(key))
    mounted = key in st.session_state  # its state is dropped with the page, and a new one starts from the seed
    if last is None or not mounted or (last.version, last.shown) != (version, view):
        last = Seed(version, view, last.revision + 1 if last else 0, view)
        st.session_state[_name(key)] = last
    return last


def browser_shows(key: str, view: Any) -> None:
    """Remember what a person moved the component to: it shows that already."""
    st.session_state[_name(key)] = replace(st.session_state[_name(key)], shown=view)


def _name(key: str) -> str:
    return f"{key}_seed"
