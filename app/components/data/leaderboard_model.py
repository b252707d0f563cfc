"""A model of the Open LLM Leaderboard: a person types its hub id, and its results are looked up on the hub.

The model is kept in the page's address, so a link opens its results again.
"""

from __future__ import annotations

import streamlit as st

from app import state
from app.errors import spoken
from app.state.data import DataView
from core.errors import HedgeError
from core.shelf import leaderboard
from core.shelf.entries import Entry

FOUND_KEY = "leaderboard_found"
ASKED_KEY = "leaderboard_asked"
"""The model that was looked up last, whether it was found or not. The page runs often, but the hub is asked only
once."""
TYPED_KEY = "leaderboard_typed"


def looked_up(linked: str) -> Entry | None:
    """Ask for a model, look its results up once it is given, and return them; None if there are none to show.

    ``linked`` is the model of the page's address, empty if there is none.
    """
    st.markdown(
        "Log-likelihoods of thousands of models, from lm-evaluation-harness, for every question of GPQA, MuSR, BBH and "
        "MMLU-Pro."
    )
    new = bool(linked) and st.session_state.get(ASKED_KEY) != linked
    if new:
        st.session_state[TYPED_KEY] = linked
    with st.form("leaderboard_model", border=False, enter_to_submit=True):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            typed = st.text_input(
                "Model",
                key=TYPED_KEY,
                placeholder="ORGANISATION/MODEL",
                help="The model's id on the Hugging Face hub, such as `Qwen/Qwen2.5-7B`, or the address of its page.",
            )
            asked = st.form_submit_button("Look up")
        st.caption(
            "Each model's data set asks for an agreement on the hub, so that GPQA's questions stay out of training "
            "data. Agree on its page, and start Hedge with your token in `HF_TOKEN`."
        )
    if asked or new:
        _look_up(typed, linked=new and not asked)
    found: Entry | None = st.session_state.get(FOUND_KEY)
    if found is not None and found.model != linked:
        state.change(DataView, shelf_model=found.model)
    return found


def _look_up(typed: str, *, linked: bool) -> None:
    """Store the leaderboard's results of a model. A model that was not found is removed from the page's address."""
    st.session_state.pop(FOUND_KEY, None)
    st.session_state[ASKED_KEY] = typed
    with spoken(), st.spinner("Looking the model up on the hub"):
        try:
            found = leaderboard.of_model(typed)
        except HedgeError:
            if not linked:
                state.change(DataView, shelf_model="")
            raise
        st.session_state[FOUND_KEY], st.session_state[ASKED_KEY] = found, found.model
