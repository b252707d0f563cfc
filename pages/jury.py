"""Several judges of one answer: where they disagree, what their confidence is worth, which rule decides best."""

import streamlit as st

from app import state
from app.components.jury import sections
from app.state.jury import JuryView

st.title("Who is to be believed when judges disagree?", anchor=False)
view = state.view(JuryView)
record = sections.pick(view)
if record:
    sections.section(record, view)
