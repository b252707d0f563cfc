"""What is pictured: every page as its link opens it, unfolded, presented, and the steps of the lessons.

Tests in ``tests/browser`` look for the same faults where a page is reached by clicks.
"""

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
UPLOADED_ROWS = 60
QUIET = """() => document.querySelector('.stApp[data-test-script-state=notRunning]')
  && !document.querySelector('[data-testid=stSkeleton], [data-testid=stSpinner], .computing')"""


@dataclass(frozen=True, slots=True)
class View:
    """One state of a page."""

    address: str
    drawn: str
    """A selector of what is there once the address has opened."""
    reach: Callable[[Page], None] | None = None
    """What a person does then, or None."""
    whole: bool = True
    """Whether the window grows until all of the page is shown."""
    phone: bool = True
    """Whether a phone shows it, too."""


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
        page.get_by_role("button", name=re.compile("^Import ")).wait_for()


def unknown_columns(page: Page) -> None:
    """Upload a table whose columns a person has to name."""
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "notes.csv"
        table.write_text("question,remark\nWhich planet is the largest?,Jupiter\n")
        page.locator("[data-testid=stFileUploader] input[type=file]").first.set_input_files(table)
        page.get_by_text("notes.csv").first.wait_for()
        page.wait_for_function(QUIET)


def no_match(page: Page) -> None:
    """Search for a question that does not exist."""
    page.get_by_role("button", name="Find a question").click()
    search = page.get_by_role("textbox", name="Search by text")
    search.fill("no such words")
    search.press("Enter")
    page.get_by_role("button", name="Clear the search").wait_for()


CHART = FIGURES["prompting"]
STEPS = len(lesson.load().steps)


def _pages() -> dict[str, View]:
    """Every page as its link opens it."""
    shown = FIGURES | {"doctor": "text=/needs? attention:|is in order/"}
    return {entry.name: View("/" if entry is PAGES[0] else f"/{entry.name}", shown[entry.name]) for entry in PAGES}


def _course() -> dict[str, View]:
    """Each step of the further lessons with its answer, and every lesson's sheet for a lecturer."""
    views = {}
    for name, path in lesson.LESSONS.items():
        views[f"learn_{name}_sheet"] = View(f"/learn?lesson={name}&sheet=on", ".sheet-step")
        steps = len(lesson.load(path).steps) if name != "sets" else 0
        for step in range(1, steps + 1):
            views[f"learn_{name}_{step}"] = View(f"/learn?lesson={name}&step={step}", ".lesson h2", answered)
    return views


def _lesson() -> dict[str, View]:
    """Each step of the lesson with its question and with its answer, and the end."""
    title = ".lesson h2"
    questions = {f"learn_{step}": View(f"/learn?step={step}", title) for step in range(2, STEPS + 1)}
    answers = {f"learn_{step}_answer": View(f"/learn?step={step}", title, answered) for step in range(1, STEPS + 1)}
    return questions | answers | {"learn_end": View(f"/learn?step={STEPS + 1}", ".lesson .onwards")}


def _presented() -> dict[str, View]:
    """The presenter view of each page that has one, and of one step of each lesson."""
    places = {
        "alpha_lab": "/alpha_lab?",
        "one_question": "/one_question?",
        "stream_lab": "/stream_lab?",
        **{f"learn_{name}": f"/learn?lesson={name}&step=3&" for name in lesson.LESSONS},
    }
    views = {
        name: View(f"{place}present=1", ".presented svg", whole=False, phone=False) for name, place in places.items()
    }
    return {f"{name}_presented": replace(view, reach=answered_by_enter) for name, view in views.items()}


def answered_by_enter(page: Page) -> None:
    """Show the answer of a presented step."""
    page.locator(".presented svg").first.wait_for()
    if page.locator(".lesson.presented").count():
        page.keyboard.press("Enter")
        page.locator(".lesson .answer").wait_for()


VIEWS = {
    **_pages(),
    **_lesson(),
    **_course(),
    **_presented(),
    **{f"{name}_unfolded": replace(_pages()[name], reach=unfolded) for name in _pages()},
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
    "phone_join": View("/join/", "#join:not([hidden])"),
}
"""All views by their names, in the order of the pictures."""
