"""The Classroom page: open a class or go on with one, the projector, and what is left afterwards."""

from __future__ import annotations

import streamlit as st

from app.classroom import invite
from app.components.classroom import projector
from app.components.classroom.after import after_quiz
from app.components.classroom.lecturer import acting, take_link
from app.components.classroom.opening import open_form
from app.components.shared.only_looking import only_looking
from core import access
from core.errors import HedgeError
from core.serving.classroom import lecture, live_class

CHOSEN = "class"
"""The name in the address of the class that is shown."""


def classroom() -> None:
    """Show the class that the lecturer leads, or the form that opens one."""
    take_link()
    with acting() as may_lead:
        if may_lead:
            _lead()
        else:
            _visit()


def _visit() -> None:
    only_looking("open a class")
    if access.mode() == "public":
        st.caption("The person who started this server with `--lecturer` has a link that opens classes here.")
    st.markdown("To take part in a class, open the address that the lecturer shows. You need no account for that.")


def _lead() -> None:
    own = lecture.own_classes()
    page = st.context.url or ""
    asked = st.query_params.get(CHOSEN, "")
    chosen = asked if asked in own else ""
    if not chosen:
        if asked:
            del st.query_params[CHOSEN]
        if code := open_form(invite.problem(page)) or _earlier(own):
            st.query_params[CHOSEN] = code
            st.rerun()
        return
    try:
        live = live_class.find(chosen)
    except HedgeError:
        del st.query_params[CHOSEN]
        raise
    projector(live, page=page, on_phase=lambda: None)
    if reach := invite.problem(page):
        st.caption(reach)
    if after_quiz(live):
        del st.query_params[CHOSEN]
        st.rerun()


def _earlier(own: list[str]) -> str:
    """The code of an open class to go on with; empty if none was chosen."""
    if not own:
        return ""
    st.caption("Classes that are still open:")
    with st.container(horizontal=True):
        for code in own:
            if st.button(f"Go on with {code}", key=f"go_on_{code}"):
                return code
    return ""
