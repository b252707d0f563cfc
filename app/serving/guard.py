"""Refuses requests before Streamlit sees them: from other machines, and for uploads, files and metrics."""

from __future__ import annotations

import ipaddress
import re
from typing import TYPE_CHECKING

from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse

from app.serving import ended_logins, login, session_cookie, sessions
from app.serving.session_cookie import actor_of, client
from app.serving.start import ON_THIS_MACHINE
from app.serving.uploads import UPLOAD
from core import access
from core.access import UserRole
from core.settings import settings

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

DATA = re.compile(r"(?<!/static)/media/|/tables/")
"""Downloads, and the tables of pages (:mod:`app.serving.table_files`)."""
METRICS = re.compile(r"/_stcore/metrics$")
FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip")
"""Headers of a proxy, whose own address says nothing about the reader."""
LOGOUT = re.compile(r"/auth/logout/?$")


class RequestGuard:
    """Middleware (ASGI): answers a request that is not allowed with status 403 and one sentence."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] in ("http", "websocket") and access.mode() == "login":
            scope = session_cookie.without_broken_login(scope)
        refusal = _refusal(scope) if scope["type"] in ("http", "websocket") else ""
        if not refusal:
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            await PlainTextResponse(refusal, 403)(scope, receive, send)
        else:
            await receive()
            await send({"type": "websocket.close", "code": 1008})


def _refusal(scope: Scope) -> str:
    """Why the request is refused, in one sentence; empty if it is not."""
    if access.mode() == "local":
        return "" if _is_reached_here(scope) else ON_THIS_MACHINE
    if scope["type"] == "websocket":
        return ""
    connection, path = HTTPConnection(scope), str(scope["path"])
    if METRICS.search(path) and not is_near(connection):
        return "The server's figures can be read on its own machine only."
    if access.mode() == "public":
        return "This server is public: nobody can upload files." if UPLOAD.search(path) else ""
    if (upload := UPLOAD.search(path)) and scope["method"] != "OPTIONS":
        who = actor_of(connection)
        if who.role < UserRole.LAUNCHER:
            return "Only people with the role launcher can upload files to this server."
        return "" if sessions.owner(upload["session"]) == who.name else "This upload belongs to another session."
    if LOGOUT.search(path):
        # The button has ended the login before its page sends the browser here. Any site could send it here.
        claims = session_cookie.claims(connection.cookies, login.cookie_secret())
        return "" if not claims or ended_logins.has_ended(claims) else "Log out with the button on Your account."
    if DATA.search(path) and actor_of(connection).role is UserRole.OUTSIDER:
        return "Log in first."
    return ""


def _is_reached_here(scope: Scope) -> bool:
    """Whether the request came to an address that this machine alone can reach.

    An ASGI server does not tell the app on which addresses it listens, so each request is checked. A server on a Unix
    socket has no port.
    """
    server = scope.get("server")
    return not server or server[1] is None or is_loopback(server[0])


def is_near(connection: HTTPConnection) -> bool:
    """Whether a request comes directly from this machine, or from a network that may read the server's figures."""
    if any(name in connection.headers for name in FORWARDED):
        return False
    address = client(connection)
    if is_loopback(address):
        return True
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    return any(parsed in network for network in settings().metrics_from)


def is_loopback(address: str) -> bool:
    """Whether this is an address of the machine itself. IPv4 addresses may come as IPv6 ones (``::ffff:127.0.0.1``)."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    return (getattr(parsed, "ipv4_mapped", None) or parsed).is_loopback
