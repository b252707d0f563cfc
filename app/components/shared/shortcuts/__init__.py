"""The list of the keyboard's shortcuts at the end of every page, where a person can switch off those of a single key.

Speech input and a slipped finger press such keys without meaning to (WCAG 2.2, success criterion 2.1.4). The choice
covers Streamlit's own keys too, and the browser keeps it.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from charts.scripts import bundle

HERE = Path(__file__).parent
_mount = st.components.v2.component(
    "hedge_shortcuts",
    html=(HERE / "shortcuts.html").read_text(encoding="utf-8"),
    css=(HERE / "shortcuts.css").read_text(encoding="utf-8"),
    js=bundle(HERE / "shortcuts.js"),
)


def shortcuts() -> None:
    """Mount the list."""
    _mount(key="shortcuts")
