"""A public server under hostile connections: `python -m tests.benchmarks.hostile [KIND …] [--seconds 60] [--one]`.

60 connections of one kind at a time, each again and again, from 60 network addresses or, with ``--one``, from one:

foreign      handshakes of a page of another site
large        messages of 1.9 MB, which are within the limit, and of 30 MB of empty widget states
unfinished   messages in fragments that never end, of 1 MB and of a single byte
slow         a message that arrives a byte at a time
malformed    invalid messages

Meanwhile a visitor opens Overview every three seconds, and ``/healthz`` is requested ten times a second. The attackers
are a process of their own. The network addresses are those of ``X-Forwarded-For``, which a server takes from its own
machine. Memory is the server's resident set at its highest, less that before the attack.
"""

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import aiohttp
import numpy as np

from core.settings import ROOT
from tests.benchmarks.load import Figures, Server, opened, warm
from tests.intruders.client import BackMsg
from tests.intruders.raw import BINARY, CONTINUES, Wire

CONNECTIONS = 60
VISIT_EVERY_S, LOOK_EVERY_S = 3.0, 0.1


async def foreign(wire: Wire) -> None:
    """A handshake that must be refused."""
    await wire.handshake(origin="http://evil.example")
    await wire.closed()


def _within_limit() -> bytes:
    message = BackMsg()
    message.rerun_script.widget_states.widgets.add(id="$$ID-0-None", string_value="x" * 1_900_000)
    return bytes(message.SerializeToString())


def _empty_states() -> bytes:
    message = BackMsg()
    message.rerun_script.widget_states.SetInParent()
    state = b"\x0a\x00" * 15_000_000
    size = len(state)

    def number(value: int) -> bytes:
        return bytes([value & 0x7F | 0x80]) + number(value >> 7) if value > 0x7F else bytes([value])

    states = b"\x12" + number(size) + state
    return b"\x5a" + number(len(states)) + states


async def large(wire: Wire) -> None:
    """A message at the limit, and one above it."""
    await wire.handshake()
    for message in (_within_limit(), _empty_states()):
        await wire.frame(BINARY, message)
    await wire.closed()


async def unfinished(wire: Wire) -> None:
    """A message that never ends."""
    await wire.handshake()
    await wire.frame(BINARY, b"x" * 1_000_000, last=False)
    while True:
        await wire.frame(CONTINUES, b"x", last=False)


async def slow(wire: Wire) -> None:
    """A message that arrives a byte at a time."""
    await wire.handshake()
    await wire.send(wire.head(BINARY, 1_000_000))
    while True:
        await wire.send(b"x")
        await asyncio.sleep(0.05)


async def malformed(wire: Wire) -> None:
    """Bytes that are not a message."""
    await wire.handshake()
    await wire.frame(BINARY, b"\xff\xfe\x00crafted")
    await wire.closed()


KINDS: dict[str, Callable[[Wire], Awaitable[None]]] = {
    "foreign": foreign,
    "large": large,
    "unfinished": unfinished,
    "slow": slow,
    "malformed": malformed,
}


async def attack(kind: str, port: int, seconds: float, *, single: bool) -> None:
    """Do it with all connections for this long."""
    end = time.monotonic() + seconds
    counts = [0] * CONNECTIONS

    async def again(place: int) -> None:
        while time.monotonic() < end:
            with suppress(OSError, EOFError, TimeoutError):
                async with Wire(port, client="10.9.0.1" if single else f"10.9.{place}.1") as wire:
                    counts[place] += 1
                    await asyncio.wait_for(KINDS[kind](wire), max(0.1, end - time.monotonic()))

    await asyncio.gather(*map(again, range(CONNECTIONS)))
    print(sum(counts), end="")


async def watched(server: Server, seconds: float) -> tuple[list[float], list[float], float]:
    """The seconds of each request for ``/healthz`` and of each visit, and the highest memory."""
    looks: list[float] = []
    visits: list[float] = []
    memory = [server.memory_mb()]
    end = time.monotonic() + seconds

    async def look(http: aiohttp.ClientSession) -> None:
        start = time.monotonic()
        async with http.get(f"{server.address}/healthz") as answer:
            await answer.read()
        looks.append(time.monotonic() - start)
        memory.append(server.memory_mb())

    async def look_on() -> None:
        async with aiohttp.ClientSession() as http:
            while time.monotonic() < end:
                await asyncio.gather(look(http), asyncio.sleep(LOOK_EVERY_S))

    async def visit_on() -> None:
        while time.monotonic() < end:
            start = time.monotonic()
            with suppress(asyncio.CancelledError):
                async with aiohttp.ClientSession(headers={"X-Forwarded-For": "10.8.0.1"}) as http:
                    async with http.get(server.address) as page:
                        await page.read()
                    async with opened(http, server.address, "overview", Figures()):
                        visits.append(time.monotonic() - start)
            await asyncio.sleep(VISIT_EVERY_S)

    await asyncio.gather(look_on(), visit_on())
    return looks, visits, max(memory)


def measure(kind: str, seconds: float, *, single: bool) -> None:
    """Start a server, attack it, and print the figures."""
    with tempfile.TemporaryDirectory(prefix="hedge-hostile-") as folder:
        home = Path(folder) / "home"
        home.mkdir()
        server = Server(home, "--public")
        try:
            asyncio.run(warm(server.address))
            before, log = server.memory_mb(), Path(server.log.name).stat().st_size
            port = server.address.rpartition(":")[2]
            command = [sys.executable, "-m", "tests.benchmarks.hostile", kind, *(["--one"] if single else [])]
            command += ["--seconds", str(seconds), "--port", port]
            attackers = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
            looks, visits, most = asyncio.run(watched(server, seconds))
            attempts = attackers.communicate()[0]
            print(
                f"{kind:<11} {'one' if single else CONNECTIONS:>9} {attempts:>9} {np.quantile(looks, 0.99):>8.3f} s "
                f"{max(looks):>7.2f} s {most - before:>8.0f} MB {np.median(visits):>7.2f} s {max(visits):>7.2f} s "
                f"{(Path(server.log.name).stat().st_size - log) / 1000:>7.0f} kB {os.getloadavg()[0]:>5.1f}",
                flush=True,
            )
        finally:
            server.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", metavar="KIND")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--one", action="store_true")
    parser.add_argument("--port", type=int, default=0, help="attack this server instead of a new one")
    given = parser.parse_args()
    if given.port:
        asyncio.run(attack(given.kinds[0], given.port, given.seconds, single=given.one))
        sys.exit()
    print("kind        addresses  attempts      p99       max    memory  a visit  longest     log  load")
    for name in given.kinds or KINDS:
        measure(name, given.seconds, single=given.one)
