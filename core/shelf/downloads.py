"""Downloads a file over https into the shelf's cache, and continues where an earlier download broke off.

A file is fetched in pieces by HTTP ranges (RFC 9110, section 14), each no longer than :data:`PIECE`. Cancelling ends
at the end of a piece, so that no byte that a server has sent is fetched a second time. ``If-Range`` with the server's
ETag makes sure that the pieces are of one file. A server that knows no ranges sends the whole file at once.
"""

import re
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO
from urllib.parse import urljoin, urlsplit

import httpx2

from core import __version__
from core.errors import InputError, UnreachableError
from core.processes import proxies
from core.settings import settings
from core.shelf import addresses, cache
from core.shelf.cache import PartialDownload
from core.shelf.entries import ShelfFile
from core.shelf.progress import DownloadProgress

PIECE = 1 << 20
"""Bytes that are asked for at a time."""
CONNECT_SECONDS = 10.0
"""How long a connection may take."""
DRAIN_SECONDS = 2.0
"""How long the rest of a piece is read after a person has cancelled."""
MOST_REDIRECTS = 5
ATTEMPTS = 3
"""How often a broken connection is opened again without any new byte in between."""
CONTENT_RANGE = re.compile(r"^bytes (\d+)-(\d+)/(\d+)$")
REDIRECTS = (301, 302, 303, 307, 308)


class _Broken(Exception):
    """The connection broke; what came before is kept."""


class _NoConnection(_Broken):
    """No connection could be made."""


def fetch(file: ShelfFile, progress: DownloadProgress) -> Path:
    """The file in the cache, downloaded if it is not there. Raises :class:`InputError` with one sentence if it can't be
    downloaded as the entry describes it, and :class:`~core.errors.RunCancelled` if a person cancelled."""
    here = cache.find(file.address, file.sha256)
    if here is not None and not file.ask_again:
        progress.skip(here.stat().st_size)
        return here
    part = cache.part_path(file.address)
    try:
        with _client() as client:
            _complete(client, file, part, progress)
    except UnreachableError:
        if here is None:
            raise
        return here
    return cache.keep(part, file.address, sha256=file.sha256, name=file.path, lasting=file.lasting)


def _client() -> httpx2.Client:
    stall = settings().shelf_stall_seconds
    try:
        return httpx2.Client(
            follow_redirects=False,
            timeout=httpx2.Timeout(stall, connect=min(CONNECT_SECONDS, stall)),
            headers={"User-Agent": f"hedge/{__version__}", "Accept-Encoding": "identity"},
        )
    except (ValueError, ImportError, httpx2.InvalidURL):
        raise InputError(
            f"a proxy of the environment can't be used ({proxies.in_words()}); correct or unset it"
        ) from None


def _complete(client: httpx2.Client, file: ShelfFile, part: Path, progress: DownloadProgress) -> None:
    known = cache.read_part(part)
    if known is None:
        cache.drop_part(part)
    have = part.stat().st_size if known else 0
    progress.skip(have)
    failed = 0
    while known is None or have < known.size:
        progress.check()
        try:
            known = _piece(client, file, part, known, progress)
            failed = 0
        except _Broken as error:
            grown = part.stat().st_size if part.exists() else 0
            failed = 1 if grown > have else failed + 1
            known = cache.read_part(part)
            if failed >= ATTEMPTS:
                at = f" after {grown:,} of {known.size:,} bytes" if known else ""
                kind = UnreachableError if isinstance(error, _NoConnection) else InputError
                then = "import it again to continue from there" if known else "try again later"
                raise kind(f"{file.path}: {error}{at}; {then}") from error
            time.sleep(0.2 * failed)
        have = part.stat().st_size if part.exists() else 0


def _piece(
    client: httpx2.Client, file: ShelfFile, part: Path, known: PartialDownload | None, progress: DownloadProgress
) -> PartialDownload:
    have = part.stat().st_size if known else 0
    last = have + PIECE - 1
    headers = {"Range": f"bytes={have}-{last}"}
    if have and known and known.etag and not known.etag.startswith("W/"):
        headers["If-Range"] = known.etag
    with _answer(client, file, headers) as response:
        about, start = _about(response, file, have)
        if known is not None and (start != have or about.size != known.size):
            cache.drop_part(part)  # the server has another file now, or knows no ranges: begin again
            progress.skip(-have)
            have = 0
            if start:
                raise _Broken("the file changed on the server")
        cache.write_part(part, about)
        with part.open("r+b" if have else "wb") as target:
            target.seek(have)
            target.truncate()
            ended = _read_into(target, response, file, about.size - have, progress)
    if not ended and part.stat().st_size < min(about.size, last + 1):
        progress.check()
    return about


def _read_into(
    target: IO[bytes], response: httpx2.Response, file: ShelfFile, most: int, progress: DownloadProgress
) -> bool:
    """Append a response's body; returns whether it came whole. Raises :class:`_Broken`."""
    wanted = int(response.headers.get("Content-Length", most))
    read, stop_at = 0, None
    progress.abort = partial(_shut, response)
    try:
        for chunk in response.iter_raw():
            read += len(chunk)
            if read > most or read > wanted:
                raise InputError(_too_large(file, f"more than {most:,}"))
            target.write(chunk)
            progress.advance(len(chunk))
            if stop_at is None and progress.cancelled():
                stop_at = time.monotonic() + DRAIN_SECONDS
            if stop_at is not None and time.monotonic() > stop_at:
                return False
    except httpx2.TimeoutException as error:
        raise InputError(
            f"{file.path}: the server sent nothing for {settings().shelf_stall_seconds:g} s; what came is kept, "
            "import it again to continue from there"
        ) from error
    except httpx2.TransportError as error:
        raise _Broken("the connection broke") from error
    finally:
        progress.abort = lambda: None
    if read < wanted:
        raise _Broken("the connection broke")
    return True


def _shut(response: httpx2.Response) -> None:
    """Close a connection under a thread that waits for it to send something."""
    stream = response.extensions.get("network_stream")
    open_socket = stream.get_extra_info("socket") if stream is not None else None
    if open_socket is not None:
        with suppress(OSError):
            open_socket.shutdown(socket.SHUT_RDWR)


@contextmanager
def _answer(client: httpx2.Client, file: ShelfFile, headers: dict[str, str]) -> Iterator[httpx2.Response]:
    """The response to a request for the file, redirects followed where they lead to an allowed address."""
    url, told_by = file.address, ""
    for _ in range(MOST_REDIRECTS + 1):
        addresses.check(url, name=file.path, told_by=told_by)
        try:
            response = client.send(client.build_request("GET", url, headers=headers), stream=True)
        except httpx2.TimeoutException as error:
            within = client.timeout.connect if isinstance(error, httpx2.ConnectTimeout) else client.timeout.read
            raise UnreachableError(
                f"{file.path}: {urlsplit(url).hostname} did not answer within {within:g} s; nothing was imported"
            ) from error
        except (httpx2.TransportError, httpx2.InvalidURL) as error:
            if "CERTIFICATE_VERIFY_FAILED" in str(error):
                raise InputError(
                    f"{file.path}: the certificate of {urlsplit(url).hostname} is not trusted; if it is your network's "
                    "own, SSL_CERT_FILE names the file of its authority"
                ) from error
            raise _NoConnection(f"{urlsplit(url).hostname} can't be reached") from error
        try:
            if not addresses.peer_is_allowed(url, _peer(response)):
                raise InputError(
                    f"{file.path}: {urlsplit(url).hostname} answered from a private address; it is not read"
                )
            if response.status_code not in REDIRECTS:
                yield response
                return
            told_by = urlsplit(url).hostname or ""
            url = urljoin(url, response.headers.get("Location", ""))
        finally:
            response.close()
    raise InputError(f"{file.path}: {told_by} redirects more than {MOST_REDIRECTS} times; it is not followed further")


def _peer(response: httpx2.Response) -> str:
    stream = response.extensions.get("network_stream")
    address = stream.get_extra_info("server_addr") if stream is not None else None
    return str(address[0]) if address else ""


def _about(response: httpx2.Response, file: ShelfFile, have: int) -> tuple[PartialDownload, int]:
    """The size of the whole file and where the response begins in it. Raises :class:`InputError` for a wrong one."""
    status = response.status_code
    if status in (401, 403, 404, 410):
        why = "needs a login there" if status in (401, 403) else "is not there any more"
        raise InputError(f"{file.path}: it {why} (the server answers {status}); nothing was imported")
    if status in (429, 500, 502, 503, 504):
        raise _Broken(f"the server answers {status}")
    if status == 416 and not have:  # no range of an empty file can be sent
        raise InputError(_empty(file))
    if status not in (200, 206):
        raise InputError(f"{file.path}: expected the file, the server answers {status}; nothing was imported")
    if response.headers.get("Content-Encoding", "identity") != "identity":
        raise InputError(f"{file.path}: the server sends it compressed, which was not asked for; it is not read")
    content_range = CONTENT_RANGE.match(response.headers.get("Content-Range", ""))
    if status == 206 and content_range is None:
        raise InputError(f"{file.path}: the server sends a part and does not say which; it is not read")
    start = int(content_range[1]) if status == 206 and content_range else 0
    total = content_range[3] if status == 206 and content_range else response.headers.get("Content-Length")
    if total is None or not total.isdecimal():
        raise InputError(f"{file.path}: the server does not say how large it is; it is not read")
    size = int(total)
    if size > file.at_most:
        raise InputError(_too_large(file, f"{size:,}"))
    if not size:
        raise InputError(_empty(file))
    if file.size is not None and size != file.size:
        raise InputError(
            f"{file.path}: expected {file.size:,} bytes, the server has {size:,}; it is not the published file, and "
            "nothing was imported"
        )
    return PartialDownload(size, response.headers.get("ETag", "")), start


def _empty(file: ShelfFile) -> str:
    return f"{file.path}: expected a file with content, the server has an empty one; nothing was imported"


def _too_large(file: ShelfFile, size: str) -> str:
    return f"{file.path}: expected at most {file.at_most:,} bytes, the server has {size}; it is not downloaded"
