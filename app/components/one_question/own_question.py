"""A question of one's own: typed, answered by a model that stays warm, and given a set by a run's calibration."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app import data, state
from app.components.one_question.option_bars import option_bars
from app.components.one_question.question import options_in_full
from app.components.shared.runs import default_run, title, titles
from app.errors import spoken
from app.formatting import counted, plain, sentence
from app.state import View
from core.errors import HedgeError, InputError
from core.inference import models
from core.records import DONT_KNOW, NONE_OF_ABOVE
from core.reports import one_question
from core.reports.one_question import CalibratedRun
from core.runs.answering import client, custom_question
from core.runs.answering.custom_question import MOST_OPTIONS, AnswerProgress, CustomQuestion, ModelAnswer
from core.runs.store import RunRecord

POLL_S = 0.5
AT_ONCE_S = 0.9
"""How long a click waits for its answer before the page shows how far it is."""
MODEL_KEY, RUN_KEY = "own_model", "own_run"
QUESTION_KEY, CONTEXT_KEY, OPTIONS_KEY, EXTRA_KEY = "own_question", "own_context", "own_options", "own_extra"
PENDING_KEY, FAILED_KEY, WARMED_KEY = "own_pending", "own_failed", "own_warmed"
SEEN_KEY, ASKED_KEY = "own_seen", "own_asked"
LATEST_KEY, PROBLEM_KEY = "own_latest", "own_problem"
MB = 1_000_000
LITTLE_MASS = 0.5

MODEL_HELP = "A model that ships with Hedge, or type a local folder or a Hugging Face hub id and press Enter."
RUN_HELP = (
    "Its calibration questions form the set. The question is put as this run puts its own: same instruction, form, "
    "examples and precision."
)


def ask(view: View) -> None:
    """The form, how far the answer is, and the answer."""
    records = [record for record in data.runs().finished if record.spec.origin == "hedge"]
    if not records:
        st.info("A set needs the calibration of a finished run of Hedge's own; there is none yet. Launch one first.")
        return
    # In this order: the address of before still names the question before, which must not be put back into the form.
    view = _recall(_caught_up(view))
    model, record = _pick(records, view)
    _form(record, data.bench(record.run_id))
    _warm(model, record)
    if problem := st.session_state.get(PROBLEM_KEY):
        st.error(plain(sentence(problem)))
    if not view.answer:
        return
    if st.session_state.get(PENDING_KEY) == view.answer:
        _note(client.progress(view.answer, wait_s=AT_ONCE_S))
    if st.session_state.get(PENDING_KEY) == view.answer:
        st.fragment(_watch, run_every=POLL_S)(view.answer)
    elif failed := _failure(view.answer):
        st.error(plain(sentence(failed)))
    else:
        _show(custom_question.read_answer(view.answer), view)


def _caught_up(view: View) -> View:
    """The view with the question that was asked last, until its address has been to the browser and back.

    A message that crosses the click, such as that of a released alpha, still carries the address of before.
    """
    latest = st.session_state.get(LATEST_KEY, "")
    if latest and view.answer != latest:
        return state.change(answer=latest)
    st.session_state[LATEST_KEY] = ""
    return view


# ---------------------------------------------------------------- what is asked


def _recall(view: View) -> View:
    """Put the question of a link's answer into the form, once, unless somebody is typing another."""
    if not view.answer or st.session_state.get(SEEN_KEY) == view.answer:
        return view
    st.session_state[SEEN_KEY] = view.answer
    try:
        own = custom_question.read_answer(view.answer).own
    except InputError:
        return view
    if any(typed := _texts()) and typed != st.session_state.get(ASKED_KEY):
        return view
    st.session_state[QUESTION_KEY] = own.question
    st.session_state[CONTEXT_KEY] = own.context
    st.session_state[OPTIONS_KEY] = "\n".join(own.options)
    st.session_state[EXTRA_KEY] = own.extra
    st.session_state[MODEL_KEY] = own.model
    st.session_state[ASKED_KEY] = _texts()
    return state.change(run=own.run_id)


def _texts() -> tuple[str, ...]:
    return tuple(st.session_state.get(key) or "" for key in (QUESTION_KEY, CONTEXT_KEY, OPTIONS_KEY))


def _pick(records: Sequence[RunRecord], view: View) -> tuple[str, RunRecord]:
    """The model that is asked, and the run whose calibration is used: the model's own runs come first."""
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
    state.change(run=st.session_state[RUN_KEY], question="")


def _model_chosen() -> None:
    """Another model's own calibration, where it has one, goes with it."""
    chosen = st.session_state[MODEL_KEY]
    own = [record for record in data.runs().finished if record.spec.model == chosen]
    if own and st.session_state.get(RUN_KEY) not in [record.run_id for record in own]:
        state.change(run=default_run(own).run_id, question="")


def _form(record: RunRecord, by: CalibratedRun) -> None:
    """What is typed stays as it is, whatever becomes of it."""
    closing = data.closing_options(record.run_id)
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
            help=_fitting(record, by),
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
            # In a callback, because a message that crosses the click may cut the page's own run short.
            st.form_submit_button("Ask", on_click=_send)
            st.caption(_fitting(record, by))


def _fitting(record: RunRecord, by: CalibratedRun) -> str:
    """How many options make a question like the run's."""
    closing = data.closing_options(record.run_id)
    if closing:
        return f"The run's questions have {by.k} options: {by.k - closing} of their own and these {closing}."
    return f"The run's questions have {by.k} options of their own, and nothing added."


def _typed(record: RunRecord) -> CustomQuestion:
    lines = (st.session_state[OPTIONS_KEY] or "").splitlines()
    return CustomQuestion(
        model=str(st.session_state[MODEL_KEY] or ""),
        run_id=record.run_id,
        question=(st.session_state[QUESTION_KEY] or "").strip(),
        context=(st.session_state[CONTEXT_KEY] or "").strip(),
        options=tuple(line.strip() for line in lines if line.strip()),
        extra=bool(st.session_state[EXTRA_KEY]) and not record.spec.asks_texts,
    )


def _warm(model: str, record: RunRecord) -> None:
    """Load a model of this machine while a person types; one of the hub is fetched only when it is asked."""
    wanted = (model, record.spec.dtype)
    if model in models.bundled_models() and st.session_state.get(WARMED_KEY) != wanted:
        st.session_state[WARMED_KEY] = wanted
        client.warm(*wanted)


def _send() -> None:
    """Ask what is typed, or remember why it can't be asked."""
    st.session_state[PROBLEM_KEY] = ""
    try:
        record = data.record(st.session_state[RUN_KEY])
        own = _typed(record)
        client.ask(own)
    except HedgeError as error:
        st.session_state[PROBLEM_KEY] = str(error)
        return
    st.session_state[LATEST_KEY] = st.session_state[PENDING_KEY] = st.session_state[SEEN_KEY] = own.answer_id
    st.session_state[ASKED_KEY] = _texts()


# ---------------------------------------------------------------- how far it is


def _watch(answer_id: str) -> None:
    with spoken():
        now = client.progress(answer_id)
        if now.ended:
            _note(now)
            st.rerun()
        with st.container(border=True, horizontal=True, vertical_alignment="center"):
            if now.stage == "downloading" and now.total_bytes:
                st.progress(now.done_bytes / now.total_bytes, text=plain(in_words(now)))
            else:
                st.markdown(plain(in_words(now)), width="stretch")
            if st.button("Stop"):
                client.stop(answer_id)


def in_words(now: AnswerProgress) -> str:
    """How far an answer is."""
    since = f", {now.seconds:.0f} s" if now.seconds >= 1 else ""
    if now.stage == "downloading":
        return f"Downloading the model: {now.done_bytes / MB:,.0f} of {now.total_bytes / MB:,.0f} MB"
    return {
        "waiting": f"Waiting, {counted(now.ahead, 'question')} ahead",
        "starting": f"Starting the process that answers{since}",
        "loading": f"Loading the model{since}",
        "checking": f"Checking that fast and slow scoring agree, and that the run's own answers come out again{since}",
        "answering": f"Answering{since}",
    }.get(now.stage, now.stage) + " …"


def _note(now: AnswerProgress) -> None:
    """Remember how an answer ended, if it has; the answer itself lies on disk."""
    if not now.ended:
        return
    st.session_state[PENDING_KEY] = ""
    st.session_state[FAILED_KEY] = (now.answer_id, now.message) if now.stage == "failed" else ("", "")


def _failed() -> tuple[str, str]:
    failed: tuple[str, str] = st.session_state.get(FAILED_KEY, ("", ""))
    return failed


def _failure(answer_id: str) -> str:
    """Why there is no answer, or an empty text where there is one."""
    failed_id, message = _failed()
    if failed_id == answer_id:
        return message
    try:
        custom_question.read_answer(answer_id)
    except InputError as error:
        now = client.progress(answer_id) if custom_question.ID.match(answer_id) else None
        if now and not now.ended:  # a reload while it was on its way
            st.session_state[PENDING_KEY] = answer_id
            st.rerun()
        return now.message if now and now.stage == "failed" and now.message != client.GONE else str(error)
    return ""


# ---------------------------------------------------------------- the answer


def _show(answer: ModelAnswer, view: View) -> None:
    own = answer.own
    try:
        record, by = data.record(own.run_id), data.bench(own.run_id)
    except HedgeError as error:
        st.error(plain(sentence(f"the run that calibrated this answer can't be read: {error}")))
        return
    probabilities, found = one_question.asked(by, answer.logits)
    st.caption(f"{plain(own.model)}, calibrated by {plain(title(record))} · {_took(answer)}")
    if own.context:
        with st.container(border=True, height=180 if len(own.context) > 600 else "content"):
            st.text(own.context)
    st.subheader(plain(own.question), anchor=False)
    for warning in _warnings(answer, record, by):
        st.warning(plain(warning))
    option_bars(
        answer.options,
        found,
        by,
        label=None,
        version=f"{data.version(own.run_id)}:{answer.answer_id}:{answer.asked_at}",
        view=view,
    )
    options_in_full(probabilities, answer.options, found, by, label=None, view=view)
    with st.expander("The prompt, as the model read it"):
        st.code(answer.prompt, language=None, wrap_lines=True)


def _took(answer: ModelAnswer) -> str:
    after = f", after {answer.loading_s:.1f} s of loading" if answer.loading_s else ""
    return f"answered in {answer.milliseconds:,.0f} ms{after}"


def _warnings(answer: ModelAnswer, record: RunRecord, by: CalibratedRun) -> list[str]:
    """Why the guarantee may not speak of this question."""
    said = []
    if len(answer.options) != by.k:
        said.append(
            f"This question has {counted(len(answer.options), 'option')} and the calibrated ones have {by.k}, so the "
            f"guarantee says nothing of it. {_fitting(record, by)}"
        )
    if answer.own.model != record.spec.model:
        said.append(
            f"The run calibrated {record.spec.model_name}, not the model that answered: the guarantee says nothing of "
            "another model's answers. Launch a run of this model to calibrate it."
        )
    if not answer.is_as_recorded:
        said.append(
            f"Asked again, the model's answers to the run's own questions differ by {answer.recorded_difference:.3g} "
            f"in log-probability from what the run recorded, more than {answer.tolerance:.3g}: the calibration is not "
            "that of the model as it is here now. Repeat the run."
        )
    if answer.dropped:
        said.append(
            f"{counted(answer.dropped, 'example was', 'examples were')} left out so that the question fits into the "
            "model's context."
        )
    if answer.letter_mass < LITTLE_MASS:
        said.append(
            f"Only {answer.letter_mass:.0%} of the next word's probability fell on the letters: the model hardly took "
            "this for a question with lettered options."
        )
    return said
