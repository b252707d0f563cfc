"""How long a person waits: `python -m tests.benchmarks.browser_waits MODE`. Prints figures; no test.

start   from starting `python -m app` to the first set sizes painted on the overview, in a fresh browser, five times; in
        turn with it, from starting an empty Streamlit app to its heading, which no Streamlit app can undercut; and the
        processor time that the server has spent by then
drag    from a pointer's move to the end of the frame that shows it, 10,000 + 10,000 questions of six options and 25,000
        + 25,000; and from the release to the changed address
judges  from a pointer's move to the end of the frame that shows which of a jury's judges may answer, three judges of
        10,000 answers each
labels  from a pointer's move to the end of the frame that shows the figures of a number of labels, for the same judges
"""

import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import psutil
from playwright.sync_api import Browser, BrowserType, Locator, Page, sync_playwright

from core.jury.pipeline import jury_store
from core.records import OptionLogits
from core.runs import store
from tests.benchmarks.empty_app import empty_app
from tests.browser.conftest import FLAGS, Lab, server
from tests.conftest import synthetic_run
from tests.core.jury.verdicts import seeded_jury

STARTS = 5
MOVES = 400
RELEASES = 15
PAINTED = "() => new Promise(done => requestAnimationFrame(() => done()))"
DRAWN = """selector => {
  const hosts = document.querySelectorAll('[data-testid^=stBidiComponent]');
  return [document, ...[...hosts].map(host => host.shadowRoot)].some(root => root?.querySelector(selector));
}"""
"""Whether the page or a component on it has drawn something. The browser asks this before every frame. A locator asks
less often the longer it waits, and can be half a second late.
"""
FIRST = ".first-page .cell"
"""The first figure of the first page."""
WATCH = """slider => {
  window.waits = [];
  window.moves = 0;
  window.watching?.abort();
  window.watching = new AbortController();
  slider.addEventListener('input', event => {
    window.moves++;
    requestAnimationFrame(() => {
      const after = new MessageChannel();
      after.port1.onmessage = () => window.waits.push(performance.now() - event.timeStamp);
      after.port2.postMessage(0);
    });
  }, { signal: window.watching.signal });
}"""


def launch(chromium: BrowserType):
    return chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)


def start(home: Path) -> None:
    for i in range(3):
        synthetic_run(2000, model=f"model-{i}", seed=i)
    apps = {"python -m app": (lambda: server(home), FIRST), "an empty app": (empty_app, "h1")}
    waits: dict[str, list[tuple[float, float]]] = {name: [] for name in apps}
    with sync_playwright() as playwright:
        for name, (serve, first) in [*apps.items()] * STARTS:
            browser = launch(playwright.chromium)
            page = browser.new_page(bypass_csp=True)
            page.set_default_timeout(120_000)
            begun = time.perf_counter()
            with serve() as address:
                page.goto(address)
                page.wait_for_function(DRAWN, arg=first)
                page.evaluate(PAINTED)
                waits[name].append((time.perf_counter() - begun, server_seconds()))
            browser.close()
    for name, pairs in waits.items():
        seconds, spent = np.array(pairs).T
        each = ", ".join(f"{wait:.2f}" for wait in seconds)
        middle = f"median {np.median(seconds):.2f}"
        print(f"{name}: start to first figure, s: {each}; {middle}; processor time {np.median(spent):.2f}")
    own, least = (float(np.median([wait for wait, _ in pairs])) for pairs in waits.values())
    print(f"Hedge's own share: {own - least:.2f}, ratio {own / least:.2f}")


def server_seconds() -> float:
    """The processor time of the only server that this process has started and not ended."""
    spent = [
        child.cpu_times() for child in psutil.Process().children() if {"app", "streamlit"} & set(child.cmdline()[1:])
    ]
    return sum(times.user + times.system for times in spent)


def large_run(n: int) -> str:
    """A run of n questions with six options. Half of the questions calibrate."""
    rng = np.random.default_rng(0)
    run_id = synthetic_run(n, model=f"large-{n}")
    ids = store.read_logits(run_id).ids
    logits = (rng.normal(size=(n, 6)) * 2).astype(np.float32)
    store.write_logits(store.folder_of(run_id), OptionLogits(ids, logits, np.ones(n, dtype=np.float32)))
    return run_id


def dragged(page: Page, slider: Locator, *, moves: int) -> None:
    """Drag a slider from a tenth to seven tenths of its length, a move a frame, and hold it."""
    box = slider.bounding_box()
    assert box is not None
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * 0.1, y)
    page.mouse.down()
    for i in range(moves):
        page.mouse.move(box["x"] + box["width"] * (0.1 + 0.6 * i / moves), y)
        page.wait_for_timeout(16)


def percentiles(values: list[float] | np.ndarray, *places: int) -> str:
    return ", ".join(f"p{q} {np.percentile(values, q):.1f}" for q in places)


def drag(home: Path) -> None:
    runs = {n: large_run(n) for n in (20_000, 50_000)}
    with sync_playwright() as playwright, server(home) as address:
        for n, run_id in runs.items():
            component(launch(playwright.chromium), f"{address}/alpha_lab?run={run_id}&alpha=100", n)


def component(browser: Browser, url: str, n: int) -> None:
    page = browser.new_page(bypass_csp=True, viewport={"width": 1400, "height": 1000})
    page.set_default_timeout(120_000)
    sent: list[float] = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda _: sent.append(time.perf_counter())))
    page.goto(url)
    page.wait_for_selector("[data-side=right] [data-figure=threshold]:not(:empty)")
    lab = Lab(page)
    page.wait_for_load_state("networkidle")
    lab.alpha.evaluate(WATCH)
    before = len(sent)
    dragged(page, lab.alpha, moves=MOVES)
    during = len(sent) - before
    waits = np.array(page.evaluate("window.waits"))
    backs = []
    for _ in range(RELEASES):
        page.mouse.up()
        released = time.perf_counter()
        page.wait_for_url(f"**alpha={lab.thousandths()}*")
        backs.append(1000 * (time.perf_counter() - released))
        page.wait_for_timeout(300)
        dragged(page, lab.alpha, moves=7 + len(backs))
    print(f"{n:,} questions, the lab's component")
    moved, painted = page.evaluate("[window.moves, window.waits.length]")
    print(f"  moves {moved}, painted {painted}, messages while dragging {during}")
    print(f"  pointer to paint, ms: {percentiles(waits, 50, 95, 99)}")
    print(f"  release to the address changed, ms: {percentiles(backs, 50, 95)} of {RELEASES}")
    browser.close()


def jury_slider(home: Path, title: str, part: str, slider_id: str, figure: str) -> None:
    jury_id = jury_store.save(seeded_jury(10_000), name="Large", origin="a benchmark")
    with sync_playwright() as playwright, server(home) as address:
        page = launch(playwright.chromium).new_page(bypass_csp=True, viewport={"width": 1400, "height": 1000})
        page.set_default_timeout(120_000)
        page.goto(f"{address}/jury?jury={jury_id}&judged=all&error=100")
        page.get_by_text(title).click()
        page.wait_for_selector(f"{part} {figure}:not(:empty)")
        page.wait_for_load_state("networkidle")
        slider = page.locator(f"{part} {slider_id}")
        slider.scroll_into_view_if_needed()
        slider.evaluate(WATCH)
        dragged(page, slider, moves=MOVES)
        moved, painted = page.evaluate("[window.moves, window.waits.length]")
        print(f"three judges of 10,000 answers each: moves {moved}, painted {painted}")
        print(f"  pointer to paint, ms: {percentiles(page.evaluate('window.waits'), 50, 95, 99)}")


def judges(home: Path) -> None:
    jury_slider(home, "Which judge may speak for people?", ".selective", "#error", ".lab-answer")


def labels(home: Path) -> None:
    jury_slider(home, "How few human labels are enough?", ".labels", "#labels", "[data-figure=judged]")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HEDGE_HOME"] = str(Path(folder) / "home")
        {"start": start, "drag": drag, "judges": judges, "labels": labels}[sys.argv[1]](Path(folder) / "home")
