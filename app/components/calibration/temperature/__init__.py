"""The live temperature: reliability, ECE, NLL and set size follow the pointer, computed in the browser.

``tempering`` contains the arithmetic of :mod:`core.reports.calibration.temperature`, and ``temperature`` draws. As in
the Alpha lab, data stays the same between reruns. The temperature from which the browser starts changes only if
something other than the component changed the view.
"""

from pathlib import Path
from typing import Any

import streamlit as st

from app import state
from app.components.shared.bundled import component
from app.components.shared.messages import texts_of
from app.components.shared.seed import browser_shows, seed
from app.state.calibration import CalibrationView

_mount = component("temperature", Path(__file__).with_name("temperature.html"))


def temperature_dial(
    rows: Any, *, version: str, view: CalibrationView, fitted: int | None, key: str = "temperature"
) -> None:
    """Mount the dial on a run's rows, with the view's bins and alpha.

    ``rows`` come from :func:`core.reports.calibration.temperature.dial_rows`. ``fitted`` is a temperature fitted on
    other questions, in hundredths, or None.
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
    """Store the temperature that a person released. The browser's value is validated as that of a link is."""
    view = state.read_changes(CalibrationView, {"t": texts_of(st.session_state[key]).get("t", "")})
    browser_shows(key, view.t)
