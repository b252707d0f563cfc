"""What the server does when it may open no more files and connections: it refuses new pages in one sentence, and keeps
the others going.

Each open page takes one file, its websocket. Streamlit would take three more for an event loop of the page's script,
and keep them for minutes after the visitor has left; no script of Hedge needs it.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import socket
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from starlette.datastructures import Headers
from starlette.responses import JSONResponse, PlainTextResponse, Response

from core.processes import open_files

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import ASGIApp, Receive, Scope, Send

LOG = logging.getLogger(__name__)
LOGGED_EVERY_S = 60.0
COUNTED_EVERY_S = 1.0
COME_AGAIN_S = 30
MONITORING = ("/healthz", "/readyz", "/metrics")
STREAMS = ("/stream", "/desk")
"""The ends of addresses whose answers last, and open no file."""
REFUSAL = (
    "This server has as many pages open as it may have. Come again in a minute, or ask the person who runs it to raise "
    "its limit of open files.\n"
)


class _Account:
    """How many files are left, without counting those in use for each request."""

    def __init__(self) -> None:
        self._counted_at = float("-inf")
        self._left = 0
        self.promised = 0
        """Files that requests in progress may be about to open."""

    def has(self, more: int) -> bool:
        """Whether more than these are left. Each answer takes one, until the files are counted again."""
        self._left -= 1
        if self._left - self.promised <= more or time.monotonic() > self._counted_at + COUNTED_EVERY_S:
            self._left = open_files.limit() - open_files.count()
            self._counted_at = time.monotonic()
        return self._left - self.promised > more


files = _Account()


class FileLimit:
    """Middleware (ASGI): refuses a new page or phone where nearly all files are in use, and any request that would need
    a file where few of those are left that the open ones need. Monitoring is always answered.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] not in ("http", "websocket") or scope["path"].endswith(MONITORING):
            await self.app(scope, receive, send)
        elif not files.has(_kept_from(scope)):
            log_problem()
            await _refuse(scope, receive, send)
        else:
            opens = scope["type"] == "http" and not scope["path"].endswith(STREAMS)
            files.promised += opens
            try:
                await self.app(scope, receive, send)
            finally:
                files.promised -= opens


def _kept_from(scope: Scope) -> int:
    """How many files have to be left after this request."""
    lasts = scope["type"] == "websocket" or scope["path"].endswith(STREAMS)
    return open_files.reserved() if lasts or _is_of_page(scope) else open_files.reserved() // 2


def _is_of_page(scope: Scope) -> bool:
    return "text/html" in Headers(scope=scope).get("accept", "")


async def _refuse(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "http":
        headers = {"retry-after": str(COME_AGAIN_S), "connection": "close", "cache-control": "no-store"}
        answer: Response = PlainTextResponse(REFUSAL, 503, headers)
        if not _is_of_page(scope):  # phones show the error's sentence
            answer = JSONResponse({"error": REFUSAL.strip()}, 503, headers)
        await answer(scope, receive, send)
    else:
        await receive()
        await send({"type": "websocket.close", "code": 1013})


_logged_at = float("-inf")


def log_problem() -> None:
    """Write into the log that files are nearly used up, at most once in :data:`LOGGED_EVERY_S`."""
    global _logged_at
    if time.monotonic() >= _logged_at + LOGGED_EVERY_S and (problem := open_files.problem()):
        _logged_at = time.monotonic()
        LOG.error("new pages are refused: %s", problem)


def watch(loop: asyncio.AbstractEventLoop) -> None:
    """Let the servers that this loop starts keep some files for their own work, and sessions take fewer. Write one
    sentence where another kind of server can accept no connection: asyncio would write thousands of tracebacks.
    """
    create = loop.create_server

    async def create_server(*arguments: Any, sock: socket.socket | None = None, **options: Any) -> asyncio.Server:
        return await create(*arguments, sock=_Listener(fileno=os.dup(sock.fileno())) if sock else None, **options)

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if getattr(context.get("exception"), "errno", None) in (errno.EMFILE, errno.ENFILE):
            log_problem()
        else:
            loop.default_exception_handler(context)

    with suppress(AttributeError):  # uvloop keeps files free itself
        loop.create_server = create_server  # type: ignore[method-assign]
    loop.set_exception_handler(handle)
    asyncio.set_event_loop_policy(_Policy())


class _Listener(socket.socket):
    """A socket that closes a connection at once if it takes one of the files that the server's own work needs: a
    library whose import fails because of that can't be imported again.
    """

    def accept(self) -> tuple[socket.socket, Any]:
        connection, address = super().accept()
        if files.has(open_files.reserved() // 2):
            return connection, address
        connection.close()
        log_problem()
        raise ConnectionAbortedError


class _ScriptLoop(asyncio.AbstractEventLoop):
    """An event loop that opens its files when it is used for the first time."""

    def __init__(self, make: Callable[[], asyncio.AbstractEventLoop]) -> None:
        self._make = make
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_closed = False

    def __getattribute__(self, name: str) -> Any:
        if name in OWN:
            return object.__getattribute__(self, name)
        if self._loop is None:
            self._loop = self._make()
        return getattr(self._loop, name)

    def is_running(self) -> bool:
        return self._loop is not None and self._loop.is_running()

    def is_closed(self) -> bool:
        return self._is_closed

    def close(self) -> None:
        self._is_closed = True
        if self._loop is not None:
            self._loop.close()


OWN = frozenset({"_make", "_loop", "_is_closed", "is_running", "is_closed", "close", "__class__", "__dict__"})


class _Policy(asyncio.DefaultEventLoopPolicy):
    """Gives such a loop to who makes one while another runs in the same thread, as Streamlit does for a script."""

    def new_event_loop(self) -> asyncio.AbstractEventLoop:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return super().new_event_loop()
        return _ScriptLoop(super().new_event_loop)  # type: ignore[abstract]
