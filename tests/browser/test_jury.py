"""The jury under a person's hands: a rule switched, the threshold moved, a card opened, a link followed."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Page, expect

from core.conformal.selective import SelectiveResult
from core.jury.adjudication import RULES, rules_in_words
from core.jury.experiment import PROTOCOLS, JuryExperiment, run
from core.jury.label_draw import JudgedAnswers, sample_of
from core.jury.pipeline import jury_spec, jury_store
from core.jury.selection import judged_sides
from core.reports.answer_or_pass import headline
from core.reports.jury import bench, risk
from core.reports.jury_answer import jury_answer
from core.reports.label_budget import curve, judge_uses
from tests.browser.conftest import (
    NOT_TOO_WIDE,
    SEEN_WITHIN_MS,
    Visit,
    Visitor,
    eventually,
    holds,
    in_home,
    resize,
    settled,
    still,
)
from tests.core.jury.verdicts import seeded_jury

JUDGED = seeded_jury(200, seed=5)


@pytest.fixture(scope="session")
def juries(shared_home: Path) -> dict[str, str]:
    """Two juries of 200 answers; the answers of one are pairs."""
    with in_home(shared_home):
        return {
            "pairs": jury_store.save(replace(JUDGED, pairwise=True), name="Pairs", origin="a test"),
            "mine": jury_store.save(JUDGED, name="Mine", origin="a test"),
        }


@pytest.fixture(scope="module")
def experiment() -> JuryExperiment:
    return run(JUDGED, PROTOCOLS["all-rules"])


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    return bench(JUDGED, PROTOCOLS["all-rules"], 0).rows


def opened(page: Page) -> Page:
    # A cold server tries every rule first.
    expect(page.locator(".rules-table tbody tr")).to_have_count(len(RULES), timeout=2 * SEEN_WITHIN_MS)
    return page


def complete(page: Page) -> Page:
    """The page once all that is computed in the background has arrived."""
    expect(settled(page).locator(".plot-head")).to_contain_text("% to ")
    return page


def first_card(rows: pd.DataFrame, rule: str) -> int:
    flipped = (rows[f"r_{rule}"] != rows["r_majority"]).to_numpy()
    return min(range(len(rows)), key=lambda i: (not flipped[i], -rows[f"s_{rule}"][i], i))


def test_a_jury_under_a_persons_hands(
    visit: Visitor, address: str, juries: dict[str, str], experiment: JuryExperiment, rows: pd.DataFrame
):
    """One visit: a rule is switched, the threshold moved, answers of a kind turned over, a card opened, and its link
    followed, and the judges answer from a confidence."""
    window = visit(address)
    page = complete(opened(window.open(f"/jury?jury={juries['mine']}")))
    the_judges_answer_from_a_confidence(window)
    page.get_by_text("test answers one by one").click()
    the_rule_is_switched_and_verdicts_flip(page, experiment, rows)
    the_threshold_is_moved_and_nothing_is_sent_until_release(window, rows)
    answers_of_a_kind_are_turned_over_on_a_phone(page, rows)
    a_card_is_opened_and_its_link_followed(page, rows)


def the_judges_answer_from_a_confidence(window: Visit) -> None:
    """alpha follows the keys, the figures are Python's, and only the released value is sent."""
    page = window.page
    page.get_by_text("Which judge may speak for people?").click()
    panel, sides = page.locator(".selective"), judged_sides(JUDGED)
    expect(panel.locator(".judges tbody tr")).to_have_count(4, timeout=SEEN_WITHIN_MS)
    alpha = page.get_by_role("slider", name="Against people, at most")
    for value in (100, 250, 500):
        alpha.fill(str(value))
        result = sides.selected(value, 100)
        expect(panel.locator(".lab-answer")).to_have_text(headline(result, what="answers", verdicts=True))

        def shows(result: SelectiveResult = result) -> None:
            shown = json.loads(panel.get_attribute("data-result") or "")
            assert [stage["threshold"] for stage in shown["stages"]] == [stage.threshold for stage in result.stages]
            assert (shown["answered"], shown["wrong"]) == (result.answered, result.wrong)
            assert shown["error_high"] == (result.error_high if result.answered else None)

        eventually(page, shows)
    expect(page).to_have_url(re.compile("error=500"))
    number = page.get_by_role("spinbutton", name="delta as a number")
    number.fill("0.9")
    number.press("Enter")
    expect(panel.locator("#delta-problem")).to_have_text("delta must be between 0.001 and 0.5. It stays at 0.1.")
    number.fill("0.02")
    number.press("Enter")
    expect(panel.locator(".promise")).to_contain_text("with confidence 98%")
    expect(page).to_have_url(re.compile("delta=20"))
    page.get_by_text("Which judge may speak for people?").click()


def the_rule_is_switched_and_verdicts_flip(page: Page, experiment: JuryExperiment, rows: pd.DataFrame) -> None:
    by = sorted(experiment.outcomes, key=lambda outcome: -outcome.accuracy.value)
    titles = page.locator(".rules-table tbody .pick span")
    expect(titles).to_have_text([RULES[outcome.rule].title for outcome in by])
    questions = page.locator(".cases .asked")
    expect(questions.first).not_to_be_empty()
    before = questions.all_inner_texts()
    page.get_by_role("radio", name="Maximum probability").check()
    outcome = next(outcome for outcome in experiment.outcomes if outcome.rule == "max_probability")
    expect(page.locator(".verdict")).to_contain_text(f"Maximum probability: right on {outcome.accuracy.value:.1%}.")
    the_answer_is_about_majority_and_the_better_constant(page, experiment)
    expect(page.locator(".cases .asked").first).to_have_text(rows["question"][first_card(rows, "max_probability")])
    expect(page.locator(".cases li").first.locator(".tag", has_text="against majority")).to_be_visible()
    assert questions.all_inner_texts() != before
    expect(page).to_have_url(re.compile("rule=max_probability"))
    page.locator("#order").select_option("recall")
    expect(page.locator(".rules-table .measure")).to_have_text("Recall")
    best = max(experiment.outcomes, key=lambda outcome: outcome.recall.value)
    expect(titles.first).to_have_text(RULES[best.rule].title)


def the_answer_is_about_majority_and_the_better_constant(page: Page, experiment: JuryExperiment) -> None:
    """In words, with the figures of the table, and as the dashed line: beside majority alone, a rule may look good that
    is no better than the constant."""
    answer, best = jury_answer(experiment, pairwise=False), experiment.best_constant
    assert best is not None
    expect(page.locator(".answer")).to_have_text(answer.headline)
    expect(page.locator(".detail")).to_have_text(answer.detail)
    title = answer.detail.partition(" is right on")[0]
    row = page.locator(".rules-table tr", has=page.get_by_role("radio", name=title, exact=True))
    for cell in ("td.value", "td.of-gain:not(.second)"):
        assert row.locator(cell).inner_text().replace("(", "(95% interval ") in answer.detail.replace(" points", "")
    point = page.locator(f"[data-rule={best.rule}] .point")
    at = float(point.get_attribute("x") or "nan") + 2.5
    lines = page.locator(".rules-table .base")
    expect(lines).to_have_count(len(RULES))
    assert float(lines.first.get_attribute("x1") or "nan") == pytest.approx(at)


def the_threshold_is_moved_and_nothing_is_sent_until_release(window: Visit, rows: pd.DataFrame) -> None:
    page = window.page
    page.get_by_role("radio", name="Mean probability").check()
    expect(page).to_have_url(re.compile("rule=mean_probability"))
    slider = page.get_by_role("slider", name="Answer from")
    slider.focus()
    page.keyboard.press("End")
    expect(page.locator("[data-figure=answered]")).to_have_text("0.0%")
    expect(page.locator("[data-figure=risk-interval]")).to_have_text("no answer gets a verdict")
    expect(page).to_have_url(re.compile("at=100"))
    settled(page).wait_for_load_state("networkidle")
    box = still(slider)
    page.mouse.move(box["x"] + box["width"] - 4, box["y"] + box["height"] / 2)
    page.mouse.down()
    sent = len(window.messages)
    page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + box["height"] / 2, steps=8)
    eventually(page, lambda: not 40 < int(slider.input_value()) < 80)
    at = int(slider.input_value())
    accepted = (rows["s_mean_probability"] >= at / 100 - 1e-9).to_numpy()
    figures = risk(JUDGED, PROTOCOLS["all-rules"])
    mine = figures[(figures["rule"] == "mean_probability") & np.isclose(figures["at"], at / 100)].iloc[0]
    expect(page.locator("[data-figure=answered]")).to_have_text(f"{100 * mine['answered']:.1f}%")
    expect(page.locator("[data-figure=risk]")).to_have_text(f"{100 * mine['wrong']:.1f}%")
    expect(page.locator("[data-figure=risk-interval]")).to_have_text(
        f"{100 * mine['low']:.1f}% to {100 * mine['high']:.1f}%"
    )
    assert len(window.messages) == sent
    page.mouse.up()
    expect(page).to_have_url(re.compile(f"at={at}"))
    page.locator("#cases").select_option("abstained")
    expect(page.locator(".found")).to_contain_text(f"of {int((~accepted).sum())}")
    expect(page.locator(".cases li").first.locator(".tag", has_text="abstains")).to_be_visible()
    slider.focus()
    page.keyboard.press("Home")
    expect(page).not_to_have_url(re.compile(f"at={at}"))


def answers_of_a_kind_are_turned_over_on_a_phone(page: Page, rows: pd.DataFrame) -> None:
    resize(page, 400)
    holds(page, NOT_TOO_WIDE)
    page.locator("#cases").select_option("differ")
    verdicts = np.array([rows[f"r_{name}"] for name in RULES if name not in ("always_false", "always_true")])
    differ = int((np.ptp(verdicts, axis=0) > 0).sum())
    expect(page.locator(".found")).to_have_text(f"Answers 1–8 of {differ}")
    page.get_by_role("button", name="Next").press("Enter")
    expect(page.locator(".found")).to_have_text(f"Answers 9–16 of {differ}")
    page.get_by_role("radio", name="Majority").check()
    page.keyboard.press("ArrowDown")
    expect(page.locator(".rules-table tr.chosen")).not_to_contain_text("Majority")
    resize(page, 1200)


def a_card_is_opened_and_its_link_followed(page: Page, rows: pd.DataFrame) -> None:
    page.get_by_role("radio", name="Maximum confidence").check()
    page.locator("#cases").select_option(index=0)
    place = first_card(rows, "max_confidence")
    expect(page.locator(".cases .asked").first).to_have_text(rows["question"][place])
    card = page.locator(".cases li").first
    card.locator("summary").click()
    expect(card.locator(".jurors tbody tr")).to_have_count(3)
    for j in range(3):
        line = card.locator(".jurors tbody tr").nth(j)
        expect(line).to_contain_text(f"juror{j}")
        expect(line).to_contain_text("True" if rows[f"v{j}"][place] else "False")
        expect(line).to_contain_text(f"{rows[f'c{j}'][place]:.1%}")
    tags = [f"{RULES[name].title}: {bool(rows[f'r_{name}'][place])}" for name in RULES]
    expect(card.locator(".by-rule .tag")).to_have_text(tags)
    expect(card.locator(".opened")).to_contain_text("right" if rows["label"][place] else "wrong")
    expect(page).to_have_url(re.compile(f"card={rows['id'][place]}(&|$)"))
    expect(card.locator("details")).to_have_attribute("open", "")
    link = card.get_by_role("link", name="Link to this answer").get_attribute("href")
    assert link is not None
    opened(settled(page))
    page.goto(link)
    opened(page)
    expect(page.locator(".cases details[open] .asked")).to_have_text(rows["question"][place])
    expect(page.get_by_role("radio", name="Maximum confidence")).to_be_checked()


def test_verdicts_on_pairs_are_not_called_right_and_arriving_intervals_leave_an_open_card_as_it_is(
    visit: Visitor, address: str, juries: dict[str, str], rows: pd.DataFrame, experiment: JuryExperiment
):
    page = opened(visit(address).open(f"/jury?jury={juries['pairs']}&rule=majority"))
    page.get_by_text("test answers one by one").click()
    opened_card = page.locator(".cases details").first.element_handle()
    page.locator(".cases summary").first.focus()
    page.keyboard.press("Enter")
    complete(page)
    assert opened_card.evaluate("card => card.isConnected && card.open")
    assert page.locator(".cases summary").first.evaluate("one => one.matches(':focus')")
    accuracy = next(outcome.accuracy.value for outcome in experiment.outcomes if outcome.rule == "majority")
    expect(page.locator(".verdict")).to_contain_text(f"Majority: agrees with the label on {accuracy:.1%}.")
    card = page.locator(".cases li").first
    place = first_card(rows, "majority")
    expect(card.locator(".asked")).to_have_text(rows["question"][place])
    first = "first" if rows["label"][place] else "second"
    expect(card.locator("h4").last).to_have_text(f"The {first} answer is better. The verdict of every rule:")
    rows = bench(replace(JUDGED, pairwise=True), PROTOCOLS["all-rules"], 0).rows
    words = {1: "First", 0: "Second", 0.5: "Tie"}  # the veto of a disputed pair is a tie
    tags = [f"{rule.title}: {words[rows[f'r_{name}'][place]]}" for name, rule in rules_in_words(pairwise=True).items()]
    expect(card.locator(".by-rule .tag")).to_have_text(tags)
    expect(page.locator(".pick", has_text="Always First")).to_be_visible()
    expect(page.get_by_test_id("stMain")).not_to_contain_text(re.compile(r"\b(True|False)\b"))
    expect(page.locator(".errors")).to_have_text("Against the label, of the answered")
    expect(page.locator(".cases .tag", has_text=re.compile("right|wrong"))).to_have_count(0)


def test_a_jury_is_launched_by_its_button_alone(address: str, visit: Visitor):
    """Enter in a field launches none, and neither does a number that is refused."""
    page = visit(address).open("/jury")
    page.get_by_text("Make a jury", exact=True).click()
    button = page.get_by_role("button", name="Make this jury")
    expect(button).to_be_visible()
    for role, name, text in (
        ("textbox", "Jurors", "pocket-1m pocket-1m"),
        ("spinbutton", "Tuning steps", "2"),
        ("spinbutton", "Maximum number of questions", "0"),
    ):
        field = page.get_by_role(role, name=name, exact=True)
        field.fill(text)
        field.press("Enter")
    button.click()
    expect(page.get_by_text("Samples must be at least 8, got 0")).to_be_visible()
    assert jury_spec.path_ids() == []


def test_the_number_of_labels_moves_every_figure(visit: Visitor, address: str, juries: dict[str, str]):
    window = visit(address)
    page = opened(window.open(f"/jury?jury={juries['pairs']}&labels=60"))
    page.get_by_text("How few human labels are enough?").click()
    answers = JudgedAnswers.of(replace(JUDGED, pairwise=True))
    rows = curve(answers, sample_of(answers, seed=0), judge_uses(answers.judgements)[0]).set_index("n")
    slider, judged = page.get_by_role("slider", name="Labels"), page.locator("[data-figure=judged-interval]")

    def shows(n: int) -> None:
        expect(slider).to_have_attribute("aria-valuetext", f"{n} labels")
        expect(judged).to_have_text(f"{rows.loc[n, 'low']:.1%} to {rows.loc[n, 'high']:.1%}")
        expect(page.locator("[data-figure=worth]")).to_have_text(f"{rows.loc[n, 'worth']:.0f} labels")

    shows(60)
    expect(page.locator(".labels figcaption")).to_contain_text("How often the first answer wins")
    slider.press("ArrowRight")
    shows(61)
    expect(page).to_have_url(re.compile("labels=61"))
    slider.press("Home")
    shows(10)
    expect(page.locator("[data-figure=saved]")).to_have_text("too few labels to learn about a judge, which takes 20")
