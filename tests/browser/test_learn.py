"""The lesson in a real browser, as a student goes through it: guesses, numbers that are dragged, keys and links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from core.reports import evaluation, lesson
from core.reports.report import report
from tests.browser.conftest import Lab, Visitor, choose_page, eventually, resize, server, settled, still
from tests.conftest import synthetic_run

STEPS = lesson.load().steps
END = len(STEPS) + 1
TALLEST = 1400


@pytest.fixture(scope="module")
def run_id(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEDGE_HOME", str(tmp_path_factory.mktemp("learn") / "home"))
        yield synthetic_run(400, seed=2)


@pytest.fixture(scope="module")
def address(run_id: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    home = Path(evaluation.store.folder_of(run_id)).parents[1]
    with server(home, agent=False) as url:
        yield url


def heading(page: Page, place: int) -> None:
    """Wait until the step is shown."""
    title = STEPS[place - 1].title if place < END else "What you have learned"
    expect(page.get_by_role("heading", name=title, exact=True)).to_be_visible()


def opened(visit: Visitor, address: str, run_id: str, place: int, *, alpha: int = 100, **how: object) -> Page:
    page = visit(address, **how).open(f"/learn?run={run_id}&alpha={alpha}&step={place}")
    heading(page, place)
    if place < END:
        expect(page.locator(".lesson .plot svg.chart:visible").first).to_be_visible()
    return settled(page)


def fact(page: Page, name: str):
    return page.locator(f"[data-fact={name}]").first


def percent(value: float) -> str:
    return f"{100 * value:.1f}%"


def test_each_step_fits_and_nothing_is_too_wide(visit: Visitor, address: str, run_id: str):
    """All steps with their answers, by the buttons of the bar, each in three windows."""
    page = opened(visit, address, run_id, 1, width=1280, height=720)
    main = page.get_by_test_id("stMain")
    for place in range(1, END + 1):
        heading(page, place)
        eventually(page, lambda: main.evaluate("main => main.scrollTop"))
        if place < END:
            answer = page.locator(".answer")
            expect(answer).to_be_hidden()
            page.get_by_role("button", name="Just show me").click()
            expect(answer).to_be_visible()
            expect(page.locator(".lesson .plot svg.chart:visible").first).to_be_visible()
            expect(page.locator(".words")).not_to_contain_text("{")
        for width, height, theme in ((390, 844, "light"), (900, 720, "dark"), (1280, 720, "light")):
            page.emulate_media(color_scheme=theme)
            resize(page, width, height)
            eventually(page, lambda: fits(page, place))  # noqa: B023 - called before the next step
        if place < END:
            page.get_by_role("button", name="Next step").click()


def fits(page: Page, place: int) -> None:
    """Nothing scrolls sideways or is too tall; the figure stands beside the words, or below them where it is narrow."""
    main = page.get_by_test_id("stMain")
    inside, shown, tall = main.evaluate("main => [main.scrollWidth, main.clientWidth, main.scrollHeight]")
    assert inside <= shown
    width = page.evaluate("innerWidth")
    if width == 1280:
        assert tall <= TALLEST, place
    figure, text, feet = (page.locator(f".{name}").bounding_box() for name in ("stage", "text", "feet"))
    assert figure
    assert text
    assert feet
    if width >= 900:
        assert figure["x"] >= text["x"] + text["width"]
    else:
        assert text["y"] + text["height"] <= figure["y"]
        assert figure["y"] + figure["height"] <= feet["y"]


def test_a_student_guesses_before_the_answer(visit: Visitor, address: str, run_id: str):
    page = opened(visit, address, run_id, 1)
    lac = report(evaluation.load(run_id), 100).scores["lac"]
    guess = page.get_by_role("slider", name="your guess")
    expect(page.locator(".plot")).not_to_contain_text(percent(lac.sizes[1] / 200))
    guess.fill("0.5")
    page.get_by_role("button", name="Check my guess").click()
    told = page.locator(".told")
    expect(told).to_contain_text(f"At alpha 0.100 you guessed 50.0%. It is {percent(lac.sizes[1] / 200)}")
    expect(told).to_be_focused()
    expect(page.locator(".announced")).to_contain_text("you guessed")
    expect(fact(page, "single_share")).to_have_text(percent(lac.sizes[1] / 200))
    expect(page.locator(".plot")).to_contain_text(percent(lac.sizes[1] / 200))
    # The guess is kept on the way to another page and back.
    choose_page(page, "Overview")
    choose_page(page, "Learn")
    expect(told).to_contain_text("you guessed 50.0")
    page.get_by_role("button", name=f"Step {len(STEPS)}").click()
    page.get_by_role("button", name="Finish").click()
    expect(page.locator("figcaption")).to_contain_text("You made one guess.")
    page.get_by_role("button", name="Start again").click()
    heading(page, 1)
    expect(guess).to_be_visible()


def test_a_number_in_the_text_moves_everything_at_once(visit: Visitor, address: str, run_id: str):
    page = opened(visit, address, run_id, 5)
    alpha, target = (page.get_by_role("slider", name=name, exact=True).first for name in ("alpha", "target coverage"))
    number = page.locator(".text .bound").first
    box = still(number)
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    page.mouse.down()
    page.mouse.move(box["x"] + 85, box["y"] + 5, steps=4)
    # It follows while the pointer is held, and the link only when it is released.
    expect(number).to_have_text("0.180")
    expect(target).to_have_text("82.0%")
    coverage = report(evaluation.load(run_id), 180).scores["lac"].coverage
    expect(fact(page, "coverage")).to_have_text(percent(coverage))
    assert "alpha=100" in page.url
    page.mouse.up()
    expect(page).to_have_url(re.compile("alpha=180"))
    target.press("ArrowUp")  # a higher target is a smaller alpha
    expect(number).to_have_text("0.179")
    number.press("PageUp")
    expect(page).to_have_url(re.compile("alpha=189"))
    expect(alpha).to_have_value("189")
    coverage = report(evaluation.load(run_id), 189).scores["lac"].coverage
    expect(fact(page, "coverage")).to_have_text(percent(coverage))
    page.reload()
    heading(page, 5)
    expect(number).to_have_text("0.189")
    page.get_by_role("button", name="Just show me").click()
    page.get_by_role("button", name="Shuffle 1,000 times").click()
    expect(page.locator(".drawn-said")).to_contain_text("1,000 shuffles: coverage is 8")


def test_the_line_of_the_threshold_is_dragged(visit: Visitor, address: str, run_id: str):
    page = opened(visit, address, run_id, 3)
    before = page.locator("line.threshold").get_attribute("x1")
    grip = still(page.locator(".grab"))
    page.mouse.move(grip["x"] + grip["width"] / 2, grip["y"] + 60)
    page.mouse.down()
    page.mouse.move(grip["x"] - 100, grip["y"] + 60, steps=3)
    page.mouse.up()
    expect(page.locator("line.threshold")).not_to_have_attribute("x1", before or "")
    alpha = int(page.locator("#lesson-alpha").input_value())
    assert alpha > 200
    expect(page).to_have_url(re.compile(f"alpha={alpha}"))
    expected = report(evaluation.load(run_id), alpha).scores["lac"].threshold
    expect(fact(page, "threshold_said")).to_have_text(f"Its score, {expected:.3f}, is the threshold.")


def test_arrow_keys_go_through_the_lesson_from_the_top(visit: Visitor, address: str, run_id: str):
    page = opened(visit, address, run_id, 4, width=1200, height=500)
    page.locator(".feet .on").scroll_into_view_if_needed()
    main = page.get_by_test_id("stMain")
    eventually(page, lambda: main.evaluate("main => main.scrollTop === 0"))
    page.keyboard.press("ArrowRight")
    heading(page, 5)
    eventually(page, lambda: main.evaluate("main => main.scrollTop"))
    expect(page.locator(".count")).to_have_text("5 of 8")
    expect(page.get_by_role("heading", name=STEPS[4].title)).to_be_focused()
    expect(page).to_have_url(re.compile("step=5"))
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    heading(page, 3)
    expect(page).to_have_url(re.compile("step=3"))
    slider = page.locator("#lesson-alpha")
    slider.press("ArrowRight")  # on a slider an arrow moves the slider
    expect(slider).to_have_value("101")
    heading(page, 3)
    expect(page).to_have_url(re.compile("alpha=101"))
    page.go_back()
    expect(slider).to_have_value("100")
    page.go_back()
    heading(page, 5)


def test_the_figure_stays_while_the_text_scrolls(visit: Visitor, address: str, run_id: str):
    page = opened(visit, address, run_id, 3, width=1280, height=560)
    page.get_by_role("button", name="Just show me").click()
    stage, text = page.locator(".stage"), page.locator("h2")
    main = page.get_by_test_id("stMain")
    main.evaluate("main => main.scrollTo(0, 0)")
    before = still(text)
    main.evaluate("main => main.scrollTo(0, 220)")
    after, figure, bar = still(text), still(stage), still(page.locator(".progress"))
    assert after["y"] <= before["y"] - 200
    assert bar["y"] >= 0
    assert 0 <= figure["y"] - (bar["y"] + bar["height"]) <= 40


def test_the_end_leads_to_the_lab_with_the_same_run_and_alpha(visit: Visitor, address: str, run_id: str):
    page = opened(visit, address, run_id, END, alpha=250)
    expect(page.locator(".learned li")).to_have_count(len(STEPS))
    page.get_by_role("link", name="Open this run in the Alpha lab").click()
    Lab(page).ready().expect_alpha(250)
    expect(page).to_have_url(re.compile(f"run={run_id}&alpha=250"))
