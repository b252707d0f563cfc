"""Begins to compute a page as soon as a browser requests a link to it.

Until the browser has loaded Streamlit's scripts and asks for the page's figures, about a second passes. In that time a
thread fills the caches of the page. The page's script waits for values that are being computed there, and computes
nothing twice.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from app.reading_thread import NAME, imported, short_turns
from core.errors import HedgeError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send


def _compare(address: Mapping[str, str]) -> None:
    from app.components.compare.ahead import read_ahead

    read_ahead(address)


PAGES: dict[str, Callable[[Mapping[str, str]], None]] = {"compare": _compare}
"""Maps the name of a page in the address to the function that fills its caches for the rest of the address."""

_reading = threading.Lock()
"""Only one link is read ahead at a time. Others are computed as their pages ask."""


class LinkAhead:
    """Middleware of the server (ASGI): it looks at each request and passes it on unchanged."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Start the thread if the request opens one of :data:`PAGES`."""
        if scope["type"] == "http" and scope["method"] == "GET":
            begin(str(scope["path"]), bytes(scope["query_string"]).decode("latin-1"))
        await self.app(scope, receive, send)


def begin(path: str, query: str) -> threading.Thread | None:
    """Fill the caches of the page at ``path`` in a thread; None if there is nothing to fill, or no room for it."""
    read = PAGES.get(path.rstrip("/").rpartition("/")[2])
    if read is None or not _reading.acquire(blocking=False):
        return None
    thread = threading.Thread(target=_fill, args=(read, dict(parse_qsl(query))), daemon=True, name=f"{NAME}-link")
    thread.start()
    return thread


def _fill(read: Callable[[Mapping[str, str]], None], address: Mapping[str, str]) -> None:
    try:
        imported.wait()
        with short_turns():
            read(address)
    except HedgeError:
        pass  # the page itself reports the error
    finally:
        _reading.release()


def install() -> None:
    """Let the server look at requests. Call this before it starts."""
    from starlette.middleware import Middleware
    from streamlit.web.server.starlette import starlette_app

    own = starlette_app.create_streamlit_middleware
    starlette_app.create_streamlit_middleware = lambda: [*own(), Middleware(LinkAhead)]
