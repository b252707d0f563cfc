"""The list of the keyboard's shortcuts at the end of every page, where a person can switch off those of a single key.

Speech input and a slipped finger press such keys without meaning to (WCAG 2.2, success criterion 2.1.4). The choice
covers Streamlit's own keys too, and the browser keeps it.

When the browser has a connection again after it had none, it asks which start of the server has drawn the page. After a
restart, this is another one, and the page is loaded again. The browser also learns which names in the address a slider
moves, because these changes add no entry to its history, and where it asks for what the page awaits.
"""

import secrets
from pathlib import Path

from app import background, state
from app.components.shared.bundled import component

START = secrets.token_hex(8)
"""Names this start of the server."""

_mount = component("shortcuts", Path(__file__).with_name("shortcuts.html"))


def shortcuts() -> None:
    """Mount the list. Call it when the page has been drawn, within :func:`app.background.following`."""
    _mount(
        key="shortcuts",
        data={"server": START, "moved": state.moved_names(), "awaited": background.request()},
        on_connected_change=lambda: None,
        on_arrived_change=background.runs_by_itself,
    )
