"""A model of the Open LLM Leaderboard: a person types its hub id, and its results are looked up on the hub."""

from __future__ import annotations

import streamlit as st

from app.errors import spoken
from core.shelf import leaderboard
from core.shelf.entries import Entry

FOUND_KEY = "leaderboard_found"


def looked_up() -> Entry | None:
    """Ask for a model, look its results up once it is given, and return them; None if there are none to show."""
    st.markdown(
        "Log-likelihoods of thousands of models, from lm-evaluation-harness, for every question of GPQA, MuSR, BBH and "
        "MMLU-Pro."
    )
    with st.form("leaderboard_model", border=False, enter_to_submit=True):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            typed = st.text_input(
                "Model",
                placeholder="ORGANISATION/MODEL",
                help="The model's id on the Hugging Face hub, such as `Qwen/Qwen2.5-7B`, or the address of its page.",
            )
            asked = st.form_submit_button("Look up")
        st.caption(
            "Each model's data set asks for an agreement on the hub, so that GPQA's questions stay out of training "
            "data. Agree on its page, and start Hedge with your token in `HF_TOKEN`."
        )
    if asked:
        st.session_state.pop(FOUND_KEY, None)
        with spoken(), st.spinner("Looking the model up on the hub"):
            st.session_state[FOUND_KEY] = leaderboard.of_model(typed)
    found: Entry | None = st.session_state.get(FOUND_KEY)
    return found
