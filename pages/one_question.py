"""One question: the alpha at which each option leaves its set, under every score and in every run."""

import streamlit as st

from app import state
from app.components.one_question import own_question, question
from app.components.shared.page_head import head
from app.state.one_question import OneQuestionView

view = state.view(OneQuestionView)
with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="bottom"):
    with st.container(width="content"):
        head(
            "One question",
            "Which answers can't be ruled out?",
            terms=("prediction set", "alpha", "p-value", "threshold"),
        )
    question.pick_kind(view)
if view.ask == "own":
    own_question.ask(view)
else:
    question.question_of_a_run(view)
