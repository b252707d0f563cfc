"""The parts of the first page that open others: the ways in, the matrix, and the legend of the scatter plots.

``first_page.js`` draws what it is sent; every figure comes from Python. A click is sent back as the page to open.
"""

from typing import Any
from urllib.parse import urlencode

from app import navigation
from app.components.shared.bundled import component
from app.components.shared.messages import message, message_texts, texts_of
from app.navigation import PageEntry

_mount = component("first_page", '<section class="first-page"></section>')


def target(entry: PageEntry, query: dict[str, str]) -> dict[str, Any]:
    """The data of a link: its address, and the page and its view, which a plain click sends back."""
    return {"href": f"{entry.name}?{urlencode(query)}" if query else entry.name, "page": entry.name, "query": query}


def mount(kind: str, **data: Any) -> None:
    """Mount one part of the page with what it shows."""
    key = f"first_page_{kind}"
    _mount(key=key, data={"kind": kind, **data}, on_open_change=lambda: _open(key))


def _open(key: str) -> None:
    """Open the page that was clicked. The page that opens checks the browser's message as it checks a link."""
    page = message_texts(key, "open").get("page")
    by_name = {entry.name: entry for entry in navigation.PAGES}
    if page in by_name:
        navigation.go(by_name[page], **texts_of(message(key, "open").get("query")))
