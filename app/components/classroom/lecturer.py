"""Who reads the Classroom page: a lecturer by role, a lecturer by the link of a public server, or neither."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

import streamlit as st

from app.classroom import desks
from app.serving import login
from core import access
from core.access import UserRole

SESSION_KEY = "is_lecturer"


def take_link() -> None:
    """Take the key of the printed link out of the address, where a projector would show it, and remember whose it is.

    A key that is not right is said.
    """
    key = st.query_params.get(desks.LECTURER, "")
    if not key:
        return
    del st.query_params[desks.LECTURER]
    if access.mode() != "public":
        return
    st.session_state[SESSION_KEY] = desks.is_lecturer(key)
    if not st.session_state[SESSION_KEY]:
        st.error("This link for lecturers is not of this server as it runs now. Take the one that was printed last.")


@contextmanager
def acting() -> Iterator[bool]:
    """Do the block as a lecturer if the reader is one by the printed link; whether the reader may open a class."""
    by_link = access.mode() == "public" and bool(st.session_state.get(SESSION_KEY))
    with access.acting_as(desks.lecturer(login.address())) if by_link else nullcontext():
        yield access.may(UserRole.LAUNCHER)
