"""Compare two system prompts on the same counselor's words: which prompt makes the words likelier, and which words
change?
"""

import streamlit as st

from app import state
from app.components.perplexity import choice_benchmark, measuring, perplexity_figures, perplexity_form
from app.errors import spoken
from app.state.perplexity import PerplexityView

st.title("What does a system prompt do to every word?", anchor=False)
view = state.view(PerplexityView)
found = perplexity_form.known()
chosen = perplexity_form.form(view, found)
with spoken():
    measuring.measure(chosen, found)
    perplexity_figures.shown(chosen, view, found)
    choice_benchmark.section(chosen, view, found)
