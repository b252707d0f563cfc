"""Two system prompts, the same counselor's words: which prompt makes a model expect them, and which words change."""

import streamlit as st

from app import state
from app.components import choice_bench, words_asked, words_shown
from app.errors import spoken

st.title("What does a system prompt do to every word?", anchor=False)
view = state.view(*words_asked.NAMES)
found = words_asked.known()
asked = words_asked.form(view, found)
with spoken():
    words_asked.measure(asked, found)
    words_shown.shown(asked, view, found)
    choice_bench.section(asked, view, found)
