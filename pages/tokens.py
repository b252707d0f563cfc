"""How sure a model is of each word, and whether its confidence can be trusted."""

import streamlit as st

from app import state
from app.components.tokens import sections

st.title("How sure is a model of each word?", anchor=False)
state.no_view()
sections.text_by_token()
sections.evaluations()
