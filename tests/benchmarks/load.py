"""Many people on one page server: `python -m tests.benchmarks.load [mixed] [cycles] [viewers] [--minutes 10]`.

mixed    50 sessions beside a running run of a pocket model: 20 move alpha on the Alpha lab, 15 look at Overview and
         Compare, 10 watch New run, 5 open a page and leave, again and again
cycles   2,000 sessions that open a page and close it, 8 at a time, with the memory after each 250: Streamlit keeps the
         last 128 sessions for two minutes, in case they come back
viewers  200 sessions that move alpha on the Alpha lab of a server with ``--public``

Each session speaks Streamlit's own protocol over a websocket, as a browser does, with the requests that a browser sends
by itself for parts of a page that run again; what a browser draws is not in the figures. An answer is the time from a
click to the end of the script that it starts. People wait between clicks: two to six seconds on the Alpha lab, three to
ten elsewhere. An error is a lost connection, an exception on a page, or no answer in a minute. Memory is the server's
resident set, before and after, once all caches are filled.
"""

import argparse
import asyncio
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import numpy as np
import psutil

from core.settings import ROOT
from tests.processes import end_all

ANSWER_WITHIN_S = 60.0
RUNS = 12
CYCLES, STEP = 2000, 250
LAB = "hedge_alpha_lab"
LEARN = ("learn", "overview", "alpha_lab", "compare", "new_run")
LIMITS = "[limits]\nsessions_per_address = 1000\nquestions_a_minute = 1000\n"


@dataclass
class Figures:
    """The measurements: the seconds of each answer, by page, and the errors."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: list[str] = field(default_factory=list)

    def table(self) -> str:
        """A line for each page."""
        lines = [f"{'page':<12} {'answers':>8} {'p50':>7} {'p95':>7} {'max':>7}"]
        for page, taken in sorted(self.seconds.items()):
            middle, high = np.quantile(taken, [0.5, 0.95])
            lines.append(f"{page:<12} {len(taken):>8} {middle:>6.2f}s {high:>6.2f}s {max(taken):>6.2f}s")
        counted = {error: self.errors.count(error) for error in sorted(set(self.errors))}
        return "\n".join([*lines, f"errors: {len(self.errors)} {counted if counted else ''}"])


class Session:
    """One open page, as the server sees it: what a browser sends by itself, and the clicks of a person."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse, page: str, figures: Figures) -> None:
        self.socket = socket
        self.page = page
        self.figures = figures
        self.widgets: dict[str, tuple[str, str]] = {}
        self.query = ""
        self.clicked = ""
        self.polls: dict[str, asyncio.Task[None]] = {}
        self.waits: asyncio.Future[None] | None = None
        self.drawn = False
        """Whether something has come from the script that the last click started."""
        self.heard: deque[str] = deque(maxlen=12)
        """The kinds of the last messages, for an answer that does not come."""
        self.begun: dict[str, float] = {}

    async def click(self, *, view: dict[str, object] | None = None) -> None:
        """Let the page's script run, or the part of it in which the lab's ``view`` was moved, and wait until it has
        ended."""
        self.clicked = self.widgets[LAB][1] if view and LAB in self.widgets else ""
        if not self.clicked:
            self.leave()  # the page's script renames the fragments that rerun by themselves
        self.waits, self.drawn = asyncio.get_running_loop().create_future(), False
        start = time.monotonic()
        try:
            async with asyncio.timeout(ANSWER_WITHIN_S):
                await self._send(fragment=self.clicked, view=view)
                await self.waits
        except (TimeoutError, aiohttp.ClientError, ConnectionError) as error:
            message = (
                f"{self.page}: {type(error).__name__} ({self.socket.close_code}); last heard: {' '.join(self.heard)}"
            )
            self.figures.errors.append(message)
            raise asyncio.CancelledError from None
        self.figures.seconds[self.page].append(time.monotonic() - start)

    async def _send(
        self, *, fragment: str = "", view: dict[str, object] | None = None, by_itself: bool = False
    ) -> None:
        from app.serving.messages import message_type

        message = message_type("BackMsg")()
        state = message.rerun_script
        state.page_name, state.query_string = self.page, self.query
        state.fragment_id, state.is_auto_rerun = fragment, by_itself
        state.context_info.timezone, state.context_info.locale = "UTC", "en-GB"
        if view is not None and LAB in self.widgets:
            state.widget_states.widgets.add(id=self.widgets[LAB][0], json_value=json.dumps({"view": view}))
        await self.socket.send_bytes(message.SerializeToString())

    async def _poll(self, fragment: str, interval: float) -> None:
        """Rerun a fragment, as the browser does for one that reruns by itself."""
        with suppress(aiohttp.ClientError, ConnectionError):
            while True:
                await asyncio.sleep(interval)
                self.begun.setdefault(fragment, time.monotonic())
                await self._send(fragment=fragment, by_itself=True)

    async def listen(self) -> None:
        """Read all that the server sends."""
        from app.serving.messages import message_type

        forward = message_type("ForwardMsg")

        async for received in self.socket:
            if received.type is not aiohttp.WSMsgType.BINARY:
                break
            message = forward()
            message.ParseFromString(received.data)
            kind = message.WhichOneof("type")
            self._note(kind, message)
            if kind == "delta" and message.delta.WhichOneof("type") == "new_element":
                self._element(message.delta.new_element, message.delta.fragment_id)
            elif kind == "auto_rerun":
                name, interval = message.auto_rerun.fragment_id, message.auto_rerun.interval
                if name not in self.polls:
                    self.polls[name] = asyncio.create_task(self._poll(name, interval))
            elif kind == "script_finished":
                self._finished(message.script_finished, message.metadata.run.fragment_ids)
        if self.waits and not self.waits.done():
            self.waits.set_exception(ConnectionError("closed"))

    def _note(self, kind: str | None, message: Any) -> None:
        """Note a message. A script that follows the clicked one ends it, too: Streamlit drops the message that a script
        has ended if a request arrives at that moment, and the browser takes the next script's.
        """
        parts = message.metadata.run.fragment_ids
        own = self.clicked in parts if self.clicked else not parts
        self.heard.append(f"{kind}{'*' if own else ''}")
        if kind == "delta" and message.delta.fragment_id == self.clicked:
            self.drawn = True
        elif kind == "new_session" and not own and self.drawn and self.waits and not self.waits.done():
            self.waits.set_result(None)

    def _finished(self, how: int, fragments: Sequence[str]) -> None:
        from app.serving.messages import message_type

        forward = message_type("ForwardMsg")

        is_part = how == forward.FINISHED_FRAGMENT_RUN_SUCCESSFULLY
        if is_part and self.clicked not in fragments:
            now = time.monotonic()
            self.figures.seconds["(by itself)"] += [now - begun for begun in self.begun.values()]
            self.begun.clear()
        elif (is_part or how == forward.FINISHED_SUCCESSFULLY) and self.waits and not self.waits.done():
            self.waits.set_result(None)

    def leave(self) -> None:
        """End what the browser sends by itself."""
        for task in self.polls.values():
            task.cancel()
        self.polls.clear()
        self.begun.clear()

    def _element(self, element: object, fragment: str) -> None:
        kind = element.WhichOneof("type")  # type: ignore[attr-defined]
        if kind == "bidi_component":
            component = element.bidi_component  # type: ignore[attr-defined]
            self.widgets[component.component_name] = component.id, fragment
        elif kind == "exception":
            self.figures.errors.append(f"{self.page}: {element.exception.type}")  # type: ignore[attr-defined]


@asynccontextmanager
async def opened(http: aiohttp.ClientSession, address: str, page: str, figures: Figures) -> AsyncIterator[Session]:
    """A page that is opened, and closed in the end."""
    url = f"{address.replace('http', 'ws')}/_stcore/stream"
    async with http.ws_connect(url, protocols=["streamlit"], max_msg_size=0) as socket:
        session = Session(socket, page, figures)
        listening = asyncio.create_task(session.listen())
        try:
            await session.click()
            yield session
        finally:
            session.leave()
            listening.cancel()


async def moves_alpha(session: Session, chance: random.Random, until: float) -> None:
    """Somebody who drags alpha and lets it go."""
    while time.monotonic() < until:
        await asyncio.sleep(chance.uniform(2, 6))
        await session.click(view={"alpha": chance.randrange(10, 500)})


async def looks(session: Session, chance: random.Random, until: float) -> None:
    """Somebody who reads, and clicks from time to time."""
    while time.monotonic() < until:
        await asyncio.sleep(chance.uniform(3, 10))
        session.page = chance.choice(["overview", "compare"])
        session.query = chance.choice(["", "alpha=200", "score=aps"])
        await session.click()


async def watches(session: Session, chance: random.Random, until: float) -> None:
    """Somebody who waits on New run, which asks by itself how far the runs are, and clicks there now and then."""
    while time.monotonic() < until:
        await asyncio.sleep(chance.uniform(10, 30))
        await session.click()


Habit = Callable[[Session, random.Random, float], Awaitable[None]]


async def person(address: str, page: str, habit: Habit, figures: Figures, seed: int, until: float) -> None:
    """Open a page in a browser of one's own, and stay."""
    chance = random.Random(seed)
    await asyncio.sleep(chance.uniform(0, 20))
    with suppress(asyncio.CancelledError):
        async with aiohttp.ClientSession() as http, opened(http, address, page, figures) as session:
            await habit(session, chance, until)


async def comes_and_goes(address: str, figures: Figures, seed: int, until: float) -> None:
    """Open a page and leave, again and again."""
    chance = random.Random(seed)
    while time.monotonic() < until:
        with suppress(asyncio.CancelledError):
            async with aiohttp.ClientSession() as http, opened(http, address, chance.choice(LEARN), figures):
                await asyncio.sleep(chance.uniform(0, 4))


async def mixed(address: str, figures: Figures, minutes: float) -> None:
    """Fifty people, each with a habit."""
    until = time.monotonic() + 60 * minutes
    habits: list[tuple[str, Habit, int]] = [
        ("alpha_lab", moves_alpha, 20),
        ("overview", looks, 15),
        ("new_run", watches, 10),
    ]
    tasks = [
        person(address, page, habit, figures, 100 * i + seed, until)
        for i, (page, habit, count) in enumerate(habits)
        for seed in range(count)
    ]
    await asyncio.gather(*tasks, *(comes_and_goes(address, figures, 900 + i, until) for i in range(5)))


async def viewers(address: str, figures: Figures, minutes: float) -> None:
    """Two hundred people on the Alpha lab."""
    until = time.monotonic() + 60 * minutes
    await asyncio.gather(*(person(address, "alpha_lab", moves_alpha, figures, i, until) for i in range(200)))


async def cycles(address: str, figures: Figures, count: int) -> None:
    """Open and close a page as often as asked, eight at a time."""
    left = iter(range(count))

    async def visit() -> None:
        for i in left:
            with suppress(asyncio.CancelledError):
                async with aiohttp.ClientSession() as http, opened(http, address, LEARN[i % len(LEARN)], figures):
                    pass

    await asyncio.gather(*(visit() for _ in range(8)))


class Server:
    """A page server of its own, with a home of its own."""

    def __init__(self, home: Path, *arguments: str) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.home = home
        self.address = f"http://127.0.0.1:{port}"
        command = [sys.executable, "-m", "app", *arguments, "--server.headless", "true", "--server.port", str(port)]
        self.environment = os.environ | {"HEDGE_HOME": str(home)}
        self.log = (home.parent / "server.log").open("wb")
        self.process = psutil.Popen(command, cwd=ROOT, env=self.environment, stdout=self.log, stderr=self.log)
        while True:
            with suppress(OSError), urllib.request.urlopen(f"{self.address}/healthz", timeout=2):
                return
            time.sleep(0.2)

    def memory_mb(self) -> float:
        """The resident set, in MB."""
        return float(self.process.memory_info().rss / 1e6)

    def close(self) -> None:
        """End the server and what it started."""
        self.process.terminate()
        self.process.wait()
        end_all(self.home)


async def warm(address: str) -> None:
    """Let the server show every page twice, so that its caches are full."""
    for page in LEARN * 2:
        async with aiohttp.ClientSession() as http, opened(http, address, page, Figures()) as session:
            await asyncio.sleep(3)
            await session.click()


def measure(what: str, minutes: float) -> None:
    """Start a server, load it, and print the figures."""
    with tempfile.TemporaryDirectory(prefix="hedge-load-") as folder:
        home = Path(folder) / "home"
        home.mkdir()
        limits = Path(folder) / "server.toml"
        limits.write_text(LIMITS, encoding="utf-8")
        limits.chmod(0o600)
        server = Server(home, *(["--public", str(limits)] if what == "viewers" else []))
        try:
            asyncio.run(warm(server.address))
            before, spent = server.memory_mb(), server.process.cpu_times()
            if what == "mixed":
                run = [sys.executable, "-m", "core", "run", "--model", "pocket-8m", "--task", "rc", "--queue"]
                for seed in range(1, RUNS + 1):  # one after another, so that one is always running
                    subprocess.run([*run, "--seed", str(seed)], cwd=ROOT, env=server.environment, check=True)
            figures, start = Figures(), time.monotonic()
            if what == "cycles":
                for done in range(STEP, CYCLES + 1, STEP):
                    asyncio.run(cycles(server.address, figures, STEP))
                    print(f"{done:>6} opened and closed: {server.memory_mb() - before:+.0f} MB", flush=True)
            else:
                asyncio.run((mixed if what == "mixed" else viewers)(server.address, figures, minutes))
            taken, now = time.monotonic() - start, server.process.cpu_times()
            cores = (now.user + now.system - spent.user - spent.system) / taken
            if figures.errors:
                print((home.parent / "server.log").read_text(encoding="utf-8")[-2000:])
            print(f"\n{what}: {taken:.0f} s; the server used {cores:.2f} cores, on {os.cpu_count()}")
            print(figures.table())
            sessions = {"mixed": 50, "viewers": 200, "cycles": CYCLES}[what]
            grown = server.memory_mb() - before
            print(f"memory: {before:.0f} MB before, {grown:+.0f} MB, {grown / sessions:.2f} MB a session", flush=True)
            if what == "cycles":
                time.sleep(130)  # until Streamlit has forgotten the last sessions
                asyncio.run(warm(server.address))
                print(f"memory after two minutes more: {server.memory_mb() - before:+.0f} MB", flush=True)
        finally:
            server.close()


def main() -> None:
    """Measure what is named, or everything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", choices=["mixed", "cycles", "viewers"])
    parser.add_argument("--minutes", type=float, default=10.0)
    given = parser.parse_args()
    for what in given.what or ["mixed", "cycles", "viewers"]:
        measure(what, given.minutes)


if __name__ == "__main__":
    main()
