"""Each page over a slow line, 10 Mbit/s and 20 ms there and back: `python -m tests.benchmarks.wire [PAGE …]`. With
`--questions 100000`, also the Alpha lab with a run of that size.

For each page, and in turn with it for an empty Streamlit app: the seconds from the address to the first figure in a
fresh browser, and the bytes that come over the line for this visit and for a second one. The server has shown the page
once before, so that its own work counts as little as it can.
"""

import argparse
import asyncio
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
from playwright.sync_api import Browser, BrowserContext, sync_playwright

from app.navigation import PAGES
from tests.benchmarks.empty_app import empty_app
from tests.benchmarks.million_questions import make_run
from tests.browser.conftest import FLAGS, engine_ended, in_home, page_server
from tests.browser.test_pages import FIGURES

BITS_PER_S = 10e6
DELAY_S = 0.010
"""One way."""
CHUNK = 16_384
VISITS = 3
CHART = FIGURES["prompting"]
FIRST_FIGURES = FIGURES | {"calibration": CHART, "perplexity": f"{FIGURES['perplexity']}, {CHART}"}
"""What comes first on each page. Calibration's other one is further down; on Perplexity, either may be first."""


class SlowLine:
    """A proxy of one server. All its connections share the line, and each direction has its own rate."""

    def __init__(self) -> None:
        self.to: int | None = None
        self.received = 0
        self.port = 0
        self._ready = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._free_at = {"up": 0.0, "down": 0.0}

    def run(self) -> None:
        """Serve until :meth:`stop`."""
        asyncio.set_event_loop(self._loop)
        listening = self._loop.run_until_complete(asyncio.start_server(self._connection, "127.0.0.1", 0))
        self.port = listening.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()

    def wait(self) -> None:
        """Return once the proxy listens."""
        self._ready.wait()

    def stop(self) -> None:
        """End the loop of :meth:`run`."""
        self._loop.call_soon_threadsafe(self._loop.stop)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.to)
        await asyncio.gather(self._pump(reader, far_writer, "up"), self._pump(far_reader, writer, "down"))

    async def _pump(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, way: str) -> None:
        queue: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue(maxsize=64)
        sending = asyncio.create_task(self._deliver(queue, sink))
        with suppress(ConnectionError):
            while data := await source.read(CHUNK):
                self._free_at[way] = max(self._free_at[way], time.monotonic()) + 8 * len(data) / BITS_PER_S
                self.received += len(data) if way == "down" else 0
                await queue.put((self._free_at[way] + DELAY_S, data))
        await queue.put((0.0, b""))
        await sending

    async def _deliver(self, queue: asyncio.Queue[tuple[float, bytes]], sink: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while True:
                due, data = await queue.get()
                if not data:
                    break
                await asyncio.sleep(max(0.0, due - time.monotonic()))
                sink.write(data)
                await sink.drain()
            sink.close()


@contextmanager
def slow_line() -> Iterator[SlowLine]:
    """A slow line, which leads to the port ``to`` once that is set."""
    line = SlowLine()
    thread = threading.Thread(target=line.run, daemon=True)
    thread.start()
    line.wait()
    yield line
    line.stop()
    thread.join()


def visited(context: BrowserContext, line: SlowLine, address: str, figure: str) -> tuple[float, int]:
    """The seconds until the figure is drawn, and the bytes that have come when nothing more does."""
    before = line.received
    page = context.new_page()
    page.set_default_timeout(60_000)
    begun = time.monotonic()
    page.goto(address, wait_until="commit")
    page.locator(figure).first.wait_for()
    seconds = time.monotonic() - begun
    last = -1
    while last != line.received:
        last = line.received
        page.wait_for_timeout(1500)
    page.close()
    return seconds, line.received - before


def measure(browser: Browser, line: SlowLine, address: str, figure: str) -> tuple[float, int, int]:
    """First figure in a fresh browser, the bytes of that visit, and those of a second one."""
    context = browser.new_context(bypass_csp=True, viewport={"width": 1280, "height": 720})
    seconds, first = visited(context, line, address, figure)
    _, second = visited(context, line, address, figure)
    context.close()
    return seconds, first, second


def main() -> None:
    """Measure the pages of the command line, or all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("pages", nargs="*", default=[entry.name for entry in PAGES])
    parser.add_argument("--questions", type=int, default=0)
    given = parser.parse_args()
    places = {"empty app": ("", "h1")} | {name: (name, FIRST_FIGURES[name]) for name in given.pages}
    with (
        tempfile.TemporaryDirectory() as folder,
        sync_playwright() as playwright,
        slow_line() as line,
        slow_line() as bare,
        engine_ended(home := Path(folder) / "home"),
        page_server(home, options=["--browser.serverPort", str(line.port)]) as own,
        empty_app() as empty,
    ):
        if given.questions:
            with in_home(home):
                run = make_run(given.questions)
            places[f"{given.questions:,}"] = (f"alpha_lab?run={run}", FIGURES["alpha_lab"])
        seen: dict[str, list[tuple[float, int, int]]] = {name: [] for name in places}
        line.to, bare.to = urlsplit(own).port, urlsplit(empty).port
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for turn in range(VISITS + 1):
            for name, (path, figure) in places.items():
                via = bare if name == "empty app" else line
                values = measure(browser, via, f"http://127.0.0.1:{via.port}/{path}", figure)
                if turn:
                    seen[name].append(values)
        browser.close()
    print(f"{'page':<14}{'first figure, s':>16}{'first visit, kB':>17}{'second, kB':>12}")
    for name, rows in seen.items():
        seconds, first, second = np.median(rows, axis=0)
        print(f"{name:<14}{seconds:>16.2f}{first / 1000:>17.0f}{second / 1000:>12.0f}")


if __name__ == "__main__":
    main()
