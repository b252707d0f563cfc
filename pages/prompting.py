"""Ways of asking: letters against the options' texts, at the same coverage."""

import streamlit as st

from app import state
from app.components import controls, prompting, prompting_launch, prompting_letters
from app.errors import spoken

st.title("Which way of asking leaves a model surer?", anchor=False)
view = state.view(*prompting.NAMES)
with spoken():
    chosen = prompting.choose(view)
    if chosen:
        left, right = st.columns([3, 1], vertical_alignment="bottom")
        with left:
            controls.alpha_slider(view)
        with right:
            controls.score_choice(view)
        shown = prompting.overview(chosen, view)
        prompting.two_ways(chosen, shown, view)
        title = "Answers that are no letter, other orders, written answers"
        with st.expander(title, on_change="rerun", key="prompting_letters_open") as folded:
            if folded.open:
                prompting_letters.letters(chosen.letters, view)
with st.expander("Ask in all these ways", expanded=not chosen, key="prompting_launch_open"), spoken():
    prompting_launch.section()
