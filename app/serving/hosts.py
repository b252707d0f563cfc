"""Which names the server answers for, and which sites may talk to it.

A site can let its own name resolve to this machine (DNS rebinding). Its page is then of the same origin as the server,
and may read and click everything. Only the name in ``Host`` gives it away, so each request names a host that this
server answers for. A page of another site, or of another port of this machine, gives itself away by its ``Origin``.
Browsers send one with each websocket and each request that changes something. A client that sends none is no browser:
it carries nobody's cookies against that person's will, and Streamlit ignores the login of a websocket without one.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import re
import socket
import threading
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from starlette.responses import PlainTextResponse
from streamlit import config

from app.serving import login, start
from app.serving.rate import Buckets, delay_refusal
from core import access
from core.access import quotas
from core.access.server_file import HOST_NAME
from core.errors import plain

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

LOG = logging.getLogger(__name__)
PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}
HOST = re.compile(r"(?P<name>[a-z0-9_.-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::(?P<port>[1-9]\d{0,4}))?", re.ASCII)
ORIGIN = re.compile(r"(?P<scheme>https?)://(?P<host>[^/?#@\s]+)", re.ASCII)
PROBES = ("/healthz", "/readyz", "/metrics")
READING = ("GET", "HEAD", "OPTIONS")
LONGEST_SHOWN = 100
_requests = Buckets(per_s=100, burst=3000)
"""Of each address, in which a class with its phones or 60 tabs may open at once. Requests beyond it wait."""


class Site(NamedTuple):
    """A host's name, in lower case and an IPv6 address without brackets, and its port if it is given."""

    name: str
    port: int | None


class HostCheck:
    """Middleware (ASGI): passes on what names this server as its host, and comes from no other site.

    Other requests are refused with one sentence, before anything else of the app sees them.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        address = quotas.network(str((scope.get("client") or ("",))[0]))
        if wait := _requests.of(address).take(1):
            await asyncio.sleep(wait)
        status, refusal = _refusal(scope)
        if not refusal:
            await self.app(_canonical(scope) if scope["type"] == "websocket" else scope, receive, send)
            return
        await delay_refusal(address)
        if scope["type"] == "http":
            await PlainTextResponse(refusal + "\n", status)(scope, receive, send)
        else:
            LOG.warning("a websocket was refused: %s", refusal)  # its browser learns no reason
            await receive()
            await send({"type": "websocket.close", "code": 1008})


def parsed(host: str) -> Site | None:
    """The host and port in the value of ``Host``; None for what no browser writes.

    >>> parsed("[::1]:8501"), parsed("LOCALHOST"), parsed("user@localhost"), parsed("127.1")
    (Site(name='::1', port=8501), Site(name='localhost', port=None), None, None)
    """
    match = HOST.fullmatch(host.lower())
    if match is None or (match["port"] and int(match["port"]) > 65535):
        return None
    name, port = match["name"], int(match["port"]) if match["port"] else None
    if name.startswith("["):
        try:
            return Site(str(ipaddress.IPv6Address(name[1:-1])), port)
        except ValueError:
            return None
    if re.fullmatch(r"\d+|0x[0-9a-f]*", name.rpartition(".")[2]):  # browsers read such a name as an IPv4 address
        try:
            return Site(str(ipaddress.IPv4Address(name)), port)
        except ValueError:
            return None
    return Site(name, port) if HOST_NAME.fullmatch(name) else None


def _refusal(scope: Scope) -> tuple[int, str]:
    """The status and the sentence with which the request is refused; an empty sentence if it is not."""
    hosts, origins = _values(scope, b"host"), _values(scope, b"origin")
    if not str(scope["path"]).startswith("/"):
        return 400, "A request names a path of this server, not a whole address; ask for the path alone."
    if len(hosts) != 1:
        return 400, f"A request has exactly one Host header, got {len(hosts)}; send one."
    site = parsed(hosts[0])
    if site is None or not _answers_for(site, scope):
        return 421, _not_ours(hosts[0], scope)
    if scope["type"] == "http" and scope["method"] in READING:
        return 200, ""
    if len(origins) > 1 or (origins and not _is_of(origins[0], site)):
        return 403, (
            f"A page of {_shown(origins[0])!r} can't change anything on this server, which it reached as "
            f"{_shown(hosts[0])!r}: both must be the same host and port. Open the server's own page. Behind a proxy, "
            "let the proxy pass on the browser's Host header."
        )
    return 200, ""


def _values(scope: Scope, header: bytes) -> list[str]:
    return [value.decode("latin-1").strip() for name, value in scope["headers"] if name.lower() == header]


def _answers_for(site: Site, scope: Scope) -> bool:
    """Whether the server answers for this host."""
    if site.name in _given_names():
        return True
    if access.mode() == "local":
        ports = _local_ports(scope)
        return site.name in access.LOOPBACK and (not ports or (site.port or PORTS[scope["scheme"]]) in ports)
    if site.name in access.LOOPBACK:
        return True
    if _given_names() and str(scope["path"]).removeprefix(start.base_path()) not in PROBES:
        return False
    return _is_address(site.name) or site.name in own_names()


def _local_ports(scope: Scope) -> set[int]:
    """The ports under which a browser may reach a server of this machine; none are known for a Unix socket."""
    port = (scope.get("server") or (None, None))[1]
    return {port, int(config.get_option("browser.serverPort"))} if port else set()


def _given_names() -> frozenset[str]:
    """The names that the administrator gives: in the server's file, or as ``browser.serverAddress``."""
    site = parsed(str(config.get_option("browser.serverAddress")))
    given = site is not None and config.is_manually_set("browser.serverAddress")
    return login.host_names() | ({site.name} if given and site else frozenset())


def _is_address(name: str) -> bool:
    """Whether this is a network address. Nobody can let one lead elsewhere, as an attacker can with a name."""
    try:
        return not ipaddress.ip_address(name).is_unspecified
    except ValueError:
        return False


@cache
def own_names() -> set[str]:
    """The names of this machine. Its full name is asked from the network, so a thread adds it."""
    name = socket.gethostname().lower()
    names = {name, name.partition(".")[0], f"{name.partition('.')[0]}.local"}
    threading.Thread(target=lambda: names.add(socket.getfqdn().lower()), daemon=True, name="hedge-name").start()
    return names


def _is_of(origin: str, site: Site) -> bool:
    """Whether a page of ``origin`` is this site's own. The scheme is not compared: TLS may end at a proxy."""
    match = ORIGIN.fullmatch(origin)
    other = parsed(match["host"]) if match else None
    if match is None or other is None:
        return False
    usual = PORTS[match["scheme"]]
    return (other.name, other.port or usual) == (site.name, site.port or usual)


def _canonical(scope: Scope) -> Scope:
    """The scope with ``Host`` and ``Origin`` as browsers write them. Streamlit compares them letter by letter, and asks
    the internet for its own address where they differ.
    """
    match = ORIGIN.fullmatch(next(iter(_values(scope, b"origin")), ""))
    site = parsed(match["host"]) if match else None
    if match is None or site is None:
        return scope
    host = f"[{site.name}]" if ":" in site.name else site.name
    host += f":{site.port}" if site.port not in (None, PORTS[match["scheme"]]) else ""
    others = [pair for pair in scope["headers"] if pair[0].lower() not in (b"host", b"origin")]
    own = [(b"host", host.encode()), (b"origin", f"{match['scheme']}://{host}".encode())]
    return {**scope, "headers": [*own, *others]}


def _shown(value: str) -> str:
    return plain(value, one_line=True)[:LONGEST_SHOWN]


def _not_ours(host: str, scope: Scope) -> str:
    """The sentence for a host that this server does not answer for."""
    if access.mode() == "local":
        port = (scope.get("server") or (None, None))[1] or config.get_option("server.port")
        return (
            f"This server answers for localhost, 127.0.0.1 and [::1] with port {port}, got {_shown(host)!r}. Open "
            f"http://localhost:{port}. From another machine, forward the same port (ssh -L {port}:localhost:{port} "
            "MACHINE). For another port or a proxy of your own, start Hedge with `--browser.serverPort PORT` or "
            "`--browser.serverAddress NAME`."
        )
    return (
        f"This server does not answer for the host {_shown(host)!r}. Open it under a name that its administrator gave "
        "it. As its administrator, add the name to [hosts] in the server's file, or start Hedge with "
        "`--browser.serverAddress NAME`."
    )
