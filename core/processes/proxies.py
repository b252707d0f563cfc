"""The proxies that the environment names. Addresses of the machine itself never use one."""

import ipaddress
import os
import re
import socket
import urllib.request
from contextlib import suppress
from urllib.parse import SplitResult, urlsplit

from core.errors import InputError

USABLE = ("http", "https")
FOR = ("http", "https", "all")
"""The variables, without ``_proxy``: others, such as ``ftp_proxy``, are not used."""
OWN = ("localhost", ".localhost", "127.0.0.1", "::1")
"""What libraries understand in ``no_proxy``."""


def proxy_of(url: str) -> str | None:
    """The proxy for an address; None if it is asked directly.

    Raises :class:`~core.errors.InputError` for a proxy that can't be used.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    proxies = urllib.request.getproxies()
    proxy = (proxies.get(parts.scheme) or proxies.get("all") or "").strip()
    if not proxy or is_own(host) or urllib.request.proxy_bypass(host) or _is_listed(parts, proxies.get("no", "")):
        return None
    variable = f"{parts.scheme if proxies.get(parts.scheme) else 'all'}_proxy"
    way_out = f"correct or unset it, or add {host} to no_proxy"
    proxy = proxy if "://" in proxy else f"http://{proxy}"
    try:
        port, name, scheme = urlsplit(proxy).port, urlsplit(proxy).hostname, urlsplit(proxy).scheme
        if re.search(r"\s|^\w+://\w+:/", proxy):  # as in "http:/there", whose host would be "http"
            raise ValueError
    except ValueError:
        raise InputError(f"{variable} names a proxy that can't be read; {way_out}") from None
    if scheme not in USABLE:
        raise InputError(f"{variable} names the proxy {shown(proxy)}, and Hedge uses only http proxies; {way_out}")
    if not name or port == 0:
        raise InputError(f"{variable} names a proxy without a host or a port, {shown(proxy)}; {way_out}")
    return proxy


def _is_listed(parts: SplitResult, listed: str) -> bool:
    """Whether ``no_proxy`` lists the address in a way that urllib does not read: ``10.0.0.0/8``, ``host:8000``,
    ``*.example``, or names with spaces between them.
    """
    host, port = (parts.hostname or "").rstrip("."), parts.port or {"https": 443}.get(parts.scheme, 80)
    for entry in re.split(r"[,\s]+", listed.lower()):
        name, _, only_port = entry.partition(":") if entry.count(":") == 1 else (entry, "", "")
        name = name.lstrip("*").strip(".")
        if (host == name or host.endswith(f".{name}")) and name and only_port in ("", str(port)):
            return True
        with suppress(ValueError):
            if ipaddress.ip_address(host) in ipaddress.ip_network(entry, strict=False):
                return True
    return False


def is_own(host: str) -> bool:
    """Whether a name or an address is this machine's own.

    >>> [is_own(host) for host in ("localhost", "a.localhost.", "127.8.0.1", "127.1", "::1", "::ffff:127.0.0.1")]
    [True, True, True, True, True, True]
    >>> is_own(socket.gethostname()), is_own("0.0.0.0"), is_own("models.example"), is_own("192.0.2.77")
    (True, True, False, False)
    """
    name = host.lower().strip("[]").rstrip(".")
    address: ipaddress.IPv4Address | ipaddress.IPv6Address
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        try:
            address = ipaddress.IPv4Address(socket.inet_aton(name))  # 127.1, which connections take, too
        except OSError:
            of_machine = socket.gethostname().lower()
            own = ("localhost", *filter(None, (of_machine, of_machine.partition(".")[0])))
            return name in own or name.endswith(".localhost")
    address = getattr(address, "ipv4_mapped", None) or address
    return address.is_loopback or address.is_unspecified or _is_of_interface(address)


def _is_of_interface(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Whether one of this machine's network interfaces has the address: only then it can be bound."""
    try:
        with socket.socket(socket.AF_INET if address.version == 4 else socket.AF_INET6, socket.SOCK_DGRAM) as probe:
            probe.bind((str(address), 0))
    except OSError:
        return False
    return not (address.is_multicast or address.is_reserved)  # 255.255.255.255 can be bound, too


def shown(proxy: str) -> str:
    """A proxy's address without its user's name and password.

    >>> shown("http://me:secret@proxy.example:3128/")
    'http://proxy.example:3128'
    """
    scheme, _, rest = proxy.partition("://")
    return f"{scheme}://{rest.rpartition('@')[2].partition('/')[0].strip()}"


def in_words() -> str:
    """The proxies that the environment names; empty if there are none."""
    proxies = {scheme: proxy.strip() for scheme, proxy in urllib.request.getproxies().items() if scheme in FOR}
    return ", ".join(
        f"{scheme}_proxy {shown(proxy if '://' in proxy else f'http://{proxy}')}" for scheme, proxy in proxies.items()
    )


def keep_own_direct() -> None:
    """Let the libraries of this process and those it starts use no proxy for this machine's own addresses."""
    if set(urllib.request.getproxies()) & set(FOR):
        listed = os.environ.get("no_proxy") or os.environ.get("NO_PROXY") or ""
        if listed.strip() != "*":
            lacking = [name for name in OWN if name not in listed.split(",")]
            os.environ["no_proxy"] = os.environ["NO_PROXY"] = ",".join([*filter(None, [listed]), *lacking])
