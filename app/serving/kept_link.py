"""Where people log in: a link that somebody opens before logging in opens after it.

The provider sends people back to the server's first page, so a cookie keeps the link.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote, urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection

from app.navigation import PAGES
from app.serving import session_cookie
from core import access
from core.access import UserRole

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

CALLBACK = re.compile(r"/oauth2callback$")
PAGE = re.compile(r"/(?:[\w.-]+/)*(?P<name>\w*)", re.ASCII)
LINK_COOKIE = "hedge_link"
LONGEST_LINK = 2000
LINK_SECONDS = 600


class KeptLink:
    """Middleware (ASGI): keeps a page's link in a cookie, and redirects to it after the login."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Set the cookie on a page's response, or redirect to its link."""
        if scope["type"] != "http" or access.mode() != "login":
            await self.app(scope, receive, send)
            return
        connection = HTTPConnection(scope)
        path, query = str(scope["path"]), bytes(scope["query_string"]).decode("latin-1")
        cookie = link = ""
        if CALLBACK.search(path):
            cookie, link = _cookie(""), _link(connection)
        elif (
            scope["method"] == "GET"
            and _is_page(path)
            and len(path + query) < LONGEST_LINK
            and session_cookie.actor_of(connection).role is UserRole.OUTSIDER
        ):
            cookie = _cookie(f"{path}?{query}")

        async def with_cookie(message: Message) -> None:
            if cookie and message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if link and headers.get("location", "").endswith("/"):
                    headers["location"] = link
                headers.append("set-cookie", cookie)
            await send(message)

        await self.app(scope, receive, with_cookie)


def _cookie(link: str) -> str:
    """A cookie that keeps the link during the login; for an empty link, a cookie that deletes it."""
    age = LINK_SECONDS if link else 0
    return f"{LINK_COOKIE}={quote(link, safe='')}; Path=/; HttpOnly; SameSite=Lax; Max-Age={age}"


def _is_page(path: str) -> bool:
    """Whether a page of the app is at this path."""
    page = PAGE.fullmatch(path)
    return page is not None and page["name"] in {"", *(entry.name for entry in PAGES)}


def _link(connection: HTTPConnection) -> str:
    """The page's link in the cookie; empty if there is none, or if it leads elsewhere."""
    link = unquote(connection.cookies.get(LINK_COOKIE, ""))
    parts = urlsplit(link)
    is_ours = not parts.scheme and not parts.netloc and _is_page(parts.path) and not link.startswith("//")
    return link if is_ours and link.isprintable() and link.isascii() and " " not in link else ""
