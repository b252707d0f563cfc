"""Every page in light and dark, narrow and wide: no error, no foreign host, nothing cut off."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from app.navigation import PAGES, PageEntry
from charts.palette import FAINT
from core.settings import ROOT
from tests.browser import axe
from tests.browser.conftest import (
    Lab,
    Visit,
    Visitor,
    choose_page,
    eventually,
    holds,
    in_home,
    script_ended,
    settled,
)
from tests.browser.hostile import hostile_jury, only_text
from tests.browser.script_runs import ScriptRuns
from tests.conftest import synthetic_run
from tests.pictures.faults import lasting_faults

THEME = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))["theme"]
FIGURES = {
    "overview": ".first-page .cell",
    "new_run": "button:has-text('Launch')",
    "alpha_lab": ".lab svg.chart",
    "one_question": ".question svg.lines",
    "stream_lab": ".stream .tracks svg.chart",
    "learn": ".lesson svg.chart",
    "classroom": "button:has-text('Open a class')",
    "compare": ".dots svg.chart",
    "calibration": ".temperature svg.chart",
    "jury": ".jury:not(.fresh) .rules-table tbody tr",
    "tokens": ".tokens .text [role=option]",
    "prompting": "[data-testid=stVegaLiteChart] svg.marks, [data-testid=stVegaLiteChart] canvas",
    "perplexity": ".strips .row .token",
    "data": "[data-testid=stFileUploader]",
    "doctor": "h1:has-text('Doctor')",
}


WINDOWS = (("dark", 1440), ("light", 390), ("light", 900), ("light", 1280), ("light", 1440))
"""Every other page is seen in the opposite order: then it opens as the last one ended."""
PAINTED = """color => {
  const probe = document.createElement('i');
  probe.style.color = color;
  document.body.append(probe);
  const wanted = getComputedStyle(probe).color;
  probe.remove();
  return getComputedStyle(document.querySelector('.stApp')).backgroundColor === wanted;
}"""
"""The page's background has this colour."""
TAKEN_WITHIN_MS = 5_000
MOST_SCRIPT_RUNS = 3
"""A page runs once, and again when figures arrive; none of them polls."""
NOTHING_SCROLLS_SIDEWAYS = """[document.documentElement, document.querySelector('[data-testid=stMain]')]
  .every(one => one.scrollWidth <= one.clientWidth)"""

WIDTHS = """async names => {
  await document.fonts.load("20px 'Material Symbols Rounded'", names.join());
  const probe = document.createElement('span');
  probe.style.cssText = "font: 20px 'Material Symbols Rounded'; position: absolute; letter-spacing: normal";
  document.body.append(probe);
  const widths = names.map(name => {
    probe.textContent = name;
    return [name, probe.getBoundingClientRect().width];
  });
  probe.remove();
  return Object.fromEntries(widths);
}"""
"""The width of each icon in a size of 20 pixels. A name that is no icon is as wide as its letters."""


@pytest.fixture(scope="session")
def runs(shared_home: Path) -> list[str]:
    """Two runs of the same bank."""
    with in_home(shared_home):
        return [synthetic_run(300, model=f"model-{i}", seed=5, signal=1 + i) for i in range(2)]


@pytest.fixture(scope="session")
def links(shared_home: Path, runs: list[str]) -> dict[str, str]:
    """Links to small data, for pages whose figures of the runs that ship take a server seconds. The jury has hostile
    texts."""
    with in_home(shared_home):
        jury = hostile_jury()
    return {
        "calibration": f"/calibration?runs={runs[0]}",
        "compare": f"/compare?runs={','.join(runs)}",
        "jury": f"/jury?jury={jury}",
    }


@pytest.fixture(scope="module")
def script_runs(browser: BrowserContext) -> ScriptRuns:
    """The script runs of the window for all pages."""
    return ScriptRuns(browser.new_page())


@pytest.fixture(scope="module")
def walk(script_runs: ScriptRuns, shared_server: str) -> Iterator[Visit]:
    """One window for all pages, so that a page costs a click and no new document."""
    page = script_runs.page
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    window = Visit(page, shared_server)
    window.listen()
    window.open("/")
    yield window
    page.close()


@pytest.mark.parametrize("entry", PAGES, ids=lambda entry: entry.name)
def test_every_page_shows_its_figure_and_shuts_nobody_out(
    walk: Visit, script_runs: ScriptRuns, entry: PageEntry, links: dict[str, str]
):
    """In both themes and at every width: nothing scrolls sideways or is cut, no error is logged, and axe-core finds
    nothing on a wide window. Its script runs a few times at most until it shows all."""
    settled(walk.page)
    script_runs.runs.clear()
    page = arrived(walk, entry, links)
    eventually(page, lambda: not script_runs.runs)  # the first page is there before its click has reached the server
    assert script_runs.runs in [["page"] * times for times in range(1, MOST_SCRIPT_RUNS + 1)]
    faults, cut = {}, {}
    is_dark = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    for theme, width in WINDOWS if is_dark else reversed(WINDOWS):
        into_window(page, theme, width)
        if theme == "light":  # the theme changes no size
            # The words of a drawing are left to the pictures, because the runs here have names like no other's.
            cut[width] = lasting_faults(page, but="drawing")
        if axe.SCRIPT.is_file() and width == 1440:
            faults[theme] = axe.faults(page, rules=axe.COLOURS if theme == "dark" else None)
    errors, foreign = walk.errors.copy(), walk.foreign.copy()
    walk.errors.clear()
    walk.foreign.clear()
    assert (errors, foreign) == ([], [])
    assert not any(cut.values()), cut
    if entry.name == "jury":
        only_text(page)
    axe.required()
    assert faults == {"light": [], "dark": []}


@pytest.mark.nightly
@pytest.mark.parametrize("entry", PAGES, ids=lambda entry: entry.name)
def test_no_page_shuts_anybody_out_on_a_phone(walk: Visit, entry: PageEntry, links: dict[str, str]):
    """By axe-core, in both themes."""
    axe.required()
    page = arrived(walk, entry, links)
    for theme in ("light", "dark"):
        into_window(page, theme, 390)
        assert axe.faults(page) == []


def arrived(walk: Visit, entry: PageEntry, links: dict[str, str]) -> Page:
    """The page, all of it, in a wide window."""
    page = walk.page
    page.bring_to_front()
    page.set_viewport_size({"width": 1440, "height": 900})
    if link := links.get(entry.name):
        walk.open(link)
    else:
        choose_page(settled(page), entry.title)
    expect(page.locator(FIGURES[entry.name]).first).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page).to_have_title(re.compile(rf"(^|· ){entry.title} · Hedge$"))
    return settled(page)


def into_window(page: Page, theme: str, width: int) -> None:
    """Give the page another theme and width, and wait until it is painted so."""
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size({"width": width, "height": 900})
    page.wait_for_function(PAINTED, arg=THEME[theme]["backgroundColor"])
    page.wait_for_function(NOTHING_SCROLLS_SIDEWAYS)
    script_ended(page)


def test_marks_cells_and_cards_open_their_pages_without_a_reload(visit: Visitor, address: str, runs: list[str]):
    page = visit(address).open("/?models=model-0")
    page.evaluate("window.sameDocument = true")
    cell = page.locator(".first-page td .cell")
    a_cell_has_a_tip_in_the_window(page)
    the_table_is_one_stop_of_the_tab_key(page)
    Lab(page).ready().expect_report(runs[0])
    # A page that is left while its script runs may still write its address, with which the next page would open.
    choose_page(settled(page), "Overview")
    settled(page).locator(".first-page .card").first.press("Enter")
    expect(page).to_have_url(re.compile("/learn"))
    choose_page(settled(page), "Overview")
    expect(cell).to_have_count(1)  # the filter is kept
    settled(page).locator(".first-page .card").nth(2).click()
    expect(page).to_have_url(re.compile(r"/one_question\?.*question="))
    choose_page(settled(page), "Overview")
    expect(cell).to_have_count(1)
    settled(page).get_by_role("button", name="More").click()
    page.get_by_role("radio", name="Scatter plot").click()
    page.keyboard.press("Escape")
    the_words_of_a_chart_have_the_themes_colour(page)
    settled(page).locator("[data-testid=stVegaLiteChart] .mark-symbol path").click()
    expect(page).to_have_url(re.compile("alpha_lab[?]run=model-0"))
    Lab(page).ready()
    assert page.evaluate("window.sameDocument")


def the_words_of_a_chart_have_the_themes_colour(page: Page) -> None:
    """Also after a change."""
    words = page.locator("svg.marks .role-axis-label text, svg.marks .role-legend-label text")
    colours = "all => all.map(one => [one.getAttribute('fill'), Number(one.getAttribute('fill-opacity'))])"

    def have_the_colour(theme: str) -> None:
        expect(words.first).to_be_visible()
        for colour in words.evaluate_all(colours):
            assert colour == [THEME[theme]["textColor"], FAINT]

    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        eventually(page, lambda theme=theme: have_the_colour(theme))
    page.emulate_media(color_scheme="light")


def the_table_is_one_stop_of_the_tab_key(page: Page) -> None:
    """The arrow keys move from the model's name to a cell, and Enter opens its run."""
    expect(page.locator(".first-page [tabindex='0']")).to_have_count(1)
    page.get_by_role("link", name="model-0").focus()
    page.keyboard.press("ArrowRight")
    focused = page.locator(".first-page td:focus")
    expect(focused).to_have_attribute("tabindex", "0")
    expect(focused.locator(".tip")).to_be_visible()
    page.keyboard.press("ArrowDown")  # there is no further row
    page.keyboard.press("Enter")


def a_cell_has_a_tip_in_the_window(page: Page) -> None:
    cell = page.locator(".first-page .cell")
    expect(cell).to_have_count(1)
    settled(page)
    cell.hover()
    expect(cell.locator(".tip")).to_be_visible()
    expect(cell.locator(".tip")).to_contain_text("model-0 on Question answering")
    holds(
        page,
        "(([a, b]) => a.left >= 0 && a.right <= innerWidth && a.bottom <= innerHeight && a.top >= 0)"
        "([...document.querySelectorAll('*')].flatMap(one => one.shadowRoot ? [one.shadowRoot] : [])"
        ".flatMap(root => [...root.querySelectorAll('.tip')]).concat([...document.querySelectorAll('.tip')])"
        ".map(one => one.getBoundingClientRect()))",
    )


def settled_table(page: Page) -> Locator:
    """The first table, drawn, in view and no longer moving: its cells are paint, so a click goes to a place."""
    table = page.get_by_test_id("stDataFrame").first
    expect(table.locator("canvas").first).to_be_visible()
    settled(page)
    table.scroll_into_view_if_needed()
    return table


def test_runs_are_ticked_and_chosen_with_the_keyboard_and_a_click_opens_one(
    visit: Visitor, address: str, runs: list[str]
):
    """From the table of the first page to Compare, where others are chosen, and back."""
    page = visit(address).open("/?figure=runs&models=model-0,model-1")
    rows_are_ticked(page)
    expect(page).to_have_url(re.compile(rf"/compare\?runs=({runs[0]}(,|%2C){runs[1]}|{runs[1]}(,|%2C){runs[0]})"))
    expect(page.get_by_role("button", name="Choose runs")).to_be_visible()
    runs_are_chosen_in_a_dialog(page)
    choose_page(settled(page), "Overview")
    table = settled_table(page)

    def still_here() -> bool:
        """Streamlit's table takes a click only when it has drawn the row, which nothing tells."""
        if "alpha_lab" not in page.url:
            table.click(position={"x": 70, "y": 50})
        expect(page).to_have_url(re.compile("alpha_lab[?]run=model-"), timeout=TAKEN_WITHIN_MS)
        return False

    eventually(page, still_here)
    Lab(page).ready()


def rows_are_ticked(page: Page) -> None:
    table = settled_table(page)

    def not_ticked(row: int, button: Locator) -> None:
        """Streamlit's table takes a key only when it has drawn the cell that was clicked, which nothing tells."""
        if not button.is_visible():
            table.click(position={"x": 200, "y": 50 + 35 * row})
            page.keyboard.press("Shift+Space")
            expect(button).to_be_visible(timeout=TAKEN_WITHIN_MS)

    compare_one = page.get_by_role("button", name="Compare the chosen run", exact=True)
    compare_two = page.get_by_role("button", name="Compare the 2 chosen runs")
    eventually(page, lambda: not_ticked(0, compare_one))
    settled(page)
    eventually(page, lambda: not_ticked(1, compare_two))
    settled(page)
    compare_two.press("Enter")


def runs_are_chosen_in_a_dialog(page: Page) -> None:
    """On a phone: one is left out, all are cleared."""
    page.set_viewport_size({"width": 390, "height": 900})
    settled(page).get_by_role("button", name="Choose runs").press("Enter")
    dialog = page.get_by_role("dialog")
    search = dialog.get_by_role("searchbox")
    search.focus()
    page.keyboard.type("model-1")
    listed = dialog.locator(".st-key-run_list [data-variant=pills]")
    expect(listed).to_have_count(1)
    page.keyboard.press("Enter")  # takes nothing
    expect(dialog.get_by_role("button", name="Use 2 runs")).to_be_visible()
    script_ended(page)  # what the page beneath awaits comes when the dialog is closed
    axe.required()
    assert axe.faults(page) == []
    expect(listed).to_have_attribute("aria-pressed", "true")
    listed.press("Space")
    expect(listed).to_have_attribute("aria-pressed", "false")
    script_ended(page)
    dialog.get_by_role("button", name="Use 1 run").press("Enter")
    expect(dialog).to_have_count(0)
    expect(page).to_have_url(re.compile(r"runs=model-0-[\w-]+(&|$)"))
    settled(page).get_by_role("button", name="Choose runs").press("Enter")
    expect(dialog).to_be_visible()
    settled(page)
    page.wait_for_function("() => document.querySelector('[role=dialog]').contains(document.activeElement)")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    settled(page).get_by_role("button", name="Clear all").press("Enter")
    expect(page).to_have_url(re.compile("runs=none"))
    expect(page.get_by_role("button", name="Show the first")).to_be_visible()
    page.set_viewport_size({"width": 1200, "height": 900})


def test_keys_move_through_the_questions_of_compare_and_figures_follow_the_theme(
    visit: Visitor, address: str, runs: list[str]
):
    page = visit(address, width=1440).open(f"/compare?runs={','.join(runs)}&order=confidence&right=both")
    keys_move_through_the_questions(page)
    published_set_sizes_are_shown_at_their_own_alpha_alone(page)
    third = page.locator(".inspector .question").nth(2)
    third.locator(".asked").click()
    expect(third.locator(".more")).to_be_visible()
    settled(page).get_by_text("Set sizes in detail", exact=True).click()
    axe.required()
    for theme, width in (("light", 1440), ("dark", 390)):
        into_window(page, theme, width)
        assert axe.faults(settled(page)) == []
    expect(third.locator(".more")).to_be_visible()


def published_set_sizes_are_shown_at_their_own_alpha_alone(page: Page) -> None:
    """They do not move with alpha, so at another one they would be read against sets of another promise."""
    accuracy, size = (page.locator(".dots figure").nth(place).locator(".printed-mark, .beyond") for place in (0, 1))
    expect(size).not_to_have_count(0)

    def not_moved(key: str, at: str) -> None:
        """Streamlit's slider takes a key only once it is drawn whole, which nothing tells."""
        if f"{at}&" not in page.url:
            settled(page).get_by_role("slider", name="alpha").press(key)
        expect(page).to_have_url(re.compile(f"{at}&"), timeout=TAKEN_WITHIN_MS)

    eventually(page, lambda: not_moved("ArrowRight", "alpha=101"))
    expect(page.locator(".dots figure").nth(1)).to_contain_text("only at alpha 0.1")
    expect(size).to_have_count(0)
    expect(accuracy).not_to_have_count(0)
    eventually(page, lambda: not_moved("ArrowLeft", "alpha=100"))
    expect(size).not_to_have_count(0)
    settled(page)


def keys_move_through_the_questions(page: Page) -> None:
    """They are in their place before anything is seen of them, and the filter of the link holds."""
    expect(page.locator(".dots .mark").first).to_be_visible()
    question = page.locator(".inspector .question")
    expect(question.first).to_be_visible()
    expect(page.locator(".inspector .blank")).to_have_count(0)
    expect(page.locator(".counts button")).to_have_count(4)
    expect(page.locator(".counts button[aria-pressed=true]")).to_contain_text("Both right")
    expect(page.get_by_text("Set sizes in detail")).to_be_visible()
    settled(page).locator(".inspector .found").scroll_into_view_if_needed()
    page.keyboard.press("j")
    chosen = [page.locator(f".inspector select.{side}").input_value() for side in ("first", "second")]
    assert len({*chosen}) == 2
    expect(page.locator(".inspector .head-first")).not_to_have_text("")
    expect(question.nth(0)).to_have_class(re.compile("selected"))
    page.keyboard.press("j")
    expect(question.nth(1)).to_have_class(re.compile("selected"))
    page.keyboard.press("k")
    expect(question.nth(0)).to_have_class(re.compile("selected"))
    expect(page).to_have_url(re.compile("question="))


def test_a_page_asks_for_each_file_once_and_shows_every_icon(visit: Visitor, address: str):
    page = settled(visit(address).open("/alpha_lab"))
    files = page.evaluate("performance.getEntriesByType('resource').map(file => new URL(file.name).pathname)")
    kept = [path for path in files if "/_stcore/" not in path]
    assert sorted(kept) == sorted(set(kept))
    assert not [path for path in kept if "MaterialSymbols" in path]
    names = (ROOT / "assets" / "fonts" / "icons.txt").read_text(encoding="utf-8").split()
    assert page.evaluate(WIDTHS, names) == dict.fromkeys(names, 20)
