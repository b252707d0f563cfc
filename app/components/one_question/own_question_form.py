"""The form for a person's own question: model, calibrating run, question, context and options."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app import state
from app.caches import question_cache, run_cache
from app.components.one_question.answer_progress import PENDING_KEY
from app.components.shared.runs import titles
from app.state.one_question import OneQuestionView
from core.answering import client, custom_question
from core.answering.custom_question import MOST_OPTIONS, CustomQuestion
from core.errors import HedgeError, InputError
from core.inference import models
from core.records import DONT_KNOW, NONE_OF_ABOVE
from core.reports.one_question import CalibratedRun
from core.runs.showcase import default_run
from core.runs.store import RunRecord

MODEL_KEY, RUN_KEY = "own_model", "own_run"
QUESTION_KEY, CONTEXT_KEY, OPTIONS_KEY, EXTRA_KEY = "own_question", "own_context", "own_options", "own_extra"
SEEN_KEY, ASKED_KEY, WARMED_KEY = "own_seen", "own_asked", "own_warmed"
LATEST_KEY, PROBLEM_KEY = "own_latest", "own_problem"
MODEL_HELP = "A model that ships with Hedge, or type a local folder or a Hugging Face hub id and press Enter."
RUN_HELP = (
    "Its calibration questions form the set. The question is put as this run puts its own: same instruction, form, "
    "examples and precision."
)


def refill_form(view: OneQuestionView) -> OneQuestionView:
    """Put the question of a linked answer into the form, once, unless a person has typed another one."""
    if not view.answer or st.session_state.get(SEEN_KEY) == view.answer:
        return view
    st.session_state[SEEN_KEY] = view.answer
    try:
        own = custom_question.read_answer(view.answer).own
    except InputError:
        return view
    if any(typed := _typed_texts()) and typed != st.session_state.get(ASKED_KEY):
        return view
    st.session_state[QUESTION_KEY] = own.question
    st.session_state[CONTEXT_KEY] = own.context
    st.session_state[OPTIONS_KEY] = "\n".join(own.options)
    st.session_state[EXTRA_KEY] = own.extra
    st.session_state[MODEL_KEY] = own.model
    st.session_state[ASKED_KEY] = _typed_texts()
    return state.change(OneQuestionView, run=own.run_id)


def _typed_texts() -> tuple[str, ...]:
    return tuple(st.session_state.get(key) or "" for key in (QUESTION_KEY, CONTEXT_KEY, OPTIONS_KEY))


def pick_model_and_run(records: Sequence[RunRecord], view: OneQuestionView) -> tuple[str, RunRecord]:
    """Show the choice of the model and of the run whose calibration is used. The model's own runs come first."""
    by_id = {record.run_id: record for record in records}
    first = view.run if view.run in by_id else default_run(records).run_id
    by_id = {first: by_id[first], **by_id}
    known = list(dict.fromkeys([*models.bundled_models(), *(record.spec.model for record in records)]))
    st.session_state.setdefault(MODEL_KEY, next(iter(by_id.values())).spec.model)
    chosen = st.session_state[MODEL_KEY] or ""
    ordered = sorted(by_id.values(), key=lambda record: record.spec.model != chosen)
    st.session_state[RUN_KEY] = view.run if view.run in by_id else ordered[0].run_id
    left, right = st.columns([2, 3])
    model = left.selectbox(
        "Model",
        known if chosen in known or not chosen else [chosen, *known],
        accept_new_options=True,
        key=MODEL_KEY,
        help=MODEL_HELP,
        persist_state="session",
        on_change=_model_chosen,
    )
    names = titles(ordered)
    run_id = right.selectbox(
        "Calibrated by",
        [record.run_id for record in ordered],
        format_func=names.__getitem__,
        key=RUN_KEY,
        help=RUN_HELP,
        on_change=_run_chosen,
    )
    return str(model or ""), by_id[str(run_id)]


def _run_chosen() -> None:
    state.choose_run(st.session_state[RUN_KEY])


def _model_chosen() -> None:
    """Select a run of the newly chosen model for the calibration, if it has one."""
    chosen = st.session_state[MODEL_KEY]
    own = [record for record in run_cache.runs().finished if record.spec.model == chosen]
    if own and st.session_state.get(RUN_KEY) not in [record.run_id for record in own]:
        state.choose_run(default_run(own).run_id)


def question_form(record: RunRecord, by: CalibratedRun) -> None:
    """Show the form. Typed text is kept, whatever the result."""
    closing = question_cache.closing_options(record.run_id)
    st.session_state.setdefault(EXTRA_KEY, closing > 0)
    with st.form("own", border=True):
        left, right = st.columns(2)
        left.text_area(
            "Question",
            key=QUESTION_KEY,
            height=86,
            placeholder="Which planet is the largest?",
            persist_state="session",
        )
        left.text_area(
            "Context, where the question needs one",
            key=CONTEXT_KEY,
            height=86,
            placeholder="a passage, a dialogue, a situation",
            persist_state="session",
        )
        right.text_area(
            f"Options, a line each: 2 to {MOST_OPTIONS}",
            key=OPTIONS_KEY,
            height=122,
            placeholder="Mars\nJupiter\nVenus\nSaturn",
            help=fitting_options(record, by),
            persist_state="session",
        )
        right.toggle(
            f"Also “{DONT_KNOW}”, “{NONE_OF_ABOVE}”",
            key=EXTRA_KEY,
            disabled=record.spec.asks_texts,
            help="A run that scores the options' texts (cloze) does not offer them.",
            persist_state="session",
        )
        with st.container(horizontal=True, vertical_alignment="center"):
            # A callback, because a message that arrives during the click may interrupt the page's run.
            st.form_submit_button("Ask", on_click=_send)
            st.caption(fitting_options(record, by))


def fitting_options(record: RunRecord, by: CalibratedRun) -> str:
    """Say how many options make a question like those of the run."""
    closing = question_cache.closing_options(record.run_id)
    if closing:
        return f"The run's questions have {by.k} options: {by.k - closing} of their own and these {closing}."
    return f"The run's questions have {by.k} options of their own, and nothing added."


def _typed_question(record: RunRecord) -> CustomQuestion:
    lines = (st.session_state[OPTIONS_KEY] or "").splitlines()
    return CustomQuestion(
        model=str(st.session_state[MODEL_KEY] or ""),
        run_id=record.run_id,
        question=(st.session_state[QUESTION_KEY] or "").strip(),
        context=(st.session_state[CONTEXT_KEY] or "").strip(),
        options=tuple(line.strip() for line in lines if line.strip()),
        extra=bool(st.session_state[EXTRA_KEY]) and not record.spec.asks_texts,
    )


def warm_model(model: str, record: RunRecord) -> None:
    """Load a bundled model while a person types. A model of the hub is downloaded only when it is asked."""
    wanted = (model, record.spec.dtype)
    if model in models.bundled_models() and st.session_state.get(WARMED_KEY) != wanted:
        st.session_state[WARMED_KEY] = wanted
        client.warm(*wanted)


def _send() -> None:
    """Submit the typed question, or remember why that is not possible."""
    st.session_state[PROBLEM_KEY] = ""
    try:
        record = run_cache.record(st.session_state[RUN_KEY])
        own = _typed_question(record)
        client.ask(own)
    except HedgeError as error:
        st.session_state[PROBLEM_KEY] = str(error)
        return
    st.session_state[LATEST_KEY] = st.session_state[PENDING_KEY] = st.session_state[SEEN_KEY] = own.answer_id
    st.session_state[ASKED_KEY] = _typed_texts()
