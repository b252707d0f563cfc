"""The list of the keyboard's shortcuts at the end of every page, where a person can switch off those of a single key.

Speech input and a slipped finger press such keys without meaning to (WCAG 2.2, success criterion 2.1.4). The choice
covers Streamlit's own keys too, and the browser keeps it.
"""

from pathlib import Path

from app.components.shared.bundled import component

_mount = component("shortcuts", Path(__file__).with_name("shortcuts.html"))


def shortcuts() -> None:
    """Mount the list."""
    _mount(key="shortcuts")
