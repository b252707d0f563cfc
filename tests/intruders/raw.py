"""A connection whose every byte a test chooses: requests, handshakes and frames that no browser sends."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, TypeVar

Value = TypeVar("Value")
TEXT, BINARY, CONTINUES, PING, PONG = 0x1, 0x2, 0x0, 0x9, 0xA
STREAM = "/_stcore/stream"


def run(work: Coroutine[Any, Any, Value]) -> Value:
    """Run ``work`` in a thread of its own: the browser's tests leave an event loop running in the one of the tests."""
    with ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(asyncio.run, work).result()


class Wire:
    """A connection to a server of this machine; behind a proxy of the server's, it comes from ``client``."""

    def __init__(self, port: int, *, client: str = "") -> None:
        self.port, self.client = port, client

    async def __aenter__(self) -> Wire:
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None):
        self.writer.transport.abort()

    async def request(self, *headers: str, method: str = "GET", target: str = "/healthz") -> tuple[int, bytes]:
        """Send a request with exactly these headers, and return the status and the body of the answer."""
        lines = [f"{method} {target} HTTP/1.1", *headers, "Connection: close", "", ""]
        await self.send("\r\n".join(lines).encode("latin-1"))
        answer = await self.reader.read()
        head, _, body = answer.partition(b"\r\n\r\n")
        return int(head.split(b" ", 2)[1]), body

    async def handshake(self, *headers: str, host: str = "", origin: str | None = "", path: str = STREAM) -> int:
        """Ask for a websocket, by default as the server's own page does; the status of the answer, 101 if it opens."""
        host = host or f"127.0.0.1:{self.port}"
        own = [f"Host: {host}"] if host != "-" else []
        if origin is not None:
            own.append(f"Origin: {origin or f'http://{host}'}")
        if self.client:
            own.append(f"X-Forwarded-For: {self.client}")
        upgrade = ["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13"]
        key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
        lines = [f"GET {path} HTTP/1.1", *own, *upgrade, key, "Sec-WebSocket-Protocol: streamlit", *headers, "", ""]
        await self.send("\r\n".join(lines).encode("latin-1"))
        return int((await self.reader.readuntil(b"\r\n\r\n")).split(b" ", 2)[1])

    @staticmethod
    def head(kind: int, size: int, *, last: bool = True, flags: int = 0) -> bytes:
        """The head of a frame with ``size`` bytes and a mask of zeros, which leaves them as they are."""
        first = bytes([(0x80 if last else 0) | flags | kind])
        if size < 126:
            length = bytes([0x80 | size])
        else:
            length = b"\xfe" + size.to_bytes(2, "big") if size < 65536 else b"\xff" + size.to_bytes(8, "big")
        return first + length + bytes(4)

    async def frame(self, kind: int, content: bytes = b"", *, last: bool = True, flags: int = 0) -> None:
        """Send a frame."""
        await self.send(self.head(kind, len(content), last=last, flags=flags) + content)

    async def send(self, content: bytes) -> None:
        """Send these bytes, and wait while the server does not read."""
        self.writer.write(content)
        await self.writer.drain()

    async def closed(self) -> int | None:
        """Read until the server closes the connection; its code, None if it gives none."""
        try:
            while True:
                first, second = await self.reader.readexactly(2)
                size = second & 0x7F
                if size > 125:
                    size = int.from_bytes(await self.reader.readexactly(2 if size == 126 else 8), "big")
                content = await self.reader.readexactly(size)
                if first & 0x0F == 0x8:
                    return int.from_bytes(content[:2], "big")
        except (asyncio.IncompleteReadError, OSError):
            return None
