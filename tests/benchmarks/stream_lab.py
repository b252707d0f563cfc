"""How the Stream lab follows the pointer: `python -m tests.benchmarks.stream_lab MODE`. Prints figures; no test.

drag    from a pointer's move to the end of the frame that shows it, with streams of 10,000 questions of six options: on
        alpha, on gamma and on the change, and on the line of the change in a figure
shipped what the three ways make of the shipped pocket-3m from Summaries to Question answering, 20 orders
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import numpy as np
from playwright.sync_api import Locator, Page, sync_playwright

from core.reports import evaluation
from core.reports.stream_lab import LONGEST, stream_pool
from core.runs.spec import RunSpec
from tests.benchmarks.browser_waits import MOVES, WATCH, dragged, launch, said
from tests.browser.conftest import server
from tests.conftest import synthetic_run
from tests.reference.streams import question_stream, stream_figures

ORDERS = 20
FROM_HANDLED = WATCH.replace("event => {", "event => {\n    const handled = performance.now();").replace(
    "event.timeStamp", "handled"
)
"""From where the browser hands a move on, which is where a slider's ``input`` event gets its time stamp."""
WATCH_LINE = FROM_HANDLED.replace("'input'", "'pointermove'")
WATCH_POINTER = WATCH.replace("'input'", "'pointermove'")
"""From the pointer's own time stamp, up to a frame (16.7 ms) earlier."""


def drag(home: Path) -> None:
    """6,000 + 4,000 questions once each, with 6,000 that calibrate; and 10,000 drawn again."""
    first = synthetic_run(12_000, task="ds", signal=2.0)
    synthetic_run(4_000, task="qa", signal=1.0, seed=1)
    with sync_playwright() as playwright, server(home) as address:
        for length in (0, LONGEST):
            browser = launch(playwright.chromium)
            page = browser.new_page(bypass_csp=True, viewport={"width": 1400, "height": 1400})
            page.set_default_timeout(120_000)
            page.goto(f"{address}/stream_lab?run={first}&length={length}")
            page.locator(".stream .tracks svg.chart").first.wait_for()
            page.wait_for_load_state("networkidle")
            print(page.locator(".said-stream").inner_text())
            for name in ("alpha", "gamma", "change after"):
                slider = page.get_by_role("slider", name=name)
                watched(page, slider, name, WATCH)
                watched(page, slider, f"{name}, from the pointer's own time stamp", WATCH_POINTER)
            plot = page.locator("[data-plot=coverage] .plot")
            watched(page, plot, "the line in the figure", WATCH_LINE)
            watched(page, plot, "the line in the figure, from the pointer's own time stamp", WATCH_POINTER)
            browser.close()


def watched(page: Page, target: Locator, name: str, watch: str) -> None:
    page.wait_for_timeout(1000)
    target.evaluate(watch)
    dragged(page, target, moves=MOVES)
    moved, painted, waits = page.evaluate("[window.moves, window.waits.length, window.waits]")
    page.mouse.up()
    print(f"  {name}: moves {moved}, painted {painted}; pointer to paint, ms: {said(waits, 50, 95, 99)}")


def shipped(home: Path) -> None:
    first, second = (evaluation.load(RunSpec(model="pocket-3m", task=task).run_id) for task in ("ds", "qa"))
    for name in ("lac", "aps"):
        pool = stream_pool(first, second, name)
        rows = []
        for order in range(ORDERS):
            stream = question_stream(pool, order=order)
            found = stream_figures(stream, alpha=100, gamma=5)
            late = found.capital.alarm()
            parts = (slice(None, stream.change), slice(stream.change, None))
            coverage = [1 - missed[part].mean() for missed in (found.missed, found.adaptive.missed) for part in parts]
            rows.append([*coverage, np.nan if late is None else late + 1 - stream.change])
        print(f"{name}: fixed before and after, adaptive before and after, questions until 20")
        print("  order 0 (the run's own calibration):", np.round(rows[0], 3).tolist())
        late = np.array([row[-1] for row in rows])
        noticed = late[late > 0]
        print(f"  median of {ORDERS} orders:", np.round(np.median(np.array(rows)[:, :4], axis=0), 3).tolist())
        print(f"  noticed {len(noticed)}, false alarms {(late <= 0).sum()}, never {np.isnan(late).sum()}")
        if len(noticed):
            middle, least, most = np.median(noticed), noticed.min(), noticed.max()
            print(f"  questions until noticed: median {middle:.0f}, {least:.0f} to {most:.0f}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HEDGE_HOME"] = str(Path(folder) / "home")
        {"drag": drag, "shipped": shipped}[sys.argv[1]](Path(folder) / "home")
