"""What stands between the network and Streamlit: headers, who may upload and fetch, and messages that nobody may send.

Streamlit has no setting for a content security policy, so the server's responses are given one here. Where others are
served, files are taken only from people who may bring them in, and each network address opens only so many pages.
Some messages of Streamlit's protocol act on the whole server (they empty everyone's caches, or tell what the source
folder's Git repository is), and no page of Hedge sends them: they are dropped.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import ipaddress
import json
import re
import threading
from collections import Counter
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote, urlsplit

from app import login
from core import access, quotas
from core.access import Actor, UserRole

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

UPLOAD = re.compile(r"/_stcore/upload_file/(?P<session>[^/]+)/")
MEDIA = re.compile(r"(?<!/static)/media/")
METRICS = re.compile(r"/_stcore/metrics$")
CALLBACK = re.compile(r"/oauth2callback$")
PAGE = re.compile(r"/(?:[\w.-]+/)*(?P<name>\w*)", re.ASCII)
LINK_COOKIE = "hedge_link"
LONGEST_LINK = 2000
LINK_SECONDS = 600
DROPPED_MESSAGES = frozenset(
    {"clear_cache", "load_git_info", "set_run_on_save", "debug_disconnect_websocket", "debug_shutdown_runtime"}
)
DROPPED_OPERATIONS = frozenset({"install_skills", "dismiss_skills_nudge"})
REFUSED_TOO = 2
"""A session that is one too many is told so; beyond so many times the limit, the connection is refused."""


@functools.cache
def content_security_policy() -> str:
    """The policy: scripts and styles come from this server alone, and nothing is sent elsewhere.

    Streamlit's page has one script within it, which is named by its hash. The code of components comes in the page's
    own messages and becomes a blob. Streamlit writes styles into the page, which is why styles may be inline.
    """
    from streamlit import file_util

    with open(f"{file_util.get_static_dir()}/index.html", encoding="utf-8") as file:
        inline = re.findall(r"<script>(.*?)</script>", file.read(), re.S)
    hashes = " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(one.encode()).digest()).decode()}'" for one in inline)
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src 'self' blob: {hashes}",
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "connect-src 'self'",
            "worker-src 'self' blob:",
            "media-src 'self' blob:",
            "manifest-src 'self'",
            "frame-src 'self'",
            "frame-ancestors 'self'",
            "form-action 'self'",
            "base-uri 'none'",
            "object-src 'none'",
        )
    )


@functools.cache
def _headers() -> list[tuple[bytes, bytes]]:
    headers = {
        "content-security-policy": content_security_policy(),
        "x-content-type-options": "nosniff",
        "referrer-policy": "same-origin",
        "cross-origin-opener-policy": "same-origin",
        "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
    }
    return [(name.encode(), value.encode()) for name, value in headers.items()]


class RequestGuard:
    """Middleware of the server (ASGI), the outermost one."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.open: Counter[str] = Counter()
        self.lock = threading.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what may pass."""
        if scope["type"] == "http":
            await self._http(scope, receive, send)
        elif scope["type"] == "websocket" and access.mode() != "local":
            await self._websocket(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = _answer_headers(scope)

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = begun([*message.get("headers", [])])
            await send(message)

        if refusal := _refusal(scope):
            body = refusal.encode()
            headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
            await answer({"type": "http.response.start", "status": 403, "headers": headers})
            await answer({"type": "http.response.body", "body": body})
            return
        await self.app(scope, receive, answer)

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        whence, most = network(_client(scope)), quotas.held().sessions_per_address
        with self.lock:
            here = self.open[whence]
            if here >= REFUSED_TOO * most:
                refused = True
            else:
                refused = False
                self.open[whence] += 1
        if refused:
            await receive()
            await send({"type": "websocket.close", "code": 1013})
            return
        headers = [pair for pair in scope["headers"] if pair[0] != login.CROWDED.encode()]
        crowded = [(login.CROWDED.encode(), b"1")] if here >= most else []
        try:
            await self.app({**scope, "headers": [*headers, *crowded]}, functools.partial(_allowed, receive), send)
        finally:
            with self.lock:
                self.open[whence] -= 1
                if not self.open[whence]:
                    del self.open[whence]


def network(client: str) -> str:
    """What counts as one network address: an IPv4 address, or the /64 network that an IPv6 line is given."""
    try:
        known = ipaddress.ip_address(client)
    except ValueError:
        return client
    if known.version == 4:
        return str(known)
    return str(ipaddress.ip_network(f"{known}/64", strict=False))


def _client(scope: Scope) -> str:
    return scope["client"][0] if scope.get("client") else ""


async def _allowed(receive: Receive) -> Message:
    """The next message of the browser that a page may send."""
    from streamlit.proto.BackMsg_pb2 import BackMsg

    while True:
        message = await receive()
        content = message.get("bytes")
        if message["type"] != "websocket.receive" or not content:
            return message
        told = BackMsg()
        try:
            told.ParseFromString(content)
        except Exception:
            return message  # Streamlit closes the connection
        kind: str = told.WhichOneof("type") or ""
        if kind == "backend_operation_request":
            kind = told.backend_operation_request.WhichOneof("payload") or ""
        if kind not in DROPPED_MESSAGES | DROPPED_OPERATIONS:
            return message


def _refusal(scope: Scope) -> str:
    """Why the request is refused, in one sentence; empty if it is not."""
    if access.mode() == "local":
        return ""
    path = str(scope["path"])
    if METRICS.search(path) and not _is_here(_client(scope)):
        return "The server's figures can be read on its own machine only."
    if access.mode() == "public":
        return "This server is public: nobody can upload files." if UPLOAD.search(path) else ""
    if (upload := UPLOAD.search(path)) and scope["method"] != "OPTIONS":
        who = actor_of_request(scope)
        if who.role < UserRole.LAUNCHER:
            return "Only people with the role launcher can upload files to this server."
        return (
            "" if _actor_of_session(upload["session"]).name == who.name else "This upload belongs to another session."
        )
    if MEDIA.search(path) and actor_of_request(scope).role is UserRole.OUTSIDER:
        return "Log in first."
    return ""


def _is_here(client: str) -> bool:
    try:
        return ipaddress.ip_address(client).is_loopback
    except ValueError:
        return False


def _cookies(scope: Scope) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in scope["headers"]:
        if name == b"cookie":
            try:
                found |= {key: one.value for key, one in SimpleCookie(value.decode("latin-1")).items()}
            except CookieError:
                continue
    return found


def actor_of_request(scope: Scope) -> Actor:
    """Who sends a request without a session, by the cookie that Streamlit signed; an outsider if it is not whole."""
    from streamlit.web.server.starlette import starlette_websocket
    from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

    address = _client(scope)
    try:
        raw = starlette_websocket._get_signed_cookie_with_chunks(_cookies(scope), USER_COOKIE_NAME)
        claims = json.loads(raw) if raw else {}
    except ValueError:
        claims = {}
    return login.claims_actor(claims if isinstance(claims, dict) else {}, address)


def _actor_of_session(session_id: str) -> Actor:
    """Whose session it is; an outsider if there is none."""
    from streamlit import runtime

    if not runtime.exists():
        return access.OUTSIDER
    info = runtime.get_instance()._session_mgr.get_session_info(session_id)
    return login.claims_actor(dict(info.session._user_info), "") if info else access.OUTSIDER


def _answer_headers(scope: Scope) -> functools.partial[list[tuple[bytes, bytes]]]:
    """What makes a response's headers of those that Streamlit gives it."""
    if access.mode() != "login":
        return functools.partial(_with_policy, cookie=b"", link=b"")
    path, query = str(scope["path"]), bytes(scope["query_string"]).decode("latin-1")
    if CALLBACK.search(path):
        return functools.partial(_with_policy, cookie=_kept(""), link=_link(_cookies(scope)).encode())
    is_link = scope["method"] == "GET" and _is_page(path) and len(path + query) < LONGEST_LINK
    if is_link and actor_of_request(scope).role is UserRole.OUTSIDER:
        return functools.partial(_with_policy, cookie=_kept(f"{path}?{query}"), link=b"")
    return functools.partial(_with_policy, cookie=b"", link=b"")


def _kept(link: str) -> bytes:
    """A cookie that keeps a link while its reader logs in, or that forgets it."""
    age = LINK_SECONDS if link else 0
    return f"{LINK_COOKIE}={quote(link, safe='')}; Path=/; HttpOnly; SameSite=Lax; Max-Age={age}".encode()


def _is_page(path: str) -> bool:
    """Whether a page of the app is at this path."""
    from app.navigation import PAGES

    found = PAGE.fullmatch(path)
    return found is not None and found["name"] in {"", *(entry.name for entry in PAGES)}


def _link(cookies: dict[str, str]) -> str:
    """The page's link that a cookie keeps; empty if it keeps none, or what leads elsewhere."""
    found = unquote(cookies.get(LINK_COOKIE, ""))
    parts = urlsplit(found)
    is_ours = not parts.scheme and not parts.netloc and _is_page(parts.path) and not found.startswith("//")
    return found if is_ours and found.isprintable() and found.isascii() and " " not in found else ""


def _with_policy(headers: list[tuple[bytes, bytes]], *, cookie: bytes, link: bytes) -> list[tuple[bytes, bytes]]:
    made = [
        (name, link if link and name.lower() == b"location" and value.endswith(b"/") else _secure(name, value))
        for name, value in headers
    ]
    return [*made, *_headers(), *([(b"set-cookie", _secure(b"set-cookie", cookie))] if cookie else [])]


def _secure(name: bytes, value: bytes) -> bytes:
    """The header, and if it sets a cookie on a server that is reached by https, with the word that keeps it there."""
    if name.lower() != b"set-cookie" or not login.is_by_https() or b"; secure" in value.lower():
        return value
    return value + b"; Secure"


def install() -> None:
    """Put the guard before Streamlit's own middleware. Call this before the server starts."""
    from starlette.middleware import Middleware
    from streamlit.web.server.starlette import starlette_app

    own = starlette_app.create_streamlit_middleware
    starlette_app.create_streamlit_middleware = lambda: [Middleware(RequestGuard), *own()]
