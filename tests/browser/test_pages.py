"""Every page in light and dark, narrow and wide: no error, no foreign host, nothing cut off."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from app.formatting import JOINER
from app.navigation import PAGES, PageEntry
from charts.palette import FAINT
from core.exchange.run_table import run_table
from core.exchange.writing import to_csv
from core.jury_pipeline import jury_store
from core.runs import store
from core.settings import ROOT
from tests.browser import axe
from tests.browser.conftest import SETTLED, Lab, Visit, Visitor, choose_page, eventually, holds, server, settled
from tests.conftest import synthetic_questions, synthetic_run
from tests.core.jury.verdicts import seeded_jury
from tests.pictures.faults import lasting_faults

THEME = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))["theme"]
NASTY = "<img src=x onerror=\"document.title='caught'\"> [click](http://e.vil) https://e.vil :red[x] $y$"
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
    "tokens": ".tokens .text button",
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
NOTHING_SCROLLS_SIDEWAYS = """[document.documentElement, document.querySelector('[data-testid=stMain]')]
  .every(one => one.scrollWidth <= one.clientWidth)"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Three runs, one of them with nasty texts; the home lasts as long as the server."""
    folder = tmp_path_factory.mktemp("pages") / "home"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEDGE_HOME", str(folder))
        for i in range(2):
            synthetic_run(300, model=f"model-{i}", seed=i, signal=1 + i)
        nasty = synthetic_run(60, model="nasty_*model*")
        questions = [
            replace(q, question=NASTY, context=NASTY, group=NASTY, options=(NASTY, *q.options[1:]))
            for q in synthetic_questions(60)
        ]
        store.write_questions(store.folder_of(nasty), questions, ["calibration"] * 30 + ["test"] * 30)
        judged = seeded_jury(80)
        nasty_jury = replace(judged, questions=(NASTY,) * 80, answers=(NASTY,) * 80, jurors=(NASTY, "b", "c"))
        jury_store.save(nasty_jury, name=NASTY, origin=NASTY)
        yield folder


@pytest.fixture(scope="module")
def address(home: Path) -> Iterator[str]:
    with server(home, agent=False) as url:
        yield url


def plain_text(text: str) -> str:
    """The text as a heading shows it: letter by letter, with what keeps it from becoming a link."""
    return re.sub(r"https?(?=:)", lambda found: found[0] + JOINER, text)


def seen(page: Page, name: str) -> None:
    expect(page.locator(FIGURES[name]).first).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_be_visible()


@pytest.fixture(scope="module")
def walk(browser: BrowserContext, address: str) -> Iterator[Visit]:
    """One window for all pages, so that a page costs a click and no new document."""
    page = browser.new_page()
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    window = Visit(page, address)
    window.listen()
    window.open("/")
    yield window
    page.close()


@pytest.mark.parametrize("entry", PAGES, ids=lambda entry: entry.name)
def test_every_page_shows_its_figure_and_shuts_nobody_out(walk: Visit, entry: PageEntry):
    """In both themes and at every width: nothing scrolls sideways or is cut, no error is logged, and axe-core finds
    nothing."""
    page = walk.page
    page.bring_to_front()
    page.set_viewport_size({"width": 1440, "height": 900})
    choose_page(page, entry.title)
    seen(page, entry.name)
    settled(page)
    faults, cut = {}, {}
    is_dark = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    for theme, width in WINDOWS if is_dark else reversed(WINDOWS):
        page.emulate_media(color_scheme=theme)
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function(PAINTED, arg=THEME[theme]["backgroundColor"])
        page.wait_for_function(NOTHING_SCROLLS_SIDEWAYS)
        page.wait_for_function(SETTLED)
        if theme == "light":  # the theme changes no size
            # The words of a drawing are left to the pictures, because the runs here have names like no other's.
            cut[width] = lasting_faults(page, but="drawing")
        if axe.SCRIPT.is_file() and width in (1440, 390):
            faults[theme, width] = axe.faults(page, rules=axe.COLOURS if theme == "dark" else None)
    errors, foreign = walk.errors.copy(), walk.foreign.copy()
    walk.errors.clear()
    walk.foreign.clear()
    assert (errors, foreign) == ([], [])
    assert not any(cut.values()), cut
    axe.required()
    assert {where: found for where, found in faults.items() if found} == {}
    assert len(faults) == 3


def test_words_of_a_chart_have_the_themes_colour(visit: Visitor, address: str):
    page = visit(address).open("/overview?figure=scatter")
    words = page.locator("svg.marks .role-axis-label text, svg.marks .role-legend-label text")
    colours = "all => all.map(one => [one.getAttribute('fill'), Number(one.getAttribute('fill-opacity'))])"

    def have_the_colour(theme: str) -> None:
        expect(words.first).to_be_visible()
        for colour in words.evaluate_all(colours):
            assert colour == [THEME[theme]["textColor"], FAINT]

    eventually(page, lambda: have_the_colour("light"))
    page.emulate_media(color_scheme="dark")
    eventually(page, lambda: have_the_colour("dark"))


def test_a_plotly_figure_changes_its_colours_with_the_theme(visit: Visitor, address: str):
    page = visit(address).open("/compare")
    page.get_by_text("Set sizes in detail", exact=True).click()
    figures = page.locator(".js-plotly-plot")
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        red, green, blue = bytes.fromhex(THEME[theme]["chartCategoricalColors"][2].removeprefix("#"))  # the truth's
        expect(figures).to_have_count(2)  # a heat map and a radar
        for place in range(2):
            words = figures.nth(place).locator("svg text").first
            expect(words).to_have_css("fill", f"rgb({red}, {green}, {blue})")


def test_light_and_dark_change_live(visit: Visitor, address: str):
    page = visit(address).open("/alpha_lab")
    lab = Lab(page).ready()
    paint = (
        "lab => [getComputedStyle(lab).getPropertyValue('--lac'), getComputedStyle(lab.querySelector('.big')).color]"
    )
    light = page.locator(".lab").evaluate(paint)
    lab.alpha.press("PageUp")
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(
        "light => document.querySelector('.stApp') && "
        "getComputedStyle(document.querySelector('.stApp')).backgroundColor !== light",
        arg="rgb(255, 255, 255)",
    )
    expect(page.locator(".lab")).not_to_have_css("color", light[1])

    def dark() -> None:
        colour = page.locator(".lab").evaluate(paint)[0]
        assert colour.startswith("#")
        assert colour != light[0]

    eventually(page, dark)
    lab.expect_alpha(110)


def settled_table(page: Page) -> Locator:
    """The first table, drawn, in view and no longer moving: its cells are paint, so a click goes to a place."""
    table = page.get_by_test_id("stDataFrame").first
    expect(table.locator("canvas").first).to_be_visible()
    settled(page)
    table.scroll_into_view_if_needed()
    return table


def test_a_click_on_a_model_opens_its_run(visit: Visitor, address: str):
    page = visit(address).open("/?figure=runs")
    table = settled_table(page)
    table.click(position={"x": 70, "y": 50})
    expect(page).to_have_url(re.compile("alpha_lab[?]run="))
    Lab(page).ready()


def test_rows_ticked_with_the_keyboard_open_in_compare(visit: Visitor, address: str):
    page = visit(address).open("/?figure=runs")
    table = settled_table(page)

    def not_ticked(row: int, button: Locator) -> None:
        """Streamlit's table takes a key only when it has drawn the cell that was clicked, which nothing tells."""
        if not button.is_visible():
            table.click(position={"x": 200, "y": 50 + 35 * row})
            page.keyboard.press("Shift+Space")
            expect(button).to_be_visible(timeout=5000)

    one = page.get_by_role("button", name="Compare the chosen run", exact=True)
    both = page.get_by_role("button", name="Compare the 2 chosen runs")
    eventually(page, lambda: not_ticked(0, one))
    settled(page)
    eventually(page, lambda: not_ticked(1, both))
    both.press("Enter")
    expect(page).to_have_url(re.compile(r"/compare\?runs=[\w-]+(,|%2C)[\w-]+&"))
    expect(page.get_by_role("button", name="Choose runs")).to_be_visible()


def test_runs_are_chosen_with_the_keyboard(visit: Visitor, address: str, home: Path):
    first, second = sorted(name for name in store.run_ids() if name.startswith("model-"))
    page = visit(address, width=390).open(f"/compare?runs={first}")
    expect(page.get_by_role("button", name="Choose runs")).to_be_visible()
    page.wait_for_function(SETTLED)
    page.get_by_role("button", name="Choose runs").press("Enter")
    dialog = page.get_by_role("dialog")
    search = dialog.get_by_role("searchbox")
    search.focus()
    page.keyboard.type("model-1")
    listed = dialog.locator(".st-key-run_list [data-variant=pills]")
    expect(listed).to_have_count(1)
    page.keyboard.press("Enter")  # takes nothing
    expect(dialog.get_by_role("button", name="Use 1 run")).to_be_visible()
    page.wait_for_function(SETTLED)
    faults = axe.faults(page) if axe.SCRIPT.is_file() else []
    listed.press("Space")
    expect(listed).to_have_attribute("aria-pressed", "true")
    dialog.get_by_role("button", name="Use 2 runs").press("Enter")
    expect(dialog).to_have_count(0)
    expect(page).to_have_url(re.compile(rf"runs={first}(,|%2C){second}"))
    page.get_by_role("button", name="Choose runs").press("Enter")
    expect(dialog).to_be_visible()
    page.wait_for_function(SETTLED)  # a dialog that is still drawn takes no key
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    page.wait_for_function(SETTLED)
    page.get_by_role("button", name="Clear all").press("Enter")
    expect(page).to_have_url(re.compile("runs=none"))
    expect(page.get_by_role("button", name="Show the first")).to_be_visible()
    axe.required()
    assert faults == []


def faults_in_both_windows(page: Page) -> list[str]:
    """What axe-core finds on a wide page in light and on a phone in dark, beginning with the present one."""
    windows = [("light", 1440), ("dark", 390)]
    if page.evaluate("innerWidth") == 390:
        windows.reverse()
    found = []
    for theme, width in windows:
        page.emulate_media(color_scheme=theme)
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function(PAINTED, arg=THEME[theme]["backgroundColor"])
        page.wait_for_function(NOTHING_SCROLLS_SIDEWAYS)
        page.wait_for_function(SETTLED)
        found += axe.faults(page) if axe.SCRIPT.is_file() else []
    return found


def test_keys_move_through_the_questions_that_come_after_the_dot_plots(visit: Visitor, address: str):
    """They are in their place before anything is seen of them, and the filter of the link holds."""
    page = visit(address, width=1440).open("/compare?order=confidence&right=both")
    expect(page.locator(".dots .mark").first).to_be_visible()
    expect(page.locator(".inspector .question").first).to_be_visible()
    expect(page.locator(".inspector .blank")).to_have_count(0)
    expect(page.locator(".counts button")).to_have_count(4)
    expect(page.locator(".counts button[aria-pressed=true]")).to_contain_text("Both right")
    expect(page.get_by_text("Claims of a paper, tested on these runs")).to_be_visible()
    settled(page)
    page.locator(".inspector .found").scroll_into_view_if_needed()
    page.keyboard.press("j")
    chosen = [page.locator(f".inspector select.{side}").input_value() for side in ("first", "second")]
    assert len({*chosen}) == 2
    expect(page.locator(".inspector .head-first")).not_to_have_text("")
    expect(page.locator(".inspector .question").nth(0)).to_have_class(re.compile("selected"))
    page.keyboard.press("j")
    expect(page.locator(".inspector .question").nth(1)).to_have_class(re.compile("selected"))
    page.keyboard.press("k")
    expect(page.locator(".inspector .question").nth(0)).to_have_class(re.compile("selected"))
    expect(page).to_have_url(re.compile("question="))


def test_an_opened_question_and_an_import_shut_nobody_out(visit: Visitor, address: str, home: Path, tmp_path: Path):
    """A question of two runs opened in full on Compare, and a file before its import."""
    page = visit(address, width=1440).open("/compare")
    page.locator(".inspector .asked").first.click()
    expect(page.locator(".inspector .more").first).to_be_visible()
    found = faults_in_both_windows(settled(page))
    expect(page.locator(".inspector .more").first).to_be_visible()
    page.goto(f"{address}/data")
    table = tmp_path / "mine.csv"
    some = run_table(next(name for name in store.run_ids() if name.startswith("model-0"))).slice(100, 100)
    table.write_bytes(to_csv(some))
    page.locator("[data-testid=stFileUploader] input[type=file]").first.set_input_files(table)
    expect(page.get_by_text("mine.csv").first).to_be_visible()
    expect(page.get_by_role("button", name="Import 1 run")).to_be_visible()
    found += faults_in_both_windows(page)
    axe.required()
    assert found == []


def test_cells_and_cards_open_their_pages_without_a_reload(visit: Visitor, address: str, home: Path):
    page = visit(address).open("/?models=model-0")
    page.evaluate("window.sameDocument = true")
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
    run_id = next(name for name in store.run_ids() if name.startswith("model-0"))
    cell.press("Enter")
    Lab(page).ready().expect_report(run_id)
    # A page that is left while its script runs may still write its address, with which the next page would open.
    choose_page(settled(page), "Overview")
    page.locator(".first-page .card").nth(1).press("Enter")
    expect(page).to_have_url(re.compile(r"/compare\?runs="))
    choose_page(settled(page), "Overview")
    expect(page.locator(".first-page .cell")).to_have_count(1)  # the filter is kept
    page.locator(".first-page .card").nth(2).click()
    expect(page).to_have_url(re.compile(r"/one_question\?.*ask=own"))
    assert page.evaluate("window.sameDocument")


def test_a_click_on_a_mark_opens_its_run(visit: Visitor, address: str):
    page = visit(address).open("/?figure=scatter&models=model-1")
    mark = page.locator("[data-testid=stVegaLiteChart] .mark-symbol path")
    expect(mark).to_have_count(1)
    settled(page)
    mark.click()
    expect(page).to_have_url(re.compile("alpha_lab[?]run=model-1"))
    Lab(page).ready()


def test_markup_in_data_stays_text(visit: Visitor, address: str, home: Path):
    run_id = next(name for name in store.run_ids() if name.startswith("nasty"))
    page = visit(address).open(f"/alpha_lab?run={run_id}")
    Lab(page).ready()
    expect(page.locator(".asked").first).to_have_text(NASTY)
    page.get_by_role("button", name="Open question 1 on its own page").click()
    expect(page.get_by_role("heading", name="document.title")).to_have_text(plain_text(NASTY))
    assert page.locator("main a[href*='e.vil'], main img[src='x']").count() == 0
    assert page.title() != "caught"


def test_a_foreign_run_in_a_link_is_one_sentence(visit: Visitor, address: str):
    page = visit(address).open("/alpha_lab?run=https://e.vil/%3Cscript%3E&alpha=77777")
    Lab(page).ready().expect_alpha(100)
    expect(page.get_by_role("alert")).to_have_count(2)
    assert page.locator("main a[href*='e.vil']").count() == 0
