"""What a lecturer takes from a class: its runs, a table of its answers, and its end."""

from __future__ import annotations

import streamlit as st

from app import navigation
from core.questions.bank_names import task_title
from core.reports.file_names import file_name
from core.serving.classroom import class_run, lecture
from core.serving.classroom.live_class import LiveClass

SAVED_KEY = "saved_class_runs"


def after_quiz(live: LiveClass) -> bool:
    """The buttons below the projector; whether the class was ended."""
    with st.expander("Save, export, end"):
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
            own, model = class_run.save_class(live.code)
            saved["The class"], saved[f"{live.quiz.model} on the same questions"] = own, model
        seat = st.selectbox("Seat", sorted(live.all_shares()), width=120)
        if st.button("Save this seat as a run") and seat:
            saved[f"Seat {seat}"] = class_run.save_seat(live.code, seat)
    for title, run_id in saved.items():
        with st.container(horizontal=True):
            st.markdown(f"{title}:", width="content")
            navigation.link(navigation.ALPHA_LAB, "Alpha lab", run=run_id, alpha=str(live.alpha))
            navigation.link(navigation.OVERVIEW, "Overview")
    if len(saved) > 1:
        navigation.link(navigation.COMPARE, "Compare them", runs=",".join(saved.values()))


def _export(live: LiveClass) -> None:
    names = st.checkbox("Write names into the table", value=False)
    name = file_name(
        "answers", "csv", models=[f"class {live.code}"], tasks=[task_title(live.quiz.task, live.quiz.bank)]
    )
    st.download_button(
        "Download the answers (CSV)",
        lambda: class_run.answers_table(live.code, names=names).to_csv(index=False),
        file_name=name,
        mime="text/csv",
        on_click="ignore",
    )
