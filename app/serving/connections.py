"""The server's connections, with limits of size, number, speed and time.

uvicorn reads a connection before the app hears of it, so these limits are in the protocols that it reads with. A
browser sends at most :data:`LARGEST_MESSAGE` bytes in a message, in few frames and within :data:`MESSAGE_WITHIN_S`. It
sends them at a limited rate: beyond it, the server stops reading, and the sender waits. Unfinished messages of one
address, and of all, take a limited amount of memory. A request must not come slower than :data:`SLOWEST_PER_S` bytes a
second. A machine has at most :data:`MOST_CONNECTIONS` connections, unless it is a proxy that names the visitors'
addresses.
"""

from __future__ import annotations

import asyncio
from asyncio.transports import BaseTransport
from collections import Counter
from functools import cache
from typing import Any

from uvicorn import config as uvicorn_config
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode, Frame
from websockets.protocol import State

from app.serving.rate import Bucket, Buckets, Shares
from core.access import quotas
from core.processes import open_files

LARGEST_MESSAGE = 2_000_000
MOST_FRAMES = 1000
"""Frames of one message; a browser sends one."""
MOST_WAITING = 500
"""Whole messages that wait for the app."""
MESSAGE_WITHIN_S = 30.0
SLOW_FOR_S, SLOWEST_PER_S = 20.0, 1000
"""After these seconds, the rest of a request is read only if it comes at this many bytes a second or faster."""
FIRST_BYTE_WITHIN_S = 5.0
"""After the connection is made."""
READ_AT_ONCE = 4096
"""Bytes that are read from a connection before the others have their turn."""
SMALL = 65_536
"""What every connection may hold of an unfinished message."""
UNFINISHED_OF_ADDRESS, UNFINISHED_OF_ALL = 8_000_000, 24_000_000
FRAME_COSTS = 2000
"""Bytes that are added to each frame when a sender's bytes are counted."""
MOST_EMPTY = 50
"""Pings, pongs and empty frames in a row; a browser sends a pong for each ping of the server."""
LONGEST_REST_S = 60.0
"""The longest time that a sender waits at once. Meanwhile the server does not notice that it leaves."""
MOST_UNSENT = 1_000_000
"""While more bytes than these wait to be sent, pings get no answer."""

MOST_CONNECTIONS = 1000
"""Of one machine. A class of 200 phones may share an address, and a browser opens six connections at once."""

_received = Shares(
    address=Buckets(per_s=2_000_000, burst=16_000_000),
    small=Buckets(per_s=40_000, burst=1_000_000),
    everyone=Bucket(per_s=10_000_000, burst=40_000_000),
)
"""The bytes that are received, and :data:`FRAME_COSTS` for each frame."""
_large = Bucket(per_s=500_000, burst=8_000_000)
"""For the parts of messages that are beyond :data:`SMALL`, of all connections."""
unfinished: Counter[str] = Counter()
"""Bytes of unfinished messages, by address."""
connected: Counter[str] = Counter()
"""Connections of each machine that is no trusted proxy."""


def install() -> None:
    """Let the servers that this process starts read with these limits."""
    uvicorn_config.WS_PROTOCOLS |= dict.fromkeys(("auto", "websockets-sansio"), f"{__name__}:LimitedWebSocket")
    uvicorn_config.HTTP_PROTOCOLS |= {"auto": f"{__name__}:LimitedHttp"}


@cache
def _proxies(trusted: str) -> ProxyHeadersMiddleware:
    """The part of uvicorn that knows which machines are trusted proxies."""
    return ProxyHeadersMiddleware(_no_app, trusted)


async def _no_app(*_: Any) -> None:
    """What the middleware would call; it is asked about addresses alone."""


class LimitedWebSocket(WebSocketsSansIOProtocol):
    """A websocket of a browser."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.conn.max_message_size = LARGEST_MESSAGE
        self.scope: Any = {}
        self._own = Bucket(per_s=256_000, burst=4_000_000)
        self._rests: asyncio.TimerHandle | None = None
        """While the sender waits, because it was too fast."""
        self._ends: asyncio.TimerHandle | None = None
        """While a message is unfinished."""
        self._held, self._holder, self._finished = 0, "", 0
        self._frames, self._empty = 0, 0
        self._peer = ""

    def connection_made(self, transport: BaseTransport) -> None:
        """Read in small pieces."""
        super().connection_made(transport)
        self._peer = _arrived(self)
        if hasattr(transport, "max_size"):
            transport.max_size = READ_AT_ONCE

    def data_received(self, data: bytes) -> None:
        """Read, and count what is unfinished."""
        finished, self._frames = self._finished, 0
        super().data_received(data)
        cost = len(data) + FRAME_COSTS * self._frames
        wait = max(self._own.take(cost), _received.take(self._address, cost))
        if not self.handshake_initiated or self.transport.is_closing():
            return
        self._hold(len(self.conn.reader.buffer) + sum(map(len, self.frames)))
        if finished != self._finished or not self._held:
            self._stop_waiting()
        if self._held and not self._ends:
            self._ends = self.loop.call_later(MESSAGE_WITHIN_S, self._fail, CloseCode.POLICY_VIOLATION)
        if self._held > SMALL and self._too_much_is_held():
            self._fail(CloseCode.TRY_AGAIN_LATER)
            return
        self._rest(max(wait, _large.take(len(data))) if self._held > SMALL else wait)

    @property
    def _address(self) -> str:
        """The browser's network address; behind a proxy, the one that the proxy names."""
        return quotas.network(str((self.scope.get("client") or ("",))[0]))

    def handle_events(self) -> None:
        """Count the frames."""
        self._frames += len(self.conn.events)
        super().handle_events()

    def handle_text(self, event: Frame) -> None:
        """Begin a message."""
        if self._is_welcome(event.data):
            super().handle_text(event)

    def handle_bytes(self, event: Frame) -> None:
        """Begin a message."""
        if self._is_welcome(event.data):
            super().handle_bytes(event)

    def handle_cont(self, event: Frame) -> None:
        """Refuse a message in too many frames."""
        if len(self.frames) >= MOST_FRAMES:
            self.frames = []
            self._fail(CloseCode.POLICY_VIOLATION)
        elif self._is_welcome(event.data):
            super().handle_cont(event)

    def handle_pong(self, event: Frame) -> None:
        """Note that the browser is there."""
        if self._is_welcome(b""):
            super().handle_pong(event)

    def handle_ping(self) -> None:
        """Answer, unless the browser does not read the answers."""
        if not self._is_welcome(b""):
            return
        if self.transport.get_write_buffer_size() < MOST_UNSENT:
            super().handle_ping()
        else:
            self.conn.data_to_send()

    def send_receive_event_to_app(self) -> None:
        """Pass a whole message on, unless too many wait."""
        self._finished += 1
        if self.queue.qsize() >= MOST_WAITING:
            self.frames = []
            self._fail(CloseCode.POLICY_VIOLATION)
        else:
            super().send_receive_event_to_app()

    async def receive(self) -> Any:
        """The next message for the app. Reading continues when all have been taken, and the sender has waited."""
        message = await self.queue.get()
        if self.read_paused and self.queue.empty() and not self._rests:
            self._go_on()
        return message

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        _left(self._peer)
        self._hold(0)
        self._stop_waiting()
        if self._rests:
            self._rests.cancel()
        super().connection_lost(exc)

    def _is_welcome(self, content: bytes | bytearray | memoryview) -> bool:
        """Whether to continue after a frame with this content; too many without any close the connection."""
        self._empty = 0 if content else self._empty + 1
        if self._empty > MOST_EMPTY:
            self.frames = []
            self._fail(CloseCode.POLICY_VIOLATION)
        return not self.transport.is_closing()

    def _rest(self, seconds: float) -> None:
        if seconds and not self._rests and not self.transport.is_closing():
            self.transport.pause_reading()
            self.read_paused = True
            self._rests = self.loop.call_later(min(seconds, LONGEST_REST_S), self._rested)

    def _rested(self) -> None:
        self._rests = None
        if self.queue.empty():
            self._go_on()

    def _go_on(self) -> None:
        self.read_paused = False
        if not self.transport.is_closing():
            self.transport.resume_reading()

    def _stop_waiting(self) -> None:
        if self._ends:
            self._ends.cancel()
            self._ends = None

    def _hold(self, count: int) -> None:
        unfinished[self._holder] -= self._held
        if not unfinished[self._holder]:
            del unfinished[self._holder]
        if count:
            self._holder = self._address
            unfinished[self._holder] += count
        self._held = count

    def _too_much_is_held(self) -> bool:
        return unfinished[self._address] > UNFINISHED_OF_ADDRESS or unfinished.total() > UNFINISHED_OF_ALL

    def _fail(self, code: CloseCode) -> None:
        """Close the connection: the browser did what no page of ours does."""
        if self.transport.is_closing():
            return
        if self.conn.state is State.OPEN:
            self._stop_waiting()
            self.conn.fail(code)
            self.handle_parser_exception()
            self._ends = self.loop.call_later(self.close_timeout, self.transport.abort)  # if it does not read either
        else:
            self.transport.abort()


def _arrived(connection: LimitedWebSocket | LimitedHttp) -> str:
    """Count the connection, and return the address of the machine at its other end; none for a trusted proxy."""
    address = connection.client[0] if connection.client else ""
    trusted = ",".join(allowed) if isinstance(allowed := connection.config.forwarded_allow_ips, list) else allowed
    if not address or address in _proxies(trusted).trusted_hosts:
        return ""
    peer = quotas.network(address)
    connected[peer] += 1
    return peer


def _left(peer: str) -> None:
    if peer:
        connected[peer] -= 1
        if not connected[peer]:
            del connected[peer]


class LimitedHttp(H11Protocol):
    """A connection of HTTP/1.1, until it becomes a websocket."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request, unless the machine has too many connections."""
        super().connection_made(transport)
        self._peer = _arrived(self)
        self._heard = False
        self._begun, self._bytes = self.loop.time(), 0
        """Since when a head or a body is expected, and how much of it has come."""
        self._next_look = self.loop.call_later(FIRST_BYTE_WITHIN_S, self._look_first)
        if connected[self._peer] > min(MOST_CONNECTIONS, open_files.limit() // 2) and self._peer:
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        _left(self._peer)
        self._next_look.cancel()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self, event: Any) -> None:
        """Pass the connection on to a websocket."""
        self._next_look.cancel()
        super().handle_websocket_upgrade(event)
        _left(self._peer)  # the websocket counts now
        self._peer = ""

    def data_received(self, data: bytes) -> None:
        """Read a part of a request."""
        self._heard = True
        self._bytes += len(data)
        super().data_received(data)

    def on_response_complete(self) -> None:
        """Wait for the next request; uvicorn closes the connection if none begins."""
        self._begun, self._bytes = self.loop.time(), 0
        super().on_response_complete()

    def _look_first(self) -> None:
        """Close the connection if nothing has come."""
        if not self._heard:
            self.transport.abort()
        else:
            self._next_look = self.loop.call_later(max(0.0, SLOW_FOR_S - FIRST_BYTE_WITHIN_S), self._look)

    def _look(self) -> None:
        """Close the connection if the client keeps it open with next to nothing."""
        if self.transport.is_closing():
            return
        responds = self.cycle is not None and not self.cycle.response_complete and not self.cycle.more_body
        lasts = self.loop.time() - self._begun
        if not (responds or self.flow.read_paused) and lasts >= SLOW_FOR_S and self._bytes < SLOWEST_PER_S * lasts:
            self.transport.abort()
        else:
            self._next_look = self.loop.call_later(SLOW_FOR_S, self._look)
