"""One step of a lesson: text, a live figure, and a question that the figure answers."""

from __future__ import annotations

import streamlit as st

from app import state
from app.caches import alpha_lab_cache, lesson_cache, run_cache
from app.components.alpha_lab import lab_alpha, lab_figure
from app.components.alpha_lab.shift import shift_figure
from app.components.shared.page_top import top_of_step
from app.components.shared.runs import title
from app.formatting import plain, unbroken
from app.state.learn import LearnView
from core.reports.lesson import Lesson, fill
from core.runs.store import RunRecord

STEP_KEY = "lesson_step"


def head(lesson: Lesson, view: LearnView) -> None:
    """Show the lesson's question, and its steps to choose from."""
    st.title(lesson.title, anchor=False)
    titles = [step.title for step in lesson.steps]
    st.session_state[STEP_KEY] = _place(lesson, view)
    st.pills(
        "Steps",
        range(len(titles)),
        format_func=lambda place: f"{place + 1} · {titles[place]}",
        key=STEP_KEY,
        required=True,
        on_change=_chosen,
    )
    top_of_step(_place(lesson, view))


def step(lesson: Lesson, view: LearnView, record: RunRecord) -> None:
    """Show the step that the view names, with a finished run's figures at the alpha set in the step's lab."""
    place = _place(lesson, view)
    told, run = lesson.steps[place], record.run_id
    key, start = f"lesson_{told.name}_{run}", int(told.start.get("alpha", LearnView().alpha))
    found = lesson_cache.lesson_facts(run, lab_alpha(key, start=start))
    figures = {name: plain(text) for name, text in found.items()}
    st.header(told.title, anchor=False)
    st.markdown(unbroken(fill(told.text, figures)), width=760)
    lab_figure(
        alpha_lab_cache.lab_tables(run),
        version=f"{run_cache.version(run)}:{told.name}",
        name=title(record),
        show=told.show,
        start=told.start,
        key=key,
    )
    pair = alpha_lab_cache.worst_pair(run, "lac") if told.shift else None
    if pair:
        shift = alpha_lab_cache.shifted((run, pair.source), (run, pair.target), "lac")
        shift_figure(shift, alpha=start, pairs=pair.pairs, key="lesson_shift")
    with st.container(border=True):
        st.markdown(unbroken(f"**{fill(told.question, figures)}**"))
        with st.expander("The answer", key=f"answer_{told.name}"):
            st.markdown(unbroken(fill(told.answer, figures)))
    back, on, _ = st.columns([1, 1, 4])
    last = place == len(lesson.steps) - 1
    back.button("Back", key="back", on_click=_go, args=(place - 1,), disabled=place == 0, width="stretch")
    on.button("Next", key="next", on_click=_go, args=(place + 1,), disabled=last, width="stretch")


def _place(lesson: Lesson, view: LearnView) -> int:
    return min(view.step, len(lesson.steps)) - 1


def _chosen() -> None:
    _go(int(st.session_state[STEP_KEY]))


def _go(place: int) -> None:
    state.change(LearnView, step=place + 1)
