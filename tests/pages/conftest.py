"""Pages as AppTest runs them, in a home of their own and without an agent."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from altair.vegalite.v6.schema import core
from streamlit.testing.v1 import AppTest

from app.background import Computation
from charts.figure import Figure
from core.settings import ROOT

Open = Callable[..., AppTest]


@pytest.fixture
def open_page(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    """Opens a page by its name in the address, with its view.

    No run ships, none is queued, no agent is started, and no model is loaded before it is asked.
    """
    monkeypatch.setattr("core.runs.store.ASSETS", home.parent / "assets")
    monkeypatch.setattr("core.runs.engine.agent_alive", lambda: True)
    monkeypatch.setattr("core.runs.engine.statuses", lambda: [])
    monkeypatch.setattr(Figure, "page_spec", _validated(Figure.page_spec))
    monkeypatch.setattr("app.background.start", _compute_at_once)
    monkeypatch.setattr("core.answering.client.warm", lambda model, dtype: None)
    st.cache_resource.clear()

    def opened(page: str, **view: str) -> AppTest:
        app = AppTest.from_file(str(ROOT / "app" / "main.py"), default_timeout=30)
        for name, value in view.items():
            app.query_params[name] = value
        if page == "overview":
            return app.run()
        # The page is named before the first run, so that no other one sees the view first.
        app.switch_page(f"../pages/{page}.py")
        return app.run()

    yield opened
    st.cache_resource.clear()


def _validated(page_spec: Callable[[Figure], dict[str, Any]]) -> Callable[[Figure], dict[str, Any]]:
    """The same, which raises an error if the chart does not fit Vega-Lite's schema; only tests check that."""

    def checked(figure: Figure) -> dict[str, Any]:
        spec = page_spec(figure)
        core.Root.validate({name: of for name, of in spec.items() if name != "datasets"})
        return spec

    return checked


def _compute_at_once(awaited: Sequence[Computation[object]]) -> None:
    """In the place of the thread, so that a page that has run shows everything: it sees at once that all has ended."""
    for of in awaited:
        of.run()


def said(app: AppTest) -> str:
    """All words of warnings, errors, notes and texts, without markdown's escapes."""
    parts = [*app.error, *app.warning, *app.info, *app.success, *app.caption, *app.markdown, *app.text]
    return " ".join(str(part.value) for part in parts).replace("\\", "").replace("\u2060", "")
