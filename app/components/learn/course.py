"""The lesson of a link with its data: that of a run which a person may choose, or of what ships with Hedge."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app import style
from app.caches import jury_cache, run_cache
from app.components.learn import lesson, lesson_cache
from app.components.learn.embedded import embed_step
from app.components.shared.caveat_notes import caveat_line, caveat_note
from app.components.shared.downloads import about
from app.components.shared.run_picker import pick_run
from app.components.shared.runs import no_runs_yet, title
from app.errors import spoken
from app.showcase import default_run, showcase
from app.state.learn import LearnView
from core.jury.pipeline import jury_store
from core.reports.file_names import About
from core.reports.lesson import Lesson

WHAT = "A lesson with live figures"
OF_A_RUN = {"sets": lesson_cache.lesson_tables, "calibration": lesson_cache.calibration_tables}
"""The data of each lesson that is about a run."""


def lesson_of(told: Lesson, view: LearnView, place: DeltaGenerator) -> None:
    """Show the lesson ``told``, which the view names. ``place`` is where the button that embeds a step stands."""
    if view.lesson in OF_A_RUN:
        _of_a_run(told, view, place)
        return
    with st.container(key=style.PRINTED_KEY), spoken():
        if view.lesson == "juries":
            _of_the_jury(told, view, place)
        if view.lesson == "asking":
            _of_the_experiment(told, view, place)


def _of_a_run(told: Lesson, view: LearnView, place: DeltaGenerator) -> None:
    finished = run_cache.runs().finished
    if not finished:
        no_runs_yet(WHAT)
        return
    above = st.container(key=style.PRINTED_KEY)
    known = {record.run_id for record in finished}
    with st.expander("Take the lesson with another run", expanded=bool(view.run) and view.run not in known):
        record = pick_run(view, WHAT)
    if record:
        tables, named = OF_A_RUN[view.lesson](record.run_id), {"name": title(record), "model": record.spec.model_name}
        with above:
            version = run_cache.version(record.run_id)
            lesson(told, tables, version=version, **named, view=view, sources=sources(record.run_id))
            caveat_note(record)
        with place:
            subject = about([record.run_id])
            embed_step(told, tables, **named, view=view, about=subject, source=caveat_line(record))


def _of_the_jury(told: Lesson, view: LearnView, place: DeltaGenerator) -> None:
    jury_id = showcase().jury
    tables, named = lesson_cache.jury_tables(jury_id), {"name": jury_store.read_record(jury_id).name, "model": ""}
    version = str(jury_cache.jury_key(jury_id).stamp)
    lesson(told, tables, version=version, **named, view=view, sources=sources(_run(view)))
    with place:
        embed_step(told, tables, **named, view=view, about=About())


def _of_the_experiment(told: Lesson, view: LearnView, place: DeltaGenerator) -> None:
    run_id = showcase().prompting
    model = run_cache.record(run_id).spec.model_name
    tables, named = lesson_cache.asking_tables(run_id), {"name": f"{model}, by letter and by text", "model": model}
    lesson(told, tables, version=run_cache.version(run_id), **named, view=view, sources=sources(_run(view)))
    with place:
        embed_step(told, tables, **named, view=view, about=About([model]))


def _run(view: LearnView) -> str:
    """The run of the lessons that are about one, or nothing if there is none."""
    finished = run_cache.runs().finished
    known = {record.run_id for record in finished}
    if view.run in known or not finished:
        return view.run
    return default_run(finished).run_id


def sources(run_id: str) -> dict[str, str]:
    """For each lesson the id of the run or jury that it is about, if a person has chosen the run ``run_id``."""
    return {"sets": run_id, "calibration": run_id, "juries": showcase().jury, "asking": showcase().prompting}
