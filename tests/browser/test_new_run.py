"""From the button to the moving alpha: a run launched, watched and opened in the browser."""

from __future__ import annotations

import json
import re
import shutil
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from playwright.sync_api import Locator, Page, expect

from app.components.one_question.own_examples import EXAMPLES
from core.reports.bounded import bounded_report
from core.tasks import bank
from tests.browser.conftest import (
    Lab,
    Visitor,
    choose_page,
    engine_ended,
    eventually,
    page_server,
    server,
    settled,
    still,
)
from tests.core.inference.server.loopback import loopback_server
from tests.processes import end_all

ENDS_WITHIN_MS = 120_000
ARRIVES_WITHIN_MS = 20_000
SLOW_MS = 300
AT_WORK = re.compile(r"\d+ of 100 prompts .* a second .* left")


@pytest.fixture(scope="module")
def pocket_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """A server with the bundled model, and its home."""
    home = tmp_path_factory.mktemp("pocket") / "home"
    with server(home) as address:
        yield address, home


@pytest.fixture
def pocket(pocket_server: tuple[str, Path], monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of the server with the bundled model, whose home is this process's too."""
    address, home = pocket_server
    monkeypatch.setenv("HEDGE_HOME", str(home))
    return address


@pytest.fixture(scope="module")
def pace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file with the milliseconds that the fake model takes for a question. A test slows it down until it has seen
    a run at work, however busy the machine is, and speeds it up to see the run end."""
    return tmp_path_factory.mktemp("pace") / "ms"


def set_pace(pace: Path, ms: int) -> None:
    """Write the whole file at once, for the model may be reading it."""
    written = pace.with_suffix(".new")
    written.write_text(str(ms), encoding="ascii")
    written.replace(pace)


@pytest.fixture(scope="module")
def fake_server(tmp_path_factory: pytest.TempPathFactory, pace: Path) -> Iterator[tuple[str, Path]]:
    """A server whose model is none, and its home."""
    home = tmp_path_factory.mktemp("fake") / "home"
    with server(home, copied=True, HEDGE_FAKE_ENGINE=json.dumps({"pace": str(pace)})) as address:
        yield address, home


@pytest.fixture
def fake(fake_server: tuple[str, Path], pace: Path) -> Iterator[str]:
    """The address of the server with the fake model; its home is empty before each test, and no agent lives in it."""
    address, home = fake_server
    set_pace(pace, SLOW_MS)
    yield address
    end_all(home)
    for left in home.iterdir():
        shutil.rmtree(left) if left.is_dir() else left.unlink()


def choose_fake(page: Page) -> None:
    """The fake model alone."""
    models = page.get_by_role("combobox", name="Models")
    models.click()
    models.press("Backspace")
    models.fill("fake")
    models.press("Enter")
    models.press("Escape")
    expect(page.locator("[data-tag]").get_by_text("fake")).to_be_visible()


def test_a_pocket_run_from_the_button_to_the_lab(pocket: str, visit: Visitor):
    page = visit(pocket).open("/new_run")
    expect(page.get_by_text("Runs that you launch appear here")).to_be_visible()
    # A number that no run which ships has.
    page.get_by_text("other", exact=True).click()
    page.get_by_role("spinbutton", name="How many").fill("120")
    page.get_by_role("spinbutton", name="How many").press("Enter")
    page.get_by_role("button", name="Launch").click()
    expect(page.get_by_text("120 questions at most")).to_be_visible()
    # The page is free to use meanwhile.
    choose_page(page, "Overview")
    expect(page.get_by_role("heading", name="Hedge shows how sure a language model really is")).to_be_visible()
    choose_page(page, "New run")
    expect(page.get_by_text(re.compile(r"^done in"))).to_be_visible(timeout=ENDS_WITHIN_MS)
    # At once, while the list is drawn anew because the run has ended.
    page.get_by_test_id("stMain").get_by_role("link", name="Open in the Alpha lab").click()
    lab = Lab(page).ready()
    run_id = re.search(r"run=([^&]+)", page.url)
    assert run_id is not None
    lab.expect_report(run_id[1])
    box = still(lab.alpha)
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * 0.1, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.3, middle, steps=8)
    page.mouse.up()
    dragged = lab.thousandths()
    assert 250 < dragged < 350
    lab.expect_alpha(dragged)
    lab.expect_report(run_id[1])
    for key, step in (("ArrowRight", 1), ("ArrowRight", 1), ("PageUp", 10), ("ArrowLeft", -1)):
        lab.alpha.press(key)
        dragged += step
        lab.expect_alpha(dragged)
        lab.expect_report(run_id[1])
    expect(page).to_have_url(re.compile(rf"alpha={dragged}"))


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
        expect(page.get_by_text(re.compile("The server did not list every letter of"))).to_be_visible(
            timeout=ENDS_WITHIN_MS
        )
    main = page.get_by_test_id("stMain")
    card = main.get_by_test_id("stVerticalBlock").filter(has_text="The server did not list every letter of").last
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
    of one's own in at most three, to the sets of a finished run in four."""
    page = visit(pocket, width=1440).page
    cards = page.locator(".first-page .card")

    first = Clicks(page, pocket)
    first.on(cards.nth(0))
    lab = Lab(page).ready()
    before = lab.thousandths()
    box = still(lab.alpha)
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * before / 1000, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.4, middle, steps=5)
    page.mouse.up()
    assert lab.thousandths() > before
    assert first.made == 1

    first.on(page.get_by_role("button", name="Open question 1 on its own page"))
    expect(page.locator(".answer")).to_contain_text("{")
    assert first.made == 2

    own = Clicks(page, pocket)
    own.on(cards.nth(2))
    own.on(page.get_by_role("button", name=next(iter(EXAMPLES.values())).label).first)
    expect(page.get_by_text(re.compile(r"answered in [\d,]+ ms"))).to_be_visible(timeout=ENDS_WITHIN_MS)
    assert own.made <= 3

    run = Clicks(page, pocket)
    run.on(page.get_by_test_id("stTopNavSection").filter(has_text="Run"))
    run.on(page.get_by_test_id("stTopNavDropdownLink").filter(has_text="New run"))
    finished = page.get_by_test_id("stMain").get_by_role("link", name="Open in the Alpha lab")
    expect(page.get_by_role("button", name="Launch")).to_be_visible()
    before = settled(page).get_by_test_id("stMain").get_by_text(re.compile("^done in")).count()
    run.on(page.get_by_role("button", name="Launch"))
    expect(page.get_by_text(re.compile("^Launched "))).to_be_visible()
    expect(page.get_by_text(re.compile("^done in"))).to_have_count(before + 1, timeout=ENDS_WITHIN_MS)
    run.on(finished.first)  # the run that was launched last stands first
    expect(page).to_have_url(re.compile("run=pocket-8m"))
    Lab(page).ready()
    assert run.made == 4


def serves(process: psutil.Process, port: int, home: Path) -> bool:
    with suppress(psutil.NoSuchProcess, psutil.AccessDenied):  # a zombie has neither
        return str(port) in process.cmdline() and process.environ().get("HEDGE_HOME") == str(home)
    return False


def test_the_exact_prompt_is_read_beside_the_page(
    pocket: str, pocket_server: tuple[str, Path], visit: Visitor, tmp_path: Path
):
    """A file of one's own, typed in; its prompt comes from a process of its own, and the page's never loads torch."""
    path = tmp_path / "mine.jsonl"
    rows = [
        {"question": f"How many legs have {i} cats?", "options": [str(i), str(4 * i)], "label": 1} for i in range(1, 9)
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    page = visit(pocket, width=900, theme="dark").open("/new_run")
    chosen = page.locator("[data-tag]").first
    expect(chosen).to_have_css("color", "rgb(232, 236, 241)")  # the dark theme's text
    expect(chosen).to_have_css("background-color", "rgba(0, 0, 0, 0)")  # on its surface
    tasks = page.get_by_role("combobox", name="Tasks")
    tasks.click()
    tasks.press("Backspace")
    tasks.fill(str(path))
    tasks.press("Enter")
    tasks.press("Escape")
    # The page has read the file; what is typed while it does so would be lost.
    expect(page.get_by_test_id("stMetricValue").get_by_text("8", exact=True)).to_be_visible()
    page.get_by_role("button", name="Show the exact prompt").click()
    expect(page.get_by_text("Reading the prompt with the model's tokenizer")).to_be_visible()
    prompt = re.compile(r"Question: How many legs have \d cats\?\s+A\. \d\s+B\. \d+\s+Answer:\s*$")
    expect(page.get_by_test_id("stCode").first).to_have_text(prompt, timeout=ENDS_WITHIN_MS)
    expect(page.get_by_text(f"python -m core run --model pocket-8m --task {path}")).to_be_visible()
    port = int(pocket.rsplit(":", 1)[1])
    (server_process,) = (process for process in psutil.process_iter() if serves(process, port, pocket_server[1]))
    loaded = {Path(mapped.path).name for mapped in server_process.memory_maps()}
    assert "libtorch_cpu.so" not in loaded
    assert any("pyarrow" in name or "arrow" in name for name in loaded)


def tab_to(page: Page, name: str, *, times: int = 1) -> None:
    """Press Tab until what has the focus is called ``name``, for the first time or the second one, and so on."""
    for _ in range(120):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.innerText").strip().split("\n")[-1] == name:
            times -= 1
        if not times:
            return
    raise AssertionError(f"Tab does not lead to {name}")


def test_a_run_is_cancelled_resumed_its_log_read_and_its_end_told_on_another_page(
    fake: str, pace: Path, visit: Visitor
):
    """With the keyboard alone, until the log is read."""
    page = visit(fake).open("/new_run")
    choose_fake(page)
    tab_to(page, "Launch")
    page.keyboard.press("Enter")
    expect(page.get_by_text(AT_WORK)).to_be_visible()
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
    choose_page(page, "Overview")
    expect(page.get_by_role("heading", name="Hedge shows how sure a language model really is")).to_be_visible()
    set_pace(pace, 0)
    toast = page.get_by_test_id("stToast")
    expect(toast).to_have_text(re.compile("Done: fake · Question answering"), timeout=ENDS_WITHIN_MS)

    def on_new_run() -> None:
        """Four seconds after its notice a page runs again by itself, which can undo a click on the menu just then."""
        choose_page(page, "New run")
        expect(page).to_have_url(re.compile("/new_run"))
        expect(page.get_by_role("button", name="Launch")).to_be_visible(timeout=ARRIVES_WITHIN_MS)

    eventually(page, on_new_run)
    expect(page.get_by_text(re.compile(r"^done in"))).to_be_visible()


def prompts_done(page: Page) -> int:
    """How many prompts of the run at work have been answered, as the page says it."""
    return int(page.get_by_text(AT_WORK).inner_text().split(" of ")[0].split()[-1])


def test_a_run_outlives_the_page_server_and_a_lost_database_blocks_nothing(home: Path, visit: Visitor):
    slow = {"HEDGE_FAKE_ENGINE": '{"ms": 500}'}
    with engine_ended(home):
        with page_server(home, stop=signal.SIGKILL, copied=True, **slow) as address:
            page = visit(address).open("/new_run")
            choose_fake(page)
            page.get_by_role("button", name="Launch").click()
            expect(page.get_by_text(AT_WORK)).to_be_visible()
            before = prompts_done(page)
            page.close()  # a window on a dead server complains on its console, as it should
        with page_server(home, copied=True, **slow) as address:
            page = visit(address).open("/new_run")
            expect(page.get_by_text(AT_WORK)).to_be_visible()
            eventually(page, lambda: f"still {before} prompts" if prompts_done(page) <= before else None)
            for file in home.glob("engine.sqlite*"):
                file.rename(file.with_name(f"away-{file.name}"))
            (home / "engine.sqlite").write_bytes(b"no database at all" * 100)
            expect(page.get_by_text(re.compile("The run database .* can't be used"))).to_be_visible()
            page.get_by_text("all", exact=True).click()
            everything = f"{len(bank.load('qa')):,}"
            expect(page.get_by_test_id("stMetricValue").get_by_text(everything, exact=True)).to_be_visible()
            page.close()


def test_two_runs_are_launched_cancelled_and_resumed_as_one(fake: str, pace: Path, visit: Visitor):
    page = visit(fake).open("/new_run")
    choose_fake(page)
    page.get_by_text("More options").click()
    other = "shared instruction"
    page.get_by_role("radio", name=other).or_(page.get_by_role("button", name=other, exact=True)).click()
    page.get_by_role("button", name="Launch 2 runs").click()
    expect(page.get_by_text("Launched 2 runs")).to_be_visible()
    expect(page.get_by_text("fake · Question answering · 2 strategies")).to_be_visible()
    expect(page.get_by_text(AT_WORK)).to_be_visible()
    page.get_by_role("button", name="Cancel the 2 that are left").click()
    expect(page.get_by_text("2 cancelled")).to_be_visible()
    set_pace(pace, 0)
    page.get_by_role("button", name="Resume 2").click()
    expect(page.get_by_text("2 of 2 ended")).to_be_visible(timeout=ENDS_WITHIN_MS)
    expect(page.get_by_text("2 done")).to_be_visible()
