"""Which addresses the shelf fetches from: public hosts by https, and a mirror that the settings name."""

import ipaddress
import socket
from urllib.parse import urlsplit

from core.errors import InputError
from core.processes import proxies
from core.settings import settings

PORTS = {"https": 443, "http": 80}


def check(url: str, *, name: str, told_by: str = "") -> None:
    """Raise :class:`InputError` for an address that is not fetched from; ``told_by`` is who redirected there. Only
    https is used, and only hosts with public addresses. The one exception is the mirror of the settings
    (``HEDGE_SHELF_MIRROR``), and only that host and port."""
    begins = f"{name}: {told_by} redirects to" if told_by else f"{name}: the address is"
    check_readable(url, begins=begins)
    parts = urlsplit(url)
    host = parts.hostname or ""
    if _is_mirror(url):
        return
    if parts.username or parts.password:
        at = f"{told_by} redirects to an address" if told_by else "the address is one"
        raise InputError(f"{name}: {at} with a user's name or a password; only addresses without them are fetched from")
    if parts.scheme != "https" or not host:
        raise InputError(f"{begins} {_plain(url)}; only https addresses are fetched from")
    if _private(host, url):
        raise InputError(
            f"{begins} {host}, which is private; only public hosts are fetched from "
            "(HEDGE_SHELF_MIRROR names a mirror of your own)"
        )


def check_readable(url: str, *, begins: str = "the address is") -> None:
    """Raise :class:`InputError` for a text that is no address at all, such as one with a port above 65535."""
    try:
        _ = urlsplit(url).port
    except ValueError as error:
        raise InputError(f"{begins} none that can be read ({error}); check how it is spelled") from error


def peer_is_allowed(url: str, peer: str) -> bool:
    """Whether the machine that really answered may be read from: a name may resolve differently the second time."""
    return _is_mirror(url) or uses_proxy(url) or not _is_private(peer)


def uses_proxy(url: str) -> bool:
    """Whether the environment names a proxy for this address (``HTTPS_PROXY``, ``NO_PROXY``)."""
    return proxies.proxy_of(url) is not None


def _is_mirror(url: str) -> bool:
    mirror = settings().shelf_mirror
    return bool(mirror) and _origin(url) == _origin(mirror)


def _origin(url: str) -> tuple[str, str, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port or PORTS.get(parts.scheme)


def _private(host: str, url: str) -> bool:
    try:
        return _is_private(str(ipaddress.ip_address(host)))
    except ValueError:
        pass
    if host == "localhost" or host.endswith((".localhost", ".local", ".internal")):
        return True
    if uses_proxy(url):  # the proxy resolves the name, and this machine may not be able to
        return False
    try:
        infos = socket.getaddrinfo(host, urlsplit(url).port or 443, type=socket.SOCK_STREAM)
    except OSError:
        return False  # the download says that the host can't be reached
    return any(_is_private(str(info[4][0])) for info in infos)


def _is_private(address: str) -> bool:
    try:
        return not ipaddress.ip_address(address.partition("%")[0]).is_global
    except ValueError:
        return True


def _plain(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname or ''}"
