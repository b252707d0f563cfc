"""Connections that keep a server waiting: real ones, to a server whose limits are short."""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
import uvicorn

from app.serving import connections
from app.serving.rate import Bucket, Buckets, Shares
from tests.intruders.raw import BINARY, CONTINUES, PING, PONG, Wire

pytestmark = pytest.mark.quick
PARTS = 4


async def app(scope: Any, receive: Any, send: Any) -> None:
    """Sends the sizes of a websocket's messages back; answers a request after its body, with pauses at ``/slowly``."""
    message = await receive()
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
        while (message := await receive())["type"] == "websocket.receive":
            await send({"type": "websocket.send", "bytes": len(message["bytes"]).to_bytes(4, "big")})
        return
    while message.get("more_body"):
        message = await receive()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    for _ in range(PARTS):
        await send({"type": "http.response.body", "body": b"part", "more_body": True})
        await asyncio.sleep(connections.SLOW_FOR_S if scope["path"] == "/slowly" else 0)
    await send({"type": "http.response.body", "body": b""})


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The port of a server. A test that waits for a limit makes it short, and only that one: on a busy machine what is
    sent at once may arrive late."""
    monkeypatch.setattr(connections, "FIRST_BYTE_WITHIN_S", 60.0)
    monkeypatch.setattr(connections, "MESSAGE_WITHIN_S", 60.0)
    settings = {"http": connections.LimitedHttp, "ws": connections.LimitedWebSocket, "lifespan": "off"}
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None, **settings))  # type: ignore[arg-type]
    ready = threading.Event()

    async def serve() -> None:
        task = asyncio.create_task(server.serve())
        while not server.started:
            await asyncio.sleep(0.01)
        ready.set()
        await task

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    assert ready.wait(30)
    yield server.servers[0].sockets[0].getsockname()[1]
    server.should_exit = True
    thread.join()


def play(port: int, attempt: Callable[[Wire], Awaitable[Any]]) -> Any:
    async def browse() -> Any:
        async with Wire(port) as wire:
            return await asyncio.wait_for(attempt(wire), 30)

    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(asyncio.run(browse())))  # Playwright may keep a loop here
    thread.start()
    thread.join()
    return results[0]


def ended(*parts: bytes, again: bytes = b"") -> Callable[[Wire], Awaitable[bytes]]:
    """Send these parts, and ``again`` again and again, until the connection ends; what came back."""

    async def attempt(wire: Wire) -> bytes:
        await wire.send(b"".join(parts))
        reading = asyncio.create_task(wire.reader.read())
        while not reading.done():
            wire.writer.write(again)
            await asyncio.wait([reading], timeout=0.02)
        try:
            return reading.result()
        except ConnectionError:
            return b""

    return attempt


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET / HT",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2000\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n",
    ],
)
@pytest.mark.parametrize("again", [b"", b"x"])
def test_a_request_that_does_not_arrive_is_not_waited_for(
    port: int, sent: bytes, again: bytes, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(connections, "FIRST_BYTE_WITHIN_S", 0.2)
    monkeypatch.setattr(connections, "SLOW_FOR_S", 0.2)
    answer = play(port, ended(sent, again=again))
    assert not answer.startswith(b"HTTP/1.1 200")


def test_a_connection_on_which_nothing_comes_is_closed_soon(port: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(connections, "FIRST_BYTE_WITHIN_S", 0.2)
    assert play(port, ended()) == b""


def test_who_waits_for_a_slow_answer_gets_it(port: int, monkeypatch: pytest.MonkeyPatch):
    """Several times as long as a request may take."""
    monkeypatch.setattr(connections, "FIRST_BYTE_WITHIN_S", 1.0)
    monkeypatch.setattr(connections, "SLOW_FOR_S", 0.4)
    request = b"GET /slowly HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
    assert play(port, ended(request)).count(b"part") == PARTS


def test_a_message_that_does_not_end_closes_the_connection(port: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(connections, "MESSAGE_WITHIN_S", 0.2)

    async def unfinished(wire: Wire) -> Any:
        await wire.handshake()
        await wire.frame(BINARY, b"x" * 100, last=False)
        return await wire.closed()

    async def byte_by_byte(wire: Wire) -> Any:
        await wire.handshake()
        await wire.send(wire.head(BINARY, 1000))
        closing = asyncio.create_task(wire.closed())
        while not closing.done():
            wire.writer.write(b"x")
            await asyncio.wait([closing], timeout=0.02)
        return closing.result()

    assert play(port, unfinished) == 1008
    assert play(port, byte_by_byte) == 1008
    for _ in range(500):  # the server notices a moment later that the connection is gone
        if not connections.unfinished:
            break
        time.sleep(0.01)
    assert connections.unfinished == {}


def test_what_an_address_leaves_unfinished_is_limited(port: int, monkeypatch: pytest.MonkeyPatch):
    """Small messages are still read."""
    monkeypatch.setattr(connections, "UNFINISHED_OF_ADDRESS", 150_000)

    async def several(wire: Wire) -> Any:
        async with Wire(port) as other, Wire(port) as third:
            await wire.handshake()
            await other.handshake()
            await third.handshake()
            await wire.frame(BINARY, b"x" * 100_000, last=False)
            await other.send(wire.head(BINARY, 200_000) + b"x" * 100_000)
            code = await asyncio.wait_for(other.closed(), 10)
            await third.frame(BINARY, b"x" * 1000)
            return code, await third.reader.readexactly(6)

    assert play(port, several) == (1013, b"\x82\x04" + (1000).to_bytes(4, "big"))


def test_who_sends_fast_waits_and_gets_every_answer(port: int, monkeypatch: pytest.MonkeyPatch):
    rests: list[float] = []
    rest = connections.LimitedWebSocket._rest

    def noted(self: connections.LimitedWebSocket, seconds: float) -> None:
        rests.append(seconds)
        rest(self, min(seconds, 0.001))

    monkeypatch.setattr(connections.LimitedWebSocket, "_rest", noted)
    shared = {"small": Buckets(per_s=1, burst=1), "everyone": Bucket(per_s=1e6, burst=1e6)}
    monkeypatch.setattr(connections, "_received", Shares(address=Buckets(per_s=1e6, burst=1e6), **shared))

    async def fast(wire: Wire) -> bytes:
        await wire.handshake()
        for _ in range(60):
            await wire.send(wire.head(BINARY, 100_000, last=False) + b"x" * 100_000 + wire.head(PING, 0))
            await wire.frame(CONTINUES)
        answers = b""
        while answers.count((100_000).to_bytes(4, "big")) < 60:
            answers += await wire.reader.read(1000)
        return answers

    assert play(port, fast).count(b"\x8a\x00") == 60  # the pongs
    assert max(rests) > 0


def test_a_small_message_does_not_wait_for_the_large_ones_of_others(port: int, monkeypatch: pytest.MonkeyPatch):
    debts = Bucket(per_s=1, burst=0)
    debts.take(1e9)
    monkeypatch.setattr(connections, "_large", debts)
    rests: list[float] = []
    monkeypatch.setattr(connections.LimitedWebSocket, "_rest", lambda self, seconds: rests.append(seconds))

    async def small(wire: Wire) -> bytes:
        await wire.handshake()
        await wire.frame(BINARY, b"x" * 1000)
        return await wire.reader.readexactly(6)

    assert play(port, small)[2:] == (1000).to_bytes(4, "big")
    assert set(rests) == {0}


@pytest.mark.parametrize("kind", [PING, PONG, CONTINUES])
def test_frames_without_content_close_the_connection(port: int, kind: int):
    """The message in between has some."""

    async def empty(wire: Wire) -> Any:
        await wire.handshake()
        await wire.frame(BINARY, b"x", last=False)
        for _ in range(connections.MOST_EMPTY):
            await wire.frame(kind, last=kind != CONTINUES)
        await wire.frame(CONTINUES, b"x")
        pongs = connections.MOST_EMPTY if kind == PING else 0
        answer = await wire.reader.readexactly(2 * pongs + 6)
        await wire.frame(BINARY, b"x", last=False)
        await wire.send(wire.head(kind, 0, last=kind != CONTINUES) * (connections.MOST_EMPTY + 1))
        return answer[-1], await wire.closed()

    assert play(port, empty) == (2, 1008)


def test_a_machine_has_so_many_connections_unless_it_is_a_proxy(port: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 3)

    def answers(own_address: str) -> Callable[[Wire], Awaitable[int]]:
        async def attempt(_: Wire) -> int:
            several = [await asyncio.open_connection("127.0.0.1", port, local_addr=(own_address, 0)) for _ in range(5)]
            got = 0
            for reader, writer in several:
                writer.write(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                with suppress(ConnectionError):
                    got += (await reader.read(12)) == b"HTTP/1.1 200"
            for _, writer in several:
                writer.transport.abort()
            return got

        return attempt

    assert play(port, answers("127.0.0.1")) == 5
    assert play(port, answers("127.0.0.2")) == 3
    for _ in range(500):
        if not connections.connected:
            break
        time.sleep(0.01)
    assert connections.connected == {}


def test_who_sends_little_does_not_wait_for_others():
    shares = Shares(
        address=Buckets(per_s=10, burst=100), small=Buckets(per_s=1, burst=3), everyone=Bucket(per_s=1, burst=50)
    )
    assert shares.take("flood", 90) > 30
    assert shares.take("person", 1) == 0
    assert shares.take("flood", 60) > 90
    assert shares.take("person", 1) == 0
    assert shares.take("person", 50) > 100


def test_a_bucket_lets_a_burst_pass_and_then_so_much_a_second(monkeypatch: pytest.MonkeyPatch):
    now = [100.0]
    monkeypatch.setattr("app.serving.rate.time.monotonic", lambda: now[0])
    bucket = Bucket(per_s=10, burst=30)
    assert bucket.take(30) == 0
    assert bucket.take(5) == pytest.approx(0.5)
    now[0] += 1  # 10 bytes arrive; and 5 of them pay back the debt
    assert bucket.may_take(5)
    assert not bucket.may_take(1)
    now[0] += 1000
    assert not bucket.may_take(31)
    assert bucket.may_take(30)
