"""How long a person waits: `python -m tests.benchmarks.browser_waits MODE`. Prints figures; no test.

start   from starting `python -m app` to the first set sizes painted on the overview, in a fresh browser, five times; in
        turn with it, from starting an empty Streamlit app to its heading, which no Streamlit app can undercut; and the
        processor time that the server has spent by then
drag    from a pointer's move to the end of the frame that shows it, 10,000 + 10,000 questions of six options and 25,000
        + 25,000; from the release to the changed address; and the same drag with ``st.slider`` and Altair
lesson  from a pointer's move on a step of the lesson to the end of the frame that shows it: the run that the page opens
        with, and 10,000 + 10,000 questions
temperature   from a pointer's move on the Calibration page's temperature to the end of the frame that shows it
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import psutil
from playwright.sync_api import Browser, BrowserType, Error, Locator, Page, sync_playwright

from app.showcase import showcase
from core.records import OptionLogits
from core.reports.lesson import load
from core.runs import store
from core.settings import ROOT
from tests.benchmarks.empty_app import empty_app
from tests.browser.conftest import FLAGS, Lab, server
from tests.conftest import synthetic_run

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
    for name, found in waits.items():
        seconds, spent = np.array(found).T
        each = ", ".join(f"{wait:.2f}" for wait in seconds)
        middle = f"median {np.median(seconds):.2f}"
        print(f"{name}: start to first figure, s: {each}; {middle}; processor time {np.median(spent):.2f}")
    own, least = (float(np.median([wait for wait, _ in found])) for found in waits.values())
    print(f"of which Hedge's own: {own - least:.2f}, ratio {own / least:.2f}")


def server_seconds() -> float:
    """The processor time of the only server that this process has started and not ended."""
    spent = [
        child.cpu_times() for child in psutil.Process().children() if {"app", "streamlit"} & set(child.cmdline()[1:])
    ]
    return sum(of.user + of.system for of in spent)


def large_run(n: int) -> str:
    """A run of n questions of six options, half of which calibrate."""
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


def said(values: list[float] | np.ndarray, *places: int) -> str:
    return ", ".join(f"p{q} {np.percentile(values, q):.1f}" for q in places)


def drag(home: Path) -> None:
    runs = {n: large_run(n) for n in (20_000, 50_000)}
    with sync_playwright() as playwright, server(home) as address:
        for n, run_id in runs.items():
            component(launch(playwright.chromium), f"{address}/alpha_lab?run={run_id}&alpha=100", n)
    with sync_playwright() as playwright, slider_app(runs[20_000]) as address:
        native(launch(playwright.chromium), address)


def temperature(home: Path) -> None:
    runs = {n: large_run(n) for n in (10_000, 20_000)}
    with sync_playwright() as playwright, server(home) as address:
        for n, run_id in runs.items():
            browser = launch(playwright.chromium)
            page = browser.new_page(bypass_csp=True, viewport={"width": 1400, "height": 1000})
            page.set_default_timeout(120_000)
            page.goto(f"{address}/calibration?runs={run_id}")
            page.wait_for_selector("[data-figure=ece]:not(:empty)")
            page.wait_for_load_state("networkidle")
            slider = page.get_by_role("slider", name="Temperature")
            slider.scroll_into_view_if_needed()
            page.wait_for_timeout(2000)
            slider.evaluate(WATCH)
            dragged(page, slider, moves=MOVES)
            moved, painted = page.evaluate("[window.moves, window.waits.length]")
            waits = page.evaluate("window.waits")
            print(f"{n:,} questions, half of which calibrate: moves {moved}, painted {painted}")
            print(f"  pointer to paint, ms: {said(waits, 50, 95, 99)}")
            page.mouse.up()
            browser.close()


def lesson(home: Path) -> None:
    runs = (showcase().run, large_run(20_000))
    with sync_playwright() as playwright, server(home) as address:
        for run_id in runs:
            browser = launch(playwright.chromium)
            page = browser.new_page(bypass_csp=True, viewport={"width": 1280, "height": 720})
            page.set_default_timeout(120_000)
            print(run_id)
            for place, step in enumerate(load().steps, start=1):
                page.goto(f"{address}/learn?run={run_id}&step={place}")
                page.get_by_role("button", name="Just show me").click()
                slider = page.locator("#lesson-alpha")
                if not slider.is_visible():
                    continue
                page.wait_for_load_state("networkidle")
                slider.evaluate(WATCH)
                dragged(page, slider, moves=MOVES // 4)
                print(f"  {step.name}: pointer to paint, ms: {said(page.evaluate('window.waits'), 50, 95)}")
                page.mouse.up()
            browser.close()


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
    print(f"  pointer to paint, ms: {said(waits, 50, 95, 99)}")
    print(f"  release to the address changed, ms: {said(backs, 50, 95)} of {RELEASES}")
    browser.close()


# What a person would write without a component: a native slider, and Altair charts computed in Python.
SLIDER_APP = """
import sys; sys.path.insert(0, {root!r})
import altair as alt, numpy as np, pandas as pd, streamlit as st
from core.conformal.curve import alpha_curve
from core.conformal.scores import score, true_scores
from core.reports import evaluation
from core.reports.report import report

@st.cache_resource
def loaded():
    run = evaluation.load({run_id!r})
    parts = []
    for name in ("lac", "aps"):
        s = score(name, run.probabilities)
        true = true_scores(s[run.calibration], run.labels[run.calibration])
        c = alpha_curve(true, s[run.test], run.labels[run.test])
        columns = {{"alpha": c.alphas / 1000, "coverage": c.coverage, "size": c.mean_set_size, "score": name}}
        parts.append(pd.DataFrame(columns))
    return run, pd.concat(parts)

run, curves = loaded()
alpha = st.slider("alpha", 0.001, 0.999, 0.1, 0.001, format="%.3f")
found = report(run, round(alpha * 1000))
rule = alt.Chart(pd.DataFrame({{"alpha": [alpha]}})).mark_rule().encode(x="alpha")
for name in ("coverage", "size"):
    st.altair_chart(alt.Chart(curves).mark_line().encode(x="alpha", y=name, color="score") + rule)
rows = [(n, j, c) for n, of in found.scores.items() for j, c in enumerate(of.sizes)]
sizes = pd.DataFrame(rows, columns=["score", "size", "sets"])
st.altair_chart(alt.Chart(sizes).mark_bar().encode(x="size:O", y="sets", color="score", xOffset="score"))
st.metric("coverage", f"{{found.scores['lac'].coverage:.4f}}")
st.text(f"shown at {{alpha:.3f}}")
"""


@contextmanager
def slider_app(run_id: str) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        script = Path(folder) / "slider.py"
        script.write_text(SLIDER_APP.format(root=str(ROOT), run_id=run_id), encoding="utf-8")
        flags = ["--server.port", str(port), "--server.headless", "true", "--server.address", "127.0.0.1"]
        process = subprocess.Popen(
            [sys.executable, "-m", "streamlit", "run", str(script), *flags], stdout=subprocess.DEVNULL
        )
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait()


def native(browser: Browser, url: str) -> None:
    page = browser.new_page(bypass_csp=True, viewport={"width": 1400, "height": 1000})
    page.set_default_timeout(120_000)
    for _ in range(100):
        try:
            page.goto(url)
            break
        except Error:
            page.wait_for_timeout(200)
    page.get_by_text("shown at 0.100").wait_for()
    page.locator("[data-testid=stVegaLiteChart] :is(svg.marks, canvas)").nth(2).wait_for()
    thumb = page.get_by_role("slider")
    rail = page.locator("[data-testid=stSlider]")
    box = rail.bounding_box()
    assert box is not None
    backs, seen = [], set()
    for i in range(RELEASES):
        at = thumb.bounding_box()
        assert at is not None
        y = at["y"] + at["height"] / 2
        page.mouse.move(at["x"] + at["width"] / 2, y)
        page.mouse.down()
        before = page.get_by_text("shown at").inner_text()
        for j in range(20):
            page.mouse.move(box["x"] + box["width"] * (0.1 + 0.07 * (i % 5) + 0.02 * j), y)
            page.wait_for_timeout(16)
        seen.add(page.get_by_text("shown at").inner_text() == before)
        released = time.perf_counter()
        page.mouse.up()
        page.wait_for_function("before => !document.body.innerText.includes(before)", arg=before)
        page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        backs.append(1000 * (time.perf_counter() - released))
        page.wait_for_timeout(500)
    print("20,000 questions, st.slider and Altair")
    print(f"  figures that moved while dragging: {'none' if seen == {True} else 'some'}")
    print(f"  release to new figures, ms: {said(backs, 50, 95)} of {RELEASES}")
    browser.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HEDGE_HOME"] = str(Path(folder) / "home")
        modes = {"start": start, "drag": drag, "lesson": lesson, "temperature": temperature}
        modes[sys.argv[1]](Path(folder) / "home")
