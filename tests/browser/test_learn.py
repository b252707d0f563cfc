"""The lesson in a real browser, as a student goes through it: guesses, numbers that are dragged, keys and links."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from core.reports import evaluation, lesson
from core.reports.report import report
from tests.browser import axe
from tests.browser.conftest import Lab, Visitor, choose_page, eventually, in_home, resize, settled, still
from tests.conftest import synthetic_run

STEPS = lesson.load().steps
END = len(STEPS) + 1
TALLEST = 1400


@pytest.fixture(scope="session")
def run_id(shared_home: Path) -> str:
    with in_home(shared_home):
        return synthetic_run(400, model="lesson", seed=2)


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


def test_a_student_goes_through_the_lesson(visit: Visitor, address: str, run_id: str):
    """All steps by the buttons below the text: each is looked at in three windows, with its answer, and some are played
    with. The end leads to the lab."""
    page = opened(visit, address, run_id, 1, width=1280, height=720)
    main = page.get_by_test_id("stMain")
    played = {1: a_guess_is_told, 3: the_line_of_the_threshold_is_dragged, 5: a_number_in_the_text_is_dragged}
    for place in range(1, END):
        heading(page, place)
        eventually(page, lambda: main.evaluate("main => main.scrollTop"))
        expect(page.locator(".answer")).to_be_hidden()
        played.get(place, just_shown)(page, run_id)
        expect(page.locator(".answer")).to_be_visible()
        expect(page.locator(".words")).not_to_contain_text("{")
        fits_in_three_windows(page, place)
        page.locator(".feet .on").click()
    heading(page, END)
    fits_in_three_windows(page, END)
    expect(page.locator(".learned li")).to_have_count(len(STEPS))
    expect(page.locator("figcaption")).to_contain_text("You made one guess.")
    alpha = page.locator(".alpha-now").first.inner_text()
    settled(page).get_by_role("link", name="Open this run in the Alpha lab").click()
    lab = Lab(page).ready()
    lab.expect_alpha(round(1000 * float(alpha)))
    expect(page).to_have_url(re.compile(f"run={run_id}&alpha={lab.thousandths()}"))


def just_shown(page: Page, run_id: str) -> None:
    """The answer without a guess."""
    page.get_by_role("button", name="Just show me").click()
    expect(page.locator(".answer")).to_be_visible()
    expect(page.locator(".lesson .plot svg.chart:visible").first).to_be_visible()


def fits_in_three_windows(page: Page, place: int) -> None:
    for width, height in ((390, 844), (900, 720), (1280, 720)):
        resize(page, width, height)
        eventually(page, lambda: misfit(page, place))


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
    """The elements that scroll sideways, are too tall or are misplaced. The figure belongs beside the text, or below it
    on a narrow screen."""
    boxes = page.evaluate(BOXES)
    figure, text, feet = boxes["figure"], boxes["text"], boxes["feet"]
    width = page.viewport_size["width"] if page.viewport_size else 0
    if width >= 900:
        in_place = figure["x"] >= text["right"]
    else:
        in_place = text["bottom"] <= figure["y"] and figure["bottom"] <= feet["y"]
    fits = boxes["wide"] <= 0 and in_place and (width != 1280 or boxes["tall"] <= TALLEST)
    return "" if fits else f"step {place} at {width} px: {boxes}"


def a_guess_is_told(page: Page, run_id: str) -> None:
    """After it, and not before; it is kept on the way to another page and back."""
    lac = report(evaluation.load(run_id), 100).scores["lac"]
    single = percent(lac.sizes[1] / 200)
    expect(page.locator(".plot")).not_to_contain_text(single)
    page.get_by_role("slider", name="your guess").fill("0.5")
    page.get_by_role("button", name="Check my guess").click()
    answer = page.locator(".told")
    expect(answer).to_contain_text(f"At alpha 0.100 you guessed 50.0%. It is {single}")
    expect(answer).to_be_focused()
    expect(page.locator(".announced")).to_contain_text("you guessed")
    expect(fact(page, "single_share")).to_have_text(single)
    expect(page.locator(".plot")).to_contain_text(single)
    choose_page(settled(page), "Overview")
    choose_page(settled(page), "Learn")
    expect(answer).to_contain_text("you guessed 50.0")
    settled(page)


def the_line_of_the_threshold_is_dragged(page: Page, run_id: str) -> None:
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
    slider.fill("100")
    expect(page).to_have_url(re.compile("alpha=100"))
    just_shown(page, run_id)
    the_figure_stays_while_the_text_scrolls(page)


def the_figure_stays_while_the_text_scrolls(page: Page) -> None:
    """In a low window."""
    resize(page, 1280, 560)
    stage, text = page.locator(".stage"), page.locator("h2")
    main = page.get_by_test_id("stMain")
    main.evaluate("main => main.scrollTo(0, 0)")
    before = still(text)
    main.evaluate("main => main.scrollTo(0, 220)")
    after, figure, bar = still(text), still(stage), still(page.locator(".course-bar"))
    assert after["y"] <= before["y"] - 200
    assert bar["y"] >= 0
    assert 0 <= figure["y"] - (bar["y"] + bar["height"]) <= 40


def a_number_in_the_text_is_dragged(page: Page, run_id: str) -> None:
    """It moves everything at once while the pointer is held, and the link only when it is released."""
    alpha, target = (page.get_by_role("slider", name=name, exact=True).first for name in ("alpha", "target coverage"))
    number = page.locator(".text .bound").first
    box = still(number)
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    page.mouse.down()
    page.mouse.move(box["x"] + 85, box["y"] + 5, steps=4)
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
    just_shown(page, run_id)
    page.get_by_role("button", name="Shuffle 1,000 times").click()
    expect(page.locator(".drawn-said")).to_contain_text("1,000 shuffles: coverage is 8")


def test_arrow_keys_go_through_the_lesson_from_the_top(visit: Visitor, address: str, run_id: str):
    page = opened(visit, address, run_id, 4, width=1200, height=500)
    page.locator(".feet .on").scroll_into_view_if_needed()
    main = page.get_by_test_id("stMain")
    eventually(page, lambda: main.evaluate("main => main.scrollTop === 0"))
    page.keyboard.press("ArrowRight")
    heading(page, 5)
    eventually(page, lambda: main.evaluate("main => main.scrollTop"))
    expect(page.locator(".count")).to_have_text("Step 5 of 8")
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
    page.go_back()  # the stops of the slider are no entries of the history
    heading(page, 5)


def test_a_lesson_is_chosen_ended_and_printed_by_the_keyboard_alone(visit: Visitor, address: str, run_id: str):
    """From the chooser to the lesson on calibration, its first and last step, the next lesson, and its sheet, in which
    axe-core finds no grave fault. A whole lesson by keyboard is the walk *Teach* of test_walks."""
    steps = lesson.load(lesson.LESSONS["calibration"]).steps
    page = opened(visit, address, run_id, 1)
    page.get_by_role("link", name=re.compile("^Calibration")).press("Enter")
    expect(page.get_by_role("heading", name=steps[0].title, exact=True)).to_be_visible()
    expect(page).to_have_url(re.compile("lesson=calibration"))
    settled(page).get_by_role("button", name="Just show me").focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".told")).to_be_focused()
    expect(page.locator(".course [aria-current]")).to_contain_text(f"1 of {len(steps)} answered")
    slider = page.locator(".mover input").first
    before = slider.get_attribute("aria-valuetext") or ""
    slider.press("ArrowRight")
    expect(slider).not_to_have_attribute("aria-valuetext", before)
    step = settled(page).locator(".count")
    step.press("Enter")
    page.locator(".track button").nth(1).press("Escape")
    expect(step).to_be_focused()
    expect(page.locator(".track")).to_be_hidden()
    step.press("Enter")
    page.locator(".track button").last.press("Enter")
    expect(page.locator(".track")).to_be_hidden()
    expect(page.get_by_role("heading", name=steps[-1].title, exact=True)).to_be_visible()
    page.locator(".feet .on").press("Enter")
    heading(page, END)
    settled(page).get_by_role("link", name="Next lesson: Juries").press("Enter")
    first = lesson.load(lesson.LESSONS["juries"]).steps[0]
    expect(page.get_by_role("heading", name=first.title, exact=True)).to_be_visible()
    settled(page).get_by_role("button", name="For a lecture").press("Enter")
    page.get_by_role("button", name="Lecturer’s sheet").press("Enter")
    expect(page).to_have_url(re.compile("sheet=on"))
    expect(page.get_by_role("button", name="For a lecture")).to_have_count(0)
    expect(page.locator(".sheet-step")).to_have_count(5)
    axe.required()
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme)
        assert axe.faults(settled(page), rules=None if scheme == "light" else axe.COLOURS) == []
    page.emulate_media(media="print")
    expect(page.get_by_test_id("stHeader")).to_be_hidden()
    expect(page.locator(".course")).to_be_hidden()
    expect(page.locator(".sheet-step").last).to_be_visible()
    page.emulate_media(media="screen")
    page.get_by_role("link", name="Back to the lesson").press("Enter")
    expect(page.get_by_role("heading", name=first.title, exact=True)).to_be_visible()
    expect(page).not_to_have_url(re.compile("sheet"))


def test_a_lecturer_presents_a_step_from_the_menu(visit: Visitor, address: str, run_id: str):
    page = opened(visit, address, run_id, 2, width=1280, height=720)
    menu = page.get_by_role("button", name="For a lecture")
    menu.click()
    page.get_by_role("button", name="Present").click()
    expect(page.locator(".presented")).to_be_visible()
    expect(page).to_have_url(re.compile("present=1"))
    settled(page).keyboard.press("ArrowRight")
    expect(page.locator(".presented .count")).to_have_text("Step 3 of 8")
    page.keyboard.press("Escape")
    expect(page.locator(".presented")).to_have_count(0)
    expect(page.get_by_role("heading", name=STEPS[2].title)).to_be_focused()
    expect(page).not_to_have_url(re.compile("present"))
    expect(page.get_by_role("button", name="Present")).to_have_count(0)
    settled(page)
    menu.click()
    page.get_by_role("button", name="Present").click()
    expect(page.locator(".presented")).to_be_visible()


@pytest.mark.parametrize(("name", "step"), [("juries", 2), ("juries", 3), ("asking", 1)])
def test_a_bar_is_as_long_as_its_figure(visit: Visitor, address: str, name: str, step: int):
    page = visit(address).open(f"/learn?lesson={name}&step={step}")
    title = lesson.load(lesson.LESSONS[name]).steps[step - 1].title
    expect(page.get_by_role("heading", name=title, exact=True)).to_be_visible()
    settled(page).get_by_role("button", name="Just show me").click()
    expect(page.locator(".answer")).to_be_visible()
    bars = page.locator("svg.chart").filter(has=page.locator(".bar-whisker")).first
    expect(bars.locator("text.strong", has_text="?")).to_have_count(0)
    off = bars.evaluate(
        """svg => {
            const ends = [...svg.querySelectorAll('.grid')].map(line => line.x1.baseVal.value);
            const all = Math.max(...ends) - Math.min(...ends);
            const figures = [...svg.querySelectorAll('text.strong')].map(text => parseFloat(text.textContent) / 100);
            return [...svg.querySelectorAll('rect')].map((bar, i) => bar.width.baseVal.value / all - figures[i]);
        }"""
    )
    assert len(off) > 1
    assert off == pytest.approx([0] * len(off), abs=0.001)
