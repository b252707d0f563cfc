"""Compare runs side by side: which is more certain, and is the difference more than chance?"""

import streamlit as st

from app import state
from app.caches import compare_cache
from app.components.compare import abstention, all_runs, published_claims, two_runs
from app.components.shared import controls, run_choice
from app.state.compare import CompareView

st.title("Which of these runs is surer, and is it more than luck?", anchor=False)
view = state.view(CompareView)
chosen = run_choice.choose(view)

if chosen:
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    with left:
        controls.alpha_slider(view)
    with right:
        controls.score_choice(view)
    rows = compare_cache.compared(chosen, all_runs.set_rule(view))
    all_runs.overview(rows, view.score)
    st.subheader("Two runs, question by question", anchor=False)
    two_runs.two_runs(chosen, view)
    st.subheader("What the paper says, tested here", anchor=False)
    published_claims.published_claims(rows, view.score)
    with st.expander("How large sets are, and when", on_change="rerun", key="shapes_open") as shapes:
        if shapes.open:
            all_runs.shapes(rows, chosen, view)
    with st.expander("Precision, strategy, shots", on_change="rerun", key="contrasts_open") as contrasts:
        if contrasts.open:
            all_runs.contrasts(rows, view.score)
    with st.expander("Saying nothing: risk, coverage, cost", on_change="rerun", key="abstaining_open") as abstaining:
        if abstaining.open:
            abstention.abstaining(chosen, rows, view)
