"""The progress of an answer, and how it ended."""

import streamlit as st

from app.errors import spoken
from app.formatting import counted, plain
from core.runs.answering import client
from core.runs.answering.custom_question import AnswerProgress

PENDING_KEY, FAILED_KEY = "own_pending", "own_failed"
MB = 1_000_000
USUALLY = "a model that ships with Hedge usually needs 3 to 10 s the first time"


def watch_progress(answer_id: str, last_loading_s: float | None, *, on_server: bool = False) -> None:
    """Show the progress of an answer, with a button that stops it. Reruns the page when it ends.

    ``last_loading_s`` is what loading the model took before an earlier answer, or None if that is not known.
    A model ``on_server`` is not loaded.
    """
    with spoken():
        now = client.progress(answer_id)
        if now.ended:
            note_end(now)
            st.rerun()
        with st.container(border=True, horizontal=True, vertical_alignment="center"):
            if now.stage == "downloading" and now.total_bytes:
                st.progress(now.done_bytes / now.total_bytes, text=plain(in_words(now, None)))
            else:
                st.markdown(plain(in_words(now, last_loading_s, on_server=on_server)), width="stretch")
            if st.button("Stop"):
                client.stop(answer_id)


def in_words(now: AnswerProgress, last_loading_s: float | None, *, on_server: bool = False) -> str:
    """The progress of an answer as a sentence; ``last_loading_s`` is what loading the model took last time."""
    since = f", {now.seconds:.0f} s" if now.seconds >= 1 else ""
    if now.stage == "downloading":
        return f"Downloading the model: {now.done_bytes / MB:,.0f} of {now.total_bytes / MB:,.0f} MB …"
    usual = f"last time it took {last_loading_s:.0f} s" if last_loading_s else USUALLY
    return {
        "waiting": f"Waiting for {counted(now.ahead, 'other question')} …",
        "starting": f"Starting the process that answers{since} … ({USUALLY})",
        "loading": f"Asking the server what it can do{since} …"
        if on_server
        else f"Loading the model{since} … ({usual}; it then stays loaded)",
        "checking": f"Checking that the model still answers the run's own questions as recorded{since} …",
        "answering": f"Answering{since} …",
    }.get(now.stage, f"{now.stage} …")


def note_end(now: AnswerProgress) -> None:
    """Remember how an answer ended, if it has. The answer itself is on disk."""
    if not now.ended:
        return
    st.session_state[PENDING_KEY] = ""
    st.session_state[FAILED_KEY] = (now.answer_id, now.message) if now.stage == "failed" else ("", "")


def failed(answer_id: str) -> str:
    """The sentence with which an answer failed in this session, or an empty text."""
    failed_id, message = st.session_state.get(FAILED_KEY, ("", ""))
    return message if failed_id == answer_id else ""


def forget_failure() -> None:
    """Forget the failure, so that the same can be asked again."""
    st.session_state[FAILED_KEY] = ("", "")
