"""What is pictured: every page as its link opens it, and the states that a person reaches by clicking."""

from __future__ import annotations

import json
import random
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from urllib.request import Request, urlopen

from playwright.sync_api import Locator, Page

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
QUESTIONS = 12
"""Of a class, as its form proposes."""


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
    login: bool = False
    """Whether it is a page of the server on which people log in."""


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


@cache
def served_address(*, texts: bool = False) -> str:
    """The address of a server that lists five tokens, and scores no ``texts`` unless asked. It ends with this
    process."""
    from tests.core.models.server.loopback import Loopback  # loads a model, which other pictures do not need

    loopback = Loopback()
    loopback.reset(most=5, echo=texts)
    loopback.thread.start()
    return loopback.url


def connected(page: Page, *, texts: bool = False) -> None:
    """Connect to a server."""
    page.get_by_text("On a server", exact=True).last.click()
    address = page.get_by_role("textbox", name="Address of the server")
    address.fill(served_address(texts=texts))
    address.press("Enter")
    page.get_by_role("button", name="Connect").click()
    page.get_by_text("5 most probable next tokens").wait_for(timeout=ENDS_WITHIN_MS)
    page.wait_for_function(QUIET)


def connected_with_texts(page: Page) -> None:
    """Connect to a server that scores texts."""
    connected(page, texts=True)


def perplexity_served(page: Page) -> None:
    """Measure the conversations on a server, unless an earlier picture did."""
    connected_with_texts(page)
    talks = page.get_by_test_id("stMultiSelect").filter(has_text="Conversations")
    while talks.locator("[data-tag]").count() > 1:  # one takes seconds
        talks.locator("[data-tag] button").last.click()
        page.wait_for_function(QUIET)
    measure = page.get_by_role("button", name="Measure", exact=True)
    if measure.count():
        measure.click()
    page.locator(FIGURES["perplexity"]).first.wait_for(timeout=ENDS_WITHIN_MS)


def tokens_to_connect(page: Page) -> None:
    """Choose a model on a server, which scores no texts."""
    page.get_by_text("another model", exact=True).click()
    connected(page)


def tokens_served(page: Page) -> None:
    """Show a text token by token by a model on a server."""
    page.get_by_text("another model", exact=True).click()
    connected_with_texts(page)
    text = page.get_by_role("textbox", name="Text", exact=True)
    text.fill("The capital of Peru is Lima.")
    text.press("Control+Enter")
    page.get_by_text("The model expected:").wait_for(timeout=ENDS_WITHIN_MS)


def jury_on_server(page: Page) -> None:
    """Fill the form of a jury whose models are on a server."""
    page.get_by_text("Make a jury", exact=True).click()
    page.get_by_role("button", name="Make this jury").wait_for()
    connected_with_texts(page)


def prompting_on_server(page: Page) -> None:
    """Connect to a server on Prompting."""
    page.get_by_text("Launch an experiment", exact=True).click()
    connected(page)


def paused(page: Page) -> None:
    """Launch a run with a budget that does not suffice, and wait until it has paused."""
    pausing = page.get_by_text("is reached: what has finished")
    if not pausing.count():
        connected(page)
        page.get_by_text("Price, budget and timeout").click()
        budget = page.get_by_role("spinbutton", name="Budget")
        budget.fill("2000")
        budget.press("Enter")
        page.get_by_text("It would stop there").wait_for()
        page.get_by_role("button", name="Launch").click()
    pausing.first.wait_for(timeout=ENDS_WITHIN_MS)


def no_server(page: Page) -> None:
    """Type the address of a server that is not there."""
    page.get_by_text("On a server", exact=True).click()
    address = page.get_by_role("textbox", name="Address of the server")
    address.fill("http://127.0.0.1:9/v1")
    address.press("Enter")
    page.get_by_role("button", name="Connect").click()
    page.get_by_text("No server answers at").wait_for(timeout=ENDS_WITHIN_MS)


def served(page: Page) -> None:
    """Launch a model on a server, unless an earlier picture did, and wait until the run has ended."""
    ended = page.get_by_text("The server did not list every letter of")
    if not ended.count():
        connected(page)
        page.get_by_role("button", name="Launch").click()
    ended.first.wait_for(timeout=ENDS_WITHIN_MS)


def served_in_lab(page: Page) -> None:
    """Open the run of a model on a server in the Alpha lab."""
    served(page)
    _link_of_served(page, "Open in the Alpha lab").click()
    page.locator("[data-plot=coverage] svg.chart").wait_for()


def served_question(page: Page) -> None:
    """Open a question of the run of a model on a server."""
    served(page)
    _link_of_served(page, "One question").click()
    page.locator(".rows .track").first.wait_for()


def served_overview(page: Page) -> None:
    """Open the Overview with the run of a model on a server."""
    served(page)
    page.goto("/".join(page.url.split("/")[:3]))
    page.get_by_role("heading", name="Known as ranges").wait_for()


def _link_of_served(page: Page, name: str) -> Locator:
    cards = page.get_by_test_id("stVerticalBlock").filter(has_text="The server did not list every letter of")
    return cards.last.get_by_role("link", name=name)


def no_match(page: Page) -> None:
    """Search for a question that does not exist."""
    search = page.get_by_role("textbox", name="Search by text")
    search.fill("no such words")
    search.press("Enter")
    page.get_by_role("button", name="Clear the search").wait_for()


STUDENTS = ("Ada", "Bo", "Chidi", "Dana", "", "Eve", "Farid", "")
_classes: dict[str, str] = {}
"""The codes of the classes of earlier pictures, by what they show."""


def _sent(page: Page, path: str, token: str, **told: object) -> None:
    """Send what a student's phone sends."""
    address = "/".join(page.url.split("/")[:3]) + path
    asked = Request(address, json.dumps(told).encode(), {"Authorization": f"Bearer {token}"})
    with urlopen(asked) as answer:
        answer.read()


def _taught(desk: Page, until: int, *, shown: bool) -> str:
    """Open a class on the projector's page and teach it up to a question (from 0), answered by most students. After
    the last one come the results. Returns the class's code."""
    desk.get_by_role("button", name="Open a class").click()
    desk.locator(".code").get_by_text(re.compile("[A-Z]{6}")).wait_for()
    code = desk.locator(".code").inner_text()
    chance = random.Random(7)
    tokens = [chance.randbytes(16).hex() for _ in STUDENTS]
    for name, token in zip(STUDENTS, tokens, strict=True):
        _sent(desk, f"/join/{code}/seat", token, name=name)
    for question in range(until + 1):
        desk.locator(".next").click()
        if question == QUESTIONS:
            desk.locator(".results table").first.wait_for()
            break
        desk.locator(".asked h3").wait_for()
        desk.locator(".show").wait_for()
        options = desk.locator(".asked tbody tr").count()
        answering = tokens[:5] if question == until and not shown else tokens
        for token in answering:
            shares = [0] * options
            for share in (50, 30, 20):
                shares[chance.randrange(options)] += share
            _sent(desk, f"/join/{code}/answer", token, question=question, shares=shares, turn=question + 1)
        desk.locator(".who").get_by_text(f"{len(answering)} of {len(tokens)} answered").wait_for()
        if question < until or shown:
            desk.locator(".show").click()
            desk.locator(".asked tr.true").wait_for()
    return code


def _class(name: str, until: int, *, shown: bool = True) -> Callable[[Page], None]:
    """The projector of a class: go on with that of an earlier picture, or teach one."""

    def reach(page: Page) -> None:
        if name in _classes:
            page.goto(f"{page.url.split('?')[0]}?class={_classes[name]}")
        else:
            _classes[name] = _taught(page, until, shown=shown)
        page.locator(
            ".lobby:not([hidden]) .seats *, .asked:not([hidden]) h3, .results:not([hidden]) table"
        ).first.wait_for()

    return reach


def _phone(name: str, until: int, *, shown: bool = True) -> Callable[[Page], None]:
    """A phone that joins the class of a picture, and taps if it may."""

    def reach(page: Page) -> None:
        server = "/".join(page.url.split("/")[:3])
        if name not in _classes:
            desk = page.context.new_page()
            desk.goto(f"{server}/classroom")
            _classes[name] = _taught(desk, until, shown=shown)
            desk.close()
        page.goto(f"{server}/join/{_classes[name]}")
        page.locator("#join:not([hidden]), #room:not([hidden])").wait_for()
        if page.locator("#join:not([hidden])").count():  # a phone that has joined goes on
            page.get_by_role("button", name="Join").click()
        page.locator("#title").get_by_text(re.compile("You are in|Question|over")).wait_for()
        if page.locator("#options .more:enabled").count():
            for option in (0, 0, 1):
                page.locator("#options .more").nth(option).click()
            page.locator("#link").get_by_text("Saved").wait_for()

    return reach


def _logged_in(person: str, path: str, shown: str) -> Callable[[Page], None]:
    """Log in as one of the tests' people, and open a page."""

    def reach(page: Page) -> None:
        page.get_by_role("button", name="Log in").click()
        page.get_by_role("link", name=person, exact=True).click()
        page.locator("[data-testid=stMain] h1").first.wait_for()
        page.goto("/".join(page.url.split("/")[:3]) + path)
        page.get_by_text(shown).first.wait_for()

    return reach


def logging_out(page: Page) -> None:
    """Log out, and stay on the page that says so."""
    _logged_in("vera", "/account", "Your role is")(page)
    page.route("**/auth/logout**", lambda route: route.fulfill(status=204))  # an answer that leaves the page as it is
    page.get_by_role("button", name="Log out").click()
    page.get_by_role("heading", name="Logging out").wait_for()


CHART = FIGURES["prompting"]
STEPS = len(lesson.load().steps)
NOTHING_FOLDED = ("data", "doctor")


def _pages() -> dict[str, View]:
    """Every page as its link opens it."""
    shown = FIGURES | {"doctor": "button:has-text('Check again')"}
    return {entry.name: View("/" if entry is PAGES[0] else f"/{entry.name}", shown[entry.name]) for entry in PAGES}


def _course() -> dict[str, View]:
    """Each step of the further lessons with its answer, and every lesson's sheet for a lecturer."""
    found = {}
    for name, path in lesson.LESSONS.items():
        found[f"learn_{name}_sheet"] = View(f"/learn?lesson={name}&sheet=on", ".sheet-step")
        steps = len(lesson.load(path).steps) if name != "sets" else 0
        for step in range(1, steps + 1):
            found[f"learn_{name}_{step}"] = View(f"/learn?lesson={name}&step={step}", ".lesson h2", answered)
    return found


def _lesson() -> dict[str, View]:
    """Each step of the lesson with its question and with its answer, and the end."""
    title = ".lesson h2"
    asked = {f"learn_{step}": View(f"/learn?step={step}", title) for step in range(2, STEPS + 1)}
    told = {f"learn_{step}_answer": View(f"/learn?step={step}", title, answered) for step in range(1, STEPS + 1)}
    return asked | told | {"learn_end": View(f"/learn?step={STEPS + 1}", ".lesson .onwards")}


def _classroom() -> dict[str, View]:
    """A class at work on the projector, and on a phone."""
    opened, joined = ("/classroom", FIGURES["classroom"]), ("/join/", "#join:not([hidden])")
    return {
        "class_lobby": View(*opened, _class("lobby", -1)),
        "class_asked": View(*opened, _class("asked", 7, shown=False)),
        "class_sets": View(*opened, _class("sets", 7)),
        "class_results": View(*opened, _class("results", QUESTIONS)),
        "phone_join": View(*joined),
        "phone_asked": View(*joined, _phone("asked", 7, shown=False)),
        "phone_sets": View(*joined, _phone("sets", 7)),
        "phone_results": View(*joined, _phone("results", QUESTIONS)),
    }


def _presented() -> dict[str, View]:
    """The presenter view of each page that has one, and of one step of each lesson."""
    places = {
        "alpha_lab": "/alpha_lab?",
        "one_question": "/one_question?",
        "stream_lab": "/stream_lab?",
        **{f"learn_{name}": f"/learn?lesson={name}&step=3&" for name in lesson.LESSONS},
    }
    found = {
        name: View(f"{place}present=1", ".presented svg", whole=False, phone=False) for name, place in places.items()
    }
    return {f"{name}_presented": replace(view, reach=answered_by_enter) for name, view in found.items()}


def answered_by_enter(page: Page) -> None:
    """Show the answer of a presented step."""
    page.locator(".presented svg").first.wait_for()
    if page.locator(".lesson.presented").count():
        page.keyboard.press("Enter")
        page.locator(".lesson .answer").wait_for()


def _logins() -> dict[str, View]:
    """The pages of a server on which people log in."""
    entry = ("/", "button:has-text('Log in')")
    return {
        "login": View(*entry, login=True),
        "login_refused": View(*entry, _logged_in("otto", "/", "You have no role"), login=True),
        "login_account": View(*entry, _logged_in("vera", "/account", "Your role is"), login=True),
        "login_leaving": View(*entry, logging_out, login=True),
        "login_no_class": View(*entry, _logged_in("vera", "/classroom", "but not open a class"), login=True),
    }


VIEWS = {
    **_pages(),
    **_lesson(),
    **_course(),
    **_presented(),
    **_logins(),
    **_classroom(),
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
    "new_run_server": View("/new_run", FIGURES["new_run"], connected),
    "prompting_server": View("/prompting", FIGURES["prompting"], prompting_on_server),
    "tokens_no_texts": View("/tokens", FIGURES["tokens"], tokens_to_connect),
    "tokens_server": View("/tokens", FIGURES["tokens"], tokens_served),
    "jury_server": View("/new_run", FIGURES["new_run"], jury_on_server),
    "new_run_no_server": View("/new_run", FIGURES["new_run"], no_server),
    # Last, because the runs that it leaves behind are shown on the other pages.
    "new_run_group": View("/new_run", FIGURES["new_run"], launched),
    "new_run_paused": View("/new_run", FIGURES["new_run"], paused),
    "perplexity_server": View("/perplexity", "textarea", perplexity_served),
    "new_run_served": View("/new_run", FIGURES["new_run"], served),
    "alpha_lab_ranges": View("/new_run", FIGURES["new_run"], served_in_lab),
    "one_question_ranges": View("/new_run", FIGURES["new_run"], served_question),
    "overview_ranges": View("/new_run", FIGURES["new_run"], served_overview),
}
"""All views by their names, in the order of the pictures."""
