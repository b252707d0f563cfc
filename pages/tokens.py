"""How certain a model is of each word, and whether its confidence can be trusted."""

import streamlit as st

from app import state
from app.components.tokens.evaluations import evaluations
from app.components.tokens.text_by_token import text_by_token

st.title("How sure is a model of each word?", anchor=False)
state.no_view()
text_by_token()
evaluations()
