"""The live temperature: reliability, ECE, NLL and set size follow the pointer, computed in the browser.

``tempering`` holds the arithmetic of :mod:`core.reports.calibration.temperature`; ``temperature`` draws. As in the
alpha lab, data stays the same between reruns, and the temperature that the browser starts from changes only where the
view was changed by other than the component.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st

from app import state
from app.components.shared.seed import browser_shows, seed
from app.state.calibration import CalibrationView
from charts.scripts import LIVE_CSS, bundle

HERE = Path(__file__).parent
SCRIPT = HERE / "temperature.js"

_mount = st.components.v2.component(
    "hedge_temperature",
    html=(HERE / "temperature.html").read_text(encoding="utf-8"),
    css=LIVE_CSS.read_text(encoding="utf-8") + (HERE / "temperature.css").read_text(encoding="utf-8"),
    js=bundle(SCRIPT),
)


def temperature_dial(
    rows: Any, *, version: str, view: CalibrationView, fitted: int | None, key: str = "temperature"
) -> None:
    """Mount the dial on a run's ``rows`` (:func:`core.reports.calibration.temperature.dial_rows`), with the view's
    bins and alpha.

    ``fitted`` is a temperature found on other questions, in hundredths, or None.
    """
    start = seed(key, version, view.t)
    _mount(
        key=key,
        data={
            "rows": rows,
            "version": version,
            "alpha": view.alpha,
            "bins": view.bins,
            "by": view.edges,
            "fitted": fitted,
            "t": start.start,
            "revision": start.revision,
        },
        on_t_change=lambda: _take(key),
    )


def _take(key: str) -> None:
    """The temperature that a person let go at; what a browser sends is checked as a link would be."""
    view = state.read_changes(CalibrationView, {"t": str(st.session_state[key].get("t") or "")})
    browser_shows(key, view.t)
