"""Compare two system prompts on the same counselor's words: which prompt makes the words more likely, and which words
change?
"""

import streamlit as st

from app import state
from app.components.perplexity import choice_benchmark, measuring, perplexity_figures, perplexity_form
from app.components.shared.page_head import head
from app.errors import spoken
from app.state.perplexity import PerplexityView

head(
    "Perplexity",
    "How does a system prompt change how likely each word is?",
    terms=("perplexity", "surprisal", "bits per byte", "token"),
)
view = state.view(PerplexityView)
library = perplexity_form.known()
first = st.container()
chosen = perplexity_form.form(view, library)
with spoken():
    busy = measuring.measure(chosen, library)
    perplexity_figures.shown(chosen, view, library, first, is_measuring=busy)
    choice_benchmark.section(chosen, view, library)
