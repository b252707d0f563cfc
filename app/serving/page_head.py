"""Lines in the head of each page that name files which it needs besides Streamlit's own.

A browser would learn of a component's script only after the page's own script has run, and of Streamlit's parts for it
one after the other. Named in the head, they come while the browser reads Streamlit's scripts.
"""

from __future__ import annotations

import functools
import gzip
import re
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders

from app.serving import icons
from app.serving.bundle_files import address
from app.serving.compression import LEVEL, WholeAnswer, takes_gzip
from app.serving.start import base_path

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

PARTS = ("Html", "Button", "BidiComponent")
"""Parts of Streamlit that the first screen of every page needs: the names of their scripts without the hash."""
NEEDED: dict[str, tuple[str, ...]] = {
    "overview": ("first_page",),
    "learn": ("lesson",),
    "classroom": ("classroom",),
    "alpha_lab": ("alpha_lab",),
    "one_question": ("option_bars",),
    "stream_lab": ("stream_lab",),
    "compare": ("comparison",),
    "calibration": ("temperature",),
    "jury": ("jury",),
    "prompting": (),
    "perplexity": ("token_strip",),
    "tokens": ("tokens",),
}
"""The bundles of each page's first screen."""
FIRST = "overview"
CHART = "ArrowVegaLiteChart"
DRAWN_BY_STREAMLIT = {"calibration": (CHART,), "prompting": (CHART,)}
"""Parts of Streamlit that a page's first screen needs besides :data:`PARTS`."""
DROPPED = (b"if-none-match", b"if-modified-since", b"accept-encoding", b"range")
"""Headers of a request that would give an answer without the page's plain text."""
IMPORTED = re.compile(r'(?:from|import)"\./([\w.-]+\.js)"')
END = "</head>"
OF_STREAMLIT = b'<div id="root">'
"""What the page has that Streamlit serves at every address, and no other page of Hedge."""


class PageHead:
    """Middleware (ASGI), inside those that refuse requests: adds the lines to pages, and compresses them."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and add the lines to its answer if that is a page."""
        if scope["type"] != "http" or scope["method"] != "GET" or not _asks_for_page(scope):
            await self.app(scope, receive, send)
            return
        # The page changes with Hedge's files, which the date of Streamlit's file does not say.
        headers = [pair for pair in scope["headers"] if pair[0] not in DROPPED]
        await self.app({**scope, "headers": headers}, receive, _Page(scope, send))


class _Page(WholeAnswer):
    """Adds the lines to a page's head."""

    def __init__(self, scope: Scope, send: Send) -> None:
        super().__init__(send)
        self.scope = scope

    def changes(self, start: Message) -> bool:
        return _is_page(start)

    async def answer(self, start: Message, body: bytes) -> None:
        headers = MutableHeaders(raw=list(start["headers"]))
        if OF_STREAMLIT in body:
            page = icons.with_our_icons(body.decode())
            body = page.replace(END, lines(_name(str(self.scope["path"]))) + END, 1).encode()
            for validator in ("etag", "last-modified"):
                del headers[validator]
            headers.add_vary_header("accept-encoding")
            if takes_gzip(Headers(scope=self.scope)):
                body = gzip.compress(body, LEVEL, mtime=0)
                headers["content-encoding"] = "gzip"
        headers["content-length"] = str(len(body))
        await self.send({**start, "headers": headers.raw})
        await self.send({"type": "http.response.body", "body": body})


@functools.cache
def lines(page: str) -> str:
    """The lines for a page of :data:`NEEDED`, or for any other one."""
    bundles = (*NEEDED.get(page, ()), "shortcuts")
    parts = (*PARTS, *DRAWN_BY_STREAMLIT.get(page, ()))
    scripts = [
        f"{base_path()}/static/js/{file}" for file in dict.fromkeys(file for part in parts for file in _files(part))
    ]
    scripts += [address(f"{name}.js") for name in bundles]
    styles = [address(f"{name}.css") for name in bundles]
    return "\n".join(
        (
            *(f'<link rel="modulepreload" href="{path}">' for path in scripts),
            *(f'<link rel="preload" as="fetch" crossorigin href="{path}">' for path in styles),
            "",
        )
    )


@functools.cache
def _files(part: str) -> tuple[str, ...]:
    """The scripts of a part of Streamlit, with those that it imports, but for those that Streamlit's page names. Empty
    if there is no such part.
    """
    static = Path(str(resources.files("streamlit") / "static"))
    page = (static / "index.html").read_text(encoding="utf-8")
    scripts = static / "static" / "js"
    files: list[str] = []
    waiting = [path.name for path in scripts.glob(f"{part}.*.js")]
    while waiting:
        name = waiting.pop()
        if name not in page and name not in files:
            files.append(name)
            waiting += IMPORTED.findall((scripts / name).read_text(encoding="utf-8"))
    return tuple(files)


def _name(path: str) -> str:
    """The name of the page at this path; the first page has none."""
    name = path.removeprefix(base_path()).strip("/")
    return name if name in NEEDED else "" if name else FIRST


def _asks_for_page(scope: Scope) -> bool:
    return "text/html" in Headers(scope=scope).get("accept", "")


def _is_page(start: Message) -> bool:
    headers = Headers(raw=start["headers"])
    is_plain = "content-encoding" not in headers
    return start["status"] == 200 and is_plain and headers.get("content-type", "").startswith("text/html")
