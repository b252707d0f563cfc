"""Several judges of one answer: where they disagree, what their confidence is worth, which rule decides best."""

import streamlit as st

from app import state
from app.components import jurors

st.title("Who is to be believed when judges disagree?", anchor=False)
view = state.view(*state.OF_A_JURY, "alpha")
record = jurors.pick(view)
if record:
    jurors.section(record, view)
