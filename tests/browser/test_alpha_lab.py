"""The alpha lab under a person's hands, on synthetic runs."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from core.conformal.scores import SCORE_NAMES, score, true_scores
from core.records import OptionLogits
from core.reports import evaluation
from core.reports.alpha_lab import view as views
from core.reports.alpha_lab.covariate_shift import shifted, side
from core.reports.alpha_lab.view import SplitView as Look
from core.reports.report import report
from core.reports.scored_sets import form
from core.runs import store
from tests.browser.conftest import (
    NONSENSE,
    Lab,
    Visit,
    Visitor,
    choose_page,
    eventually,
    in_home,
    resize,
    script_ended,
    settled,
    still,
)
from tests.conftest import synthetic_run
from tests.reference.redraw import redraw


@pytest.fixture(scope="session")
def runs(shared_home: Path) -> dict[str, str]:
    """Runs by what is special about them."""
    with in_home(shared_home):
        return {
            "plain": synthetic_run(400, model="plain", seed=1),
            "few": synthetic_run(10, model="few"),
            "two": synthetic_run(60, k=2, model="two-options"),
            "many": synthetic_run(60, k=26, model="26-options"),
            "saturated": saturated_run(),
            "certain": certain_run(),
        }


def saturated_run() -> str:
    """A run whose E and F have almost no probability, and whose truth is often the last of the others."""
    run_id = synthetic_run(240, model="saturated", signal=0.0)
    scored = store.read_logits(run_id)
    logits = scored.logits.copy()
    logits[:, 4:] -= 30
    store.write_logits(store.folder_of(run_id), OptionLogits(scored.ids, logits, scored.letter_mass))
    return run_id


def certain_run() -> str:
    """A run that gives all but one of its options almost no probability, E and F no less than the others."""
    run_id = synthetic_run(240, model="certain", signal=2.0)
    scored = store.read_logits(run_id)
    store.write_logits(store.folder_of(run_id), OptionLogits(scored.ids, 4 * scored.logits, scored.letter_mass))
    return run_id


def type_alpha(lab: Lab, alpha: int) -> None:
    lab.type(f"{alpha / 1000:g}")
    lab.expect_alpha(alpha)


def test_the_tables_are_asked_for_once_and_sent_by_the_page_if_their_file_is_gone(
    visit: Visitor, address: str, shared_home: Path
):
    with in_home(shared_home):
        run_id = synthetic_run(2_000, model="large")
    link = f"/alpha_lab?run={run_id}&alpha=100"
    window = visit(address)
    asked: list[str] = []
    window.page.on("response", lambda got: asked.append(got.url) if "/tables/" in got.url else None)
    Lab(window.open(link)).ready().expect_report(run_id)
    settled(window.page)
    assert len(asked) == len(set(asked)) == 2
    again = visit(address)
    again.page.route("**/tables/*", lambda route: route.fulfill(status=404))
    Lab(again.open(link)).ready().expect_report(run_id)
    again.errors.clear()  # the browser says that it got 404, as it should


def test_alpha_is_pressed_dragged_and_typed(visit: Visitor, address: str, runs: dict[str, str]):
    """One visit, with a shift between two subjects open below: every figure follows."""
    window = visit(address)
    page = window.open(f"/alpha_lab?run={runs['plain']}&alpha=100&source=sums&target=colours")
    lab = Lab(settled(page)).ready()
    keys_move_alpha(page, lab, runs["plain"])
    empty_sets_take_the_top_option(page, lab, runs["plain"])
    a_drag_sends_nothing_until_release(window, lab, runs["plain"])
    nonsense_is_said_and_undone(page, lab)
    alpha_goes_back_and_forth(page, lab)
    everything_fits(page, lab)
    colours_follow_the_theme(page, lab)


def keys_move_alpha(page: Page, lab: Lab, run_id: str) -> None:
    lab.move_by_keys()
    lab.expect_report(run_id)
    expect(lab.alpha).to_have_attribute("aria-valuetext", "0.031, target coverage 96.9%")
    expect(page.locator(".summary")).to_contain_text("At alpha 0.031 LAC covers")


def empty_sets_take_the_top_option(page: Page, lab: Lab, run_id: str) -> None:
    """By keyboard, and a reload shows the same view, with what is not at its default in sight. At alpha 0.7 many sets
    are empty.
    """
    page.locator(".forming summary").focus()
    page.keyboard.press("Enter")
    for _ in range(2):  # past the explained word, on to the choice for empty sets
        page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    expect(page).to_have_url(re.compile(r"alpha=31&.*empty=top1"))
    page.reload()
    lab.ready().expect_alpha(31)
    type_alpha(lab, 700)
    lab.expect_report(run_id, empty="top1")
    page.get_by_label("stay empty").check()
    lab.expect_report(run_id)


def a_drag_sends_nothing_until_release(window: Visit, lab: Lab, run_id: str) -> None:
    """The figures follow while the pointer is held, those of the shift too."""
    page = window.page
    expected_shift = shifted(*(side(evaluation.load(run_id), name, by="lac") for name in ("sums", "colours")))
    under_shift = page.get_by_label("Coverage under a shift").locator("[data-figure=coverage]")
    expect(page).to_have_url(re.compile("alpha=700"))
    settled(page).wait_for_load_state("networkidle")
    box = still(lab.alpha)
    middle = box["y"] + box["height"] / 2
    sent = len(window.messages)
    page.mouse.move(box["x"] + box["width"] * 0.7, middle)
    page.mouse.down()
    seen = set()
    for share in (0.5, 0.2, 0.35):
        page.mouse.move(box["x"] + box["width"] * share, middle, steps=4)
        expect(lab.number).to_have_value(f"{lab.thousandths() / 1000:g}")
        lab.expect_report(run_id)
        expect(under_shift).to_have_text(f"{100 * expected_shift.coverage[lab.thousandths() - 1]:.1f}%")
        seen.add(lab.thousandths())
    assert len(seen) == 3
    assert len(window.messages) == sent
    page.mouse.up()
    expect(page).to_have_url(re.compile(rf"alpha={lab.thousandths()}&"))
    lab.expect_report(run_id)
    assert len(window.messages) > sent


def nonsense_is_said_and_undone(page: Page, lab: Lab) -> None:
    type_alpha(lab, 100)
    lab.refuse_nonsense(100)
    type_alpha(lab, 250)
    expect(page.get_by_text(NONSENSE)).not_to_be_visible()


def alpha_goes_back_and_forth(page: Page, lab: Lab) -> None:
    """To another page and back; the stops of alpha are no entries of the browser's history, and other pages are one."""
    expect(page).to_have_url(re.compile("alpha=250"))
    entries = page.evaluate("history.length")
    for alpha in (100, 300, 250):
        type_alpha(lab, alpha)
        expect(page).to_have_url(re.compile(f"alpha={alpha}"))
    assert page.evaluate("history.length") == entries
    choose_page(settled(page), "Overview")
    overview = page.get_by_role("heading", name="Hedge shows how sure a language model really is")
    expect(overview).to_be_visible()
    expect(page).to_have_url(re.compile(r"/\?alpha=250"))
    assert page.evaluate("history.length") == entries + 1
    expect(page).to_have_title("Overview · Hedge")
    page.go_back()
    expect(page).to_have_title(re.compile("^.+ · Alpha lab · Hedge$"))
    lab.ready().expect_alpha(250)
    page.go_forward()
    expect(overview).to_be_visible()
    choose_page(settled(page), "Alpha lab")
    lab.ready().expect_alpha(250)


def everything_fits(page: Page, lab: Lab) -> None:
    """Nothing is wider than the window, and the field shows all digits of alpha."""
    type_alpha(lab, 888)
    region = page.get_by_role("region", name="Alpha lab")

    def fits(width: int) -> None:
        inside, shown = region.evaluate("lab => [lab.scrollWidth, lab.clientWidth]")
        assert inside <= shown <= width
        inside, shown = lab.number.evaluate("box => [box.scrollWidth, box.clientWidth]")
        assert inside <= shown

    for width in (390, 900, 1200, 1600):
        resize(page, width)
        eventually(page, lambda: fits(width))  # noqa: B023 - called before the next width


def colours_follow_the_theme(page: Page, lab: Lab) -> None:
    """While the page stays as it is."""
    region = page.get_by_role("region", name="Alpha lab")
    paint = "lab => [getComputedStyle(lab).getPropertyValue('--lac'), getComputedStyle(lab).color]"
    light = region.evaluate(paint)
    page.emulate_media(color_scheme="dark")

    def dark() -> None:
        colours = region.evaluate(paint)
        assert colours[0].startswith("#")
        assert not {*colours} & {*light}

    eventually(page, dark)
    lab.expect_alpha(888)


@pytest.mark.nightly
def test_every_switch_gives_the_reports_figures(visit: Visitor, address: str, runs: dict[str, str]):
    """Each switch by hand, and a reload shows the same view."""
    page = visit(address).open(f"/alpha_lab?run={runs['plain']}&alpha=100")
    lab = Lab(page).ready()
    left, right = (page.get_by_label(f"score on the {place}") for place in ("left", "right"))
    number = page.get_by_label("number of calibration questions")

    def shows(*scores: str, empty: str = "allow", by: str = "all", **look: object) -> None:
        lab.expect_report(runs["plain"], scores=scores, empty=empty, by=by, look=Look(**look))

    left.select_option("aps")  # what the right has: they change places
    expect(page.locator("[data-side=right]")).to_have_attribute("data-score", "lac")
    shows("aps", "lac")
    right.select_option("raps")
    expect(page.locator("[data-side=right] .badge")).to_have_text(re.compile("^tuned: λ"))
    shows("aps", "raps")
    page.locator(".forming summary").click()
    page.get_by_label("left out").check()
    expect(page.locator(".effect tbody tr")).to_have_count(4)
    shows("aps", "raps", drop_extra=True)
    page.get_by_label("per option").check()
    shows("aps", "raps", drop_extra=True, by="class")
    page.get_by_label("one for all").check()
    number.fill("30")
    number.press("Enter")
    expect(page.locator("[data-side=right] .badge")).to_have_text(re.compile("^not tuned: λ"))
    shows("aps", "raps", drop_extra=True, n_calibration=30)
    page.get_by_role("button", name="Draw another").click()
    expect(page.get_by_role("textbox", name="Split")).to_have_value("1")
    shows("aps", "raps", drop_extra=True, n_calibration=30, split_seed=1)
    left.select_option("margin")
    right.select_option("top-k")
    page.get_by_label("take the top option").check()
    type_alpha(lab, 333)
    shows("margin", "top-k", empty="top1", drop_extra=True, n_calibration=30, split_seed=1)
    expect(page).to_have_url(re.compile("alpha=333&empty=top1&left=margin&right=top-k&extra=drop&n=30&split=1"))
    page.reload()
    lab.ready().expect_alpha(333)
    shows("margin", "top-k", empty="top1", drop_extra=True, n_calibration=30, split_seed=1)

    page.get_by_role("button", name="Use the run’s own").click()
    number.fill("4")
    number.press("Enter")
    expect(page.locator("#switch-problem")).to_contain_text("Choose from 5 to 200 calibration questions, not 4")
    expect(number).to_have_value("30")
    type_alpha(lab, 100)
    steps = page.get_by_label("calibration questions, from few to all")
    steps.press("Home")
    expect(number).to_have_value("5")
    expect(page.locator(".notice")).to_have_text(re.compile("With 5 calibration questions, alpha can't be smaller"))
    steps.press("End")
    expect(number).to_have_value("200")
    page.get_by_label("kept", exact=True).check()
    page.get_by_label("stay empty").check()
    left.select_option("aps-randomised")
    right.select_option("saps")
    shows("aps-randomised", "saps")
    page.get_by_label("per subject").check()
    page.get_by_role("textbox", name="Split").fill("7")
    page.get_by_role("textbox", name="Split").press("Enter")
    shows("aps-randomised", "saps", by="group", split_seed=7)
    expect(page).to_have_url(re.compile("alpha=100&left=aps-randomised&right=saps&.*by=group&split=7$"))


def test_questions_show_their_sets_and_are_filtered(visit: Visitor, address: str, runs: dict[str, str]):
    run = evaluation.load(runs["plain"])
    page = visit(address).open(f"/alpha_lab?run={run.run_id}&alpha=150")
    lab = Lab(page).ready()
    shown = page.locator(".pager .range")
    page.get_by_role("button", name="Next").click()
    expect(page.locator(".cards > li")).to_have_count(6)
    expect(shown).to_have_text("to 12 of 200")
    expect(page).to_have_url(re.compile("row=7"))
    for alpha in (150, 600):
        type_alpha(lab, alpha)
        a_card_has_its_sets(page.locator(".cards > li").first, run, row=6, alpha=alpha)
    first = page.get_by_label("number of the first question shown")
    first.fill("199")
    first.press("Enter")
    expect(page.locator(".cards > li")).to_have_count(2)
    expect(page.get_by_role("button", name="Next")).to_be_disabled()

    type_alpha(lab, 300)
    sets = form(run, "lac", 300)
    covered, sizes = sets.members[range(len(run.test)), run.labels[run.test]], sets.members.sum(axis=1)
    counts = {"misses": int((~covered).sum()), "wrong-single": int((~covered & (sizes == 1)).sum())}
    for show, count in counts.items():
        page.get_by_label("which sets").select_option(show)
        expect(shown).to_contain_text(f"of {count}, out of 200")
        expect(page).to_have_url(re.compile(f"show={show}"))
    page.get_by_label("which subject").select_option("sums")
    few = int((~covered & (sizes == 1) & (run.groups[run.test] == "sums")).sum())
    expect(shown).to_contain_text(f"of {few}, out of 200")
    page.get_by_role("button", name="Show all").click()
    expect(shown).to_have_text("to 6 of 200")
    search = page.get_by_label("search the questions")
    search.fill("question 211 right")
    expect(shown).to_have_text("to 1 of 1, out of 200")
    expect(page.locator(".cards > li")).to_contain_text("Which option of question 211 is right?")
    search.fill("nothing like that")
    expect(page.get_by_text("No test question matches at this alpha.")).to_be_visible()
    search.fill("")
    page.get_by_label("cards or rows").select_option("rows")
    expect(page.locator(".table tbody tr")).to_have_count(20)
    page.get_by_role("button", name="Open question 3 on its own page").click()
    expect(page.get_by_role("heading", name="One question")).to_be_visible()
    expect(page).to_have_url(re.compile(f"question={run.ids[run.test[2]]}"))


def a_card_has_its_sets(card: Locator, run: evaluation.Evaluation, *, row: int, alpha: int) -> None:
    for line, name in enumerate(("lac", "aps")):
        members = form(run, name, alpha).members[row]
        letters = ", ".join(letter for letter, inside in zip("ABCDEF", members, strict=True) if inside)
        expect(card.locator(".said").nth(line)).to_contain_text(f"{{{letters}}}")
        cells = card.locator(f"tbody td:nth-child({4 + line})")
        expect(cells).to_have_text(["in" if member else "out" for member in members])


def test_a_link_that_asks_for_too_much_and_few_calibration_questions_are_explained(
    visit: Visitor, address: str, runs: dict[str, str]
):
    page = visit(address).open(f"/alpha_lab?run={runs['few']}&alpha=100&n=900")
    lab = Lab(page).ready()
    expect(page.locator("#switch-problem")).to_contain_text("Choose from 5 to")
    notice = page.locator(".notice")
    expect(notice).to_have_text(re.compile("alpha can't be smaller than 0.167"))
    lab.expect_report(runs["few"])
    type_alpha(lab, 167)
    expect(notice).to_be_hidden()
    lab.expect_report(runs["few"])


def test_nonsense_in_a_link_is_said(visit: Visitor, address: str):
    page = visit(address).open(
        "/alpha_lab?run=https://e.vil/%3Cscript%3E&alpha=77777&left=<b>&by=x&n=-1&split=1e9",
    )
    Lab(page).ready().expect_alpha(100)
    expect(page.get_by_role("alert")).to_have_count(6)
    for name in ("alpha", "left", "by", "n", "split"):
        expect(page.get_by_text(f"The link's {name} is")).to_be_visible()
    expect(page.locator("main a[href*='e.vil']")).to_have_count(0)


def test_another_run_keeps_the_view(visit: Visitor, address: str, runs: dict[str, str]):
    """Runs with two and with 26 options are chosen in place of one with six, in a narrow window."""
    page = visit(address, width=900).open(f"/alpha_lab?run={runs['plain']}&alpha=250")
    lab = Lab(page).ready()
    for kind, options in (("two", 2), ("many", 26)):
        settled(page).locator(".st-key-alphalab_choose button").first.press("Enter")
        dialog = page.get_by_role("dialog")
        dialog.get_by_role("searchbox").fill(f"{kind if kind == 'two' else options}-options")
        dialog.get_by_role("searchbox").press("Enter")
        listed = dialog.locator(".st-key-run_list [data-variant=pills]")
        expect(listed).to_have_count(1)
        script_ended(page)
        listed.press("Enter")
        expect(dialog).to_have_count(0)
        expect(page).to_have_url(re.compile(f"run={runs[kind]}&alpha=250"))
        expect(page.locator("[data-side=left] [data-figure=of]")).to_have_text(f"of {options} options")
        lab.expect_alpha(250)
        lab.expect_report(runs[kind])
    lab.alpha.press("PageUp")
    lab.expect_alpha(260)
    lab.expect_report(runs["many"])


def test_an_aps_threshold_just_below_1_is_said_with_the_way_out(visit: Visitor, address: str, runs: dict[str, str]):
    run_id = runs["saturated"]
    note, offer = report(evaluation.load(run_id), 100).scores["aps"].notes
    assert "below 1" in note
    assert "Leave them out" in offer
    page = visit(address).open(f"/alpha_lab?run={run_id}&alpha=100")
    lab = Lab(page).ready()
    expect(page.locator(".saturated")).to_contain_text(note)
    page.get_by_role("button", name="Leave E and F out").click()
    expect(page.locator(".saturated")).to_have_text(re.compile("The APS threshold is 1, so every option stays"))
    expect(page.get_by_role("radio", name="left out")).to_be_focused()
    expect(page).to_have_url(re.compile("extra=drop"))
    lab.expect_report(run_id, look=Look(drop_extra=True))


ALIKE = """(cards, column) => cards.flatMap(card => [0, 1].flatMap(side => {
    const rows = [...card.querySelectorAll('tbody tr')];
    const cell = row => row.querySelectorAll('.cell, .scored')[side];
    const isIn = row => cell(row).textContent === 'in' || cell(row).classList.contains('inside');
    const text = row => (column ? row.querySelector(column) : cell(row)).textContent.replace('✓', '');
    const inside = rows.filter(isIn).map(text);
    return rows.filter(row => !isIn(row)).map(text).filter(out => inside.includes(out));
}))"""
"""The texts in a column of tables that stand both beside an option in a set and beside one that is not."""


def test_numbers_near_0_and_1_tell_what_is_in_from_what_is_out(visit: Visitor, address: str, runs: dict[str, str]):
    run = evaluation.load(runs["certain"])
    aps = report(run, 100).scores["aps"]
    (note,) = aps.notes  # leaving out E and F would not help, and is not offered
    page = visit(address).open(f"/alpha_lab?run={run.run_id}&alpha=100")
    Lab(page).ready()
    expect(page.locator(".saturated span")).to_have_text(note)
    expect(page.get_by_role("button", name="Leave E and F out")).to_be_hidden()
    threshold = page.locator("[data-side=right] [data-figure=threshold]")
    expect(threshold).to_have_text(re.compile(r"^0\.9{6,}\d*$"))
    expect(page.locator("li.card")).to_have_count(6)
    assert page.locator("li.card").evaluate_all(ALIKE, ".probability") == []
    page.goto(f"{address}/learn?run={run.run_id}&alpha=100&step=7")
    table = page.locator("table.two-scores")
    expect(table.locator(".limit").last).to_have_text(re.compile(r"^threshold 0\.9{6,}\d*$"))
    for _ in range(4):
        assert table.evaluate_all(ALIKE, "") == []
        assert table.evaluate_all(ALIKE, ".probability") == []
        page.get_by_role("button", name="Another question").click()


def test_all_that_is_folded_opens_and_every_control_has_a_name(visit: Visitor, address: str, runs: dict[str, str]):
    page = visit(address).open(f"/alpha_lab?run={runs['plain']}&alpha=100")
    lab = Lab(settled(page)).ready()
    the_answer_has_the_cards_figures(page)
    for summary in page.locator("details:is(.section, .forming) > summary").all():
        summary.click()
    redrawing_gives_pythons_splits(page, runs["plain"])
    the_forest_counts_each_subject(page, runs["plain"])
    bugs_are_named_or_guessed(page, lambda: type_alpha(lab, 300))
    region = page.get_by_role("region", name="Alpha lab")
    assert region.get_by_role("button").count() > 10
    unnamed = region.evaluate(
        """lab => [...lab.querySelectorAll('input, select, button, svg[role=img]')].filter(element =>
            !(element.getAttribute('aria-label') || element.labels?.length || element.textContent.trim()))
            .map(element => element.outerHTML)"""
    )
    assert unnamed == []


def the_answer_has_the_cards_figures(page: Page) -> None:
    """As they are written there."""
    card = page.locator("[data-side=left]")
    size, coverage = (card.locator(f"[data-figure={name}]").inner_text() for name in ("meanSize", "coverage"))
    expect(page.locator(".lab-answer")).to_have_text(
        f"At alpha 0.1 plain leaves {size} of 6 options (by LAC), "
        f"and the truth is among them on {coverage} of questions."
    )
    expect(page.locator(".promise")).to_have_text(re.compile("^9 in 10 were promised"))


def redrawing_gives_pythons_splits(page: Page, run_id: str) -> None:
    run = evaluation.load(run_id)
    page.get_by_role("button", name="Draw 1,000 splits").first.click()
    expect(page.locator(".redrawn")).to_contain_text("1,000 splits with 200 calibration and 200 test questions")
    rows, clusters = views.clustered(run)
    true = true_scores(score("lac", run.probabilities), run.labels)[rows]
    drawn = redraw(
        true, 1 - true, n=200, alpha=100, draws=1000, clusters=clusters, seed=run.spec.seed, procedures=("exact",)
    )["exact"]
    expect(page.locator(".redrawn")).to_contain_text(f"mean coverage of {100 * drawn.mean():.2f}%")
    bars = page.locator("[data-plot=redraw] svg rect")
    few = "bars => bars.filter(b => b.height.baseVal.value > 0).length <= 10"
    eventually(page, lambda: bars.evaluate_all(few))


def the_forest_counts_each_subject(page: Page, run_id: str) -> None:
    strata = report(evaluation.load(run_id), 100).scores["lac"].strata
    texts = page.locator("[data-plot=strata] svg text")
    expect(texts.filter(has_text=strata[-1].stratum)).not_to_have_count(0)

    def counted() -> None:
        labels = texts.all_text_contents()
        for stratum in strata:
            places = [i for i, text in enumerate(labels) if text.startswith(stratum.stratum)]
            assert places
            assert labels[places[0] + 1 : places[0] + 3] == [str(stratum.n), str(stratum.m)]

    eventually(page, counted)
    page.get_by_label("per option").check()
    expect(page.get_by_text("Coverage by true option")).to_be_visible()
    page.get_by_label("one for all").check()


def points_off(figure: Locator) -> dict[str, float]:
    """The distance of each procedure's mean coverage from the target, as shown in the figure of bugs."""
    names = figure.locator("svg text.plain").all_text_contents()
    points = figure.locator("svg text.strong").all_text_contents()
    return {
        name: float(text.removesuffix(" points").replace("−", "-")) for name, text in zip(names, points, strict=True)
    }


def bugs_are_named_or_guessed(page: Page, at_alpha: Callable[[], None]) -> None:
    at_alpha()
    panel = page.locator("[data-panel=bugs]")
    panel.get_by_role("button", name="Draw 1,000 splits").click()
    bug = page.locator(".bugged")
    expect(bug).to_contain_text("on 1,000 splits with APS and 19 calibration questions")
    expect(bug).to_contain_text("At alpha 0.01, this is too few for a threshold")
    the_planted_bug_is_found(panel)
    panel.get_by_role("button", name="Show all").click()
    expect(panel.locator(".bugs li")).to_have_count(6)
    for name in ("exact", "higher", "clamped", "linear", "test set", "summed again"):
        expect(panel.locator("svg text.plain", has_text=re.compile(f"^{name}$"))).to_have_count(2)
    common, rare = (points_off(panel.locator(f"[data-plot=bugs-{alpha}]")) for alpha in ("100", "010"))
    assert common["higher"] > common["exact"] + 3
    assert common["summed again"] > common["exact"] + 5
    assert rare["exact"] == 1
    assert max(rare["clamped"], rare["linear"]) < -2
    panel.get_by_role("button", name="Back to the question").click()
    expect(panel.locator("svg text.plain", has_text="The planted bug")).to_have_count(2)
    expect(panel.locator(".bugs li")).to_have_count(0)


def the_planted_bug_is_found(panel: Locator) -> None:
    """By the keyboard: each description is chosen in turn until one is right, and each answer says how it shows."""
    suspects = panel.locator(".suspects button")
    expect(suspects).to_have_count(5)
    told = panel.locator(".bug-told")
    answers = []
    for i in range(5):
        suspects.nth(i).press("Enter")
        expect(told).to_contain_text(re.compile("(No. That|Right, it) is “"))
        expect(suspects.nth(i)).to_contain_text(re.compile("(✗ no|✓ right)$"))
        answers.append(told.inner_text())
    (right,) = [answer for answer in answers if answer.startswith("Right, it is")]
    figure = points_off(panel.locator("[data-plot=bugs-100]"))
    too_high = ("higher", "summed again")
    assert (figure["The planted bug"] > 3) == any(f"“{name}”" in right for name in too_high)
    panel.get_by_role("button", name="Another bug").click()
    expect(told).to_have_text("")
    expect(suspects.locator(".mark")).to_have_text([""] * 5)


# What the focus is on, by the name a screen reader says, through the component's shadow root.
FOCUSED = """() => {
  let element = document.activeElement;
  while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
  return element?.getAttribute("aria-label") || element?.labels?.[0]?.textContent.trim() || element?.textContent.trim();
}"""
PRESSED = {
    "score on the left": "ArrowDown",
    "score on the right": "End",
    "More": "Enter",
    "one for all": "ArrowDown",
    "Draw another": "Enter",
    "Redraw the calibration questionscoverage varies with the split, and its distribution is known": "Enter",
    "Draw 1,000 splits": "Enter",
}


def test_the_keyboard_alone_reaches_and_moves_every_control(visit: Visitor, address: str, runs: dict[str, str]):
    page = visit(address).open(f"/alpha_lab?run={runs['plain']}&alpha=300")
    lab = Lab(page).ready()
    settled(page)
    lab.number.focus()
    names = []
    for _ in range(100):
        page.keyboard.press("Tab")
        focused = page.evaluate(FOCUSED)
        names.append(focused)
        if focused in PRESSED:
            page.keyboard.press(PRESSED[focused])
        if focused == "search the questions":
            break
    for name in PRESSED:
        assert name in names, name
    expect(page.locator("[data-side=left]")).to_have_attribute("data-score", "aps")  # down from LAC: they change places
    expect(page.locator("[data-side=right]")).to_have_attribute("data-score", SCORE_NAMES[-1])
    expect(page).to_have_url(re.compile("by=group"))
    expect(page).to_have_url(re.compile("split=1"))
    expect(page.get_by_text("1,000 splits with")).to_be_visible()
    page.keyboard.type("sums")
    expect(page.locator(".pager .range")).to_contain_text(", out of 200")
