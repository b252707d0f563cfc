"""The presenter view in a projector's window: nothing small, nothing to scroll, and its keys."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from app.showcase import showcase
from core.reports import lesson
from tests.browser import axe
from tests.browser.conftest import Lab, Visitor, eventually, in_home, resize, settled
from tests.conftest import synthetic_run
from tests.flawed_runs import flawed_run
from tests.parameters import rest_nightly

OPENS_WITHIN_MS = 5_000

SMALLEST_PX = 18
MISFITS = """() => {
  const found = [];
  let seen = 0;
  const visible = (one) => one.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  const walk = (root) => {
    for (const one of root.querySelectorAll('*')) {
      if (one.shadowRoot) walk(one.shadowRoot);
      if (one.closest('style, script, title, desc') || !visible(one)) continue;
      const box = one.getBoundingClientRect();
      const style = getComputedStyle(one);
      if (/auto|scroll/.test(style.overflowY) && one.scrollHeight > one.clientHeight + 1)
        found.push(`scrolls: ${one.className} ${one.scrollHeight} in ${one.clientHeight}`);
      const cut = style.overflowY === 'hidden' && style.webkitLineClamp === 'none' && one.clientHeight > 2;
      if (cut && one.scrollHeight > one.clientHeight + 3) found.push(`cut off: ${one.className} ${one.tagName}`);
      const texts = [...one.childNodes].filter(({ nodeType }) => nodeType === 3);
      const words = texts.map(({ data }) => data.trim()).join('');
      if (!(words || one.matches('input[type=number], select')) || box.width < 2 || box.height < 2) continue;
      seen += 1;
      const size = parseFloat(style.fontSize) * (one.ownerSVGElement ? one.getScreenCTM().a : 1);
      if (size < SMALLEST) found.push(`${size} px: ${words}`);
      const figure = one.ownerSVGElement?.closest('figure');
      if (figure && box.right > figure.getBoundingClientRect().right + 1) found.push(`cut by its figure: ${words}`);
      if (box.right > innerWidth + 1 || box.bottom > innerHeight + 1) found.push(`outside: ${words}`);
    }
  };
  walk(document);
  const { scrollHeight, scrollWidth } = document.documentElement;
  if (scrollHeight > innerHeight || scrollWidth > innerWidth) found.push(`the page: ${scrollWidth} × ${scrollHeight}`);
  if (seen < 10) found.push(`only ${seen} texts are shown`);
  return found;
}""".replace("SMALLEST", str(SMALLEST_PX))
"""What is smaller than a projector needs, is cut off or scrolls."""


@pytest.fixture(scope="session")
def run_id(shared_home: Path) -> str:
    with in_home(shared_home):
        return synthetic_run(400, model="projector", seed=2)


def presented(visit: Visitor, address: str, path: str) -> Page:
    page = visit(address, width=1280, height=720).open(path)
    expect(page.locator(".presented")).to_be_visible()
    return settled(page)


def fits(page: Page) -> None:
    eventually(page, lambda: page.evaluate(MISFITS))


def both_themes(page: Page) -> None:
    """The view fits, and axe-core finds no grave fault in either theme."""
    fits(page)
    accessible(page)


def accessible(page: Page) -> None:
    """axe-core finds no grave fault on what is shown, in light and in dark."""
    axe.required()
    eventually(page, lambda: axe.faults(page))
    page.emulate_media(color_scheme="dark")
    settled(page)
    eventually(page, lambda: axe.faults(page, rules=axe.COLOURS))
    page.emulate_media(color_scheme="light")


def test_the_lab_fits_a_projector_and_follows_the_keys(visit: Visitor, address: str, run_id: str):
    page = visit(address, width=1280, height=720).open(f"/alpha_lab?run={run_id}&alpha=100")
    lab = Lab(page).ready()
    screen = page.locator(".presented")
    lab.number.press("p")  # in a field a key is for the field
    expect(screen).to_have_count(0)
    lab.number.fill("2")
    lab.number.press("Enter")
    expect(page.locator("#alpha-problem")).to_contain_text("It stays at 0.1.")
    page.get_by_role("heading", name="Alpha lab", exact=True).click()
    page.keyboard.press("p")
    expect(screen).to_be_visible()
    expect(page.locator("#alpha-problem")).to_be_empty()  # it would cover the answer
    expect(page.get_by_test_id("stHeader")).not_to_be_visible()
    expect(page).to_have_url(re.compile("present=1"))
    settled(page)
    both_themes(page)
    keys_move_alpha(page, lab, run_id)
    keys_show_one_score_or_both(page)
    spot_the_bug_is_presented(page)
    alpha_plays_up_and_down_until_it_is_stopped(page, lab, run_id)
    smaller_windows(page)
    page.keyboard.press("Escape")
    expect(screen).to_have_count(0)
    expect(page.get_by_test_id("stHeader")).to_be_visible()
    expect(page.get_by_role("button", name="Present", exact=True)).to_be_focused()
    expect(page).not_to_have_url(re.compile("present"))
    lab.expect_report(run_id)


def keys_move_alpha(page: Page, lab: Lab, run_id: str) -> None:
    for key, alpha in (("ArrowRight", 110), ("ArrowUp", 120), ("Shift+ArrowLeft", 119), ("PageUp", 109), (" ", 119)):
        page.keyboard.press(key)
        lab.expect_alpha(alpha)
    lab.expect_report(run_id)
    lab.number.fill("0.3")
    lab.number.press("1")  # still typing
    lab.number.press("Backspace")
    lab.number.press("Enter")
    lab.expect_alpha(300)
    lab.alpha.focus()
    page.keyboard.press("ArrowRight")  # a slider's own key
    lab.expect_alpha(301)


def keys_show_one_score_or_both(page: Page) -> None:
    for key, left, right in (("1", True, False), ("2", False, True), ("3", True, True)):
        page.keyboard.press(key)
        for side, seen in (("left", left), ("right", right)):
            expect(page.locator(f"article[data-side={side}]")).to_be_visible(visible=seen)
        expect(page).to_have_url(re.compile(f"shown={key}"))
        fits(page)


def spot_the_bug_is_presented(page: Page) -> None:
    """Where it is open, it stands in the place of the lab, and fits with its answer and with all procedures."""
    page.keyboard.press("p")
    panel = page.locator("[data-panel=bugs]")
    panel.locator("summary").click()
    panel.get_by_role("button", name="Draw 1,000 splits").click()
    expect(panel.locator(".suspects button").first).to_be_visible()
    page.get_by_role("heading", name="Alpha lab", exact=True).click()
    page.keyboard.press("p")
    expect(page.locator(".lab-answer")).to_be_hidden()
    expect(page.locator(".presenter-keys")).to_have_text("p or Esc leaves")
    expect(page).to_have_url(re.compile("present=1"))
    before = page.url
    page.keyboard.press("ArrowRight")  # nothing on the screen would follow
    page.keyboard.press("1")
    settled(page)
    assert page.url == before
    panel.locator(".suspects button").first.click()
    expect(panel.locator(".bug-told")).to_contain_text("“higher”")
    both_themes(page)
    panel.get_by_role("button", name="Show all").click()
    fits(page)
    panel.locator("summary").click()
    expect(page.locator(".lab-answer")).to_be_visible()
    expect(page.locator(".presenter-keys")).to_contain_text("alpha")


def alpha_plays_up_and_down_until_it_is_stopped(page: Page, lab: Lab, run_id: str) -> None:
    lab.number.fill("0.48")
    lab.number.press("Enter")
    lab.expect_alpha(480)
    lab.number.blur()
    page.emulate_media(reduced_motion="no-preference")
    page.keyboard.press(" ")
    eventually(page, lambda: lab.thousandths() >= 475)  # up to 0.5, and down again below where it began
    page.keyboard.press(" ")
    eventually(page, lambda: not re.search(rf"alpha={lab.thousandths()}(&|$)", page.url))
    lab.expect_report(run_id)
    page.emulate_media(reduced_motion="reduce")


def smaller_windows(page: Page) -> None:
    """In a smaller window all is smaller, and in a phone's the page stays as it is."""
    screen = page.locator(".presented")
    resize(page, 900, 700)
    eventually(page, lambda: [fault for fault in page.evaluate(MISFITS) if " px: " not in fault])
    page.keyboard.press("1")
    expect(page).to_have_url(re.compile("shown=1"))
    resize(page, 390, 844)
    expect(screen).to_have_count(0)
    expect(page.get_by_role("button", name="Present", exact=True)).to_be_hidden()
    expect(page.locator("[data-plot=coverage] svg.chart")).to_have_attribute("aria-label", re.compile("LAC and APS"))
    resize(page, 1280, 720)
    expect(screen).to_be_visible()
    fits(page)


def test_caveats_stay_in_view_and_fit(visit: Visitor, address: str, shared_home: Path):
    with in_home(shared_home):
        flawed = flawed_run(model="flawed-projector")
    page = presented(visit, address, f"/alpha_lab?run={flawed}&present=1")
    caveats = page.locator(".presenter-caveats")
    expect(caveats).to_contain_text("† 119 of 120 prompts were longer than the 512 tokens that the model reads")
    expect(page.locator(".presenter-foot")).to_have_class(re.compile("faded"), timeout=20_000)
    expect(page.locator(".presenter-keys")).to_be_hidden()
    expect(caveats).to_be_visible()
    both_themes(page)


def test_single_keys_can_be_switched_off(visit: Visitor, address: str, run_id: str):
    """Those of the pages and Streamlit's own, until they are switched on again; arrows and Esc still work."""
    place = address.replace("127.0.0.1", "localhost")  # a storage that no other test of pages reads
    window = visit(place, width=1280, height=720)
    page = window.open(f"/alpha_lab?run={run_id}&alpha=100")
    lab, screen = Lab(page).ready(), page.locator(".presented")
    present = page.get_by_role("button", name="Present", exact=True)
    page.get_by_text("Keyboard shortcuts", exact=True).click()
    single = page.get_by_role("checkbox", name="Single keys work")
    single.uncheck()
    expect(present).not_to_have_attribute("aria-keyshortcuts", "p")
    page.reload()
    lab.ready()

    def list_is_open() -> None:
        """A list that opens while the page is still drawn may be drawn again, closed."""
        if not single.is_visible():
            settled(page).get_by_text("Keyboard shortcuts", exact=True).click()
        expect(single).to_be_visible(timeout=OPENS_WITHIN_MS)

    eventually(page, list_is_open)
    expect(single).not_to_be_checked()
    page.get_by_role("heading", name="Alpha lab", exact=True).click()
    sent = len(settled(page) and window.messages)
    for key in ("p", "P", "r"):
        page.keyboard.press(key)
    single.focus()
    page.keyboard.press("r")
    present.click()
    expect(screen).to_be_visible()
    expect(page.locator(".presenter-keys")).to_have_text("← → alpha · Esc leaves")
    expect(page).to_have_url(re.compile("present=1"))
    assert len(window.messages) == sent + 1  # the view alone
    for key in ("p", "1", " "):
        page.keyboard.press(key)
    page.keyboard.press("ArrowRight")
    lab.expect_alpha(110)
    expect(page.locator("article[data-side=right]")).to_be_visible()
    page.keyboard.press("Escape")
    expect(screen).to_have_count(0)
    single.press("Space")
    expect(single).to_be_checked()
    page.keyboard.press("p")
    expect(screen).to_be_visible()
    expect(page.locator(".presenter-keys")).to_have_text(re.compile("space plays .*p or Esc leaves"))


def test_one_question_turns_to_the_next_and_shows_two_scores(visit: Visitor, address: str, run_id: str):
    page = presented(visit, address, f"/one_question?run={run_id}&alpha=100&present=1")
    both_themes(page)
    question = page.locator(".asked-question")
    first = question.inner_text()
    page.keyboard.press("ArrowRight")
    expect(question).not_to_have_text(first)
    fits(page)
    page.keyboard.press("PageUp")
    expect(question).to_have_text(first)
    page.keyboard.press("ArrowUp")
    expect(page.get_by_role("slider", name="alpha")).to_have_value("110")
    page.keyboard.press("3")
    expect(page.locator(".said .answer")).to_contain_text(["LAC: ", "APS: "])
    bars = {score: page.locator(f".presented .bar.{score}") for score in ("lac", "aps")}
    eventually(page, lambda: not bars["lac"].count() or bars["lac"].count() != bars["aps"].count())
    fits(page)
    expect(page.locator(".presenter-about")).to_have_text("projector · Question answering · LAC and APS")
    page.keyboard.press("2")
    expect(page.locator(".presenter-about")).to_have_text("projector · Question answering · APS")
    expect(page.locator(".by")).to_have_text("APS")
    expect(page).to_have_url(re.compile("shown=2"))
    page.reload()
    expect(page.locator(".presented .by")).to_have_text("APS")
    page.keyboard.press("p")
    expect(page.locator(".presented")).to_have_count(0)


def test_the_question_is_shown_once_however_it_is_presented(visit: Visitor, address: str, run_id: str):
    window = visit(address, width=1280, height=720)
    page = window.open(f"/one_question?run={run_id}&alpha=100")
    screen, question = page.locator(".presented"), page.get_by_test_id("stHeading").get_by_role("heading", level=3)
    text = question.filter(has_text="?").first.inner_text()
    shown = page.get_by_text(text, exact=True).filter(visible=True)
    expect(shown).to_have_count(1)
    expect(page).to_have_title(f"{text} · One question · Hedge")
    for enter in (page.get_by_role("button", name="Present", exact=True).click, lambda: page.keyboard.press("p")):
        enter()
        expect(screen.get_by_text(text, exact=True)).to_be_visible()
        expect(shown).to_have_count(1)
        page.keyboard.press("Escape")
        expect(screen).to_have_count(0)
        expect(shown).to_have_count(1)
    window.open(f"/one_question?run={run_id}&alpha=100&present=1")
    expect(screen.get_by_text(text, exact=True)).to_be_visible()
    expect(shown).to_have_count(1)
    page.keyboard.press("Escape")
    expect(screen).to_have_count(0)
    expect(shown).to_have_count(1)
    resize(page, 390, 844)
    window.open(f"/one_question?run={run_id}&alpha=100&present=1")
    expect(page.locator(".question .answer")).not_to_be_empty()
    expect(shown).to_have_count(1)


@pytest.mark.nightly
def test_the_stream_lab_fits_and_follows_the_keys(visit: Visitor, address: str):
    page = presented(visit, address, f"/stream_lab?run={showcase().run}&alpha=100&present=1")
    expect(page.locator(".tracks svg.chart")).to_have_count(3)
    both_themes(page)
    alpha = page.get_by_role("slider", name="alpha")
    for key, value in (("ArrowRight", "110"), ("ArrowDown", "100"), ("Shift+ArrowUp", "101"), (" ", "111")):
        page.keyboard.press(key)
        expect(alpha).to_have_value(value)
    expect(page).to_have_url(re.compile("alpha=111"))
    page.keyboard.press("Escape")
    expect(page.locator(".presented")).to_have_count(0)
    expect(page.get_by_role("button", name="Present", exact=True)).to_be_focused()
    expect(page).not_to_have_url(re.compile("present"))
    page.keyboard.press("p")
    expect(page.locator(".presented")).to_be_visible()
    expect(page).to_have_url(re.compile("present=1"))
    page.goto(f"{address}/stream_lab?run={showcase().run}&after=none&alpha=1&length=10000&present=1")
    expect(page.locator(".presented.unchanging")).to_be_visible()
    fits(settled(page))


@pytest.mark.parametrize("name", rest_nightly(["sets", "calibration", "juries", "asking"], now=["sets"]))
def test_each_step_of_a_lesson_fits(visit: Visitor, address: str, name: str):
    """Presented, with its question and with its answer, and the end; axe-core finds no grave fault in an answer."""
    page = presented(visit, address, f"/learn?lesson={name}&alpha=100&step=1&present=1")
    steps = lesson.load(lesson.LESSONS[name]).steps
    for place, step in enumerate(steps, start=1):
        expect(page.get_by_role("heading", name=step.title, exact=True)).to_be_visible()
        fits(page)
        page.keyboard.press("Enter")
        expect(page.locator(".answer")).to_be_visible()
        fits(page)
        if place == 2:
            accessible(settled(page))
        if place == 7:
            page.keyboard.press("1")
            expect(page.locator(".two-scores .scored.aps")).to_have_count(0)
            fits(page)
            page.keyboard.press("3")
        page.keyboard.press("ArrowRight")
        expect(page).to_have_url(re.compile(f"step={place + 1}"))
    expect(page.locator(".learned li").first).to_be_visible()
    fits(page)
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("heading", name=steps[-1].title, exact=True)).to_be_visible()
    page.keyboard.press("ArrowDown")
    expect(page.locator(".presented .alpha-now")).to_have_text("0.090" if moves_with_alpha(page) else "0.100")


def moves_with_alpha(page: Page) -> bool:
    return page.locator(".dial").is_visible()


@pytest.mark.nightly
@pytest.mark.parametrize("name", lesson.LESSONS)
def test_no_step_of_a_lesson_shuts_anybody_out(visit: Visitor, address: str, name: str):
    """axe-core finds no grave fault in the question as it stands on the page, nor in the presented answer."""
    page = visit(address, width=1280, height=720).open(f"/learn?lesson={name}&alpha=100&step=1")
    screen = page.locator(".presented")
    for place, step in enumerate(lesson.load(lesson.LESSONS[name]).steps, start=1):
        expect(page.get_by_role("heading", name=step.title, exact=True)).to_be_visible()
        accessible(settled(page))
        settled(page).keyboard.press("p")
        expect(screen).to_be_visible()
        page.keyboard.press("Enter")
        expect(page.locator(".answer")).to_be_visible()
        accessible(settled(page))
        page.keyboard.press("Escape")
        expect(screen).to_have_count(0)
        settled(page).keyboard.press("ArrowRight")
        expect(page).to_have_url(re.compile(f"step={place + 1}"))
    expect(page.locator(".learned li").first).to_be_visible()
    accessible(settled(page))
