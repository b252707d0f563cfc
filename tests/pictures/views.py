"""What is pictured: every page as its link opens it, and the states that a person reaches by clicking."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from playwright.sync_api import Page

from app.components.one_question.own_examples import EXAMPLES
from app.navigation import PAGES
from app.showcase import showcase
from core.exchange.run_table import run_table
from core.exchange.writing import to_csv
from core.reports import lesson
from tests.browser.test_pages import FIGURES

ENDS_WITHIN_MS = 240_000
MOST_FOLDED = 40
LAUNCHED_MODELS = ("pocket-1m", "pocket-8m")
LAUNCHED_TASKS = ("Question answering", "Reading comprehension")
QUIET = """() => document.querySelector('.stApp[data-test-script-state=notRunning]')
  && !document.querySelector('[data-testid=stSkeleton], [data-testid=stSpinner], .computing')"""
UPLOADED_ROWS = 60


@dataclass(frozen=True, slots=True)
class View:
    """One state of a page."""

    address: str
    drawn: str
    """A selector of what is there once the address has opened."""
    reach: Callable[[Page], None] | None = None
    """What a person does then, or None."""


def unfolded(page: Page) -> None:
    """Open every folded section."""
    folded = page.locator("main details:not([open]) > summary:visible")
    for _ in range(MOST_FOLDED):
        page.wait_for_function(QUIET)
        if not folded.count():
            break
        folded.first.click()


def answered(page: Page) -> None:
    """Ask for the answer of a lesson's step without a guess."""
    skip = page.get_by_role("button", name="Just show me")
    if skip.count():
        skip.click()


def own_answer(page: Page) -> None:
    """Ask the first example."""
    if not page.locator(".question svg.lines").count():
        page.get_by_role("button", name=next(iter(EXAMPLES.values())).label).first.click()
    page.get_by_text(re.compile(r"answered in [\d,]+ ms")).wait_for(timeout=ENDS_WITHIN_MS)
    page.locator(".question svg.lines").first.wait_for()


def uploaded(page: Page) -> None:
    """Upload the table of a run."""
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "my-results.csv"
        table.write_bytes(to_csv(run_table(showcase().run).slice(0, UPLOADED_ROWS)))
        page.locator("[data-testid=stFileUploader] input[type=file]").first.set_input_files(table)
        page.get_by_text("my-results.csv").first.wait_for()
        page.locator("[data-testid=stDataFrame]").first.wait_for()


def unknown_columns(page: Page) -> None:
    """Upload a table whose columns a person has to name."""
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "notes.csv"
        table.write_text("question,remark\nWhich planet is the largest?,Jupiter\n")
        page.locator("[data-testid=stFileUploader] input[type=file]").first.set_input_files(table)
        page.get_by_text("notes.csv").first.wait_for()
        page.wait_for_function(QUIET)


def launched(page: Page) -> None:
    """Launch two models on two tasks, unless an earlier picture did, and wait until all of them have ended."""
    number = len(LAUNCHED_MODELS) * len(LAUNCHED_TASKS)
    if not page.get_by_text(re.compile(rf"of {number} ended")).count():
        for name, chosen in (("Models", LAUNCHED_MODELS), ("Tasks", LAUNCHED_TASKS)):
            box = page.get_by_role("combobox", name=name)
            for one in chosen:
                if not page.locator("[data-tag]").get_by_text(one, exact=True).count():
                    box.click()
                    box.fill(one)
                    box.press("Enter")
                    box.press("Escape")
                    page.locator("[data-tag]").get_by_text(one, exact=True).wait_for()
                    page.wait_for_function(QUIET)
        page.get_by_role("button", name=f"Launch {number} runs").click()
    page.get_by_text(f"{number} of {number} ended").wait_for(timeout=ENDS_WITHIN_MS)


def no_match(page: Page) -> None:
    """Search for a question that does not exist."""
    search = page.get_by_role("textbox", name="Search by text")
    search.fill("no such words")
    search.press("Enter")
    page.get_by_role("button", name="Clear the search").wait_for()


CHART = FIGURES["prompting"]
STEPS = len(lesson.load().steps)
NOTHING_FOLDED = ("data", "doctor")


def _pages() -> dict[str, View]:
    """Every page as its link opens it."""
    shown = FIGURES | {"doctor": "button:has-text('Check again')"}
    return {entry.name: View("/" if entry is PAGES[0] else f"/{entry.name}", shown[entry.name]) for entry in PAGES}


def _lesson() -> dict[str, View]:
    """Each step of the lesson with its question and with its answer, and the end."""
    title = ".lesson h2"
    asked = {f"learn_{step}": View(f"/learn?step={step}", title) for step in range(2, STEPS + 1)}
    told = {f"learn_{step}_answer": View(f"/learn?step={step}", title, answered) for step in range(1, STEPS + 1)}
    return asked | told | {"learn_end": View(f"/learn?step={STEPS + 1}", ".lesson .onwards")}


VIEWS = {
    **_pages(),
    **_lesson(),
    **{f"{name}_unfolded": replace(_pages()[name], reach=unfolded) for name in _pages() if name not in NOTHING_FOLDED},
    "overview_scatter": View("/?figure=scatter", CHART),
    "overview_runs": View("/?figure=runs", "[data-testid=stDataFrame] canvas"),
    "overview_nothing": View("/?models=no-such-model", "h1"),
    "compare_nothing": View("/compare?runs=none", "button:has-text('again')"),
    "calibration_nothing": View("/calibration?runs=none", "button:has-text('again')"),
    "alpha_lab_no_such_run": View("/alpha_lab?run=no-such-run&alpha=77777", FIGURES["alpha_lab"]),
    "one_question_no_match": View("/one_question", FIGURES["one_question"], no_match),
    "one_question_own": View("/one_question?ask=own", "textarea"),
    "one_question_own_answer": View("/one_question?ask=own", "textarea", own_answer),
    "data_preview": View("/data", FIGURES["data"], uploaded),
    "data_columns": View("/data", FIGURES["data"], unknown_columns),
    # Last, because the runs that it leaves behind are shown on the other pages.
    "new_run_group": View("/new_run", FIGURES["new_run"], launched),
}
"""All views by their names, in the order of the pictures."""
