"""The live temperature: reliability, ECE, NLL and set size follow the pointer, computed in the browser.

``tempering`` holds the arithmetic of :mod:`core.reports.calibration.temperature`; ``temperature`` draws. As in the
alpha lab, data stays the same between reruns, and the temperature that the browser starts from changes only where the
view was changed by other than the component.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import streamlit as st

from app import state
from app.state import View
from charts.scripts import LIVE_CSS, bundle

HERE = Path(__file__).parent
SCRIPT = HERE / "temperature.js"

_mount = st.components.v2.component(
    "hedge_temperature",
    html=(HERE / "temperature.html").read_text(encoding="utf-8"),
    css=LIVE_CSS.read_text(encoding="utf-8") + (HERE / "temperature.css").read_text(encoding="utf-8"),
    js=bundle(SCRIPT),
)


@dataclass(frozen=True, slots=True)
class _Seed:
    """What the browser starts from with which data, how often that changed, and what it was last known to show."""

    version: str
    t: int
    revision: int
    shown: int


def temperature_dial(rows: Any, *, version: str, view: View, fitted: int | None, key: str = "temperature") -> None:
    """Mount the dial on a run's ``rows`` (:func:`core.reports.calibration.temperature.dial_rows`), with the view's
    bins and alpha.

    ``fitted`` is a temperature found on other questions, in hundredths, or None.
    """
    seed = _seed(key, view, version)
    _mount(
        key=key,
        data={
            "rows": rows,
            "version": version,
            "alpha": view.alpha,
            "bins": view.bins,
            "by": view.edges,
            "fitted": fitted,
            "t": seed.t,
            "revision": seed.revision,
        },
        on_t_change=lambda: _take(key),
    )


def _seed(key: str, view: View, version: str) -> _Seed:
    name = f"{key}_seed"
    seed: _Seed | None = st.session_state.get(name)
    if seed is None or key not in st.session_state or (seed.version, seed.shown) != (version, view.t):
        seed = _Seed(version, view.t, seed.revision + 1 if seed else 0, view.t)
        st.session_state[name] = seed
    return seed


def _take(key: str) -> None:
    """The temperature that a person let go at; what a browser sends is checked as a link would be."""
    view = state.read_changes({"t": str(st.session_state[key].get("t") or "")})
    st.session_state[f"{key}_seed"] = replace(st.session_state[f"{key}_seed"], shown=view.t)
