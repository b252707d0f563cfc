"""One question under a person's hands: the line dragged, the keys pressed, a question of one's own asked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from core.answering import custom_question
from core.conformal.scores import SCORE_NAMES
from core.records import LETTERS
from core.reports import evaluation
from core.reports.one_question import OptionPValues, asked, bench, standings
from core.runs import store
from core.runs.spec import RunSpec
from tests.browser.conftest import NOT_TOO_WIDE, Visitor, eventually, holds, resize, server, settled, still
from tests.conftest import synthetic_questions, synthetic_run

NASTY = (
    "<script>document.title='caught'</script><img src=x onerror=\"document.title='caught'\"> {{7*7}} &amp; <b>bold</b>"
)
POCKET_RUN = RunSpec(model="pocket-1m", task="qa").run_id


class Bars:
    """The bars as a person reads them."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.alpha = page.get_by_role("slider", name="alpha")
        self.number = page.get_by_role("spinbutton", name="alpha as a number")
        self.answer = page.locator(".answer")
        self.words = page.locator(".state .word")

    def ready(self) -> Bars:
        expect(self.answer).not_to_be_empty()
        return self

    def thousandths(self) -> int:
        return int(self.alpha.input_value())

    def expect_alpha(self, alpha: int) -> None:
        expect(self.alpha).to_have_value(str(alpha))
        expect(self.number).to_have_value(f"{alpha / 1000:g}")

    def expect_set(self, one: OptionPValues, *, empty: str = "allow") -> None:
        """All that is shown of the set is what Python counts at the alpha on the page."""
        inside = one.members(self.thousandths(), empty=empty)
        kept = [LETTERS[j] for j in np.flatnonzero(inside)]
        expect(self.answer).to_have_text(f"{{{', '.join(kept)}}}" if kept else "{ }")
        expect(self.words).to_have_text(["in" if is_in else "out" for is_in in inside])
        expect(self.page.locator(".plot")).to_have_class(["plot" if is_in else "plot out" for is_in in inside])

    def line_at(self, letter_row: int, share: float) -> tuple[float, float]:
        """A point on the bars, ``share`` of the way from alpha 0 to 1."""
        box, row = still(self.page.locator(".overlay")), still(self.page.locator(".plot").nth(letter_row))
        return box["x"] + box["width"] * share, row["y"] + row["height"] / 2


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Two runs of the same questions, one with nasty texts, one of 26 long options."""
    folder = tmp_path_factory.mktemp("question") / "home"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEDGE_HOME", str(folder))
        synthetic_run(200, model="first")
        synthetic_run(200, model="second", signal=3)
        synthetic_run(16, model="few", seed=7)
        nasty = synthetic_run(40, model="nasty", seed=9)
        questions = [
            replace(q, question=NASTY, options=(NASTY, "plain *text*", *q.options[2:]))
            for q in synthetic_questions(40, seed=9)
        ]
        store.write_questions(store.folder_of(nasty), questions, ["calibration"] * 20 + ["test"] * 20)
        many = synthetic_run(60, model="many", k=26, seed=8)
        questions = [
            replace(q, options=tuple(f"a rather long option, number {j}, {'that goes on ' * 12}" for j in range(26)))
            for q in synthetic_questions(60, k=26, seed=8)
        ]
        store.write_questions(store.folder_of(many), questions, ["calibration"] * 30 + ["test"] * 30)
        yield folder


@pytest.fixture(scope="module")
def address(home: Path) -> Iterator[str]:
    with server(home, agent=False, answers=True) as url:
        yield url


def run_of(model: str) -> str:
    return next(name for name in store.run_ids() if name.startswith(f"{model}-"))


def standing_of(run_id: str, question: str, score: str = "lac") -> OptionPValues:
    run = evaluation.load(run_id)
    by = bench(run)
    row = by.rows[question]
    return next(one for one in standings(by, run.probabilities[row], place=row) if one.name == score)


def test_the_line_is_dragged_over_the_bars_and_nothing_is_sent_until_release(visit: Visitor, address: str):
    run_id = run_of("first")
    one = standing_of(run_id, "q120")
    window = visit(address)
    page = window.open(f"/one_question?run={run_id}&question=q120&alpha=10")
    bars = Bars(page).ready()
    expect(page.get_by_text("The same question in other runs")).to_be_visible()
    bars.expect_set(one)
    settled(page).wait_for_load_state("networkidle")
    sent = len(window.messages)
    page.mouse.move(*bars.line_at(2, 0.01))
    page.mouse.down()
    sets = set()
    for share in (0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9):
        page.mouse.move(*bars.line_at(2, share), steps=5)
        eventually(page, lambda share=share: abs(bars.thousandths() - 1000 * share) > 5)
        expect(bars.number).to_have_value(f"{bars.thousandths() / 1000:g}")
        bars.expect_set(one)
        sets.add(bars.answer.inner_text())
    assert len(sets) >= 3
    assert len(window.messages) == sent
    page.mouse.up()
    expect(page).to_have_url(re.compile(rf"alpha={bars.thousandths()}"))
    assert len(window.messages) > sent
    bars.expect_set(one)


def test_an_option_leaves_just_where_its_bar_ends(visit: Visitor, address: str):
    run_id = run_of("first")
    one = standing_of(run_id, "q121")
    page = visit(address).open(f"/one_question?run={run_id}&question=q121&alpha=100")
    bars = Bars(page).ready()
    for place, leaves in enumerate(one.leaves.tolist()):
        if not 2 < leaves < 999:
            continue
        bars.number.fill(f"{(leaves - 1) / 1000:.3f}")
        bars.number.press("Enter")
        word = bars.words.nth(place)
        expect(word).to_have_text("in")
        bars.alpha.press("ArrowRight")
        bars.expect_alpha(leaves)
        expect(word).to_have_text("out")
        expect(page.locator(".state .leaves").nth(place)).to_have_text(f"leaves at {leaves / 1000:.3f}")
        end, line = still(page.locator(".plot .end").nth(place)), still(page.locator(".lines .now"))
        plot = still(page.locator(".overlay"))
        assert abs(end["x"] - line["x"]) < 4 + plot["width"] / 998


def test_the_keyboard_alone_does_it_and_the_link_reopens_it(visit: Visitor, address: str):
    run_id = run_of("first")
    page = visit(address).open(f"/one_question?run={run_id}&question=q130&alpha=100")
    bars = Bars(page).ready()
    for _ in range(40):
        page.keyboard.press("Tab")
        if bars.alpha.evaluate("slider => slider.getRootNode().activeElement === slider"):
            break
    for key, alpha in (("ArrowRight", 101), ("ArrowLeft", 100), ("PageUp", 110), ("PageDown", 100), ("End", 999)):
        page.keyboard.press(key)
        bars.expect_alpha(alpha)
        bars.expect_set(standing_of(run_id, "q130"))
    page.keyboard.press("Home")
    bars.expect_alpha(1)
    for _ in range(3):
        page.keyboard.press("PageUp")
    bars.expect_alpha(31)
    one = standing_of(run_id, "q130")
    kept = ", ".join(LETTERS[j] for j in np.flatnonzero(one.members(31)))
    expect(bars.alpha).to_have_attribute("aria-valuetext", f"0.031, set {kept}")
    expect(page.locator(".summary").first).to_contain_text(f"At alpha 0.031 the LAC set is {kept}")
    for _ in range(12):  # past the explained words, on to the scores
        page.keyboard.press("Tab")
        if page.locator(".scores-table input:focus").count():  # the focus moves within the key's event
            break
    page.keyboard.press("ArrowDown")
    bars.expect_set(standing_of(run_id, "q130", "aps"))
    expect(page).to_have_url(re.compile(r"alpha=31.*bars=aps"))
    again = Bars(visit(address).open(page.url.removeprefix(address))).ready()
    again.expect_alpha(31)
    again.expect_set(standing_of(run_id, "q130", "aps"))
    page.bring_to_front()
    page.go_back()
    bars.expect_alpha(31)
    expect(bars.page.locator(".by")).to_have_text("LAC")


def test_arrow_keys_go_to_the_next_question_unless_they_move_alpha(visit: Visitor, address: str):
    run_id = run_of("first")
    page = visit(address).open(f"/one_question?run={run_id}&question=q130&alpha=100")
    bars = Bars(page).ready()
    bars.expect_set(standing_of(run_id, "q130"))
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile("question=q131"))
    bars.expect_set(standing_of(run_id, "q131"))
    bars.alpha.press("ArrowRight")
    bars.expect_alpha(101)
    expect(page).to_have_url(re.compile("question=q131&alpha=101"))
    bars.alpha.blur()
    page.keyboard.press("ArrowLeft")
    expect(page).to_have_url(re.compile("question=q130&alpha=101"))
    expect(page.locator(".meaning")).to_contain_text("at least 89.9% of the sets at this alpha")


def test_every_score_and_every_run_move_with_the_line(visit: Visitor, address: str):
    first, second = run_of("first"), run_of("second")
    page = visit(address).open(f"/one_question?run={first}&question=q150&alpha=100")
    bars = Bars(page).ready()
    scores = page.locator(".scores-table tbody tr")
    runs = page.locator(".runs-table tbody tr")
    expect(scores).to_have_count(len(SCORE_NAMES))
    expect(runs).to_have_count(2)
    run = evaluation.load(first)
    by = bench(run)
    found = standings(by, run.probabilities[by.rows["q150"]], place=by.rows["q150"])
    for alpha in (100, 400, 50):
        bars.number.fill(f"{alpha / 1000}")
        bars.number.press("Enter")
        bars.expect_alpha(alpha)
        for row, one in enumerate(found):
            expect_row(scores.nth(row), one, alpha)
            threshold = by.scores[one.name].thresholds()[alpha - 1]
            shown = f"{threshold:.4f}" if threshold % 1 or threshold <= 1 else f"{threshold:.0f}"
            shown = "none" if np.isinf(threshold) else shown
            expect(scores.nth(row).locator("td").nth(7)).to_have_text(shown)
        expect_row(runs.nth(0), standing_of(first, "q150"), alpha)
        expect_row(runs.nth(1), standing_of(second, "q150"), alpha)
    page.get_by_role("radio", name="Margin").check()
    bars.expect_set(standing_of(first, "q150", "margin"))
    expect_row(runs.nth(1), standing_of(second, "q150", "margin"), 50)
    page.get_by_role("link", name=re.compile("^second")).click()
    expect(page).to_have_url(re.compile(f"run={second}(?=.*question=q150)(?=.*alpha=50)(?=.*bars=margin)"))
    bars.expect_set(standing_of(second, "q150", "margin"))
    page.get_by_label("take the top option").check()
    bars.alpha.press("End")
    bars.expect_set(standing_of(second, "q150", "margin"), empty="top1")
    expect(page).to_have_url(re.compile("empty=top1"))


def test_what_is_changed_while_another_run_comes_is_kept(visit: Visitor, address: str):
    first, second = run_of("first"), run_of("second")
    page = visit(address).open(f"/one_question?run={first}&question=q150&alpha=990")
    bars = Bars(page).ready()
    other = page.get_by_role("link", name=re.compile("^second")).element_handle()
    policy = page.get_by_label("take the top option").element_handle()
    # Both in one turn of the browser, so that nothing of the other run can have come between them.
    page.evaluate("([link, choice]) => { link.click(); choice.click(); }", [other, policy])
    expect(page).to_have_url(re.compile(f"run={second}.*alpha=990.*empty=top1"))
    expect(page.get_by_label("take the top option")).to_be_checked()
    bars.expect_set(standing_of(second, "q150"), empty="top1")


def expect_row(row: Locator, one: OptionPValues, alpha: int) -> None:
    inside = one.members(alpha)
    kept = ", ".join(LETTERS[j] for j in np.flatnonzero(inside))
    expect(row.locator(".set span").first).to_have_text(f"{{{kept}}}" if kept else "{ }")
    expect(row.locator(".chance .unseen")).to_have_text(["in" if is_in else "out" for is_in in inside])


def test_few_calibrated_questions_are_explained(visit: Visitor, address: str):
    page = visit(address).open(f"/one_question?run={run_of('few')}&alpha=100")
    bars = Bars(page).ready()
    notice = page.locator(".notice")
    expect(notice).to_have_text(re.compile("With 8 calibration questions, alpha can't be smaller than 0.112"))
    expect(bars.words).to_have_text(["in"] * 6)
    bars.number.fill("0.112")
    bars.number.press("Enter")
    expect(notice).to_be_hidden()


def test_markup_in_an_option_is_text(visit: Visitor, address: str):
    page = visit(address).open(f"/one_question?run={run_of('nasty')}")
    Bars(page).ready()
    expect(page.locator(".option .text").first).to_contain_text(NASTY)
    expect(page.locator(".option .text").nth(1)).to_contain_text("plain *text*")
    assert page.locator("img[src=x]").count() == 0
    assert page.title() != "caught"


def test_nonsense_in_the_number_box_is_said_and_undone(visit: Visitor, address: str):
    page = visit(address).open(f"/one_question?run={run_of('first')}&alpha=100")
    bars = Bars(page).ready()
    for nonsense in ("1.5", "0", "-1", ""):
        bars.number.fill(nonsense)
        bars.number.press("Enter")
        bars.number.blur()
        expect(page.get_by_text("alpha must be between 0.001 and 0.999")).to_be_visible()
        bars.expect_alpha(100)


def test_nothing_is_wider_than_the_window_or_its_place(visit: Visitor, address: str):
    page = visit(address).open(f"/one_question?run={run_of('first')}&alpha=888")
    bars = Bars(page).ready()
    bars.expect_alpha(888)

    def expect_fits(host: Locator) -> None:
        eventually(page, lambda: host.evaluate("host => host.scrollWidth > host.clientWidth"))

    table = page.locator(".scores-table")
    for width in (900, 1600, 390):  # on a phone, a row of the table takes several lines
        resize(page, width)
        holds(page, NOT_TOO_WIDE)
        expect_fits(page.locator(".question").first)
        expect_fits(table)
    last = table.locator("tbody tr").first.locator(".chip").last
    eventually(page, lambda: last.evaluate("chip => chip.getBoundingClientRect().right > innerWidth"))
    expect_fits(page.get_by_test_id("stMain"))
    expect_fits(bars.number)


def test_twenty_six_long_options_stay_in_their_rows(visit: Visitor, address: str):
    page = visit(address, width=900).open(f"/one_question?run={run_of('many')}&alpha=300")
    bars = Bars(page).ready()
    expect(bars.words).to_have_count(26)
    eventually(page, lambda: page.locator(".chart").evaluate("chart => chart.scrollWidth > chart.clientWidth"))
    bars.alpha.press("PageUp")
    bars.expect_alpha(310)


def type_question(page: Page, question: str, options: str) -> None:
    page.get_by_role("textbox", name="Question", exact=True).fill(question)
    page.get_by_role("textbox", name=re.compile("^Options")).fill(options)
    page.get_by_role("button", name="Ask", exact=True).click()


def test_a_question_of_ones_own_is_answered_by_the_pocket_model(visit: Visitor, address: str, home: Path):
    window = visit(address)
    page = window.open(f"/one_question?run={POCKET_RUN}")
    Bars(page).ready()
    page.get_by_text("Ask your own", exact=True).click()
    nasty = "Which city is the capital of <b>France</b><script>document.title='caught'</script>?"
    type_question(page, nasty, f"Paris\nLondon\n{NASTY}\nBerlin")
    expect(page.get_by_text(re.compile(r"answered in [\d,]+ ms"))).to_be_visible(timeout=120_000)
    bars = Bars(page).ready()
    expect(page).to_have_url(re.compile("answer="))
    found = re.search(r"answer=([0-9a-f]{16})", page.url)
    assert found is not None
    answer = custom_question.read_answer(found[1])
    by = bench(evaluation.load(POCKET_RUN))
    _, own = asked(by, answer.logits)
    bars.expect_set(own[0])
    bars.alpha.press("PageUp")
    bars.expect_alpha(110)
    expect(page).to_have_url(re.compile("alpha=110"))  # the report is in, and no rerun crosses the next click
    bars.expect_set(own[0])
    expect(page.locator(".option .text").nth(2)).to_have_text(NASTY)
    expect(page.get_by_role("heading", name="Which city")).to_contain_text("<b>France</b>")
    expect(page.locator(".verdict")).not_to_contain_text("truth")
    assert page.title() != "caught"
    # The next question finds the model warm; what was typed is still there to be changed.
    expect(page.get_by_role("textbox", name="Question", exact=True)).to_have_value(nasty)
    page.get_by_role("textbox", name="Question", exact=True).fill("Which city is the capital of Italy?")
    options = page.get_by_role("textbox", name=re.compile("^Options"))
    options.fill("Paris\nLondon\nRome\nBerlin")
    options.press("Control+Enter")
    expect(page.get_by_role("heading", name="Which city is the capital of Italy?")).to_be_visible()
    expect(page.get_by_text(re.compile(r"answered in [\d,]+ ms\."))).to_be_visible()
    # A reload and another window show the same answer.
    other = visit(address).open(page.url.removeprefix(address))
    expect(other.get_by_role("heading", name="Which city is the capital of Italy?")).to_be_visible()
    shown = Bars(other).ready().answer
    eventually(other, lambda: shown.inner_text() != bars.answer.inner_text())
    expect(other.get_by_role("textbox", name=re.compile("^Options"))).to_have_value("Paris\nLondon\nRome\nBerlin")
    # The first question is one click away.
    page.bring_to_front()
    page.get_by_role("button", name="Which city is the capital of <b>France</b>").click()
    expect(page).to_have_url(re.compile(f"answer={found[1]}"))
    bars.expect_set(own[0])


def test_what_can_not_be_asked_is_said_and_nothing_typed_is_lost(visit: Visitor, address: str):
    page = visit(address).open("/one_question?ask=own")
    type_question(page, "What?", "\n".join(f"option {i}" for i in range(27)))
    expect(page.get_by_role("alert")).to_contain_text(
        "A question can have at most 10 options, and there are 27; remove 17."
    )
    expect(page.get_by_role("textbox", name="Question", exact=True)).to_have_value("What?")
    page.get_by_text("A test question of a run", exact=True).click()
    Bars(page).ready()
    page.get_by_text("Ask your own", exact=True).click()
    expect(page.get_by_role("textbox", name="Question", exact=True)).to_have_value("What?")
    type_question(page, "What is " + "x" * 100_000, "a\nb")
    said = page.get_by_role("alert").filter(has_text="but at most 10,000 are allowed; shorten it.")
    expect(said).to_be_visible()  # the alert before it may still be fading
