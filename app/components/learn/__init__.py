"""The lesson's component: text, guesses and live figures. Data is sent once, and the browser computes everything.

``facts`` computes every figure in a text from the run, with the Alpha lab's arithmetic. ``words`` writes the texts,
``tangle`` makes numbers that can be dragged, ``guess`` asks and judges guesses, ``figures`` draws the steps, ``ending``
shows how the guesses fared, and ``lesson`` combines them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from app import navigation, state
from app.components.shared.seed import browser_shows, seed
from app.navigation import PageEntry
from app.state.alpha_lab import AlphaLabView
from app.state.learn import LearnView
from app.state.one_question import OneQuestionView
from charts.scripts import LIVE_CSS, bundle
from core.conformal.scores.table import score_table
from core.reports.lesson import Lesson

HERE = Path(__file__).parent
SCRIPT = HERE / "lesson.js"
KEY = "lesson"
GUESSES_KEY = "lesson_guesses"

_mount = st.components.v2.component(
    "hedge_lesson",
    html=(HERE / "lesson.html").read_text(encoding="utf-8"),
    css=LIVE_CSS.read_text(encoding="utf-8") + (HERE / "lesson.css").read_text(encoding="utf-8"),
    js=bundle(SCRIPT),
)


@dataclass(frozen=True, slots=True)
class Onward:
    """A page to which the end of the lesson leads, opened at the addresses' values ``view``."""

    page: PageEntry
    title: str
    text: str
    view: dict[str, str]

    def to_json(self) -> dict[str, str]:
        """The link as the browser needs it."""
        query = f"?{urlencode(self.view)}" if self.view else ""
        return {"name": self.page.name, "title": self.title, "text": self.text, "href": f"{self.page.name}{query}"}


def onwards(run_id: str) -> tuple[Onward, ...]:
    """The pages to which the end leads. They open with the lesson's run and alpha."""
    lab = state.address_of(state.fresh(AlphaLabView, run=run_id))
    own = state.address_of(state.fresh(OneQuestionView, run=run_id, ask="own"))
    return (
        Onward(navigation.ALPHA_LAB, "Open this run in the Alpha lab", "All its scores and questions.", lab),
        Onward(navigation.ONE_QUESTION, "Ask a question of your own", "See the model's prediction set for it.", own),
        Onward(navigation.NEW_RUN, "Run a benchmark", "Measure another model or another task.", {}),
    )


def lesson(
    told: Lesson, tables: Mapping[str, Any], *, version: str, name: str, model: str, run_id: str, view: LearnView
) -> None:
    """Mount the lesson ``told`` on a run's data (:func:`core.reports.lesson.lesson_tables`).

    ``version`` identifies the data, ``name`` is the run's title, and ``model`` the name of its model. The step, a
    released alpha and the guesses are stored when they change; the guesses are kept for the session.
    """
    start = seed(KEY, version, _shown(view, run_id))
    _mount(
        key=KEY,
        data={
            **tables,
            "version": version,
            "name": name,
            "model": model,
            "scores": score_table(),
            "steps": [asdict(step) for step in told.steps],
            "links": [onward.to_json() for onward in onwards(run_id)],
            "start": start.start,
            "revision": start.revision,
        },
        on_view_change=lambda: _take("view", run_id),
        on_leave_change=lambda: _leave(run_id),
    )


def _shown(view: LearnView, run_id: str) -> dict[str, Any]:
    guesses: dict[str, dict[str, Any]] = st.session_state.setdefault(GUESSES_KEY, {})
    return {"step": view.step, "alpha": view.alpha, "guesses": guesses.get(run_id, {})}


def _take(which: str, run_id: str) -> None:
    reported: dict[str, Any] = st.session_state[KEY].get(which) or {}
    texts: dict[str, str] = {name: str(reported[name]) for name in ("step", "alpha") if name in reported}
    view = state.read_changes(LearnView, texts)
    guesses = reported.get("guesses")
    if isinstance(guesses, Mapping):
        st.session_state.setdefault(GUESSES_KEY, {})[run_id] = dict(guesses)
    browser_shows(KEY, _shown(view, run_id))


def _leave(run_id: str) -> None:
    _take("leave", run_id)
    asked = (st.session_state[KEY].get("leave") or {}).get("page")
    for onward in onwards(run_id):
        if onward.page.name == asked:
            navigation.go(onward.page, **onward.view)
