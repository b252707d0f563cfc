"""A person's own question: a model that stays loaded answers it, and a run's calibration gives it a set."""

import streamlit as st

from app import state, style
from app.caches import question_cache
from app.components.one_question.own_answer import show_answer
from app.components.one_question.own_examples import example_buttons, example_cards
from app.components.one_question.own_question_form import (
    HISTORY_KEY,
    LATEST_KEY,
    MODEL_KEY,
    ask_example,
    askable_runs,
    calibrating_run,
    model_and_calibration,
    question_form,
    refill_form,
    warm_model,
)
from app.components.shared.answer_progress import PENDING_KEY, failed, note_end, watch_progress
from app.components.shared.runs import no_runs_yet
from app.formatting import plain, sentence, shortened
from app.state.one_question import OneQuestionView
from core.conformal.scores import SCORES
from core.errors import HedgeError, InputError
from core.models.server_address import ON_SERVERS
from core.reports import one_question
from core.reports.frames import alpha_value
from core.runs.answering import client, custom_question
from core.runs.answering.custom_question import ModelAnswer

MOST_SHOWN = 30

POLL_S = 0.5
AT_ONCE_S = 0.9
"""Seconds that a click waits for its answer before the page shows the progress."""


def ask(view: OneQuestionView) -> None:
    """Show the examples, the form beside the answer or its progress, and the questions that were asked before."""
    records = askable_runs()
    if not records:
        no_runs_yet("Your own question with its set")
        return
    # In this order: the old address still names the previous question, which must not be put back into the form.
    view = refill_form(_with_latest_answer(view))
    # In a container, so that the form below keeps its place and the focus when the examples move up here.
    with st.container():
        if view.answer:
            example_buttons(ask_example)
    with style.stacked_when_narrow("own"):
        form, answer = st.columns([5, 9], gap="medium")
    with form:
        record = calibrating_run(records, view)
        question_form(record)
        model_and_calibration(records, record, view)
    warm_model(record.spec.asked_model, record)
    with answer:
        _answer(view, str(st.session_state[MODEL_KEY] or ""))
    history(view)


def _answer(view: OneQuestionView, model: str) -> None:
    if not view.answer:
        st.markdown(
            "Type a question with its options, and the model's answer and its set appear here. Or try one of these:"
        )
        example_cards(ask_example)
        return
    if st.session_state.get(PENDING_KEY) == view.answer:
        note_end(client.progress(view.answer, wait_s=AT_ONCE_S))
    if st.session_state.get(PENDING_KEY) == view.answer:
        loading_s = custom_question.last_loading_s(model)
        st.fragment(watch_progress, run_every=POLL_S)(view.answer, loading_s, on_server=ON_SERVERS in model)
    elif why := _failure(view.answer):
        st.error(plain(sentence(why)))
    else:
        show_answer(custom_question.read_answer(view.answer), view)


def _failure(answer_id: str) -> str:
    """Why there is no answer, or an empty text if there is one."""
    if message := failed(answer_id):
        return message
    try:
        custom_question.read_answer(answer_id)
    except InputError as error:
        now = client.progress(answer_id) if custom_question.ID.match(answer_id) else None
        if now and not now.ended:  # the page was reloaded while the answer was being computed
            st.session_state[PENDING_KEY] = answer_id
            st.rerun()
        return now.message if now and now.stage == "failed" and now.message != client.GONE else str(error)
    return ""


def _with_latest_answer(view: OneQuestionView) -> OneQuestionView:
    """The view with the latest question, until the browser has confirmed the new address.

    A message that arrives during the click, for example a released alpha, still carries the old address.
    """
    latest = st.session_state.get(LATEST_KEY, "")
    if latest and view.answer != latest:
        return state.change(OneQuestionView, answer=latest)
    st.session_state[LATEST_KEY] = ""
    return view


def history(view: OneQuestionView) -> None:
    """List the questions of this session that have an answer, the latest first, once there are two."""
    names: tuple[str, ...] = st.session_state.get(HISTORY_KEY, ())
    answers = [answer for name in names[:MOST_SHOWN] if (answer := _recorded_answer(name))]
    if len(answers) < 2:
        return
    st.subheader("Asked in this session", anchor=False)
    st.caption(f"The set of each at alpha {alpha_value(view.alpha):g}, by {plain(SCORES[view.bars].title)}.")
    for answer in answers:
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"asked_{answer.answer_id}"):
            here = answer.answer_id == view.answer
            text = plain(shortened(answer.own.question, 90))
            st.button(
                f"**{text}**" if here else text,
                key=f"own_again_{answer.answer_id}",
                type="tertiary",
                disabled=here,
                on_click=_open,
                args=(answer.answer_id,),
            )
            st.caption(plain(_set_of(answer, view)))


def _recorded_answer(name: str) -> ModelAnswer | None:
    if st.session_state.get(PENDING_KEY) == name:
        return None
    try:
        return custom_question.read_answer(name)
    except HedgeError:  # it failed, or it was deleted as one of the oldest; opening its link says so
        return None


def _open(name: str) -> None:
    st.session_state[LATEST_KEY] = name
    state.change(OneQuestionView, answer=name)


def _set_of(answer: ModelAnswer, view: OneQuestionView) -> str:
    try:
        by = question_cache.calibrated_run(answer.own.run_id)
    except HedgeError:
        return "the run that calibrated it is gone"
    _, standings = one_question.asked(by, answer.logits)
    standing = next((entry for entry in standings if entry.name == view.bars), standings[0])
    members = standing.members(view.alpha, empty=view.empty)
    members_shown = [option for option, inside in zip(answer.options, members, strict=True) if inside]
    if not members_shown:
        return "empty set"
    return (
        f"{len(members_shown)} of {len(answer.options)}: {', '.join(shortened(option, 24) for option in members_shown)}"
    )
