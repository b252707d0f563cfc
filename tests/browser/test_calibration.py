"""The temperature in a real browser: it follows the pointer, agrees with Python, and stays in the link."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from core.reports import evaluation
from core.reports.calibration.calibrated import calibrated
from tests.browser.conftest import (
    NOT_TOO_WIDE,
    SEEN_WITHIN_MS,
    Visitor,
    eventually,
    expect_whole,
    holds,
    in_home,
    resize,
    settled,
)
from tests.conftest import synthetic_run
from tests.reference.calibration import at_temperature


@pytest.fixture(scope="session")
def run_id(shared_home: Path) -> str:
    with in_home(shared_home):
        return synthetic_run(2000, model="calibrated", seed=2, signal=2.0)


def opened(visit: Visitor, address: str, run_id: str, **how: object) -> Page:
    page = visit(address, **how).open(f"/calibration?runs={run_id}")
    # The dial stands below figures that a cold server computes first.
    expect(page.locator("[data-figure=ece]")).not_to_be_empty(timeout=2 * SEEN_WITHIN_MS)
    # When they arrive, the dial moves: for a moment it is there twice.
    return settled(page)


def agrees(page: Page, run_id: str, temperature: int) -> None:
    expected = at_temperature(evaluation.load(run_id), temperature, 100)
    values = {
        "ece": expected.ece,
        "nll": expected.nll,
        "accuracy": expected.accuracy,
        "lac-size": expected.sets["lac"].mean_set_size,
        "aps-coverage": expected.sets["aps"].coverage,
    }

    def equal() -> None:
        shown = {name: page.locator(f"[data-figure={name}]").get_attribute("data-value") for name in values}
        assert {name: float(value or "nan") for name, value in shown.items()} == pytest.approx(values, abs=1e-12)

    eventually(page, equal)


def typed(page: Page, temperature: str) -> Locator:
    number = page.get_by_role("spinbutton", name="temperature as a number")
    number.fill(temperature)
    number.press("Enter")
    expect(number).to_have_value(temperature)
    return number


def test_the_temperature_is_typed_pressed_and_refused(visit: Visitor, address: str, run_id: str):
    """The shown figures are Python's. Then check the bins and every width."""
    page = opened(visit, address, run_id)
    agrees(page, run_id, 100)
    number = page.get_by_role("spinbutton", name="temperature as a number")
    number.fill("17")
    number.press("Enter")
    expect(page.get_by_text("The temperature must be between 0.20 and 5.00. It stays at 1.00.")).to_be_visible()
    expect(number).to_have_value("1.00")
    button = page.get_by_role("button", name="fitted on other questions")
    fitted = button.inner_text().split(",")[0]
    button.click()
    expect(number).to_have_value(fitted)
    agrees(page, run_id, round(100 * float(fitted)))
    typed(page, "2.50")
    agrees(page, run_id, 250)
    expect(page).to_have_url(re.compile("t=250"))
    page.get_by_role("slider", name="Temperature").press("ArrowLeft")
    expect(number).not_to_have_value("2.50")
    hundredths = round(100 * float(number.input_value()))
    assert 235 < hundredths < 250
    agrees(page, run_id, hundredths)
    expect(page).to_have_url(re.compile(f"t={hundredths}"))
    a_click_on_a_bin_lists_its_questions(page, run_id)
    fields_name_the_bin_whose_questions_are_listed(page, run_id)
    nothing_is_too_wide_and_switches_are_whole(page)
    page.reload()
    expect(number).to_have_value(f"{hundredths / 100:.2f}")


def a_click_on_a_bin_lists_its_questions(page: Page, run_id: str) -> None:
    (figures,) = calibrated(evaluation.load(run_id))
    filled = [bin for bin in figures.reliability if bin.n]
    diagram = page.get_by_test_id("stVegaLiteChart").first
    expect(diagram.locator(".mark-symbol")).to_have_count(2)  # a ring around the mark that the answer is about
    marks = diagram.locator(".mark-symbol").last.locator("path")
    expect(marks).to_have_count(len(filled))
    # Nothing runs past the marks that they could contradict: the only line is where accuracy equals confidence.
    expect(diagram.locator(".mark-line path")).to_have_count(1)
    chosen = page.get_by_role("combobox", name="Bin")
    for place in (0, len(filled) - 1):
        settled(page)  # the last click redraws the chart
        marks.nth(place).click(force=True)
        expect(chosen).to_have_value(re.compile(f"^{filled[place].low:.0%} to {filled[place].high:.0%} confidence"))


def fields_name_the_bin_whose_questions_are_listed(page: Page, run_id: str) -> None:
    """Also after the diagrams are those of subjects, where the same number of a bin has other questions."""
    first = calibrated(evaluation.load(run_id), within="group")[0]
    bin = next(bin for bin in reversed(first.reliability) if bin.n)
    settled(page).get_by_text("each subject").click()
    expect(page.get_by_role("combobox", name="Diagram")).to_have_value(re.compile(f"^{first.stratum} · "))
    expect(page.get_by_role("combobox", name="Bin")).to_have_value(re.compile(f" · {bin.n} questions$"))
    expect(page.get_by_text(f"{bin.n} answers in this bin")).to_be_visible()
    settled(page).get_by_text("each run").click()
    expect(page.get_by_role("combobox", name="Diagram")).not_to_have_value(re.compile(f"^{first.stratum} · "))


def nothing_is_too_wide_and_switches_are_whole(page: Page) -> None:
    expect(page.get_by_role("radio", name="each chosen option")).to_be_visible()
    for width, theme in ((390, "light"), (900, "light"), (1280, "dark")):
        page.emulate_media(color_scheme=theme)
        resize(page, width)
        holds(page, NOT_TOO_WIDE)
        expect_whole(page)
        expect(page.locator("figure[data-plot=reliability] svg.chart")).to_be_visible()
