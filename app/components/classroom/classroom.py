"""The Classroom page: open a class or continue one, the projector, and what is left afterwards."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial

import streamlit as st

from app import navigation
from app.classroom import desks, invite
from app.components.classroom import projector
from app.components.classroom.own_questions import own_form, watch_model
from app.components.shared.only_looking import only_looking
from app.serving import login
from core import access
from core.access import UserRole
from core.conformal.alpha import THOUSAND
from core.errors import HedgeError
from core.exchange.writing import MEDIA_TYPES
from core.questions import TASKS
from core.questions.bank_names import task_title
from core.reports.file_names import file_name
from core.serving.classroom import class_results, class_run, lecture, live_class, quiz
from core.serving.classroom.class_state import smallest_alpha
from core.serving.classroom.live_class import LiveClass

SAVED_KEY = "saved_class_runs"

SESSION_KEY = "is_lecturer"
NAMES_KEY = "results_with_names"
RESULTS_HELP = (
    "A row for each person with answers, confidence and Brier score, and one for the class and its model. The Brier "
    "score is 0 for 100% on the right option and 2 for 100% on a wrong one. XLSX adds the questions and all answers."
)

SEED_BITS = 31

CHOSEN = "class"
"""The name in the address of the class that is shown."""


def classroom() -> None:
    """Show the class that the lecturer leads, or the form that opens one."""
    take_link()
    with acting() as may_lead:
        if may_lead:
            _lead()
        else:
            _visit()


def _visit() -> None:
    only_looking("open a class")
    if access.mode() == "public":
        if st.query_params.get(CHOSEN):
            st.markdown("If you lead this class, open your lecturer's link again. The class is still open there.")
        st.caption("The person who started this server with `--lecturer` has a link that opens classes here.")
    st.markdown("To take part in a class, open the address that the lecturer shows. You need no account for that.")


def _lead() -> None:
    own = lecture.own_classes()
    page = st.context.url or ""
    linked = st.query_params.get(CHOSEN, "")
    chosen = linked if linked in own else ""
    if not chosen:
        if linked:
            del st.query_params[CHOSEN]
        if code := open_form(page) or _earlier(own):
            st.query_params[CHOSEN] = code
            st.rerun()
        return
    try:
        live = live_class.find(chosen)
    except HedgeError:
        del st.query_params[CHOSEN]
        raise
    projector(live, page=page, on_phase=lambda: None)
    watch_model(live)
    if after_quiz(live):
        del st.query_params[CHOSEN]
        st.rerun()


def _earlier(own: list[str]) -> str:
    """The code of an open class to continue; empty if none was chosen."""
    if not own:
        return ""
    st.caption("Classes that are still open:")
    with st.container(horizontal=True):
        for code in own:
            if st.button(f"Continue {code}", key=f"go_on_{code}"):
                return code
    return ""


def open_form(page: str) -> str:
    """The form; the code of the class if one was opened. ``page`` is the address of the lecturer's page."""
    reach = invite.problem(page)
    st.markdown(
        "People answer questions on their phones and say how sure they are. Their answers become prediction sets and a "
        "reliability diagram, beside a small model's sets.\n\n"
        + (reach or "Phones can join as soon as you open a class.")
    )
    with st.form("open_class", border=False, enter_to_submit=False):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            task = st.selectbox("Questions", quiz.TASKS, format_func=TASKS.__getitem__, width=320)
            is_opened = st.form_submit_button("Open a class")
        with st.expander("Model and number of questions"):
            model = st.selectbox("Model beside the class", quiz.MODELS)
            n = st.slider("Number of questions", quiz.LEAST, 24, 12, step=2)
            m = n // 2
            st.caption(
                "The first half calibrates, the second half tests. With 12 questions, alpha can't be smaller than "
                f"{smallest_alpha(6) / THOUSAND:.3f}: below that, every option stays in every set."
            )
    if reach:
        with st.expander("How phones can join"):
            st.markdown(invite.remedy(page))
    if not is_opened:
        return own_form()
    drawn = quiz.draw(task, model=model, n=n, calibration=m, seed=secrets.randbits(SEED_BITS))
    return lecture.open_class(drawn).code


def take_link() -> None:
    """Take the key of the printed link out of the address, where a projector would show it, and remember whose it is.

    A wrong key is reported.
    """
    key = st.query_params.get(desks.LECTURER, "")
    if not key:
        return
    del st.query_params[desks.LECTURER]
    if access.mode() != "public":
        return
    st.session_state[SESSION_KEY] = desks.is_lecturer(key)
    if not st.session_state[SESSION_KEY]:
        st.error("This link for lecturers is not of this server as it runs now. Take the one that was printed last.")


@contextmanager
def acting() -> Iterator[bool]:
    """Do the block as a lecturer if the reader is one by the printed link; whether the reader may open a class."""
    by_link = access.mode() == "public" and bool(st.session_state.get(SESSION_KEY))
    with access.acting_as(desks.lecturer(login.address())) if by_link else nullcontext():
        yield access.may(UserRole.LAUNCHER)


def after_quiz(live: LiveClass) -> bool:
    """The buttons below the projector; whether the class was ended."""
    with st.expander("Save, export, end", key="after_quiz_open", on_change="rerun"):  # answers come without a run
        if live.phase == "results" and live.answers:
            _save(live)
        else:
            st.caption("A class becomes a run when its quiz is over.")
        if live.answers:
            _export(live)
        st.caption("Ending the class closes it on all phones at once. By itself it ends after a day.")
        if st.button("End the class"):
            lecture.end_class(live.code)
            return True
    return False


def _save(live: LiveClass) -> None:
    saved: dict[str, str] = st.session_state.setdefault(f"{SAVED_KEY}_{live.code}", {})
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if st.button("Save the class as a run"):
            titles = ("The class", f"{live.quiz.model} on the same questions")
            saved |= dict(zip(titles, class_run.save_class(live.code), strict=False))
        seat = st.selectbox("Seat", sorted(live.all_shares()), width=120)
        if st.button("Save this seat as a run") and seat:
            saved[f"Seat {seat}"] = class_run.save_seat(live.code, seat)
    for title, run_id in saved.items():
        with st.container(horizontal=True):
            st.markdown(f"{title}:", width="content")
            navigation.link(navigation.ALPHA_LAB, "Alpha lab", run=run_id, alpha=str(live.alpha))
            navigation.link(navigation.OVERVIEW, "Overview")
    if len(saved) > 1:
        navigation.link(navigation.COMPARE, "Compare them", runs=",".join(saved.values()), published="off")


def _export(live: LiveClass) -> None:
    tasks = [task_title(live.quiz.task, live.quiz.bank)]
    names = bool(st.session_state.get(NAMES_KEY))  # the file is made in a thread without a session
    with st.container(horizontal=True, vertical_alignment="center"):
        for form in class_results.FORMATS:
            name = file_name("results", form, models=[f"class {live.code}"], tasks=tasks)
            st.download_button(
                f"Results ({form.upper()})",
                access.carried(partial(class_results.results_file, live.code, form, names=names)),
                file_name=name,
                mime=MEDIA_TYPES[form],
                on_click="ignore",
                help=RESULTS_HELP,
                key=f"results_{form}",
            )
        st.checkbox("With names", value=False, key=NAMES_KEY)
