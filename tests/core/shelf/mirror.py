"""A mirror of published files on this machine, with HTTP ranges, counted bytes, and faults that can be switched on.

It is a proxy too: it answers for every host it is asked for by ``http``, and tunnels ``https`` to a server of the test.
"""

import hashlib
import json
import re
import select
import socket
import ssl
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

CHUNK = 1 << 14
COMMIT = "0123456789abcdef0123456789abcdef01234567"
"""The commit of every data set that is served as the hub does."""


@dataclass
class Mirror:
    """What the server serves, by path, and what it does wrong; ``sent`` counts the bytes of bodies by path."""

    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    sent: Counter[str] = field(default_factory=Counter)
    requests: list[tuple[str, str]] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)
    """The headers of every request, as they came."""
    tunnel: int = 0
    """The port of this machine to which a client that asks for a tunnel is connected."""
    storage: str = ""
    """Where the files of data sets really lie, as the hub redirects to its storage."""
    fault: str = ""
    location: str = ""
    ranges: bool = True
    cut_after: int = 0
    released: threading.Event = field(default_factory=threading.Event)
    stalled: threading.Event = field(default_factory=threading.Event)
    """Set once an answer has stopped in the middle."""

    def add_to_hub(self, repository: str, path: str, content: bytes) -> None:
        """Serve a file of a data set as the Hugging Face hub does."""
        self.files[f"/datasets/{repository}/resolve/main/{path}"] = content

    def add(self, repository: str, commit: str, path: str, content: bytes) -> None:
        """Serve a file of a Git repository at a commit."""
        self.files[f"/{repository}/{commit}/{path}"] = content


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    mirror: Mirror
    asked: str

    def log_message(self, *_: object) -> None:
        """Print nothing."""

    def do_CONNECT(self) -> None:
        """Tunnel to the test's server, whichever host is asked for."""
        self.mirror.requests.append((self.path, ""))
        with socket.create_connection(("127.0.0.1", self.mirror.tunnel)) as there:
            self.send_response(200)
            self.end_headers()
            sides = {self.connection: there, there: self.connection}
            while ready := select.select(list(sides), [], [], 30)[0]:
                sent = [connection.recv(CHUNK) for connection in ready]
                if not all(sent):
                    break
                for connection, content in zip(ready, sent, strict=True):
                    sides[connection].sendall(content)
        self.close_connection = True

    def parse_request(self) -> bool:
        """Keep the headers, and take the path of an address that a proxy is asked for."""
        parsed = super().parse_request()
        if parsed:
            self.mirror.heads.append(str(self.headers))
            self.asked = self.path
            if self.command != "CONNECT" and self.path.startswith("http://"):
                self.path = urlsplit(self.path).path
        return parsed

    def _redirected(self) -> bool:
        """Redirect to the storage, as the hub does for large files."""
        content = self.mirror.files.get(self.path)
        if not self.mirror.storage or content is None or "/api/" in self.path:
            return False
        digest = f'"{hashlib.sha256(content).hexdigest()}"'
        self._empty(
            302,
            **{
                "Location": self.mirror.storage + self.path,
                "X-Repo-Commit": COMMIT,
                "X-Linked-Size": str(len(content)),
                "X-Linked-ETag": digest,
            },
        )
        return True

    def do_HEAD(self) -> None:
        """Say what a file is, as the hub does."""
        if self._redirected():
            return
        content = self.mirror.files.get(self.path)
        if content is not None and self.mirror.fault == "gated":
            self._empty(403, **{"X-Error-Code": "GatedRepo"})
            return
        if content is None or self.mirror.fault == "404":
            self._empty(404, **{"X-Error-Code": "EntryNotFound"})
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("ETag", f'"{hashlib.sha256(content).hexdigest()}"')
        self.send_header("X-Repo-Commit", COMMIT)
        self.end_headers()

    def do_GET(self) -> None:
        """Answer a request for a file or a range of it."""
        mirror = self.mirror
        mirror.requests.append((self.asked, self.headers.get("Range", "")))
        if self._redirected():
            return
        if mirror.fault == "silent listing" and "/api/" in self.path:
            mirror.released.wait(30)
        content = mirror.files.get(self.path)
        content = self._tree() if content is None else content
        if mirror.fault == "silent":
            mirror.released.wait(30)
            return
        if mirror.fault == "redirect":
            self._empty(302, Location=mirror.location)
            return
        if content is None or mirror.fault == "404":
            self._empty(404, **{"X-Error-Code": "RepoNotFound" if "/api/" in self.path else "EntryNotFound"})
            return
        if mirror.fault == "tampered":
            content = content[:-1] + bytes([content[-1] ^ 1])
        if mirror.fault == "ten times":
            content = content * 10
        if mirror.fault == "truncated":
            content = content[: len(content) // 2]
        match = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        etag = f'"{hash(content)}"'
        if match and mirror.ranges and not content:
            self._empty(416)
            return
        whole = not match or not mirror.ranges or self.headers.get("If-Range", etag) != etag
        start = 0 if whole else int(match[1])
        body = content if whole else content[start : int(match[2]) + 1]
        self.send_response(200 if whole else 206)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("ETag", etag)
        if not whole:
            self.send_header("Content-Range", f"bytes {start}-{start + len(body) - 1}/{len(content)}")
        self.end_headers()
        if mirror.fault == "stall":
            self._send(body[: len(body) // 2])
            mirror.stalled.set()
            mirror.released.wait(30)
            self.close_connection = True
            return
        if mirror.fault == "cut" and mirror.sent[self.path] + len(body) > mirror.cut_after:
            self._send(body[: max(mirror.cut_after - mirror.sent[self.path], 0)])
            self.close_connection = True
            self.connection.close()
            return
        self._send(body)

    def _tree(self) -> bytes | None:
        """The files of a data set, as the hub's interface lists them."""
        match = re.match(r"/api/datasets/([^/]+/[^/]+)/tree/main\b", self.path)
        begins = f"/datasets/{match[1]}/resolve/main/" if match else "?"
        listed = [
            {"type": "file", "path": path.removeprefix(begins), "size": len(content), "oid": COMMIT}
            for path, content in self.mirror.files.items()
            if path.startswith(begins)
        ]
        return json.dumps(listed).encode() if listed else None

    def _send(self, body: bytes) -> None:
        for begin in range(0, len(body), CHUNK):
            piece = body[begin : begin + CHUNK]
            try:
                self.wfile.write(piece)
                self.wfile.flush()
            except OSError:
                self.close_connection = True
                return
            self.mirror.sent[self.path] += len(piece)

    def _empty(self, status: int, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Length", "0")
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()


@contextmanager
def serving(tls: ssl.SSLContext | None = None) -> Iterator[Mirror]:
    """A mirror on a free port of this machine, with TLS if there is a context for it; it ends with the block."""
    mirror = Mirror()
    handler = type("Handler", (_Handler,), {"mirror": mirror})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    mirror.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield mirror
    finally:
        mirror.released.set()
        server.shutdown()
        server.server_close()
        thread.join()
