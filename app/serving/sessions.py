"""Open pages: how many each network address has, whose they are, and messages that no page of Hedge sends.

Where others are served, each network address has a limit of pages. Some messages of Streamlit's protocol act on the
whole server (they empty everyone's caches, or show the Git repository of the source folder): they are dropped. After a
message that no page sends, the connection is closed, before Streamlit reads it and writes a traceback into the log.

Each message runs a page again, so the messages of a page, of an address and of all together have a limited rate. A
message beyond it waits. Many addresses that each send what a person sends can't be told apart from many people: all
wait, and those who send least wait least.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from typing import TYPE_CHECKING

from starlette.requests import HTTPConnection

from app.serving import login, messages, session_cookie, uploads
from app.serving.rate import Bucket, Buckets, Shares, delay_refusal
from core import access
from core.access import quotas
from core.errors import InputError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOG = logging.getLogger(__name__)
DROPPED_MESSAGES = frozenset(
    {"clear_cache", "load_git_info", "set_run_on_save", "debug_disconnect_websocket", "debug_shutdown_runtime"}
)
DROPPED_OPERATIONS = frozenset({"install_skills", "dismiss_skills_nudge"})
REFUSED_AT = 2
"""A page beyond the limit shows a sentence that says so; at this many times the limit, the connection is refused."""

FIELDS_OF_MESSAGE = 100
"""A message counts again for each of these many fields."""

_connects = Buckets(per_s=4, burst=120)
"""How often an address opens a page where others are served."""
_begins = Buckets(per_s=20, burst=30)
"""How fast those pages begin, one after the other."""
_messages = Shares(
    address=Buckets(per_s=25, burst=150), small=Buckets(per_s=2, burst=40), everyone=Bucket(per_s=100, burst=500)
)
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
        if serves_others and (already_open >= REFUSED_AT * limit or not _connects.of(address).may_take(1)):
            await delay_refusal(address)
            await receive()
            await send({"type": "websocket.close", "code": 1013})
            return
        open_pages[address] += 1
        owner = session_cookie.actor_of(connection).name if access.mode() == "login" else ""
        page = _Page(receive, send, owner, address)
        try:
            crowded = serves_others and already_open >= limit
            if serves_others and (wait := _begins.of(address).take(1)):
                await asyncio.sleep(wait)
            await self.app(_marked(scope, crowded=crowded), page.receive, page.send)
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

    def __init__(self, receive: Receive, send: Send, owner: str, address: str) -> None:
        self._receive, self._send, self.owner, self._address = receive, send, owner, address
        self.session = ""
        self._closed = False
        self._own = Bucket(per_s=10, burst=75)
        """How many messages the page sends."""
        self.ended_with = 1006
        """The code with which the websocket was closed; this one if it was not."""

    async def receive(self) -> Message:
        """The next message of the browser that a page may send."""
        while True:
            message = await self._receive()
            self.ended_with = message.get("code", self.ended_with)
            if message["type"] != "websocket.receive":
                return message
            content = message.get("bytes") or b""
            try:
                cost = 1 + messages.fields(content) / FIELDS_OF_MESSAGE
                if wait := max(self._own.take(cost), _messages.take(self._address, cost)):
                    await asyncio.sleep(wait)
                if _passes(content):
                    return message
            except InputError as error:
                LOG.warning("a page of %s was closed: %s", self._address, error)
                await self.send({"type": "websocket.close", "code": 1002})
                self._closed = True
                return {"type": "websocket.disconnect", "code": 1002}

    async def send(self, message: Message) -> None:
        """Pass on a message to the browser, and note whose session it opens."""
        if self._closed:
            return
        if not self.session and message.get("bytes"):
            content = messages.parsed("ForwardMsg", message["bytes"])
            if content is not None and (session := content.new_session.initialize.session_id):
                self.session = session
                _pages[session] = self
        await self._send(message)


def _passes(content: bytes) -> bool:
    """Whether a page may send this message. Raises :class:`~core.errors.InputError` if it is none."""
    message = messages.parsed("BackMsg", content)
    kind = message.WhichOneof("type") if message is not None else None
    if not kind:
        raise InputError("it sent what is no message of a page; reload the page")
    if kind == "backend_operation_request":
        kind = message.backend_operation_request.WhichOneof("payload") or ""
    return access.mode() == "local" or kind not in DROPPED_MESSAGES | DROPPED_OPERATIONS
