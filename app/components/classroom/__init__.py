"""The projector of a class: the code, who has answered, the sets while alpha moves, and the results.

The component asks the server itself (:mod:`app.classroom.routes`), with a key for its class alone, so that answers are
seen at once and a dragged alpha reaches the phones without a run of the page's script.
"""

from collections.abc import Callable
from pathlib import Path

import streamlit as st

from app.classroom import desks, invite
from app.components.shared.bundled import component
from app.serving import login
from core import access
from core.access import quotas
from core.serving.classroom import guesses
from core.serving.classroom.live_class import LiveClass

KEY = "classroom"
KEYS_KEY = "classroom_keys"

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
    _mount(
        key=f"{KEY}_{live.code}",
        data={"code": live.code, "key": keys[live.code], "address": address, "qr": invite.qr_code(address)},
        on_phase_change=on_phase,
    )
