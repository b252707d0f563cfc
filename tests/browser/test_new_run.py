"""From the button to the moving alpha: a run launched, watched and opened in the browser."""

import json
import re
import signal
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from app.components.one_question.own_examples import EXAMPLES
from core.questions import bank
from core.reports.bounded import bounded_report
from tests.browser.conftest import (
    Lab,
    Visitor,
    choose_page,
    engine_ended,
    eventually,
    page_server,
    resize,
    server,
    settled,
    still,
)
from tests.core.models.server.loopback import loopback_server
from tests.pictures.faults import lasting_faults

ENDS_WITHIN_MS = 120_000
SLOW_MS = 300
AT_WORK = re.compile(r"\d+ of 100 prompts .* a second .* left")


def set_pace(pace: Path, ms: int) -> None:
    """Write the whole file at once, for the model may be reading it."""
    written = pace.with_suffix(".new")
    written.write_text(str(ms), encoding="ascii")
    written.replace(pace)


@pytest.fixture
def pace(tmp_path: Path) -> Path:
    """The file with the milliseconds that the fake model takes for a question. A test slows it down until it has seen
    a run in progress, however busy the machine is, and speeds it up to see the run end."""
    path = tmp_path / "ms"
    set_pace(path, SLOW_MS)
    return path


def choose_fake(page: Page) -> None:
    """The fake model alone."""
    models = page.get_by_role("combobox", name="Models")
    models.click()
    models.press("Backspace")
    models.fill("fake")
    models.press("Enter")
    models.press("Escape")
    expect(page.locator("[data-tag]").get_by_text("fake")).to_be_visible()


@pytest.mark.nightly
def test_a_run_of_a_model_on_a_server_from_connecting_to_its_ranges(pocket: str, visit: Visitor):
    with loopback_server() as served:
        served.reset(most=5, echo=False)
        page = visit(pocket).open("/new_run")
        page.get_by_text("On a server", exact=True).click()
        address = page.get_by_role("textbox", name="Address of the server")
        connect = page.get_by_role("button", name="Connect")
        address.fill(pocket)
        address.press("Enter")
        connect.click()
        expect(page.get_by_text("give the address of the API, which usually ends in /v1")).to_be_visible()
        address.fill(served.url)
        address.press("Enter")
        connect.click()
        expect(page.get_by_text("5 most probable next tokens")).to_be_visible()
        expect(page.locator("[data-tag]").get_by_text("pocket-3m", exact=True)).to_be_visible()
        page.get_by_text("other", exact=True).click()
        page.get_by_role("spinbutton", name="How many").fill("40")
        page.get_by_role("spinbutton", name="How many").press("Enter")
        page.get_by_role("button", name="Launch").click()
        expect(page.get_by_text("Launched pocket-3m on Question answering")).to_be_visible()
        expect(page.get_by_text(re.compile("The server gave only an upper bound of some letters"))).to_be_visible(
            timeout=ENDS_WITHIN_MS
        )
        assert lasting_faults(settled(page), but="drawing") == []
    main = page.get_by_test_id("stMain")
    card = (
        main.get_by_test_id("stVerticalBlock")
        .filter(has_text="The server gave only an upper bound of some letters")
        .last
    )
    card.get_by_role("link", name="Open in the Alpha lab").click()
    exact = page.locator("article[data-score=lac] [data-figure=exact]")
    expect(exact).to_have_text(re.compile(r"^\d+\.\d%$"))
    expect(page.locator("article[data-score=aps] [data-figure=coverage]")).to_have_text(re.compile(r"^\d.*%$"))
    slider = page.get_by_role("slider", name="alpha")
    slider.press("PageUp")
    expect(page.get_by_role("spinbutton", name="alpha as a number")).to_have_value("0.11")
    expect(page).to_have_url(re.compile(r"alpha=110"))
    run_id = re.search(r"run=([^&]+)", page.url)
    assert run_id is not None
    shown = bounded_report(run_id[1], 110).scores
    expect(exact).to_have_attribute("data-low", f"{shown['lac'].exact_share:g}")
    expect(page.locator("article[data-score=aps] [data-figure=size]")).to_have_text(
        re.compile(rf"{shown['aps'].mean_set_size[1]:.2f}$")
    )


def typed(field: Locator, text: str) -> None:
    field.fill(text)
    field.press("Enter")


def test_a_number_that_is_refused_stops_the_launch(address: str, visit: Visitor):
    page = visit(address).open("/new_run")
    page.get_by_text("other", exact=True).click()
    launch, number = page.get_by_role("button", name="Launch"), page.get_by_role("spinbutton", name="How many")
    expect(launch).to_be_enabled()
    page.get_by_text("More options").click()
    for name, refused, accepted in (("How many", "0", "60"), ("Batch size", "0", "8"), ("Seed", "-1", "3")):
        field = page.get_by_role("spinbutton", name=name)
        typed(field, refused)
        expect(page.get_by_text(re.compile(rf"must be at least .* got {refused}"))).to_be_visible()
        expect(launch).to_be_disabled()
        typed(field, accepted)
        expect(launch).to_be_enabled()
        for impossible in ("9007199254740993", "12345678901234567", "2.5"):
            typed(field, impossible)
            expect(page.get_by_text(f"{name} must be a whole number of at most")).to_be_visible()
            expect(launch).to_be_disabled()
            typed(field, accepted)
            expect(launch).to_be_enabled()
    expect(number).to_have_value("60")


def test_the_form_survives_a_reload_and_shows_all_of_its_tasks(address: str, visit: Visitor):
    window = visit(address, width=1440)
    page = window.open("/new_run")
    page.get_by_text("other", exact=True).click()
    number = page.get_by_role("spinbutton", name="How many")
    typed(number, "60")
    tasks = page.get_by_role("combobox", name="Tasks")
    chosen = page.locator(".st-key-launch_tasks [data-tag]")
    expect(chosen).to_have_count(1)
    for count in range(2, 6):
        tasks.click()
        page.get_by_role("option").first.click()
        expect(chosen).to_have_count(count)
    tasks.press("Escape")
    page.get_by_role("heading", name="Run a benchmark").click()  # closes the list
    page.get_by_text("More options").click()
    typed(page.get_by_role("spinbutton", name="Seed"), "3")
    expect(page).to_have_url(re.compile("samples=60.*seed=3"))
    names = settled(page).locator(".st-key-launch_tasks [data-tag]").all_inner_texts()
    page.reload()
    expect(chosen).to_have_text(names)
    expect(number).to_have_value("60")
    page.get_by_text("More options").click()
    expect(page.get_by_role("spinbutton", name="Seed")).to_have_value("3")
    for width in (1440, 390):
        resize(page, width, 900)
        for i in range(len(names)):
            eventually(page, lambda i=i: outside(chosen.nth(i)))


def outside(tag: Locator) -> str:
    """Which part of a tag its list hides, if any."""
    return tag.evaluate(
        """tag => {
          const box = tag.getBoundingClientRect();
          const field = tag.closest('[data-testid=stMultiSelect]');
          for (let list = tag.parentElement; list !== field; list = list.parentElement) {
            const around = list.getBoundingClientRect();
            if (getComputedStyle(list).overflowY === 'visible') continue;
            if (box.bottom > around.bottom + 1 || box.top < around.top - 1) return `${box.bottom} > ${around.bottom}`;
            if (box.right > around.right + 1) return `${box.right} > ${around.right}`;
          }
          return '';
        }"""
    )


class Clicks:
    """Counts what a person clicks from the first page on."""

    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        page.goto(address)
        self.made = 0

    def on(self, what: Locator) -> None:
        what.click()
        self.made += 1


def test_the_first_minutes(pocket: str, visit: Visitor):
    """From the first page: to a dragged alpha in one click, to one question's set in two, to the answer to a question
    of one's own in at most three."""
    page = visit(pocket, width=1440).page
    cards = page.locator(".first-page .card")

    first = Clicks(page, pocket)
    first.on(cards.nth(1))
    drag_alpha(Lab(page).ready())
    assert first.made == 1
    first.on(page.get_by_role("button", name="Open question 1 on its own page"))
    expect(page.locator(".answer")).to_contain_text("ruled out")
    assert first.made == 2

    own = Clicks(page, pocket)
    own.on(cards.nth(2))
    expect(page.locator(".answer")).to_contain_text("ruled out")  # the card's question
    own.on(page.get_by_text("Ask your own", exact=True))
    own.on(page.get_by_role("button", name=next(iter(EXAMPLES.values())).label).first)
    expect(page.get_by_text(re.compile(r"answered in [\d,]+ ms"))).to_be_visible(timeout=ENDS_WITHIN_MS)
    assert own.made <= 3


def test_a_run_is_four_clicks_away(pocket: str, visit: Visitor):
    """From the first page to the sets of a finished run."""
    page = visit(pocket, width=1440).page
    run = Clicks(page, pocket)
    run.on(page.get_by_test_id("stTopNavSection").filter(has_text="Run"))
    run.on(page.get_by_test_id("stTopNavDropdownLink").filter(has_text="New run"))
    finished = page.get_by_test_id("stMain").get_by_role("link", name="Open in the Alpha lab")
    expect(page.get_by_role("button", name="Launch")).to_be_visible()
    before = settled(page).get_by_test_id("stMain").get_by_text(re.compile("^finished in")).count()
    run.on(page.get_by_role("button", name="Launch"))
    expect(page.get_by_text(re.compile("^Launched "))).to_be_visible()
    expect(page.get_by_text(re.compile("^finished in"))).to_have_count(before + 1, timeout=ENDS_WITHIN_MS)
    run.on(finished.first)  # the newest run is first; at once, while the list is redrawn
    expect(page).to_have_url(re.compile("run=pocket-8m"))
    lab = Lab(page).ready()
    assert run.made == 4
    run_id = re.search(r"run=([^&]+)", page.url)
    assert run_id is not None
    lab.expect_report(run_id[1])
    lab.alpha.press("PageUp")
    lab.expect_alpha(110)
    lab.expect_report(run_id[1])


def drag_alpha(lab: Lab) -> None:
    before = lab.thousandths()
    box = still(lab.alpha)
    middle = box["y"] + box["height"] / 2
    lab.page.mouse.move(box["x"] + box["width"] * before / 1000, middle)
    lab.page.mouse.down()
    lab.page.mouse.move(box["x"] + box["width"] * 0.4, middle, steps=5)
    lab.page.mouse.up()
    eventually(lab.page, lambda: lab.thousandths() <= before)


def tab_to(page: Page, name: str, *, times: int = 1) -> None:
    """Press Tab until what has the focus is called ``name``, for the first time or the second one, and so on."""
    for _ in range(120):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.innerText").strip().split("\n")[-1] == name:
            times -= 1
        if not times:
            return
    raise AssertionError(f"Tab does not lead to {name}")


def prompts_done(page: Page) -> int:
    """The number of answered prompts of the active run, as shown on the page."""
    return int(page.get_by_text(AT_WORK).inner_text().split(" of ")[0].split()[-1])


def test_a_run_is_cancelled_resumed_and_its_log_read(home: Path, pace: Path, visit: Visitor):
    """With the keyboard alone."""
    with server(home, HEDGE_FAKE_ENGINE=json.dumps({"pace": str(pace)})) as address:
        page = visit(address).open("/new_run")
        launch_with_the_keyboard(page)
        tab_to(page, "Cancel")
        page.keyboard.press("Enter")
        # The last one is in the list; another is beside the form, which says that this run exists.
        expect(page.get_by_role("button", name="Resume")).to_have_count(3)
        tab_to(page, "Resume", times=3)
        page.keyboard.press("Enter")
        expect(page.get_by_text(AT_WORK)).to_be_visible()
        tab_to(page, "Log")
        page.keyboard.press("Enter")
        expect(page.get_by_text("resumed")).to_be_visible()


@pytest.mark.nightly
def test_a_run_outlives_its_page_server_and_its_end_is_told_on_another_page(home: Path, pace: Path, visit: Visitor):
    """In the end the database is lost, which blocks nothing."""
    fake = {"HEDGE_FAKE_ENGINE": json.dumps({"pace": str(pace)})}
    with engine_ended(home):
        with page_server(home, stop=signal.SIGKILL, **fake) as address:
            page = visit(address).open("/new_run")
            launch_with_the_keyboard(page)
            before = prompts_done(page)
            page.close()  # a window on a dead server complains on its console, as it should
        with page_server(home, **fake) as address:
            page = visit(address).open("/new_run")
            expect(page.get_by_text(AT_WORK)).to_be_visible()
            eventually(page, lambda: f"still {before} prompts" if prompts_done(page) <= before else None)
            its_end_is_told_on_another_page(page, pace)
            a_lost_database_blocks_nothing(page, home, address)
            page.close()


def launch_with_the_keyboard(page: Page) -> None:
    choose_fake(page)
    tab_to(page, "Launch")
    page.keyboard.press("Enter")
    expect(page.get_by_text(AT_WORK)).to_be_visible()


def its_end_is_told_on_another_page(page: Page, pace: Path) -> None:
    choose_page(page, "Overview")
    expect(page.get_by_role("heading", name="Hedge shows how sure a language model really is")).to_be_visible()
    set_pace(pace, 0)
    toast = page.get_by_test_id("stToast")
    expect(toast).to_have_text(re.compile("Finished: fake · Question answering"), timeout=ENDS_WITHIN_MS)


def a_lost_database_blocks_nothing(page: Page, home: Path, address: str) -> None:
    for file in home.glob("engine.sqlite*"):
        file.rename(file.with_name(f"away-{file.name}"))
    (home / "engine.sqlite").write_bytes(b"no database at all" * 100)
    page.goto(f"{address}/new_run")
    expect(page.get_by_text(re.compile("The run database .* can't be used"))).to_be_visible()
    page.get_by_text("all", exact=True).click()
    everything = f"{len(bank.load('qa')):,}"
    expect(page.get_by_test_id("stMetricValue").get_by_text(everything, exact=True)).to_be_visible()


@pytest.mark.nightly
def test_two_runs_are_launched_cancelled_and_resumed_as_one(home: Path, pace: Path, visit: Visitor):
    with server(home, HEDGE_FAKE_ENGINE=json.dumps({"pace": str(pace)})) as address:
        page = visit(address).open("/new_run")
        choose_fake(page)
        page.get_by_text("More options").click()
        other = "shared instruction"
        page.get_by_role("radio", name=other).or_(page.get_by_role("button", name=other, exact=True)).click()
        page.get_by_role("button", name="Launch 2 runs").click()
        expect(page.get_by_text("Launched 2 runs")).to_be_visible()
        expect(page.get_by_text("fake · Question answering · 2 strategies")).to_be_visible()
        expect(page.get_by_text(AT_WORK)).to_be_visible()
        page.get_by_role("button", name="Cancel the remaining 2 runs").click()
        expect(page.get_by_text("2 cancelled")).to_be_visible()
        set_pace(pace, 0)
        page.get_by_role("button", name="Resume 2").click()
        expect(page.get_by_text("2 of 2 ended")).to_be_visible(timeout=ENDS_WITHIN_MS)
        expect(page.get_by_text("2 finished")).to_be_visible()
        assert lasting_faults(settled(page), but="drawing") == []
