"""The lecturer's page of a class: the code, how many have answered, the sets while alpha moves, and the results.

Its projector view shows the room the same without names.

The component asks the server itself (:mod:`app.classroom.routes`), with a key for its class alone, so that answers are
seen at once and a dragged alpha reaches the phones without a run of the page's script.
"""

from collections.abc import Callable
from pathlib import Path

import streamlit as st

from app.classroom import desks, invite
from app.components.shared.bundled import component
from app.components.shared.messages import message_texts
from app.serving import login
from core import access
from core.access import quotas
from core.serving.classroom import guesses
from core.serving.classroom.live_class import LiveClass

KEY = "classroom"
KEYS_KEY = "classroom_keys"
PRESENT = "present"
"""The name in the address that opens the projector view, as on other pages."""

_mount = component("classroom", Path(__file__).with_name("classroom.html"))


def projector(live: LiveClass, *, page: str, on_phase: Callable[[], None]) -> None:
    """Mount the projector of a class that the actor leads. ``page`` is the address of the lecturer's page, and
    ``on_phase`` is called when the quiz has ended.
    """
    keys: dict[str, str] = st.session_state.setdefault(KEYS_KEY, {})
    if live.code not in keys:
        keys[live.code] = desks.new_key(live.code, access.actor())
        guesses.know(quotas.network(login.address()), live.code)
    address = invite.join_address(page, live.code)
    key = f"{KEY}_{live.code}"
    _mount(
        key=key,
        data={
            "code": live.code,
            "key": keys[live.code],
            "address": address,
            "qr": invite.qr_code(address),
            "joining": invite.problem(page) or "Open the address or scan the code. No account and no name is needed.",
            "present": "1" if st.query_params.get(PRESENT) == "1" else "0",
        },
        on_phase_change=on_phase,
        on_view_change=lambda: _take_view(key),
    )


def _take_view(key: str) -> None:
    if message_texts(key, "view").get(PRESENT) == "1":
        st.query_params[PRESENT] = "1"
    else:
        st.query_params.pop(PRESENT, None)
