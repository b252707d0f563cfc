"""One step of a lesson as one HTML file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.components.learn import embedded_step
from app.components.shared.embed import embed
from app.state.learn import LearnView
from charts.embed import embed_html
from core.reports.file_names import About
from core.reports.lesson import Lesson

HEIGHT = 720


def embed_step(
    told: Lesson,
    tables: Mapping[str, Any],
    *,
    name: str,
    model: str,
    view: LearnView,
    about: About,
    source: str = "",
) -> None:
    """Show the button that embeds the view's step; nothing at the lesson's end and on the lecturer's sheet.

    ``tables``, ``name`` and ``model`` are those of :func:`app.components.learn.lesson`. The file's name says what it is
    ``about``, and ``source`` the caveats of its run.
    """
    if view.sheet == "on" or view.step > len(told.steps):
        return
    step = told.steps[view.step - 1]
    title = f"{told.title}: {step.title}"

    def made(theme: str, texts: bool) -> bytes:
        data = embedded_step(told, tables, name=name, model=model, view=view)
        return embed_html("lesson", data, title=title, source=source, theme=theme)

    what = f"lesson {view.lesson} {view.step} {step.name}"
    embed(made, lambda: about.file_name(what, "html"), title, height=HEIGHT, key="lesson")
