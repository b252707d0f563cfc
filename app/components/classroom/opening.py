"""Open a class: the questions, how many of them calibrate, and the model beside it."""

from __future__ import annotations

import secrets

import streamlit as st

from core.conformal.alpha import THOUSAND
from core.questions import TASKS
from core.serving.classroom import lecture, quiz
from core.serving.classroom.class_state import smallest_alpha

SEED_BITS = 31


def open_form(reach: str) -> str:
    """The form; the code of the class if one was opened. ``reach`` says why phones can't join, if they can't."""
    if reach:
        st.warning(reach)
    with st.form("open_class", border=True):
        left, middle, right = st.columns(3)
        task = left.selectbox("Questions", quiz.TASKS, format_func=TASKS.__getitem__)
        model = middle.selectbox("Model beside the class", quiz.MODELS)
        n = right.slider("Number of questions", quiz.LEAST, 24, 12, step=2)
        m = n // 2
        st.caption(
            "The first half calibrates, the second half tests. With 12 questions, alpha can't be smaller than "
            f"{smallest_alpha(6) / THOUSAND:.3f}: below that, every option stays in every set."
        )
        if not st.form_submit_button("Open a class"):
            return ""
    drawn = quiz.draw(task, model=model, n=n, calibration=m, seed=secrets.randbits(SEED_BITS))
    return lecture.open_class(drawn).code
