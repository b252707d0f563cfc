"""The address that phones open to join a class, its QR code, and whether phones can reach it."""

import socket
from urllib.parse import urlsplit, urlunsplit

from core import access

LOCAL = "Phones can't join, because this server answers this computer alone. Other windows on this computer can."
TO_TEACH = (
    "Start the server with `hedge --public --lecturer --server.address 0.0.0.0`, which prints a link that makes you "
    "the lecturer, or with `hedge --login FILE --server.address 0.0.0.0`, where you log in as a launcher."
)


def join_address(page: str, code: str) -> str:
    """The address that joins the class, for the address of the lecturer's page.

    >>> join_address("http://10.0.0.5:8501/hedge/classroom", "BCDFGH")
    'http://10.0.0.5:8501/hedge/join/BCDFGH'
    """
    parts = urlsplit(page)
    folder = parts.path.rpartition("/")[0]
    return urlunsplit((parts.scheme, parts.netloc, f"{folder}/join/{code}", "", ""))


def qr_code(address: str) -> str:
    """The QR code of an address as an image in a ``data:`` address, dark on white in both themes."""
    import segno

    return str(segno.make(address, error="m", micro=False).svg_data_uri(scale=8, border=3, dark="#000", light="#fff"))


def problem(page: str) -> str:
    """Why phones can't open the address of the lecturer's page; empty if they may be able to."""
    if access.mode() == "local":
        return LOCAL
    host = urlsplit(page).hostname
    if host not in access.LOOPBACK:
        return ""
    return f"Phones can't join, because you opened this page as {host}, which means another machine on each phone."


def remedy(page: str) -> str:
    """What to do so that phones can join, where :func:`problem` says that they can't."""
    if access.mode() == "local":
        return TO_TEACH
    parts = urlsplit(page)
    port = f":{parts.port}" if parts.port else ""
    return (
        "Open the page under the name or the address of this server, such as "
        f"`{parts.scheme}://{own_address()}{port}{parts.path}`."
    )


def own_address() -> str:
    """The network address of this machine, as far as it is known without sending anything."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # an address of documentation; a datagram socket sends nothing here
            return str(probe.getsockname()[0])
        except OSError:
            return "ADDRESS"
