"""The lesson in a real browser, as a student goes through it: guesses, numbers that are dragged, keys and links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from core.reports import evaluation, lesson
from core.reports.report import report
from tests.browser import axe
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
    windows = [(1280, 720), (900, 720), (390, 844)]
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
        for width, height in windows:
            if page.viewport_size != {"width": width, "height": height}:
                resize(page, width, height)
            eventually(page, lambda: misfit(page, place))  # noqa: B023 - called before the next step
        windows.reverse()  # the next step begins in the window in which this one ends
        if place < END:
            page.get_by_role("button", name="Next step").click()


BOXES = """() => {
    const main = document.querySelector('[data-testid=stMain]');
    const lesson = [...main.querySelectorAll('*')].map(one => one.shadowRoot ?? one).find(root =>
        root.querySelector('.lesson'));
    const box = (name) => { const { x, y, right, bottom } = lesson.querySelector(name).getBoundingClientRect();
        return { x, y, right, bottom }; };
    return { wide: main.scrollWidth - main.clientWidth, tall: main.scrollHeight,
        figure: box('.stage'), text: box('.text'), feet: box('.feet') };
}"""


def misfit(page: Page, place: int) -> str:
    """What scrolls sideways, is too tall, or is not in its place: the figure stands beside the words, or below them
    where it is narrow."""
    found = page.evaluate(BOXES)
    figure, text, feet = found["figure"], found["text"], found["feet"]
    width = page.viewport_size["width"] if page.viewport_size else 0
    if width >= 900:
        in_place = figure["x"] >= text["right"]
    else:
        in_place = text["bottom"] <= figure["y"] and figure["bottom"] <= feet["y"]
    fits = found["wide"] <= 0 and in_place and (width != 1280 or found["tall"] <= TALLEST)
    return "" if fits else f"step {place} at {width} px: {found}"


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
    slider = page.locator("#lesson-alpha")
    eventually(page, lambda: not re.search(rf"alpha={slider.input_value()}(&|$)", page.url))  # at rest
    alpha = int(slider.input_value())
    assert alpha > 200
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


def test_a_whole_lesson_by_the_keyboard_alone(visit: Visitor, address: str, run_id: str):
    """The lesson on calibration from the chooser to its end, the next one, and its sheet, in which axe-core finds no
    grave fault. What it finds in the steps, test_presenter asks."""
    axe.required()
    steps = lesson.load(lesson.LESSONS["calibration"]).steps
    page = opened(visit, address, run_id, 1)
    link = page.get_by_role("link", name=re.compile("^Calibration"))
    link.focus()
    page.keyboard.press("Enter")
    for place, step in enumerate(steps, start=1):
        expect(page.get_by_role("heading", name=step.title, exact=True)).to_be_visible()
        expect(page).to_have_url(re.compile("lesson=calibration"))
        page.get_by_role("button", name="Just show me").focus()
        page.keyboard.press("Shift+Tab")
        page.keyboard.press("Enter")
        expect(page.locator(".told")).to_be_focused()
        expect(page.locator(".words")).not_to_contain_text("{")
        expect(page.locator(".course [aria-current]")).to_contain_text(f"{place} of {len(steps)} answered")
        slider = page.locator(".mover input").first
        slider.focus()
        before = slider.get_attribute("aria-valuetext") or ""
        page.keyboard.press("ArrowLeft" if place == 2 else "ArrowRight")
        expect(slider).not_to_have_attribute("aria-valuetext", before)
        page.locator(".feet .on").focus()
        page.keyboard.press("Enter")
    heading(page, END)
    page.get_by_role("link", name="Next lesson: Juries").focus()
    page.keyboard.press("Enter")
    first = lesson.load(lesson.LESSONS["juries"]).steps[0]
    expect(page.get_by_role("heading", name=first.title, exact=True)).to_be_visible()
    page.get_by_role("link", name="Lecturer’s sheet").focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("sheet=on"))
    expect(page.locator(".sheet-step")).to_have_count(5)
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme)
        assert axe.faults(settled(page), rules=None if scheme == "light" else axe.COLOURS) == []
    page.emulate_media(media="print")
    expect(page.get_by_test_id("stHeader")).to_be_hidden()
    expect(page.locator(".course")).to_be_hidden()
    expect(page.locator(".sheet-step").last).to_be_visible()
