"""The form for a person's own question: question, options and context, and which model and calibration answer it."""

from collections.abc import Sequence
from pathlib import PurePath

import streamlit as st

from app import state
from app.caches import question_cache, run_cache
from app.components.one_question.own_examples import EXAMPLES, MODEL
from app.components.shared.answer_progress import PENDING_KEY
from app.components.shared.only_looking import may_launch
from app.components.shared.run_list import Picker
from app.components.shared.run_picker import one_line
from app.components.shared.runs import title
from app.formatting import counted, plain, sentence
from app.showcase import default_run
from app.state.one_question import OneQuestionView
from core import access
from core.access import UserRole
from core.errors import HedgeError, InputError
from core.models import model_sources
from core.models.model_fingerprint import in_spec
from core.models.replaced_weights import is_here
from core.models.server_address import ON_SERVERS
from core.records import DONT_KNOW, NONE_OF_ABOVE
from core.reports.question_kind import QuestionKind, best_run
from core.runs.answering import client, custom_question
from core.runs.answering.custom_question import MOST_OPTIONS, CustomQuestion
from core.runs.store import RunRecord

MODEL_KEY = "own_model"
CALIBRATION_PICKER = "calibrated_by"
QUESTION_KEY, CONTEXT_KEY, OPTIONS_KEY, EXTRA_KEY = "own_question", "own_context", "own_options", "own_extra"
SEEN_KEY, ASKED_KEY = "own_seen", "own_asked"
LATEST_KEY, PROBLEMS_KEY, HISTORY_KEY = "own_latest", "own_problems", "own_history"
AUTOMATIC = ""
"""The choice for which :func:`~core.reports.question_kind.best_run` picks the calibration."""
MODEL_HELP = "A model that ships with Hedge. You can also type a local folder or a Hugging Face hub id and press Enter."
RUN_HELP = (
    "The questions of this run calibrate the set. Your question is asked in the same way as the questions of this run: "
    "with the same instruction, examples and precision. If you choose none, it is a run of the model whose questions "
    "are most like yours."
)
KEYS_HELP = "Ctrl+Enter, or Cmd+Enter on a Mac, asks as well."


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
    _fill(own.question, own.options, context=own.context, model=own.model)
    if own.extra != _extra() and question_cache.question_kind(own.run_id).closing:
        st.session_state[EXTRA_KEY] = own.extra
    st.session_state[ASKED_KEY] = _typed_texts()
    return view


def _fill(question: str, options: Sequence[str], *, context: str = "", model: str) -> None:
    st.session_state[QUESTION_KEY] = question
    st.session_state[CONTEXT_KEY] = context
    st.session_state[OPTIONS_KEY] = "\n".join(options)
    st.session_state[MODEL_KEY] = model


def _typed_texts() -> tuple[str, ...]:
    return tuple(st.session_state.get(key) or "" for key in (QUESTION_KEY, CONTEXT_KEY, OPTIONS_KEY))


def calibrating_run(records: Sequence[RunRecord], view: OneQuestionView) -> RunRecord:
    """The run whose calibration forms the set: the one that a person chose, otherwise the one that fits the typed
    question. If several fit, the run of the link comes first, and then the run with which pages open.
    """
    by_id = {record.run_id: record for record in records}
    chosen = by_id.get(view.calibration)
    wanted = chosen or by_id.get(view.run) or default_run(records)
    st.session_state.setdefault(MODEL_KEY, wanted.spec.asked_model)
    if chosen:
        return chosen
    model = str(st.session_state.get(MODEL_KEY) or "")
    options = _typed_options()
    # A model on a server is calibrated by runs of its own, and Hedge loads no model in a server's precision.
    here = [record for record in records if not record.spec.servers or record.spec.asked_model == model]
    return best_run(
        _with_these_weights(here, model) or here or records,
        question_cache.question_kind,
        model=model,
        typed=len(options) if options else None,
        extra=_extra(),
        has_context=bool((st.session_state.get(CONTEXT_KEY) or "").strip()),
        prefer=wanted.run_id,
    )


def _with_these_weights(records: Sequence[RunRecord], model: str) -> list[RunRecord]:
    """The runs of a model with the weights that are there now."""
    of_model = [record for record in records if record.spec.asked_model == model]
    if not any(record.spec.model_fingerprint for record in of_model) or not is_here(model):
        return []
    try:
        now = in_spec(model)
    except InputError:  # asking it says what is wrong
        return []
    return [record for record in of_model if record.spec.model_fingerprint == now]


def _extra() -> bool:
    return bool(st.session_state.get(EXTRA_KEY, True))


def _typed_options() -> tuple[str, ...]:
    lines = (st.session_state.get(OPTIONS_KEY) or "").splitlines()
    return tuple(line.strip() for line in lines if line.strip())


def question_form(record: RunRecord) -> None:
    """Show the form, with a sentence below each field that has to be changed. Typed text is kept, whatever happens."""
    kind = question_cache.question_kind(record.run_id)
    with st.form("own", border=True):
        st.text_area(
            "Question",
            key=QUESTION_KEY,
            height=68,
            placeholder="Which planet is closest to the Sun?",
            persist_state="session",
        )
        _problem("question")
        st.text_area(
            f"Options, one per line (2 to {MOST_OPTIONS})",
            key=OPTIONS_KEY,
            height=122,
            placeholder="Venus\nMercury\nMars\nEarth",
            help=fitting_options(kind),
            persist_state="session",
        )
        _problem("options")
        if kind.closing:
            st.session_state.setdefault(EXTRA_KEY, True)
            st.toggle(f"Also offer “{DONT_KNOW}” and “{NONE_OF_ABOVE}”", key=EXTRA_KEY, persist_state="session")
        with st.expander("A text that the question is about", expanded=bool(st.session_state.get(CONTEXT_KEY))):
            st.text_area(
                "Context",
                key=CONTEXT_KEY,
                height=98,
                placeholder="A passage, a dialogue or a situation, if the question needs one",
                label_visibility="collapsed",
                persist_state="session",
            )
        _problem("context")
        with st.container(horizontal=True, vertical_alignment="center"):
            # A callback, because a message that arrives during the click may interrupt the page's run.
            st.form_submit_button("**Ask**", key="own_ask", on_click=_ask_typed, help=KEYS_HELP)
            st.form_submit_button(
                "Clear", key="own_clear", on_click=_clear, help="Empties the form for the next question."
            )
    if problem := _problems().get(""):
        st.error(plain(sentence(problem)))


def _problems() -> dict[str, str]:
    """One sentence for each field that has to be changed, by its name; "" is what concerns none of them."""
    problems: dict[str, str] = st.session_state.get(PROBLEMS_KEY) or {}
    return problems


def _problem(field: str) -> None:
    """Say what has to be changed, in a container: what follows keeps its place, and the button "Ask" the focus."""
    with st.container():
        if problem := _problems().get(field):
            st.error(plain(sentence(problem)))


def model_and_calibration(records: Sequence[RunRecord], record: RunRecord, view: OneQuestionView) -> None:
    """Show which model and calibration are used, with the choice of the model folded away."""
    known = [*filter(model_sources.ships, (MODEL,)), *model_sources.bundled_models()]
    if access.may(UserRole.LAUNCHER):
        known = list(dict.fromkeys([*known, *(earlier.spec.asked_model for earlier in records)]))
    chosen = str(st.session_state.get(MODEL_KEY) or "")
    by_id = {earlier.run_id: earlier for earlier in records}
    name = _short_name(chosen) or "none chosen"
    may_name = access.may(UserRole.LAUNCHER)
    with st.popover(plain(f"Model: {name}"), width="stretch"):
        may_launch("ask a model that does not ship with Hedge")
        st.selectbox(
            "Model",
            known if chosen in known or not chosen else [chosen, *known],
            accept_new_options=may_name,
            key=MODEL_KEY,
            help=MODEL_HELP if may_name else MODEL_HELP.partition(" You can also")[0],
            persist_state="session",
            on_change=_model_chosen,
        )
    _pick_calibration(records, record, chosen, automatic=view.calibration not in by_id)
    for field in ("model", "run_id"):
        _problem(field)


def _short_name(model: str) -> str:
    """The name without its folder or its servers."""
    return PurePath(model.partition(ON_SERVERS)[0]).name


def _pick_calibration(records: Sequence[RunRecord], record: RunRecord, model: str, *, automatic: bool) -> None:
    """Show which run calibrates, with a button to choose another. The list begins with the runs of the ``model``."""
    name = _short_name(model)
    if any(candidate.spec.model_name == name for candidate in records):
        st.session_state.setdefault(f"{CALIBRATION_PICKER}_pick_models", [name])

    def take(run_ids: tuple[str, ...]) -> None:
        state.choose_run(run_ids[0])
        state.change(OneQuestionView, calibration=run_ids[0])

    picker = Picker(CALIBRATION_PICKER, records, () if automatic else (record.run_id,), take, ranges=True)
    chosen_by = "chosen automatically" if automatic else "chosen by you"
    one_line(picker, f"Calibrated by {title(record)}", chosen_by, help=RUN_HELP)
    if not automatic:
        st.button("Choose automatically", key="own_automatic", on_click=_calibrate_automatically)


def _calibrate_automatically() -> None:
    state.change(OneQuestionView, calibration=AUTOMATIC)


def _model_chosen() -> None:
    """Return to the automatic calibration, unless the chosen one is of the newly chosen model."""
    st.session_state.pop(f"{CALIBRATION_PICKER}_pick_models", None)
    by_id = {record.run_id: record for record in run_cache.runs().records}
    chosen = by_id.get(state.remembered(OneQuestionView).calibration)
    if chosen and chosen.spec.asked_model != st.session_state[MODEL_KEY]:
        state.change(OneQuestionView, calibration=AUTOMATIC)


def fitting_options(kind: QuestionKind) -> str:
    """Say how many options a question needs to be like those of the run."""
    if not kind.closing:
        return f"The questions that calibrate the set have {counted(kind.options, 'option')}."
    return (
        f"The questions that calibrate the set have {counted(kind.own, 'option')}, and “{DONT_KNOW}” and "
        f"“{NONE_OF_ABOVE}” besides."
    )


def warm_model(model: str, record: RunRecord) -> None:
    """Load a bundled model while a person types. A model of the hub is downloaded only when it is asked."""
    if model_sources.ships(model):
        client.warm(model, record.spec.dtype)


def askable_runs() -> list[RunRecord]:
    """The finished runs whose way of asking is known, so that another question can be asked in the same way."""
    return [record for record in run_cache.runs().answered if record.is_computed]


def ask_example(name: str) -> None:
    """Fill the form with an example and ask it, calibrated by the run that fits, whichever one is selected."""
    example = EXAMPLES[name]
    _fill(example.question, example.options, model=MODEL)
    state.change(OneQuestionView, calibration=AUTOMATIC)
    _send(OneQuestionView())


def _ask_typed() -> None:
    _send(state.remembered(OneQuestionView))


def _clear() -> None:
    for key in (QUESTION_KEY, CONTEXT_KEY, OPTIONS_KEY):
        st.session_state[key] = ""
    st.session_state[PROBLEMS_KEY] = {}


def _send(view: OneQuestionView) -> None:
    """Submit the typed question, or remember what has to be changed first."""
    st.session_state[PROBLEMS_KEY] = {}
    try:
        record = calibrating_run(askable_runs(), view)
        typed = {
            "model": str(st.session_state.get(MODEL_KEY) or ""),
            "run_id": record.run_id,
            "question": (st.session_state.get(QUESTION_KEY) or "").strip(),
            "context": (st.session_state.get(CONTEXT_KEY) or "").strip(),
        }
        options = _typed_options()
        extra = _extra() and question_cache.question_kind(record.run_id).closing > 0
        if problems := custom_question.problems(**typed, options=options, extra=extra):
            st.session_state[PROBLEMS_KEY] = problems
            return
        own = CustomQuestion(**typed, options=options, extra=extra)
        client.ask(own)
    except HedgeError as error:
        st.session_state[PROBLEMS_KEY] = {"": str(error)}
        return
    name = own.answer_id
    st.session_state[LATEST_KEY] = st.session_state[PENDING_KEY] = st.session_state[SEEN_KEY] = name
    st.session_state[ASKED_KEY] = _typed_texts()
    earlier = [name_before for name_before in st.session_state.get(HISTORY_KEY, ()) if name_before != name]
    st.session_state[HISTORY_KEY] = (name, *earlier)
