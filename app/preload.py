"""Tell the browser at once which of Streamlit's scripts a page needs.

Streamlit's page asks for the script of a kind of element, and then for what that imports, when the first such element
arrives. Until the first figure is drawn these are several round trips, in which a server that computes answers late.
The names go into a ``Link`` header of the page (RFC 8288, ``rel=modulepreload``), so that the browser loads the scripts
beside Streamlit's own and keeps them for the next pages.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

ELEMENTS = ("BidiComponent", "Button", "Html", "Slider", "Selectbox", "Checkbox", "DownloadButton", "ButtonGroup")
"""The kinds of elements with which pages begin."""
IMPORTED = re.compile(r"""(?:from|import)\s*["']\./([\w.-]+\.js)["']""")


def scripts(static: Path) -> list[str]:
    """The names of the scripts of :data:`ELEMENTS` in Streamlit's folder ``static``, with all that they import.

    Those that Streamlit's own page names are left out. There is nothing of an element that another version of
    Streamlit calls differently.
    """
    folder = static / "static" / "js"
    page = (static / "index.html").read_text(encoding="utf-8")
    found: list[str] = []
    waiting = [path.name for name in ELEMENTS for path in sorted(folder.glob(f"{name}.*.js"))]
    while waiting:
        name = waiting.pop(0)
        if name in found or name in page or not (folder / name).is_file():
            continue
        found.append(name)
        waiting += IMPORTED.findall((folder / name).read_text(encoding="utf-8"))
    return found


class Preload:
    """Middleware of the server (ASGI): it adds the header to each page and passes all else on unchanged."""

    def __init__(self, app: ASGIApp, names: list[str]) -> None:
        self.app = app
        value = ", ".join(f"<./static/js/{name}>; rel=modulepreload" for name in names)
        self._header = [(b"link", value.encode("latin-1"))] if names else []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request."""
        if scope["type"] != "http" or scope["method"] != "GET":
            await self.app(scope, receive, send)
            return

        async def with_header(message: Message) -> None:
            if message["type"] == "http.response.start" and _is_page(message):
                message = {**message, "headers": [*message["headers"], *self._header]}
            await send(message)

        await self.app(scope, receive, with_header)


def _is_page(message: Message) -> bool:
    kinds = [value for name, value in message.get("headers", ()) if name.lower() == b"content-type"]
    return message["status"] == 200 and any(value.startswith(b"text/html") for value in kinds)


def install() -> None:
    """Add the header to the server's pages. Call this before it starts."""
    import streamlit
    from starlette.middleware import Middleware
    from streamlit.web.server.starlette import starlette_app

    own = starlette_app.create_streamlit_middleware
    names = scripts(Path(streamlit.__file__).parent / "static")
    starlette_app.create_streamlit_middleware = lambda: [*own(), Middleware(Preload, names=names)]
