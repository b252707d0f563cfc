"""The questions that were asked in this session, each with its set and a link."""

from __future__ import annotations

import streamlit as st

from app import state
from app.caches import question_cache
from app.components.one_question.own_question_form import HISTORY_KEY, LATEST_KEY
from app.components.shared.answer_progress import PENDING_KEY
from app.formatting import plain, shortened
from app.state.one_question import OneQuestionView
from core.conformal.scores import SCORES
from core.errors import HedgeError
from core.reports import one_question
from core.reports.frames import alpha_value
from core.runs.answering import custom_question
from core.runs.answering.custom_question import ModelAnswer

MOST_SHOWN = 30


def history(view: OneQuestionView) -> None:
    """List the questions of this session that have an answer, the latest first, once there are two."""
    asked: tuple[str, ...] = st.session_state.get(HISTORY_KEY, ())
    found = [answer for name in asked[:MOST_SHOWN] if (answer := _answer(name))]
    if len(found) < 2:
        return
    st.subheader("Asked in this session", anchor=False)
    st.caption(f"The set of each at alpha {alpha_value(view.alpha):g}, by {plain(SCORES[view.bars].title)}.")
    for answer in found:
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


def _answer(name: str) -> ModelAnswer | None:
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
    _, found = one_question.asked(by, answer.logits)
    standing = next(one for one in found if one.name == view.bars)
    members = standing.members(view.alpha, empty=view.empty)
    kept = [option for option, inside in zip(answer.options, members, strict=True) if inside]
    if not kept:
        return "empty set"
    return f"{len(kept)} of {len(answer.options)}: {', '.join(shortened(option, 24) for option in kept)}"
