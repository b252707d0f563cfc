"""One question under a person's hands: the line dragged, the keys pressed, a question of one's own asked."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from core.conformal.scores import SCORE_NAMES
from core.records import DONT_KNOW, NONE_OF_ABOVE, BoolArray
from core.reports import evaluation
from core.reports.one_question import OptionPValues, asked, bench, standings
from core.runs import store
from core.runs.answering import custom_question
from core.runs.spec import RunSpec
from tests.browser.conftest import (
    NOT_TOO_WIDE,
    AlphaControl,
    Visit,
    Visitor,
    eventually,
    holds,
    in_home,
    resize,
    settled,
    still,
)
from tests.conftest import classifier_run, synthetic_questions, synthetic_run

NASTY = (
    "<script>document.title='caught'</script><img src=x onerror=\"document.title='caught'\"> {{7*7}} &amp; <b>bold</b>"
)
NASTY_QUESTION = "Which city is the capital of <b>France</b><script>document.title='caught'</script>?"
ANSWERED = re.compile(r"answered in [\d,]+ ms\.?")
POCKET_RUN = RunSpec(model="pocket-1m", task="qa").run_id


def said(inside: list[str], k: int) -> str:
    """The answer of a set of short options, of k."""
    if not inside:
        return "Every option is ruled out"
    if len(inside) == k:
        return "No option can be ruled out"
    others = len(inside) - 4
    names = inside[:4] + (["1 other" if others == 1 else f"{others} others"] if others > 0 else [])
    listed = " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))
    return f"{'Only ' if len(inside) == 1 else ''}{listed} can’t be ruled out"


class Bars(AlphaControl):
    """The bars as a person reads them. ``options`` are the texts of the question's options."""

    def __init__(self, page: Page, options: tuple[str, ...]) -> None:
        super().__init__(page)
        self.options = options
        self.answer = page.locator(".answer")
        self.words = page.locator(".state .word")

    def ready(self) -> Bars:
        expect(self.answer).not_to_be_empty()
        return self

    def expect_set(self, standing: OptionPValues, *, empty: str = "allow") -> None:
        """All that is shown of the set is what Python counts at the alpha on the page."""
        inside = standing.members(self.thousandths(), empty=empty)
        expect(self.answer).to_have_text(self.said(inside))
        expect(self.words).to_have_text(["in" if is_in else "out" for is_in in inside])
        expect(self.page.locator(".plot")).to_have_class(["plot" if is_in else "plot out" for is_in in inside])

    def said(self, inside: BoolArray) -> str:
        """The answer if these options are in the set."""
        return said([self.options[j] for j in np.flatnonzero(inside)], len(inside))

    def line_at(self, letter_row: int, share: float) -> tuple[float, float]:
        """A point on the bars, ``share`` of the way from alpha 0 to 1."""
        box, row = still(self.page.locator(".overlay")), still(self.page.locator(".plot").nth(letter_row))
        return box["x"] + box["width"] * share, row["y"] + row["height"] / 2


@pytest.fixture(scope="session")
def runs(shared_home: Path) -> dict[str, str]:
    """Two runs of the same questions, and one of 26 long options with few calibration questions."""
    with in_home(shared_home):
        many = synthetic_run(16, model="many-long", k=26, seed=8)
        questions = [
            replace(q, options=tuple(f"a rather long option, number {j}, {'that goes on ' * 12}" for j in range(26)))
            for q in synthetic_questions(16, k=26, seed=8)
        ]
        store.write_questions(store.folder_of(many), questions, ["calibration"] * 8 + ["test"] * 8)
        return {
            "first": synthetic_run(200, model="first"),
            "second": synthetic_run(200, model="second", signal=3),
            "many": many,
        }


def options_of(question: str) -> tuple[str, ...]:
    """The options of a question that the runs share."""
    return synthetic_questions(200)[int(question[1:])].options


def standing_of(run_id: str, question: str, score: str = "lac") -> OptionPValues:
    run = evaluation.load(run_id)
    by = bench(run)
    row = run.ids.tolist().index(question)
    return next(standing for standing in standings(by, run.probabilities[row], place=row) if standing.name == score)


def test_alpha_is_dragged_typed_and_pressed_and_keys_turn_to_the_next_question(
    visit: Visitor, address: str, runs: dict[str, str]
):
    """One visit: the bars show what Python counts all the time."""
    run_id = runs["first"]
    window = visit(address)
    page = window.open(f"/one_question?run={run_id}&question=q130&alpha=100")
    bars = Bars(page, options_of("q130")).ready()
    expect(page.get_by_text(re.compile(r"The same question in \d other run"))).to_be_visible()
    keys_move_alpha(page, bars, standing_of(run_id, "q130"))
    the_link_reopens_another_score(page, bars, run_id)
    arrow_keys_turn_to_the_next_question(page, bars, run_id)
    a_drag_sends_nothing_until_release(window, bars, standing_of(run_id, "q131"))
    an_option_leaves_just_where_its_bar_ends(page, bars, standing_of(run_id, "q131"))
    bars.type("0.888")
    bars.refuse_nonsense(888)
    everything_fits(page, bars)


def keys_move_alpha(page: Page, bars: Bars, standing: OptionPValues) -> None:
    bars.move_by_keys(lambda: bars.expect_set(standing))
    answer = bars.said(standing.members(31))
    expect(bars.alpha).to_have_attribute("aria-valuetext", f"0.031, {answer}")
    expect(page.locator(".summary").first).to_contain_text(f"At alpha 0.031 by LAC: {answer}.")


def the_link_reopens_another_score(page: Page, bars: Bars, run_id: str) -> None:
    """It is chosen by keyboard; the browser's way back leads to the one before."""
    expect(page).to_have_url(re.compile("alpha=31"))
    for _ in range(12):  # past the explained words, on to the scores
        page.keyboard.press("Tab")
        if page.locator(".scores-table input:focus").count():  # the focus moves within the key's event
            break
    page.keyboard.press("ArrowDown")
    bars.expect_set(standing_of(run_id, "q130", "aps"))
    expect(page).to_have_url(re.compile(r"alpha=31.*bars=aps"))
    page.reload()
    bars.ready().expect_alpha(31)
    bars.expect_set(standing_of(run_id, "q130", "aps"))
    page.go_back()
    bars.expect_alpha(31)
    expect(page.locator(".by")).to_have_text("LAC")
    bars.expect_set(standing_of(run_id, "q130"))


def arrow_keys_turn_to_the_next_question(page: Page, bars: Bars, run_id: str) -> None:
    """Unless they move alpha."""
    settled(page).keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile("question=q131&alpha=31"))
    bars.options = options_of("q131")
    bars.expect_set(standing_of(run_id, "q131"))
    bars.alpha.press("ArrowRight")
    bars.expect_alpha(32)
    expect(page).to_have_url(re.compile("question=q131&alpha=32"))
    bars.alpha.blur()
    page.keyboard.press("ArrowLeft")
    expect(page).to_have_url(re.compile("question=q130&alpha=32"))
    expect(page.locator(".meaning")).to_contain_text("at least 96.8% of the sets at this alpha")
    settled(page).keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile("question=q131&alpha=32"))
    bars.expect_set(standing_of(run_id, "q131"))


def a_drag_sends_nothing_until_release(window: Visit, bars: Bars, standing: OptionPValues) -> None:
    """The line is dragged over the bars."""
    page = window.page
    settled(page).wait_for_load_state("networkidle")
    sent = len(window.messages)
    page.mouse.move(*bars.line_at(2, 0.03))
    page.mouse.down()
    box, middle = still(page.locator(".overlay")), bars.line_at(2, 0.5)[1]
    sets = set()
    for share in (0.1, 0.35, 0.7, 0.9):
        page.mouse.move(box["x"] + box["width"] * share, middle, steps=5)
        eventually(page, lambda share=share: abs(bars.thousandths() - 1000 * share) > 5)
        expect(bars.number).to_have_value(f"{bars.thousandths() / 1000:g}")
        bars.expect_set(standing)
        sets.add(bars.answer.inner_text())
    assert len(sets) >= 3
    assert len(window.messages) == sent
    page.mouse.up()
    expect(page).to_have_url(re.compile(rf"alpha={bars.thousandths()}"))
    assert len(window.messages) > sent
    bars.expect_set(standing)


def an_option_leaves_just_where_its_bar_ends(page: Page, bars: Bars, standing: OptionPValues) -> None:
    places = [place for place, leaves in enumerate(standing.leaves.tolist()) if 2 < leaves < 999]
    plot = still(page.locator(".overlay"))
    assert len(places) >= 2
    for place in places[:2]:
        leaves = int(standing.leaves[place])
        bars.type(f"{(leaves - 1) / 1000:.3f}")
        word = bars.words.nth(place)
        expect(word).to_have_text("in")
        bars.alpha.press("ArrowRight")
        bars.expect_alpha(leaves)
        expect(word).to_have_text("out")
        expect(page.locator(".state .leaves").nth(place)).to_have_text(f"leaves at {leaves / 1000:.3f}")
        end, line = still(page.locator(".plot .end").nth(place)), still(page.locator(".lines .now"))
        assert abs(end["x"] - line["x"]) < 4 + plot["width"] / 998


def everything_fits(page: Page, bars: Bars) -> None:
    """Nothing is wider than the window or its place; on a phone, a row of the table takes several lines."""

    def expect_fits(host: Locator) -> None:
        eventually(page, lambda: host.evaluate("host => host.scrollWidth > host.clientWidth"))

    table = page.locator(".scores-table")
    for width in (900, 1600, 390):
        resize(page, width)
        holds(page, NOT_TOO_WIDE)
        expect_fits(page.locator(".question").first)
        expect_fits(table)
    last = table.locator("tbody tr").first.locator(".chip").last
    eventually(page, lambda: last.evaluate("chip => chip.getBoundingClientRect().right > innerWidth"))
    expect_fits(page.get_by_test_id("stMain"))
    expect_fits(bars.number)


def test_every_score_and_every_run_move_with_the_line(visit: Visitor, address: str, runs: dict[str, str]):
    first, second = runs["first"], runs["second"]
    page = visit(address).open(f"/one_question?run={first}&question=q105&alpha=100")
    bars = Bars(page, options_of("q105")).ready()
    settled(page).get_by_text("The same question in 1 other run").click()
    scores = page.locator(".scores-table tbody tr")
    others = page.locator(".runs-table tbody tr")
    expect(scores).to_have_count(len(SCORE_NAMES))
    expect(others).to_have_count(2)
    run = evaluation.load(first)
    by = bench(run)
    place = run.ids.tolist().index("q105")
    expected = standings(by, run.probabilities[place], place=place)
    for alpha in (400, 50):
        bars.type(f"{alpha / 1000}")
        bars.expect_alpha(alpha)
        for row, standing in enumerate(expected):
            threshold = by.scores[standing.name].thresholds()[alpha - 1]
            expect_row(scores.nth(row), standing, alpha)
            expect(scores.nth(row).locator("td").nth(7)).to_have_text(threshold_text(threshold))
        expect_row(others.nth(0), standing_of(first, "q105"), alpha)
        expect_row(others.nth(1), standing_of(second, "q105"), alpha)
    page.get_by_role("radio", name="Margin").check()
    bars.expect_set(standing_of(first, "q105", "margin"))
    expect_row(others.nth(1), standing_of(second, "q105", "margin"), 50)
    settled(page).get_by_role("link", name=re.compile("^second")).click()
    expect(page).to_have_url(re.compile(f"run={second}(?=.*question=q105)(?=.*alpha=50)(?=.*bars=margin)"))
    bars.expect_set(standing_of(second, "q105", "margin"))
    bars.alpha.press("End")
    what_is_changed_while_another_run_comes_is_kept(page, bars, first)


def threshold_text(threshold: float) -> str:
    if np.isinf(threshold):
        return "none"
    return f"{threshold:.4f}" if threshold % 1 or threshold <= 1 else f"{threshold:.0f}"


def what_is_changed_while_another_run_comes_is_kept(page: Page, bars: Bars, other: str) -> None:
    expect(page).to_have_url(re.compile("alpha=999"))
    link = settled(page).get_by_role("link", name=re.compile("^first")).element_handle()
    page.get_by_text("More", exact=True).click()
    policy = page.get_by_label("take the top option").element_handle()
    # Both in one turn of the browser, so that nothing of the other run can have come between them.
    page.evaluate("([link, choice]) => { link.click(); choice.click(); }", [link, policy])
    expect(page).to_have_url(re.compile(f"run={other}.*alpha=999.*empty=top1"))
    expect(page.get_by_label("take the top option")).to_be_checked()
    bars.expect_set(standing_of(other, "q105", "margin"), empty="top1")


def expect_row(row: Locator, standing: OptionPValues, alpha: int) -> None:
    inside = standing.members(alpha)
    names = " or ".join(option for option, is_in in zip(options_of("q105"), inside, strict=True) if is_in)
    short = 1 <= inside.sum() <= 2
    expect(row.locator(".set span").first).to_have_text(names if short else f"{inside.sum()} of 6 options")
    expect(row.locator(".chance .unseen")).to_have_text(["in" if is_in else "out" for is_in in inside])


def test_few_calibration_questions_are_explained_and_26_long_options_stay_in_their_rows(
    visit: Visitor, address: str, runs: dict[str, str]
):
    page = visit(address, width=900).open(f"/one_question?run={runs['many']}&alpha=100")
    bars = Bars(page, ()).ready()
    notice = page.locator(".notice")
    expect(notice).to_have_text(re.compile("With 8 calibration questions, alpha can't be smaller than 0.112"))
    expect(bars.words).to_have_text(["in"] * 26)
    eventually(page, lambda: page.locator(".chart").evaluate("chart => chart.scrollWidth > chart.clientWidth"))
    bars.type("0.112")
    expect(notice).to_be_hidden()


def type_question(page: Page, question: str, options: str) -> None:
    page.get_by_role("textbox", name="Question", exact=True).fill(question)
    page.get_by_role("textbox", name=re.compile("^Options")).fill(options)
    page.get_by_role("button", name="Ask", exact=True).click()


def test_a_question_of_ones_own_is_refused_then_answered_by_the_pocket_model(visit: Visitor, pocket: str):
    page = visit(pocket).open(f"/one_question?run={POCKET_RUN}")
    Bars(page, ()).ready()
    settled(page).get_by_text("Ask your own", exact=True).click()
    what_can_not_be_asked_is_said_and_stays_typed(page)
    type_question(page, NASTY_QUESTION, f"Paris\nLondon\n{NASTY}\nBerlin")
    expect(page.get_by_text(ANSWERED)).to_be_visible(timeout=120_000)
    closing = (DONT_KNOW, NONE_OF_ABOVE)
    bars = Bars(page, ("Paris", "London", "C (<script>document.title='caught'</script>…)", "Berlin", *closing)).ready()
    expect(page).to_have_url(re.compile("answer="))
    first = answer_in_link(page)
    bars.expect_set(own_set(first))
    bars.alpha.press("PageUp")
    bars.expect_alpha(110)
    expect(page).to_have_url(re.compile("alpha=110"))  # the report is in, and no rerun crosses the next click
    bars.expect_set(own_set(first))
    expect(page.locator(".option .text").nth(2)).to_have_text(NASTY)
    expect(page.get_by_role("heading", name="Which city")).to_contain_text("<b>France</b>")
    expect(page.locator(".verdict")).not_to_contain_text("truth")
    expect(page).not_to_have_title("caught")
    # The next question finds the model warm; what was typed is still there to be changed.
    question = page.get_by_role("textbox", name="Question", exact=True)
    options = page.get_by_role("textbox", name=re.compile("^Options"))
    italy = page.get_by_role("heading", name="Which city is the capital of Italy?")
    expect(question).to_have_value(NASTY_QUESTION)
    settled(page)
    question.fill("Which city is the capital of Italy?")
    options.fill("Paris\nLondon\nRome\nBerlin")
    options.press("Control+Enter")
    expect(italy).to_be_visible()
    expect(page.get_by_text(ANSWERED)).to_be_visible()
    expect(page).not_to_have_url(re.compile(first))
    second = answer_in_link(settled(page))
    bars.options = ("Paris", "London", "Rome", "Berlin", *closing)
    bars.expect_set(own_set(second))
    # A reload shows the same answer.
    page.reload()
    expect(italy).to_be_visible()
    bars.ready().expect_set(own_set(second))
    expect(options).to_have_value("Paris\nLondon\nRome\nBerlin")


def answer_in_link(page: Page) -> str:
    match = re.search(r"answer=([0-9a-f]{16})", page.url)
    assert match is not None
    return match[1]


def own_set(answer: str) -> OptionPValues:
    """Python's figures for an answer, by LAC."""
    _, own = asked(bench(evaluation.load(POCKET_RUN)), custom_question.read_answer(answer).logits)
    return own[0]


def what_can_not_be_asked_is_said_and_stays_typed(page: Page) -> None:
    """Also on the way to a run's question and back, to the run that calibrates the own one."""
    type_question(page, "What?", "\n".join(f"option {i}" for i in range(27)))
    expect(page.get_by_role("alert")).to_contain_text(
        "A question can have at most 10 options, and there are 27; remove 17."
    )
    question = page.get_by_role("textbox", name="Question", exact=True)
    expect(question).to_have_value("What?")
    settled(page).get_by_text("A test question of a run", exact=True).click()
    Bars(page, ()).ready()
    settled(page).get_by_text("Ask your own", exact=True).click()
    expect(question).to_have_value("What?")
    type_question(page, "What is " + "x" * 100_000, "a\nb")
    alert = page.get_by_role("alert").filter(has_text="but at most 10,000 are allowed; shorten it.")
    expect(alert).to_be_visible()  # the alert before it may still be fading


def test_a_hundred_classes(visit: Visitor, address: str):
    """The most probable ones are shown by their names, all on demand, and a long set ends with the number of others."""
    names = [f"the family of species number {j}" for j in range(100)]
    window = visit(address)
    page = window.open(f"/one_question?run={classifier_run(names, 400)}&alpha=5")
    bars = Bars(page, ()).ready()
    expect(bars.answer).to_have_text(re.compile(r"^the family of…number \d+, .* or \d+ others can’t be ruled out$"))
    rows = page.locator(".chart .option")
    expect(rows).to_have_count(12)
    page.get_by_role("button", name="Show all 100 options").click()
    expect(rows).to_have_count(100)
    expect(rows.first.locator(".text")).to_have_text("the family of species number 0")
    page.get_by_role("button", name="most probable options").click()
    expect(rows).to_have_count(12)
    for width in (1440, 390):
        resize(page, width)
        holds(page, NOT_TOO_WIDE)
    assert not window.errors
