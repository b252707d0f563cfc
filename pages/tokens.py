"""How certain a model is of each word, and whether its confidence can be trusted."""

import streamlit as st

from app import state
from app.components.shared.page_head import head
from app.components.tokens.evaluations import evaluations
from app.components.tokens.text_by_token import text_by_token

head("Tokens", "How sure is a model of each word?", terms=("token", "surprisal", "entropy", "lora", "ard-lora"))
state.no_view()
first = st.container()
text_by_token()
evaluations(first)
