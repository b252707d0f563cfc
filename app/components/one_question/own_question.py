"""A person's own question: a model that stays loaded answers it, and a run's calibration gives it a set."""

from __future__ import annotations

import streamlit as st

from app import state
from app.caches import question_cache, run_cache
from app.components.one_question.answer_progress import PENDING_KEY, failure, note_end, watch_progress
from app.components.one_question.own_answer import show_answer
from app.components.one_question.own_question_form import (
    LATEST_KEY,
    PROBLEM_KEY,
    pick_model_and_run,
    question_form,
    refill_form,
    warm_model,
)
from app.formatting import plain, sentence
from app.state.one_question import OneQuestionView
from core.answering import client, custom_question

POLL_S = 0.5
AT_ONCE_S = 0.9
"""Seconds that a click waits for its answer before the page shows the progress."""


def ask(view: OneQuestionView) -> None:
    """Show the form, the progress of the answer, and the answer."""
    records = [record for record in run_cache.runs().finished if record.spec.origin == "hedge"]
    if not records:
        st.info("A set needs the calibration of a finished run of Hedge's own; there is none yet. Launch one first.")
        return
    # In this order: the old address still names the previous question, which must not be put back into the form.
    view = refill_form(_with_latest_answer(view))
    model, record = pick_model_and_run(records, view)
    question_form(record, question_cache.calibrated_run(record.run_id))
    warm_model(model, record)
    if problem := st.session_state.get(PROBLEM_KEY):
        st.error(plain(sentence(problem)))
    if not view.answer:
        return
    if st.session_state.get(PENDING_KEY) == view.answer:
        note_end(client.progress(view.answer, wait_s=AT_ONCE_S))
    if st.session_state.get(PENDING_KEY) == view.answer:
        st.fragment(watch_progress, run_every=POLL_S)(view.answer)
    elif failed := failure(view.answer):
        st.error(plain(sentence(failed)))
    else:
        show_answer(custom_question.read_answer(view.answer), view)


def _with_latest_answer(view: OneQuestionView) -> OneQuestionView:
    """The view with the latest question, until the browser has confirmed the new address.

    A message that arrives during the click, for example a released alpha, still carries the old address.
    """
    latest = st.session_state.get(LATEST_KEY, "")
    if latest and view.answer != latest:
        return state.change(OneQuestionView, answer=latest)
    st.session_state[LATEST_KEY] = ""
    return view
