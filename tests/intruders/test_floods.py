"""Nothing that a browser sends fills the server's memory, holds it up, or fills its log."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import psutil
import pytest

from tests.intruders.client import BackMsg
from tests.intruders.raw import BINARY, CONTINUES, PING, PONG, TEXT, Wire, run

TOO_LARGE, BROKEN, REFUSED = 1009, 1002, 1008
COMPRESSED = 0x40
"""The flag of a compressed frame."""


def process_of(port: int) -> psutil.Process:
    """The server that listens on this port."""
    for process in psutil.process_iter(["cmdline"]):
        if str(port) in (process.info["cmdline"] or []) and "app" in process.info["cmdline"]:
            return process
    raise AssertionError(f"no server on port {port}")


def play(port: int, *attempts: Callable[[Wire], Awaitable[object]]) -> list[object]:
    """The result of each attempt. They run at once, each on its own connection."""

    async def result_of(attempt: Callable[[Wire], Awaitable[object]]) -> object:
        async with Wire(port) as wire:
            return await asyncio.wait_for(attempt(wire), 60)

    async def attempted() -> list[object]:
        return list(await asyncio.gather(*map(result_of, attempts)))

    return run(attempted())


def number(value: int) -> bytes:
    return bytes([value & 0x7F | 0x80]) + number(value >> 7) if value > 0x7F else bytes([value])


def empty_states(count: int) -> bytes:
    """A message with this many widget states, two bytes each, as protobuf writes it."""
    states = b"\x0a\x00" * count
    widgets = BackMsg.DESCRIPTOR.fields_by_name["rerun_script"].number << 3 | 2
    inner = b"\x12" + number(len(states)) + states  # ClientState.widget_states
    return number(widgets) + number(len(inner)) + inner


def packed(count: int) -> bytes:
    """A message with a widget that holds this many numbers, one byte each."""
    message = BackMsg()
    message.rerun_script.widget_states.widgets.add(id="a").int_array_value.data.extend([1] * count)
    return bytes(message.SerializeToString())


def nested(**value: str) -> bytes:
    """A message with a widget whose value is JSON."""
    message = BackMsg()
    message.rerun_script.widget_states.widgets.add(id="a", **value)
    return bytes(message.SerializeToString())


def text(size: int) -> bytes:
    return nested(string_value="x" * size)


def sends(*frames: bytes | tuple[int, bytes], last: bool = True, flags: int = 0) -> Callable[[Wire], Awaitable[object]]:
    """Send these frames, and return the code with which the server closes the connection."""

    async def attempt(wire: Wire) -> object:
        await wire.handshake("Sec-WebSocket-Extensions: permessage-deflate")
        try:
            for frame in frames:
                kind, content = (BINARY, frame) if isinstance(frame, bytes) else frame
                await wire.frame(kind, content, last=last, flags=flags)
        except ConnectionError:
            return TOO_LARGE  # the server does not read on, so its answer may be lost
        return await wire.closed()

    return attempt


def test_the_states_are_those_that_protobuf_reads():
    message = BackMsg()
    message.ParseFromString(empty_states(3))
    assert len(message.rerun_script.widget_states.widgets) == 3


@pytest.mark.parametrize("mode", ["local", "public"])
def test_what_is_too_large_is_refused_before_it_is_parsed(mode: str, request: pytest.FixtureRequest):
    port = request.getfixturevalue(mode)
    process = process_of(port)
    before = process.memory_info().rss
    codes = play(
        port,
        *[sends(empty_states(10_000_000)) for _ in range(3)],
        sends(text(2_000_001)),
        sends(b"x" * 300_000, *[(CONTINUES, b"x" * 300_000)] * 6, last=False),
    )
    assert set(codes) == {TOO_LARGE}
    attempts = [
        *[sends(empty_states(count)) for count in (900_000, 20_000)],
        sends(packed(60_000)),
        sends(nested(json_value="[" + "{}," * 20_000 + "1]")),
        sends(nested(string_value="[" + "[]," * 20_000 + "1]")),
        sends(b"\xff\xfe\x00crafted"),
        sends(b""),
        sends(text(1_000)[:-1]),
        sends(b"\x0b" * 100),
        sends(b"\x0a" + b"\xff" * 20),
        sends(b"abc", flags=COMPRESSED),
        sends((TEXT, b"hello")),
    ]
    codes = [play(port, attempt)[0] for attempt in attempts]  # together they are more than an address may hold
    assert set(codes) == {BROKEN}
    assert process.memory_info().rss - before < 250e6  # the server may still import what its pages need


@pytest.mark.parametrize("mode", ["local", "public"])
def test_a_message_of_many_frames_and_a_flood_of_small_ones_end_the_connection(
    mode: str, request: pytest.FixtureRequest
):
    async def fragments(wire: Wire) -> object:
        await wire.handshake()
        await wire.send(wire.head(BINARY, 0, last=False) + wire.head(CONTINUES, 0, last=False) * 5000)
        return await wire.closed()

    async def messages(wire: Wire) -> object:
        await wire.handshake()
        await wire.send(wire.head(BINARY, 0) * 50_000)
        return await wire.closed()

    assert play(request.getfixturevalue(mode), fragments, messages) == [REFUSED, REFUSED]


def test_floods_of_frames_without_content_end_the_connection(public: int):
    def floods(kind: int, count: int) -> Callable[[Wire], Awaitable[object]]:
        async def attempt(wire: Wire) -> object:
            await wire.handshake()
            await wire.frame(BINARY, b"x", last=False)
            await wire.send(wire.head(kind, 0, last=kind != CONTINUES) * count)
            return await asyncio.wait_for(wire.closed(), 20)  # sooner than for a message that does not end

        return attempt

    assert play(public, floods(PING, 100), floods(PONG, 100), floods(CONTINUES, 100)) == [REFUSED] * 3


def test_a_message_within_the_limit_is_read(public: int):
    """Also in the frames that a proxy may make of it."""

    async def answered(wire: Wire) -> bool:
        await wire.handshake()
        message = text(1_900_000)
        await wire.frame(BINARY, message[:1_000_000], last=False)
        await wire.frame(CONTINUES, message[1_000_000:])
        return len(await wire.reader.readexactly(1000)) == 1000

    assert play(public, answered) == [True]


def test_who_sends_too_much_waits_and_nobody_else_does(public: int):
    """Sixty connections that send what they can, pings included: the server reads no faster for that, and answers."""
    process = process_of(public)
    before = process.memory_info().rss

    def floods(first: bytes, more: bytes) -> Callable[[Wire], Awaitable[bool]]:
        async def attempt(wire: Wire) -> bool:
            await wire.handshake()
            try:
                async with asyncio.timeout(3):
                    await wire.send(first)
                    while True:
                        await wire.send(more)
            except (TimeoutError, ConnectionError):
                return True

        return attempt

    fragments = floods(Wire.head(BINARY, 0, last=False), Wire.head(CONTINUES, 1_000_000, last=False) + b"x" * 1_000_000)
    pings = floods(b"", (Wire.head(PING, 125) + b"x" * 125) * 1000)

    async def looks(wire: Wire) -> bool:
        for _ in range(20):
            async with Wire(public) as other:
                assert await other.request(f"Host: localhost:{public}") == (200, b"alive\n")
            await asyncio.sleep(0.1)
        return True

    assert all(play(public, *[fragments] * 30, *[pings] * 30, looks))
    assert process.memory_info().rss - before < 250e6


def test_malformed_messages_fill_no_log(public: int, attacked: Path):
    log = attacked / "public" / "server.log"
    before = log.stat().st_size
    for _ in range(5):
        play(public, *[sends(b"\xff\xfe\x00crafted")] * 20)
    written = log.read_text()[before:]
    assert "Traceback" not in written
    assert "a page of 127.0.0.1 was closed" in log.read_text()
    assert len(written) < 10_000
