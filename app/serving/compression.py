"""Compressed answers for files whose address names their content: Streamlit's scripts and styles, and Hedge's bundles.

Streamlit sends them as they are, about 2.5 MB for a first visit, and leaves compression to a proxy. Such a file never
changes at its address (``Cache-Control: immutable``), so it is compressed once and then answered from memory.
"""

from __future__ import annotations

import asyncio
import gzip
import posixpath
import re
from abc import ABC, abstractmethod
from collections import OrderedDict
from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LEVEL = 6
"""Level 9 needs twice the time for one per cent fewer bytes."""
SMALLEST = 500
"""Bytes; a smaller file fits into one packet anyway."""
MOST_FILES = 512
"""Streamlit has about 320 scripts and styles, 7 MB compressed."""
KEPT = (b"content-type", b"cache-control", b"last-modified")
"""Headers of a compressed answer. Everyone gets it, so it has nobody's cookie."""
ACCEPTED = re.compile(r"(?:^|,)\s*gzip\s*(?:;\s*q=(?!0(?:\.0*)?\s*(?:,|$))[\d.]+\s*)?(?:,|$)", re.IGNORECASE)
"""A value of ``Accept-Encoding`` that takes gzip, with a weight above 0."""
TEXTS = ("text/", "application/javascript", "application/json", "image/svg+xml", "application/wasm")
"""How the content types begin that become smaller. Fonts and pictures are compressed already."""


class StaticCompression:
    """Middleware (ASGI), the innermost one: only what the others let through is answered from memory."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.answers: OrderedDict[str, tuple[Message, bytes]] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer from memory, or pass the request on and compress its answer if it never changes."""
        if scope["type"] != "http" or scope["method"] != "GET" or not _may_compress(scope):
            await self.app(scope, receive, send)
            return
        path = str(scope["path"])
        if path in self.answers:
            self.answers.move_to_end(path)
            start, body = self.answers[path]
            await send(start)
            await send({"type": "http.response.body", "body": body})
            return
        await self.app(scope, receive, _Compressing(self, path, send))

    def keep(self, path: str, start: Message, body: bytes) -> None:
        """Keep an answer, and forget the one that nobody asked for the longest."""
        self.answers[path] = (start, body)
        while len(self.answers) > MOST_FILES:
            self.answers.popitem(last=False)


class WholeAnswer(ABC):
    """The ``send`` of one request: it collects an answer that it changes, and passes on any other one."""

    def __init__(self, send: Send) -> None:
        self.send = send
        self.start: Message | None = None
        self.parts: list[bytes] = []

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start" and self.changes(message):
            self.start = message
            return
        if self.start is None:
            await self.send(message)
            return
        self.parts.append(message.get("body", b""))
        if not message.get("more_body"):
            await self.answer(self.start, b"".join(self.parts))

    @abstractmethod
    def changes(self, start: Message) -> bool:
        """Whether the answer that begins so is changed."""

    @abstractmethod
    async def answer(self, start: Message, body: bytes) -> None:
        """Send the whole answer, changed."""


class _Compressing(WholeAnswer):
    """Compresses an answer that never changes."""

    def __init__(self, owner: StaticCompression, path: str, send: Send) -> None:
        super().__init__(send)
        self.owner, self.path = owner, path

    def changes(self, start: Message) -> bool:
        return _never_changes(start)

    async def answer(self, start: Message, body: bytes) -> None:
        body = await asyncio.to_thread(gzip.compress, body, LEVEL, mtime=0)
        headers = MutableHeaders(raw=[pair for pair in start["headers"] if pair[0].lower() in KEPT])
        headers["content-encoding"] = "gzip"
        headers["content-length"] = str(len(body))
        headers.add_vary_header("accept-encoding")
        start = {**start, "headers": headers.raw}
        self.owner.keep(self.path, start, body)
        await self.send(start)
        await self.send({"type": "http.response.body", "body": body})


def _may_compress(scope: Scope) -> bool:
    """Whether a compressed answer may be sent. A path such as ``/./a.js`` would be one more copy of ``/a.js``."""
    headers, path = Headers(scope=scope), str(scope["path"])
    return takes_gzip(headers) and "range" not in headers and path == posixpath.normpath(path)


def takes_gzip(headers: Headers) -> bool:
    """Whether the sender of these headers can read a gzip answer."""
    return bool(ACCEPTED.search(headers.get("accept-encoding", "")))


def _never_changes(start: Message) -> bool:
    """Whether the answer is a text of some length that a browser may keep for good."""
    headers = Headers(raw=start["headers"])
    return (
        start["status"] == 200
        and "immutable" in headers.get("cache-control", "")
        and headers.get("content-type", "").startswith(TEXTS)
        and "content-encoding" not in headers
        and int(headers.get("content-length", 0)) >= SMALLEST
    )
