"""The headers of every response: a content security policy, and ``Secure`` for cookies where people use https.

Streamlit has no setting for a content security policy, so responses get one here.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import re
from importlib import resources
from typing import TYPE_CHECKING

from app.serving import login
from core.settings import settings

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


@functools.cache
def content_security_policy(frame_ancestors: tuple[str, ...] = ()) -> str:
    """The policy: scripts and styles come from this server alone, and nothing is sent elsewhere. Besides the server's
    own pages, the ``frame_ancestors`` may show it in a frame.

    Streamlit's page has one script within it, which is named by its hash. The code of components comes in the page's
    own messages and becomes a blob. Streamlit writes styles into the page, which is why styles may be inline.
    """
    page = (resources.files("streamlit") / "static" / "index.html").read_text(encoding="utf-8")
    inline = re.findall(r"<script>(.*?)</script>", page, re.S)
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'" for script in inline
    )
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
            " ".join(("frame-ancestors 'self'", *frame_ancestors)),
            "form-action 'self'",
            "base-uri 'none'",
            "object-src 'none'",
        )
    )


@functools.cache
def _headers(frame_ancestors: tuple[str, ...]) -> list[tuple[bytes, bytes]]:
    headers = {
        "content-security-policy": content_security_policy(frame_ancestors),
        "x-content-type-options": "nosniff",
        "referrer-policy": "same-origin",
        "cross-origin-opener-policy": "same-origin",
        "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
    }
    return [(name.encode(), value.encode()) for name, value in headers.items()]


class PolicyHeaders:
    """Middleware (ASGI), the outermost one: refusals of the others get the headers too."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Add the headers to the response."""

        async def with_policy(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = [(name, _secure(name, value)) for name, value in message.get("headers", [])]
                message = {**message, "headers": [*headers, *_headers(settings().frame_ancestors)]}
            await send(message)

        await self.app(scope, receive, with_policy if scope["type"] == "http" else send)


def _secure(name: bytes, value: bytes) -> bytes:
    """The header; a cookie of a server that people reach by https gets ``Secure``."""
    if name.lower() != b"set-cookie" or not login.is_by_https() or b"; secure" in value.lower():
        return value
    return value + b"; Secure"
