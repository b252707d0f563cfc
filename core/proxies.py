"""The proxies that the environment names. Addresses of the machine itself never use one."""

from __future__ import annotations

import ipaddress
import os
import urllib.request
from urllib.parse import urlsplit

from core.errors import InputError

USABLE = ("http", "https")
OWN = ("localhost", ".localhost", "127.0.0.1", "::1")
"""What libraries understand in ``no_proxy``."""


def proxy_of(url: str) -> str | None:
    """The proxy for an address; None if it is asked directly.

    Raises :class:`~core.errors.InputError` for a proxy that can't be used.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    proxies = urllib.request.getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy or is_own(host) or urllib.request.proxy_bypass(host):
        return None
    variable = f"{parts.scheme if proxies.get(parts.scheme) else 'all'}_proxy"
    way_out = f"correct or unset it, or add {host} to no_proxy"
    proxy = proxy if "://" in proxy else f"http://{proxy}"
    try:
        port, name, scheme = urlsplit(proxy).port, urlsplit(proxy).hostname, urlsplit(proxy).scheme
    except ValueError:
        raise InputError(f"{variable} names a proxy that can't be read; {way_out}") from None
    if scheme not in USABLE:
        raise InputError(f"{variable} names the proxy {shown(proxy)}, and Hedge uses only http proxies; {way_out}")
    if not name or port == 0:
        raise InputError(f"{variable} names a proxy without a host or a port, {shown(proxy)}; {way_out}")
    return proxy


def is_own(host: str) -> bool:
    """Whether a name or an address is this machine's own.

    >>> [is_own(host) for host in ("localhost", "a.localhost.", "127.8.0.1", "::1", "::ffff:127.0.0.1", "10.0.0.1")]
    [True, True, True, True, True, False]
    """
    name = host.lower().rstrip(".")
    try:
        address = ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return name == "localhost" or name.endswith(".localhost")
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback


def shown(proxy: str) -> str:
    """A proxy's address without its user's name and password.

    >>> shown("http://me:secret@proxy.example:3128/")
    'http://proxy.example:3128'
    """
    scheme, _, rest = proxy.partition("://")
    return f"{scheme}://{rest.rpartition('@')[2].rstrip('/')}"


def in_words() -> str:
    """The proxies that the environment names; empty if there are none."""
    proxies = {scheme: proxy for scheme, proxy in urllib.request.getproxies().items() if scheme != "no"}
    return ", ".join(
        f"{scheme}_proxy {shown(proxy if '://' in proxy else f'http://{proxy}')}" for scheme, proxy in proxies.items()
    )


def keep_own_direct() -> None:
    """Let the libraries of this process and those it starts use no proxy for this machine's own addresses."""
    if set(urllib.request.getproxies()) - {"no"}:
        listed = os.environ.get("no_proxy") or os.environ.get("NO_PROXY") or ""
        if listed.strip() != "*":
            lacking = [name for name in OWN if name not in listed.split(",")]
            os.environ["no_proxy"] = os.environ["NO_PROXY"] = ",".join([*filter(None, [listed]), *lacking])
