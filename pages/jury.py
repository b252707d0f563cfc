"""Several judges of one answer: where they disagree, what their confidence is worth, which rule decides best."""

import streamlit as st

from app import state
from app.components.jury.jury_choice import pick
from app.components.jury.jury_figures import section
from app.state.jury import JuryView

st.title("Who is to be believed when judges disagree?", anchor=False)
view = state.view(JuryView)
record = pick(view)
if record:
    section(record, view)
