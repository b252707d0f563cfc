"""How long a person waits for the answer to a question of their own, in a real browser.

    .venv/bin/python -m tests.benchmarks.own_question_waits
    .venv/bin/python -m tests.benchmarks.own_question_waits --client

Twenty different questions to the bundled pocket model once it is warm: from the click on Ask until the page shows the
question's set, and the part of it that the model took. With ``--client``, no browser: from the call of
:func:`core.runs.answering.client.ask` until the answer is known. The first question is ``cold``: it starts
the worker and loads the model. Prints one JSON object of milliseconds.
"""

import json
import os
import re
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import expect, sync_playwright

from core.runs.answering import client
from core.runs.answering.custom_question import CustomQuestion
from core.runs.spec import RunSpec
from tests.browser.conftest import FLAGS, SEEN_WITHIN_MS, server
from tests.processes import end_all

QUESTIONS = 20
WATCH = """([asked, first]) => {
  window.waited = new Promise(done => {
    addEventListener("click", ({ timeStamp }) => {
      const bars = () => [...document.querySelectorAll(".stBidiComponent *")].find(at => at.shadowRoot)?.shadowRoot;
      const look = () => {
        const heading = [...document.querySelectorAll("h3")].some(at => at.textContent.includes(asked));
        const shown = bars()?.querySelector(".option .text")?.textContent === first;
        if (heading && shown && bars().querySelector(".answer").textContent) done(performance.now() - timeStamp);
        else requestAnimationFrame(look);
      };
      requestAnimationFrame(look);
    }, { capture: true, once: true });
  });
}"""
"""Told the question and its first option: the milliseconds from the next click to the frame that shows its set."""

CITIES = ("Paris", "London", "Rome", "Berlin", "Madrid", "Vienna", "Oslo", "Athens")


def main() -> None:
    """Measure and print."""
    print(json.dumps(through_client() if "--client" in sys.argv else through_browser()))


def through_client() -> dict[str, float]:
    """Milliseconds from asking to the answer, by the client alone."""
    with tempfile.TemporaryDirectory() as home:
        os.environ["HEDGE_HOME"] = home
        try:
            waits = [ask(number) for number in range(QUESTIONS + 1)]
        finally:
            end_all(Path(home))
    warm = sorted(waits[1:])
    return {
        "cold": round(waits[0]),
        "warm_median": round(statistics.median(warm), 1),
        "warm_worst": round(warm[-1], 1),
        "questions": QUESTIONS,
    }


def ask(number: int) -> float:
    """Milliseconds until the answer to one question is known."""
    text, options = question(number)
    own = CustomQuestion("pocket-1m", RunSpec(model="pocket-1m", task="qa").run_id, text, options)
    start = time.perf_counter()
    now = client.ask(own)
    while not now.ended:
        now = client.progress(own.answer_id, wait_s=1.0)
    assert now.stage == "answered", now.message
    return 1000 * (time.perf_counter() - start)


def question(number: int) -> tuple[str, tuple[str, ...]]:
    """A question and its four options."""
    return f"Which city is the capital of country number {number}?", tuple(CITIES[(number + i) % 8] for i in range(4))


def through_browser() -> dict[str, float]:
    """Milliseconds from the click to the frame that shows the set."""
    expect.set_options(timeout=SEEN_WITHIN_MS)
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with (
        tempfile.TemporaryDirectory() as folder,
        sync_playwright() as playwright,
        server(Path(folder) / "home") as address,
    ):
        page = playwright.chromium.launch(executable_path=chromium, args=FLAGS).new_page()
        page.set_default_timeout(120_000)
        page.goto(f"{address}/one_question?ask=own&run={RunSpec(model='pocket-1m', task='qa').run_id}")
        cold, _ = wait(page, 0)
        waits = [wait(page, i) for i in range(1, QUESTIONS + 1)]
    clicks, model = ([wait[part] for wait in waits] for part in (0, 1))
    return {
        "cold": round(cold),
        "click_median": round(statistics.median(clicks)),
        "click_p95": round(sorted(clicks)[int(0.95 * QUESTIONS) - 1]),
        "click_worst": round(max(clicks)),
        "model_median": round(statistics.median(model)),
        "questions": QUESTIONS,
    }


def wait(page, number: int) -> tuple[float, float]:
    """Milliseconds from the click to the set, and those that the model took."""
    text, options = question(number)
    page.get_by_role("textbox", name="Question", exact=True).fill(text)
    page.get_by_role("textbox", name=re.compile("^Options")).fill("\n".join(options))
    button = page.get_by_role("button", name="Ask", exact=True)
    page.evaluate(WATCH, [text, options[0]])
    button.click()
    waited = float(page.evaluate("() => window.waited"))
    took = re.search(r"answered in ([\d,]+) ms", page.get_by_text(re.compile("answered in")).inner_text())
    return waited, float(took[1].replace(",", "")) if took else float("nan")


if __name__ == "__main__":
    main()
