"""Compare, 12 runs of 5,000 test questions, in a browser: `python -m tests.benchmarks.compare_waits [new] [SCORE …]`.

For each score (LAC by default), a fresh server and a fresh browser. Every row has the seconds by the clock, the
processor seconds of the server, and those of the browser's page (its main thread, which draws):

empty    from opening a link to a Streamlit app of one heading until it is drawn, the median of five. No page of any
         Streamlit app is faster: the browser has to load and run Streamlit's scripts.
link     from opening a link until the dot plots are drawn, with no run read yet; then until the inspector's list is
         drawn; then until the matrix has arrived
alpha    the same after alpha has changed, with the runs in memory
return   the same after a visit to another page, with everything in memory
click    in the inspector, from the click to the end of the frame that shows its effect, the median and the largest of
         ten; and what the server then spends to note the change in the link, with the bytes that it sends

The runs are synthetic, half of 10,000 questions calibrates, and their home is a temporary folder. Their figures at the
opening alpha are kept, as after an earlier visit; with ``new`` they are not, as of runs that nobody has compared. On a
machine with other load, compare processor seconds.
"""

from __future__ import annotations

import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import CDPSession, Locator, Page, sync_playwright

from app.components.compare.all_runs import set_rule
from app.state.compare import CompareView
from core.questions import bank_names
from core.reports import evaluation, question_identity
from core.reports.compare import kept_rows
from core.runs import store
from tests.benchmarks.browser_waits import DRAWN
from tests.benchmarks.empty_app import empty_app
from tests.benchmarks.pages import IDLE, processor_time
from tests.browser.conftest import FLAGS, choose_page, server
from tests.conftest import synthetic_run

RUNS, QUESTIONS = 12, 10_000
CLICKS = 10
IMPORTED_AFTER_MS = 4000
"""The server imports what all pages need in the first seconds after its first page."""
SEEN_WITHIN_MS = 120_000
WATCH = """element => {
  window.waited = new Promise(done => element.getRootNode().addEventListener('click', event =>
    requestAnimationFrame(() => {
      const after = new MessageChannel();
      after.port1.onmessage = () => done(performance.now() - event.timeStamp);
      after.port2.postMessage(0);
    }), { capture: true, once: true }));
}"""
"""Before a click: counts the milliseconds to the end of the frame that follows it."""


@dataclass
class Meter:
    """What the page, its browser and the server spend."""

    page: Page
    browser: CDPSession
    received: list[int] = field(default_factory=list)
    """The bytes of each message from the server."""

    def spent(self) -> tuple[float, float, float]:
        """Seconds by the clock, the server's processor seconds, and those of the page's main thread."""
        found = {of["name"]: of["value"] for of in self.browser.send("Performance.getMetrics")["metrics"]}
        return time.perf_counter(), processor_time(), found["TaskDuration"]

    def drawn(self) -> None:
        """Wait until the dot plots and the inspector's list are drawn."""
        self.dots()
        self._see(".questions .question")

    def dots(self) -> None:
        """Wait until the frame that shows the dot plots of all runs has been drawn."""
        self._see(".dots .mark")

    def arrived(self) -> None:
        """Wait until all intervals have arrived and the script has ended."""
        self._see(".matrix button.sure, .matrix button.luck")
        self.page.wait_for_function(IDLE)

    def _see(self, selector: str) -> None:
        self.page.wait_for_function(DRAWN, arg=selector)

    @contextmanager
    def told(self, what: str) -> Iterator[None]:
        """Print what is spent in the block."""
        before, messages = self.spent(), len(self.received)
        yield
        clock, on_server, in_page = (now - then for now, then in zip(self.spent(), before, strict=True))
        sent = sum(self.received[messages:]) / 1e6
        print(f"{what:<52}{clock:>8.2f}{on_server:>10.2f}{in_page:>8.2f}{sent:>9.2f}", flush=True)


def main() -> None:
    """Measure each score that the command line names."""
    new = "new" in sys.argv[1:]
    empty()
    for score in [word for word in sys.argv[1:] if word != "new"] or ["lac"]:
        with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
            home = Path(folder) / "home"
            os.environ["HEDGE_HOME"] = str(home)
            runs = [finished_run(i, kept=not new) for i in range(RUNS)]
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
            page = browser.new_page(bypass_csp=True, viewport={"width": 1440, "height": 900})
            page.set_default_timeout(SEEN_WITHIN_MS)
            with server(home) as address:
                print(f"{score:<52}{'clock':>8}{'server':>10}{'page':>8}{'MB':>9}")
                measured(page, address, {"runs": ",".join(runs), "score": score})
            browser.close()


def finished_run(i: int, *, kept: bool = True) -> str:
    """A run with the bank that new runs note (:func:`core.questions.bank_names.bank_record`), its figures kept."""
    run_id = synthetic_run(QUESTIONS, model=f"model-{i}", seed=7, signal=1 + 0.15 * i)
    record = store.read_record(run_id)
    bank = {"name": bank_names.bank_name(record.spec), "test_questions": question_identity.question_set(run_id)}
    store.update_record(run_id, provenance=record.provenance | {"bank": bank})
    if kept:
        kept_rows.compared_rows([run_id], set_rule(CompareView()), evaluation.load)
    return run_id


def empty() -> None:
    """Print how long a browser that knows Streamlit's scripts takes to show a heading."""
    with sync_playwright() as playwright, empty_app() as address:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page = browser.new_page(bypass_csp=True, viewport={"width": 1440, "height": 900})
        page.set_default_timeout(SEEN_WITHIN_MS)
        waits = []
        for i in range(6):
            begun = time.perf_counter()
            page.goto(f"{address}/?visit={i}")
            page.get_by_role("heading", level=1).wait_for()
            waits.append(time.perf_counter() - begun)
            page.wait_for_function(IDLE)
        browser.close()
    print(f"{'a link to an empty Streamlit app, until its heading':<52}{statistics.median(waits[1:]):>8.2f}")


def measured(page: Page, address: str, link: dict[str, str]) -> None:
    """Print every row for one score."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    meter = Meter(page, session)
    page.on("websocket", lambda of: of.on("framereceived", lambda sent: meter.received.append(len(sent))))
    page.goto(f"{address}/learn")  # the browser has Streamlit's own scripts, and the server has shown a page
    page.get_by_role("heading", level=1).wait_for()
    page.wait_for_function(IDLE)
    page.wait_for_timeout(IMPORTED_AFTER_MS)
    with meter.told("link, until dot plots"):
        page.goto(f"{address}/compare?{urlencode(link)}")
        meter.dots()
    with meter.told("link, then until questions"):
        meter.drawn()
    with meter.told("link, then until all intervals"):
        meter.arrived()
    slider = page.get_by_role("slider").first
    slider.focus()
    with meter.told("alpha, until all intervals"):
        slider.press("ArrowRight")
        page.locator(".matrix button.waiting").first.wait_for()
        meter.arrived()
    choose_page(page, "Learn")
    page.locator(".questions").wait_for(state="detached")
    page.wait_for_function(IDLE)
    with meter.told("return, until dot plots and questions"):
        choose_page(page, "Compare")
        meter.drawn()
    meter.arrived()
    for what, where in CLICKED.items():
        clicked(meter, what, where)


def question(page: Page, i: int) -> Locator:
    """The i-th question of the list."""
    return page.locator(".question .asked").nth(i)


def count(page: Page, i: int) -> Locator:
    """One of the four counts, in turn."""
    return page.locator(".counts button").nth(i % 4)


def cell(page: Page, i: int) -> Locator:
    """A cell of the matrix."""
    return page.locator(".matrix button").nth(11 * i + 3)


def turned(page: Page, i: int) -> Locator:
    """The button of the next questions."""
    return page.locator(".pager .next")


CLICKED: dict[str, Callable[[Page, int], Locator]] = {
    "click on a question": question,
    "click on the next questions": turned,
    "click on a cell of the matrix": cell,
    "click on one of the four counts": count,
}


def clicked(meter: Meter, what: str, where: Callable[[Page, int], Locator]) -> None:
    """Print a row for ten clicks."""
    waits = []
    before, messages = meter.spent(), len(meter.received)
    for i in range(CLICKS):
        target = where(meter.page, i)
        target.scroll_into_view_if_needed()
        target.evaluate(WATCH)
        target.click()
        waits.append(meter.page.evaluate("window.waited"))
        meter.page.wait_for_timeout(400)  # the page tells the server of a change 0.15 s after the last one
        meter.page.wait_for_function(IDLE)
    _, on_server, in_page = ((now - then) / CLICKS for now, then in zip(meter.spent(), before, strict=True))
    sent = sum(meter.received[messages:]) / 1e6 / CLICKS
    row = f"{what}: {statistics.median(waits):.0f} ms, at most {max(waits):.0f} ms"
    print(f"{row:<60}{on_server:>10.2f}{in_page:>8.2f}{sent:>9.2f}", flush=True)


if __name__ == "__main__":
    main()
