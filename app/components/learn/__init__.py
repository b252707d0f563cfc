"""The lessons' component: text, guesses and live figures. Data is sent once, and the browser computes everything.

``every_lesson`` lists the lessons. ``facts`` computes every figure in a text of the lesson on prediction sets from the
run, with the Alpha lab's arithmetic, and the folders ``calibration``, ``juries`` and ``asking`` those of the other
lessons. ``words`` writes the texts, ``tangle`` makes numbers that can be dragged, ``guess`` asks and judges guesses,
``figures`` draws the steps, ``ending`` shows how the guesses fared, ``chooser`` leads from lesson to lesson, ``sheet``
prints a lesson for a lecturer, and ``lesson`` combines them.
"""

import re
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from app import navigation, state
from app.components.learn.onward import Onward, onwards
from app.components.shared.bundled import component
from app.components.shared.messages import message, message_texts
from app.components.shared.seed import browser_shows, seed
from app.glossary import TERMS
from app.showcase import lesson_run
from app.state.learn import LearnView
from app.state.presented import PRESENTED_NAMES
from core.conformal.scores.table import score_table
from core.reports.lesson import LESSONS, Lesson, load, readable

__all__ = ["GUESSES_KEY", "KEY", "Onward", "lesson", "meanings", "onwards"]

KEY = "lesson"
NAMES = ("step", "alpha", *PRESENTED_NAMES)
"""The fields of a view that the component shows and changes."""
LONGEST_GUESSES = 20_000
"""Characters of the guesses that a browser may report."""
GUESSES_KEY = "lesson_guesses"
PLACES_KEY = "lesson_places"
"""The step at which each lesson was left."""
BOLD = re.compile(r"\*\*(.+?)\*\*")

_mount = component("lesson", Path(__file__).with_name("lesson.html"))


def meanings(content: Lesson) -> dict[str, str]:
    """The glossary's meaning of each term that the lesson's texts set in bold, by the term in lower case."""
    by_title = {term.title.lower(): term.meaning for term in TERMS.values()}
    by_title["exchangeable"] = TERMS["exchangeability"].meaning
    bold = {name.lower() for step in content.steps for text in step.texts for name in BOLD.findall(text)}
    bold.add("threshold")  # which a sentence of facts.js sets in bold
    return {name: by_title[name] for name in sorted(bold & by_title.keys())}


def lesson(
    content: Lesson,
    tables: Mapping[str, Any],
    *,
    version: str,
    name: str,
    model: str,
    view: LearnView,
    sources: Mapping[str, str],
) -> None:
    """Mount the lesson ``content``, which the view names, on its data (:func:`core.reports.lesson.lesson_tables` and
    :mod:`core.reports.course`).

    ``version`` identifies the data, ``name`` is the title of the run or jury, and ``model`` the name of its model.
    ``sources`` holds for each lesson the id of the run or jury that it is about. The step, a released alpha and the
    guesses are stored when they change; the guesses are kept for the session, for each source.
    """
    source = sources[view.lesson]
    start = seed(KEY, f"{view.lesson} {version}", _shown(view, sources))
    _mount(
        key=KEY,
        data={
            **_told(content, tables, name=name, model=model, lesson=view.lesson),
            "version": f"{view.lesson} {version}",
            "links": [onward.to_json() for onward in onwards(source, view.lesson)],
            "lessons": _lessons(view),
            "start": start.start,
            "revision": start.revision,
        },
        on_view_change=lambda: _take("view", source, sources),
        on_leave_change=lambda: _leave(source, view.lesson, sources),
    )


def embedded_lesson(
    content: Lesson, tables: Mapping[str, Any], *, name: str, model: str, view: LearnView
) -> dict[str, Any]:
    """The data of a whole lesson, from its first step, outside the app (:mod:`charts.embed`). Nothing in it is guessed
    yet."""
    steps = len(content.steps)
    course = {"name": view.lesson, "short": content.short, "title": content.title, "href": ""}
    start = {"step": 1, "alpha": view.alpha, "present": "0", "shown": "page"}
    return {
        **_told(content, tables, name=name, model=model, lesson=view.lesson),
        "version": "embed",
        "links": [],
        "lessons": [course | {"steps": steps}],
        "start": {**start, "guesses": {}, "answered": {}, "sheet": False},
        "revision": 0,
    }


def embedded_step(
    content: Lesson, tables: Mapping[str, Any], *, name: str, model: str, view: LearnView
) -> dict[str, Any]:
    """The data of the view's step alone, in the same way."""
    alone = replace(content, steps=(content.steps[view.step - 1],))
    return embedded_lesson(alone, tables, name=name, model=model, view=view)


def _told(content: Lesson, tables: Mapping[str, Any], *, name: str, model: str, lesson: str) -> dict[str, Any]:
    return {
        **tables,
        "name": name,
        "model": model,
        "scores": score_table(),
        "steps": [asdict(step) for step in content.steps],
        "meanings": meanings(content),
        "lesson": lesson,
    }


def _lessons(view: LearnView) -> list[dict[str, Any]]:
    """Every lesson that can be read for the chooser, with the link to it."""

    def href(name: str) -> str:
        run_id = lesson_run(name, view.run)
        query = urlencode(state.address_of(state.fresh(LearnView, run=run_id, lesson=name)))
        return f"learn?{query}" if query else "learn"

    lessons = []
    for name in LESSONS:
        if not (content := readable(name)):
            continue
        steps = len(content.steps)
        lessons.append(
            {"name": name, "short": content.short, "title": content.title, "steps": steps, "href": href(name)}
        )
    return lessons


def _shown(view: LearnView, sources: Mapping[str, str]) -> dict[str, Any]:
    guesses: dict[str, dict[str, Any]] = st.session_state.setdefault(GUESSES_KEY, {})

    def guesses_of(name: str) -> dict[str, Any]:
        """The guesses of a lesson; a source may be that of several lessons."""
        own_guesses, content = guesses.get(sources.get(name, ""), {}), readable(name)
        return (
            {step.name: own_guesses[step.name] for step in content.steps if step.name in own_guesses} if content else {}
        )

    return {name: getattr(view, name) for name in NAMES} | {
        "guesses": guesses_of(view.lesson),
        "answered": {name: len(guesses_of(name)) for name in LESSONS},
        "sheet": view.sheet == "on",
    }


def _take(which: str, source: str, sources: Mapping[str, str] | None = None) -> None:
    texts = message_texts(KEY, which)
    view = state.read_changes(LearnView, {name: texts[name] for name in NAMES if name in texts})
    guesses = message(KEY, which).get("guesses")
    if isinstance(guesses, Mapping) and len(repr(guesses)) <= LONGEST_GUESSES:
        steps = {step.name for step in load(LESSONS[view.lesson]).steps}
        earlier = st.session_state.setdefault(GUESSES_KEY, {}).get(source, {})
        others = {name: guess for name, guess in earlier.items() if name not in steps}
        st.session_state[GUESSES_KEY][source] = others | dict(guesses)
    st.session_state.setdefault(PLACES_KEY, {})[view.lesson] = view.step
    browser_shows(KEY, _shown(view, sources or {view.lesson: source}))


def _leave(source: str, lesson: str = "sets", sources: Mapping[str, str] | None = None) -> None:
    _take("leave", source, sources)
    reported = message_texts(KEY, "leave")
    if reported.get("lesson") in LESSONS:
        step = st.session_state[PLACES_KEY].get(reported["lesson"], 1)
        changes = {"lesson": reported["lesson"], "step": str(step), "sheet": "off"}
        run_id = lesson_run(reported["lesson"], state.remembered(LearnView).run)
        state.read_changes(LearnView, changes | {"run": run_id})
    elif "sheet" in reported:
        state.read_changes(LearnView, {"sheet": reported["sheet"]})
    for onward in onwards(source, lesson):
        if not onward.lesson and onward.page.name == reported.get("page"):
            navigation.go(onward.page, **onward.view)
