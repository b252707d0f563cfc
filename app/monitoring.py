"""The page server's answers to a monitoring system: ``/healthz``, ``/readyz`` and ``/metrics``.

``/healthz`` says that the process answers, ``/readyz`` whether it can do its work (status 503 if not). Both may be
asked by anyone, as a load balancer must. The figures of ``/metrics``, and why a server is not ready, are told to this
machine and the networks of ``HEDGE_METRICS_FROM`` alone, and never through a proxy, whose address says nothing.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import time
from typing import TYPE_CHECKING

from core import monitoring
from core.settings import settings

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

ENDPOINT = re.compile(r"(?<!/_stcore)/(?P<name>healthz|readyz|metrics)$")
FORWARDED = (b"forwarded", b"x-forwarded-for", b"x-real-ip")
KEPT_S = 2.0
"""An answer is given again for so long, so that asking often costs nothing."""

Answer = tuple[int, bytes]


class Monitoring:
    """Middleware of the server (ASGI): answers the three addresses, and counts open pages."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.sessions = 0
        self._kept: dict[str, tuple[float, Answer]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer what is asked for monitoring, and pass on everything else."""
        if scope["type"] == "http" and (found := ENDPOINT.search(scope["path"])):
            status, body = await self._answer(found["name"], is_near=_is_near(scope))
            kind = b"text/plain; version=0.0.4; charset=utf-8" if found["name"] == "metrics" else b"text/plain"
            headers = [(b"content-type", kind), (b"cache-control", b"no-store")]
            await send({"type": "http.response.start", "status": status, "headers": headers})
            await send({"type": "http.response.body", "body": body})
            return
        counts = scope["type"] == "websocket"
        self.sessions += counts
        try:
            await self.app(scope, receive, send)
        finally:
            self.sessions -= counts

    async def _answer(self, name: str, *, is_near: bool) -> Answer:
        if name == "healthz":
            return 200, b"alive\n"
        if name == "metrics" and not is_near:
            return 403, b"These figures are told to the server's own machine and the networks of HEDGE_METRICS_FROM.\n"
        until, kept = self._kept.get(name, (0.0, (0, b"")))
        if time.monotonic() > until:
            kept = await asyncio.to_thread(self._metrics if name == "metrics" else _readiness)
            self._kept[name] = (time.monotonic() + KEPT_S, kept)
        return kept if is_near or name == "metrics" else (kept[0], kept[1].split(b"\n")[0] + b"\n")

    def _metrics(self) -> Answer:
        return 200, monitoring.exposition(sessions=self.sessions)


def _readiness() -> Answer:
    found = monitoring.problems()
    return (503, "\n".join(["not ready", *found, ""]).encode()) if found else (200, b"ready\n")


def _is_near(scope: Scope) -> bool:
    """Whether the question comes straight from this machine, or from a network that may know the figures."""
    if any(name.lower() in FORWARDED for name, _ in scope["headers"]):
        return False
    try:
        address = ipaddress.ip_address(scope["client"][0] if scope.get("client") else "")
    except ValueError:
        return False
    return address.is_loopback or any(address in network for network in settings().metrics_from)


def install() -> None:
    """Put this before Streamlit's own middleware. Call this before the server starts."""
    from starlette.middleware import Middleware
    from streamlit.web.server.starlette import starlette_app

    own = starlette_app.create_streamlit_middleware
    starlette_app.create_streamlit_middleware = lambda: [Middleware(Monitoring), *own()]
