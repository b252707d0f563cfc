"""Open pages: how many each network address has, whose they are, and messages that no page of Hedge sends.

Where others are served, each network address opens only so many pages. Some messages of Streamlit's protocol act on the
whole server (they empty everyone's caches, or show the Git repository of the source folder): they are dropped.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, Any

from google.protobuf import descriptor_pool, message_factory  # type: ignore[import-untyped]
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from starlette.requests import HTTPConnection

from app.serving import login, session_cookie, uploads
from core import access, quotas

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

DROPPED_MESSAGES = frozenset(
    {"clear_cache", "load_git_info", "set_run_on_save", "debug_disconnect_websocket", "debug_shutdown_runtime"}
)
DROPPED_OPERATIONS = frozenset({"install_skills", "dismiss_skills_nudge"})
REFUSED_AT = 2
"""A page beyond the limit shows a sentence that says so; at this many times the limit, the connection is refused."""

open_pages: Counter[str] = Counter()
"""How many pages each network address has open."""
_pages: dict[str, _Page] = {}
"""The open page of each session."""


def owner(session: str) -> str | None:
    """Return the name of the person whose page this session is; None if no such page is open."""
    return _pages[session].owner if session in _pages else None


class OpenPages:
    """Middleware (ASGI): looks at the connection of each open page."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count the page, and pass its messages on unless they are dropped."""
        if scope["type"] != "websocket":
            await self.app(scope, receive, send)
            return
        connection = HTTPConnection(scope)
        address, limit = quotas.network(session_cookie.client(connection)), quotas.held().sessions_per_address
        serves_others, already_open = access.mode() != "local", open_pages[address]
        if serves_others and already_open >= REFUSED_AT * limit:
            await receive()
            await send({"type": "websocket.close", "code": 1013})
            return
        open_pages[address] += 1
        page = _Page(receive, send, session_cookie.actor_of(connection).name if access.mode() == "login" else "")
        try:
            if serves_others:
                await self.app(_marked(scope, crowded=already_open >= limit), page.receive, page.send)
            else:
                await self.app(scope, receive, send)
        finally:
            if _pages.get(page.session) is page:  # and not a new connection of the same session
                del _pages[page.session]
                uploads.page_closed(page.session, page.ended_with)
            open_pages[address] -= 1
            if not open_pages[address]:
                del open_pages[address]


def _marked(scope: Scope, *, crowded: bool) -> Scope:
    """The connection, with a header if it is beyond the limit. A browser's own header of this name is removed."""
    headers = [pair for pair in scope["headers"] if pair[0] != login.CROWDED.encode()]
    return {**scope, "headers": [*headers, *([(login.CROWDED.encode(), b"1")] if crowded else [])]}


class _Page:
    """An open page's connection: which messages it passes on, and the session that Streamlit says it is."""

    def __init__(self, receive: Receive, send: Send, owner: str) -> None:
        self._receive, self._send, self.owner = receive, send, owner
        self.session = ""
        self.ended_with = 1006
        """The code with which the websocket was closed; this one if it was not."""

    async def receive(self) -> Message:
        """The next message of the browser that a page may send."""
        while True:
            message = await self._receive()
            self.ended_with = message.get("code", self.ended_with)
            if message["type"] != "websocket.receive" or not message.get("bytes"):
                return message
            content = _parsed("BackMsg", message["bytes"])
            if content is None:
                return message  # Streamlit closes the connection
            kind = content.WhichOneof("type") or ""
            if kind == "backend_operation_request":
                kind = content.backend_operation_request.WhichOneof("payload") or ""
            if kind not in DROPPED_MESSAGES | DROPPED_OPERATIONS:
                return message

    async def send(self, message: Message) -> None:
        """Pass on a message to the browser, and note whose session it opens."""
        if not self.session and message.get("bytes"):
            content = _parsed("ForwardMsg", message["bytes"])
            if content is not None and (session := content.new_session.initialize.session_id):
                self.session = session
                _pages[session] = self
        await self._send(message)


@cache
def message_type(name: str) -> Any:
    """A type of message of Streamlit's protocol by its name, as protobuf knows it."""
    return message_factory.GetMessageClass(descriptor_pool.Default().FindMessageTypeByName(name))


def _parsed(name: str, content: bytes) -> Any:
    """The message; None if it is broken."""
    try:
        return message_type(name).FromString(content)
    except DecodeError:
        return None
