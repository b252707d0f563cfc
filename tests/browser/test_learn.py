"""The lesson in a real browser: every step's figure is alive, and the answers stand in the figures."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from core.reports import evaluation, lesson
from core.reports.report import report
from tests.browser.conftest import Lab, Visitor, server
from tests.conftest import synthetic_run

STEPS = lesson.load().steps


@pytest.fixture(scope="module")
def run_id(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEDGE_HOME", str(tmp_path_factory.mktemp("learn") / "home"))
        yield synthetic_run(400, seed=2)


@pytest.fixture(scope="module")
def address(run_id: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    home = Path(evaluation.store.folder_of(run_id)).parents[1]
    with server(home) as url:
        yield url


def opened(visit: Visitor, address: str, run_id: str, step: str, **how: object) -> Page:
    place = [told.name for told in STEPS].index(step) + 1
    page = visit(address, **how).open(f"/learn?run={run_id}&step={place}")
    expect(page.get_by_role("heading", name=STEPS[place - 1].title)).to_be_visible()
    return page


@pytest.mark.parametrize("step", [told.name for told in STEPS])
@pytest.mark.parametrize(("width", "theme"), [(900, "dark"), (1600, "light")])
def test_each_steps_panels_are_drawn_and_nothing_is_too_wide(
    visit: Visitor, address: str, run_id: str, step: str, width: int, theme: str
):
    page = opened(visit, address, run_id, step, width=width, theme=theme)
    told = next(told for told in STEPS if told.name == step)
    for panel in told.show:
        # A sentence that some thresholds ask for belongs to the panel of scores and is hidden without one.
        expect(page.locator(f"[data-panel={panel}]:not([hidden])").first).to_be_visible()
    expect(page.locator("[data-panel=switches]").first).to_be_hidden()
    for figure in page.locator("figure[data-plot]:visible").all():
        if figure.get_attribute("data-plot") != "bugs":
            expect(figure.locator("svg.chart")).to_have_count(1)
    wide = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert wide[0] <= wide[1]


def test_the_answer_is_what_the_figure_shows(visit: Visitor, address: str, run_id: str):
    page = opened(visit, address, run_id, "luck")
    lab = Lab(page).ready()
    expected = report(evaluation.load(run_id), 100)
    assert lab.value("lac", "coverage") == expected.scores["lac"].coverage
    page.get_by_text("The answer").click()
    shown = f"{100 * expected.scores['lac'].coverage:.1f}%"
    expect(page.get_by_text(f"The {shown} above lies")).to_be_visible()
    assert lab.figure("lac", "coverage").inner_text() == shown
    page.get_by_role("button", name="Draw 1,000 splits").click()
    expect(page.locator(".redrawn")).to_contain_text("1,000 splits with 200 calibration")


def test_alpha_moves_a_lessons_figure_and_nothing_else(visit: Visitor, address: str, run_id: str):
    page = opened(visit, address, run_id, "threshold")
    before = page.url
    slider = page.get_by_role("slider", name="alpha")
    line = page.locator("[data-plot=left] line.threshold")
    expect(line).to_be_attached()
    at = line.get_attribute("x1")
    for _ in range(3):
        slider.press("PageUp")
    expect(line).not_to_have_attribute("x1", at or "")
    assert page.url == before


def test_the_keyboard_goes_through_the_lesson(visit: Visitor, address: str, run_id: str):
    page = opened(visit, address, run_id, "certainty")

    def enter_on(name: str) -> None:
        button = page.get_by_role("button", name=name, exact=True)
        expect(button).to_be_enabled()
        button.focus()
        expect(button).to_be_focused()  # a button that a rerun replaces leaves the focus where it was
        page.keyboard.press("Enter")

    for told in STEPS[1:3]:
        enter_on("Next")
        expect(page.get_by_role("heading", name=told.title)).to_be_visible()
    expect(page).to_have_url(re.compile("step=3"))
    enter_on("Back")
    expect(page).to_have_url(re.compile("step=2"))


def test_a_shift_follows_the_lessons_alpha(visit: Visitor, address: str, run_id: str):
    page = opened(visit, address, run_id, "breaks")
    said = page.get_by_label("Coverage under a shift").locator(".said")
    expect(said).to_contain_text("At alpha 0.100, calibrated on")
    page.get_by_role("slider", name="alpha").press("PageUp")
    expect(said).to_contain_text("At alpha 0.110, calibrated on")


def test_the_words_follow_the_alpha_of_the_figure(visit: Visitor, address: str, run_id: str):
    page = opened(visit, address, run_id, "luck")
    expect(page.get_by_text("At alpha 0.1 the sets should hold the truth for 90% of questions")).to_be_visible()
    number = Lab(page).ready().number
    number.fill("0.25")
    number.press("Enter")
    expect(page.get_by_text("At alpha 0.25 the sets should hold the truth for 75% of questions")).to_be_visible()
    coverage = report(evaluation.load(run_id), 250).scores["lac"].coverage
    expect(page.get_by_text(f"On these 200 questions it is {100 * coverage:.1f}%")).to_be_visible()
    expect(Lab(page).figure("lac", "coverage")).to_have_text(f"{100 * coverage:.1f}%")


@pytest.mark.parametrize(("width", "height"), [(390, 844), (1200, 500)])
def test_each_step_opens_at_its_top(visit: Visitor, address: str, run_id: str, width: int, height: int):
    page = opened(visit, address, run_id, "sets", width=width, height=height)
    expect(page.locator(".cards > li").first).to_be_visible()
    on = page.locator(".st-key-next button")  # the list of questions has a "Next" too
    expect(on).to_be_enabled()
    on.focus()
    on.scroll_into_view_if_needed()
    main = page.get_by_test_id("stMain")
    assert main.evaluate("main => main.scrollTop") > 0
    on.click()
    expect(page.get_by_role("heading", name=STEPS[4].title)).to_be_in_viewport()
    expect(page.get_by_text("Draw 1,000 splits").first).to_be_attached()
    page.wait_for_function("document.querySelector('[data-testid=stMain]').scrollTop === 0")
