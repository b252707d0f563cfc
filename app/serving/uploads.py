"""Uploads: how much of them one person's pages may hold, and when they are freed.

Streamlit keeps an uploaded file in memory until it forgets the session, which is two minutes after its page was closed
or later. Here all pages of a person share one limit, which counts files before they are read, and a page that is closed
frees its own at once.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from streamlit import runtime

from app.serving import session_cookie
from core import access
from core.access import quotas

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

UPLOAD = re.compile(r"/_stcore/upload_file/(?P<session>[^/]+)/")
MB = 1_000_000
CLOSED = frozenset({1000, 1001})
"""The codes (RFC 6455) with which a browser ends the websocket of a page that is closed. If the network fails, uvicorn
says 1005 or 1006."""
LOST_S = 30.0
"""A page whose connection was lost keeps its uploads for this long, because its browser connects again."""

_owners: dict[str, str] = {}
"""The person of each session that has uploaded something and is not closed yet."""
_coming: Counter[str] = Counter()
"""Bytes of each person that are being uploaded."""


class UploadLimit:
    """Middleware (ASGI): refuses an upload beyond a person's limit with status 413 and one sentence."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the upload on while there is room for it."""
        upload = UPLOAD.search(scope["path"]) if scope["type"] == "http" and scope["method"] == "PUT" else None
        if not upload or access.mode() != "login":
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        person, session = session_cookie.actor_of(request).name, upload["session"]
        length = request.headers.get("content-length", "")
        body = _Body(receive, person, size=int(length) if length.isdecimal() else 0)
        if refusal := body.refusal():
            await PlainTextResponse(refusal, 413)(scope, receive, send)
            return
        _owners[session] = person
        try:
            await self.app(scope, body.receive, send)
        finally:
            body.arrived()
            if not runtime.get_instance().is_active_session(session):  # the page was closed during the upload
                _free(session)


class _Body:
    """The body of an upload of ``size`` bytes (0: not known), which counts as the person's from the start."""

    def __init__(self, receive: Receive, person: str, *, size: int) -> None:
        self._receive, self.person, self.size = receive, person, size
        self.read = self.counted = 0

    async def receive(self) -> Message:
        """The next part. Raises HTTPException with status 413 if there is no room for it."""
        message = await self._receive()
        self.read += len(message.get("body", b""))
        if refusal := self.refusal():
            raise HTTPException(413, refusal)
        return message

    def refusal(self) -> str:
        """Why the upload can't be taken, in one sentence; empty if it can, and then it is counted."""
        size = max(self.size, self.read)
        others = _held(self.person) + _coming[self.person] - self.counted
        most = quotas.held().uploads_mb
        if others + size > most * MB:
            return (
                f"Your open pages hold {others / MB:,.0f} MB of uploads, so there is no room for this file of "
                f"{size / MB:,.0f} MB or more: this server keeps {most:g} MB for each person. Remove files from your "
                "pages or close a page, and upload it again."
            )
        _coming[self.person] += size - self.counted
        self.counted = size
        return ""

    def arrived(self) -> None:
        """The upload has ended, so Streamlit holds the file or nobody does."""
        _coming[self.person] -= self.counted
        if not _coming[self.person]:
            del _coming[self.person]


def page_closed(session: str, code: int) -> None:
    """Free the uploads of a session whose page's websocket ended with this code."""
    if session not in _owners:
        return
    if code in CLOSED:
        _free(session)
    else:
        asyncio.get_running_loop().call_later(LOST_S, _free_unless_back, session)


def _free_unless_back(session: str) -> None:
    if not runtime.get_instance().is_active_session(session):
        _free(session)


def _free(session: str) -> None:
    """Have Streamlit forget a session, because the session's own values hold its files too."""
    runtime.get_instance().close_session(session)
    runtime.get_instance().uploaded_file_mgr.remove_session_files(session)
    _owners.pop(session, None)


def _held(person: str) -> int:
    """Bytes that the sessions of a person hold."""
    stored = runtime.get_instance().uploaded_file_mgr.file_storage  # type: ignore[attr-defined]
    sessions = [session for session, owner in _owners.items() if owner == person]
    return sum(len(file.data) for session in sessions for file in list(stored.get(session, {}).values()))
