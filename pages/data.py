"""Results of other tools in, Hedge's own out."""

import streamlit as st

from app import state
from app.components import bring_in, take_out

st.title("Which results do you have, and where do you need them?", anchor=False)
view = state.view("alpha", "score")

st.subheader("Bring results in", anchor=False)
bring_in.section()

st.subheader("Take results out", anchor=False)
take_out.section(view)
