"""The alpha lab's component: the data goes over once, a moving alpha is computed in the browser.

``random_numbers``, ``scores``, ``sets`` and ``coverage_distributions`` of the shared scripts, and ``splits`` and
``redraw`` here, hold the arithmetic of :mod:`core.conformal`. The other scripts draw, and ``alpha_lab`` joins them.
Data stays the same between reruns, so that streamlit sends a reference instead of the arrays. What the browser starts
from (the seed) changes only where something else than the component changed the view: a link, or the way back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import streamlit as st

from app import state
from app.components.shared.seed import browser_shows, seed
from app.state.address import names_in_address
from app.state.alpha_lab import AlphaLabView
from charts.scripts import LIVE_CSS, bundle
from core.conformal.scores.table import score_table

HERE = Path(__file__).parent
NAMES = tuple(name for name in names_in_address(AlphaLabView) if name not in ("run", "source", "target"))
"""What of a view the component shows and changes: all but the run and the two sides of the shift."""

SCRIPT = HERE / "alpha_lab.js"
_mount = st.components.v2.component(
    "hedge_alpha_lab",
    html=(HERE / "alpha_lab.html").read_text(encoding="utf-8"),
    css=LIVE_CSS.read_text(encoding="utf-8"),
    js=bundle(SCRIPT),
)


def lab_view(view: AlphaLabView) -> dict[str, Any]:
    """The part of a view that the lab shows, by the names it has in the browser too."""
    return {name: getattr(view, name) for name in NAMES}


def alpha_lab(
    tables: Mapping[str, Any],
    *,
    version: str,
    name: str,
    view: AlphaLabView,
    on_open: Callable[[str], None],
    key: str = "alpha_lab",
) -> None:
    """Mount the lab on a run's tables (:func:`core.reports.frames.lab_tables`).

    ``version`` names the data and ``name`` the run in words. What a person chooses goes into the view when they let
    go; ``on_open`` is called with the id of a question that a person wants to see on its own page.
    """
    start = seed(key, version, lab_view(view))
    _mount(
        key=key,
        data={
            **tables,
            "version": version,
            "name": name,
            "scores": score_table(),
            "view": start.start,
            "revision": start.revision,
        },
        on_view_change=lambda: _take_view(key),
        on_open_change=lambda: _open(key, on_open),
    )


def lab_figure(
    tables: Mapping[str, Any], *, version: str, name: str, show: tuple[str, ...], start: Mapping[str, Any], key: str
) -> None:
    """Mount a part of the lab, the panels ``show``, that starts from ``start`` and changes no view."""
    _mount(
        key=key,
        data={
            **{part: table for part, table in tables.items() if part != "questions" or "questions" in show},
            "version": version,
            "name": name,
            "scores": score_table(),
            "view": lab_view(AlphaLabView()) | dict(start),
            "revision": 0,
            "show": list(show),
            "unfold": [panel for panel in show if panel in ("strata", "redraw", "bugs")],
        },
        on_view_change=lambda: None,
        on_open_change=lambda: None,
    )


def lab_alpha(key: str, *, start: int) -> int:
    """The alpha, in thousandths, that the lab figure of that key was last left at; ``start`` until it was moved."""
    reported = (st.session_state.get(key) or {}).get("view") or {}
    return int(reported.get("alpha", start))


def _take_view(key: str) -> None:
    view = _read(st.session_state[key].get("view") or {})
    browser_shows(key, lab_view(view))


def _open(key: str, on_open: Callable[[str], None]) -> None:
    asked: dict[str, Any] = st.session_state[key].get("open") or {}
    _read(asked)
    on_open(str(asked.get("question", "")))


def _read(reported: dict[str, Any]) -> AlphaLabView:
    """The view with what the browser reports in it; it is checked as a link would be."""
    return state.read_changes(AlphaLabView, {name: str(reported[name]) for name in NAMES if name in reported})
