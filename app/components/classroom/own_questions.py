"""The form for a class with a lecturer's own questions, and the progress of a model's run of them."""

import secrets
import tempfile
from pathlib import Path
from typing import Any

import streamlit as st

from app.components.new_run.form import known_models
from app.components.shared.only_looking import others_are_served
from app.errors import spoken
from app.formatting import counted, plain, sentence
from core import access
from core.errors import HedgeError, InputError, Undecided
from core.exchange.dropped.apart import apart
from core.questions import local_file
from core.questions.local_file import BankFile
from core.reports.toy_models import what_they_are
from core.runs.status import RunStatus
from core.runs.store import STATE_WORDS
from core.serving.classroom import lecture, own_questions
from core.serving.classroom.live_class import LiveClass
from core.serving.classroom.quiz import LEAST, MOST

USUAL = 24
"""The most questions that are chosen at first."""
LONGEST_TEXT = 100_000
SEED_BITS = 31
POLL_S = 2.0
READ_KEY = "own_questions_file"
EXAMPLE = """Which planet is nearest to the sun?
Venus
*Mercury
Mars

::GIFT works too:: 2 + 2 = {~3 =4 ~5}"""
HELP = (
    "A question, then one option a line, with * before the right one, and an empty line between questions. You can "
    "also paste GIFT or Moodle's XML. Press Ctrl+Enter or leave the field, and the page says what it read."
)
FILE_HELP = "A question bank in any form that Hedge reads: CSV, XLSX, JSON, Parquet, Moodle XML or GIFT."
PUBLIC = "A public server takes no files and starts no runs: paste your questions, and the class has no model."
LISTED = "The run and its right answers are listed on this server, for everyone who can open its pages."


def own_form() -> str:
    """The form, folded; the code of the class if one was opened."""
    code = ""
    with st.expander("Ask your own questions"), spoken():
        code = _form()
    return code


def _form() -> str:
    text = st.text_area(
        "Your questions",
        height=220,
        max_chars=LONGEST_TEXT,
        placeholder=EXAMPLE,
        help=HELP,
        key="own_text",
    )
    is_public = access.mode() == "public"
    file = None if is_public else st.file_uploader("Or a file, in place of the text", help=FILE_HELP, key="own_file")
    bank = _bank(text, file)
    most = 0
    if bank:
        count, most = counted(len(bank.questions), "question"), min(MOST, len(bank.questions))
        st.caption(plain(f"{count} read{bank.read_as.removeprefix(count)}."))
    n = most
    if most > LEAST:
        n = st.slider("Number of questions", LEAST, most, min(USUAL, most), key=f"own_n_{most}")
    model = "" if is_public else _model()
    if is_public:
        st.caption(PUBLIC)
    if not st.button("Ask these questions"):
        return ""
    if bank is None:
        raise InputError("there are no questions yet; write some, or choose a file")
    name = own_questions.task_name(file.name) if file else own_questions.TYPED
    quiz = own_questions.own_quiz(bank.questions, name=name, n=n, calibration=n // 2, seed=secrets.randbits(SEED_BITS))
    return lecture.open_class(own_questions.with_model(quiz, model) if model else quiz).code


def _bank(text: str, file: Any) -> BankFile | None:
    """The questions of the file, or of the text; None without any. What can't be read is said in one sentence."""
    try:
        if file is not None:
            return _read(file)
        return local_file.read_typed(text, own_questions.TYPED) if text.strip() else None
    except Undecided as error:
        st.warning(plain(sentence(f"{str(error).split('; ')[0]}; give the answers as letters")))
    except HedgeError as error:
        st.warning(plain(sentence(str(error))))
    return None


def _read(file: Any) -> BankFile:
    """The questions of an uploaded file, which is read once, in a process with limits."""
    known: tuple[str, BankFile] = st.session_state.get(READ_KEY, ("", None))
    if known[0] != file.file_id:
        with st.spinner("Reading the file"), tempfile.TemporaryDirectory(prefix="hedge-class-") as folder:
            path = Path(folder) / "upload"
            path.write_bytes(file.getbuffer())
            known = file.file_id, apart(own_questions.read_file, path, file.name, name=file.name)
        st.session_state[READ_KEY] = known
    return known[1]


def _model() -> str:
    """The model that answers the same questions; empty for none."""
    offered = ["", *known_models()]
    model = st.selectbox(
        "Model that answers them too", offered, format_func=lambda name: name or "No model", key="own_model"
    )
    if model:
        words = [what_they_are([model]), LISTED if others_are_served() else ""]
        st.caption(plain(" ".join(filter(None, words))))
    return model


def watch_model(live: LiveClass) -> None:
    """Say how far the model's run is, while the class waits for its answers."""
    if live.quiz.run_id and not live.quiz.has_answers:
        st.fragment(_watch, run_every=POLL_S)(live)


def _watch(live: LiveClass) -> None:
    with spoken():
        now = own_questions.take_answers(live)
        if now is None:
            st.rerun()  # the class has the answers, and polling ends
        st.caption(plain(progress_in_words(live.quiz.model, now)))


def progress_in_words(model: str, now: RunStatus) -> str:
    """How far a model's run of the class's questions is, in one or two sentences."""
    if now.progress and now.state == "running":
        return (
            f"{model} has answered {now.progress.done} of {now.progress.total} questions. Until it has answered all, "
            "the class is shown alone."
        )
    why = f" {now.message}" if now.message else ""
    return f"The run of {model} on these questions is {STATE_WORDS[now.state]}, so the class is shown alone.{why}"
