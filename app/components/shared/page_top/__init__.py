"""Scroll the page to its top when the step that it shows changes."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

HERE = Path(__file__).parent

_mount = st.components.v2.component("hedge_page_top", js=(HERE / "page_top.js").read_text(encoding="utf-8"))


def top_of_step(step: int, *, key: str = "page_top") -> None:
    """Scroll to the top of the page if ``step`` has changed since the page last ran."""
    _mount(key=key, data={"step": step})
