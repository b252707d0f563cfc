"""The lesson of a link with its data: that of a run which a person may choose, or of what ships with Hedge."""

from collections.abc import Mapping
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app import state, style
from app.caches import jury_cache, prompting_cache, run_cache
from app.caches.alpha_lab_cache import shifted, worst_pair
from app.caches.by_version import by_version
from app.caches.jury_cache import jury_key
from app.caches.run_cache import run_key
from app.components.learn import embedded_step, lesson
from app.components.shared.caveat_notes import caveat_line, caveat_note
from app.components.shared.downloads import about
from app.components.shared.embed import embed
from app.components.shared.run_picker import pick_run
from app.components.shared.runs import no_runs_yet, title
from app.errors import spoken
from app.showcase import default_run, first_run, lesson_run, showcase
from app.state.learn import LearnView
from charts.embed import embed_html
from core.jury.pipeline import jury_store
from core.reports import lesson as lessons
from core.reports.course import asking, calibration, juries
from core.reports.file_names import About
from core.reports.lesson import Lesson
from core.reports.prompting.experiments import PromptingExperiment, readings
from core.runs import store

HEIGHT = 720
LECTURE_KEY = "for_a_lecture"
PRESENT_HELP = "Fills the window with the lesson, in large type. Key: p. It needs a window at least 640 pixels wide."

WHAT = "A lesson with live figures"
OF_A_RUN = ("sets", "calibration")
"""The lessons that are about a run."""


def lesson_of(content: Lesson, view: LearnView, place: DeltaGenerator) -> None:
    """Show the lesson ``content``, which the view names. ``place`` is where the menu for lecturers stands."""
    if view.lesson in OF_A_RUN:
        _of_a_run(content, view, place)
        return
    with st.container(key=style.PRINTED_KEY), spoken():
        if view.lesson == "juries":
            _of_the_jury(content, view, place)
        if view.lesson == "asking":
            _of_the_experiment(content, view, place)


def _of_a_run(content: Lesson, view: LearnView, place: DeltaGenerator) -> None:
    finished = run_cache.runs().finished
    if not finished:
        no_runs_yet(WHAT)
        return
    above = st.container(key=style.PRINTED_KEY)
    known = {record.run_id for record in finished}
    with st.expander("Take the lesson with another run", expanded=bool(view.run) and view.run not in known):
        record = pick_run(view, WHAT, pinned_id=first_run(view.lesson))
    if record:
        tables_of = lesson_tables if view.lesson == "sets" else calibration_tables
        tables, named = tables_of(record.run_id), {"name": title(record), "model": record.spec.model_name}
        with above:
            version = run_cache.version(record.run_id)
            own = sources(record.run_id) | {view.lesson: record.run_id}
            lesson(content, tables, version=version, **named, view=view, sources=own)
            caveat_note(record)
        with place:
            subject = about([record.run_id])
            for_a_lecture(content, tables, **named, view=view, about=subject, source=caveat_line(record))


def _of_the_jury(content: Lesson, view: LearnView, place: DeltaGenerator) -> None:
    jury_id = showcase().jury
    tables, named = jury_tables(jury_id), {"name": jury_store.read_record(jury_id).name, "model": ""}
    version = str(jury_cache.jury_key(jury_id).stamp)
    lesson(content, tables, version=version, **named, view=view, sources=sources(_run(view)))
    with place:
        for_a_lecture(content, tables, **named, view=view, about=About())


def _of_the_experiment(content: Lesson, view: LearnView, place: DeltaGenerator) -> None:
    run_id = showcase().prompting
    model = run_cache.record(run_id).spec.model_name
    tables, named = asking_tables(run_id), {"name": f"{model}, by letter and by text", "model": model}
    lesson(content, tables, version=run_cache.version(run_id), **named, view=view, sources=sources(_run(view)))
    with place:
        for_a_lecture(content, tables, **named, view=view, about=About([model]))


def _run(view: LearnView) -> str:
    """The run of the lessons that are about one, or nothing if there is none."""
    finished = run_cache.runs().finished
    known = {record.run_id for record in finished}
    if view.run in known or not finished:
        return view.run
    return default_run(finished).run_id


def sources(run_id: str) -> dict[str, str]:
    """For each lesson the id of the run or jury that it is about, if a person has chosen the run ``run_id``."""
    of_runs = {name: lesson_run(name, run_id) for name in OF_A_RUN}
    return of_runs | {"juries": showcase().jury, "asking": showcase().prompting}


@st.fragment
def for_a_lecture(
    content: Lesson,
    tables: Mapping[str, Any],
    *,
    name: str,
    model: str,
    view: LearnView,
    about: About,
    source: str = "",
) -> None:
    """Show the menu for lecturers: the presenter view, the lecturer's sheet, and the view's step as an embed. The
    lesson's end has no embed, and the sheet no menu.

    ``tables``, ``name`` and ``model`` are those of :func:`app.components.learn.lesson`. The embed's file name says what
    it is ``about``, and ``source`` the caveats of its run.
    """
    if view.sheet == "on":
        return
    last = state.remembered(LearnView)
    if (last.present, last.sheet) != (view.present, view.sheet):  # a button of the menu changed the view
        st.rerun()
    menu = st.popover("For a lecture", icon=":material/co_present:", key=LECTURE_KEY, on_change="rerun")
    if not menu.open:
        return
    with menu:
        st.button("Present", on_click=_open, help=PRESENT_HELP, kwargs={"present": "1"})
        st.button("Lecturer’s sheet", on_click=_open, kwargs={"sheet": "on"})
        if view.step <= len(content.steps):
            _embed_step(content, tables, name=name, model=model, view=view, about=about, source=source)


def _open(**view: str) -> None:
    """Change the view, and close the menu."""
    state.change(LearnView, **view)
    st.session_state[LECTURE_KEY] = False


def _embed_step(
    content: Lesson,
    tables: Mapping[str, Any],
    *,
    name: str,
    model: str,
    view: LearnView,
    about: About,
    source: str,
) -> None:
    step = content.steps[view.step - 1]
    title = f"{content.title}: {step.title}"

    def html_file(theme: str, texts: bool) -> bytes:
        data = embedded_step(content, tables, name=name, model=model, view=view)
        return embed_html("lesson", data, title=title, source=source, theme=theme)

    what = f"lesson {view.lesson} {view.step} {step.name}"
    embed(html_file, lambda: about.file_name(what, "html"), title, height=HEIGHT, key="lesson", in_menu=True)


@by_version(run_key, max_entries=16, show_spinner="Reading the questions …")  # 0.2 MB per entry. A view needs one
def lesson_tables(run_id: str) -> dict[str, Any]:
    """The data from which the lesson's component computes its figures (:func:`core.reports.lesson.lesson_tables`)."""
    worst = worst_pair(run_id, "lac")
    shift = shifted((run_id, worst.source), (run_id, worst.target), "lac") if worst else None
    return lessons.lesson_tables(run_cache.evaluation(run_id), shift, worst)


@by_version(run_key, max_entries=16, show_spinner="Reading the questions …")  # 0.1 MB per entry. A view needs one
def calibration_tables(run_id: str) -> dict[str, Any]:
    """The data of the lesson on calibration (:func:`core.reports.course.calibration.calibration_tables`)."""
    return calibration.calibration_tables(run_cache.evaluation(run_id))


@by_version(jury_key, max_entries=4, show_spinner="Comparing the jurors …")  # 0.1 MB per entry. A view needs one
def jury_tables(jury_id: str) -> dict[str, Any]:
    """The data of the lesson on juries (:func:`core.reports.course.juries.jury_tables`)."""
    return juries.jury_tables(jury_cache.judgements(jury_id))


@by_version(run_key, max_entries=2, show_spinner="Comparing the ways of asking …")  # 0.2 MB per entry. A view needs one
def asking_tables(run_id: str) -> dict[str, Any]:
    """The data of the lesson on asking (:func:`core.reports.course.asking.asking_tables`), of a run's experiment. Runs
    of a person's own that would belong to it are left out."""
    experiment = PromptingExperiment.of(run_cache.record(run_id).spec)
    records = [item for item in prompting_cache.experiments()[experiment] if store.is_bundled(item.run_id)]
    ways = [item for item in readings(records) if item.method in asking.WAYS]
    chosen = [item for item in ways if item.strategy == experiment.strategy]
    return asking.asking_tables({item: prompting_cache.evaluation(item) for item in chosen})
