"""Runs side by side: which is surer, and is the difference more than luck?"""

import streamlit as st

from app import data, state
from app.components import comparison, controls

st.title("Which of these runs is surer, and is it more than luck?", anchor=False)
view = state.view("runs", "alpha", "score")
chosen = comparison.choose(view)

if chosen:
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    with left:
        controls.alpha_slider(view)
    with right:
        controls.score_choice(view)
    rows = data.compared(chosen, comparison.asked_of(view))
    comparison.overview(rows, view.score)
    st.subheader("Two runs, question by question", anchor=False)
    comparison.two_runs(chosen, view)
    st.subheader("What the paper says, tested here", anchor=False)
    comparison.published_claims(rows, view.score)
    with st.expander("How large sets are, and when", on_change="rerun", key="shapes_open") as shapes:
        if shapes.open:
            comparison.shapes(rows, chosen, view)
    with st.expander("Precision, strategy, shots", on_change="rerun", key="contrasts_open") as contrasts:
        if contrasts.open:
            comparison.contrasts(rows, view.score)
    with st.expander("Saying nothing: risk, coverage, cost", on_change="rerun", key="abstaining_open") as abstaining:
        if abstaining.open:
            comparison.abstaining(chosen, rows, view)
