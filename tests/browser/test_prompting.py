"""Prompting in the browser: method and shots chosen, sets change, a card opened, the table taken out."""

import re
from pathlib import Path

import openpyxl
import pytest
from playwright.sync_api import Page, expect

from app.components.prompting.by_shots import FIRST
from core.reports.prompting import experiments
from core.reports.prompting.experiments import PromptingMethod
from core.runs import store
from hedge.cli import main
from tests.browser.conftest import Visitor, choose, eventually, in_home, settled

SAMPLES = 60
DRAWN_WITHIN_MS = 120_000
"""The page tests many differences; on a machine with other work that takes its time."""
CLICKED_WITHIN_MS = 20_000


@pytest.fixture(scope="session")
def prompted(shared_home: Path) -> None:
    """The bank's questions in two forms with 0 and 1 shots, asked of an engine that only hashes them."""
    words = ["--task", "qa", "--form", "letters", "cloze", "--shots", "0", "1", "--samples", str(SAMPLES)]
    with in_home(shared_home), pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEDGE_FAKE_ENGINE", "{}")
        assert main(["run", "--model", "fake", *words, "--json"]) == 0


def offered(home: Path) -> tuple[str, dict[tuple[str, int], PromptingMethod]]:
    """The key of the person's own experiment, and its ways of asking by method and shots."""
    own = [store.read_record(path.name) for path in sorted((home / "runs").glob("fake-*"))]
    assert len(own) == 4
    ((experiment, records),) = experiments.experiments(own).items()
    return experiment.key, {(reading.method, reading.shots): reading for reading in experiments.readings(records)}


def mean_size(reading: PromptingMethod, alpha: int) -> str:
    sets = experiments.sets_of(reading, experiments.evaluate(reading), alpha, score="lac")
    return f"{sets.members.sum(axis=1).mean():.2f}"


def sizes(page: Page) -> list[str]:
    shown = page.get_by_test_id("stMetric").filter(has_text="Mean set size").get_by_test_id("stMetricValue")
    expect(shown).to_have_count(2)
    return [text.strip() for text in shown.all_inner_texts()]


def shows(page: Page, expected: list[str]) -> None:
    for place, text in enumerate(expected):
        shown = page.get_by_test_id("stMetric").filter(has_text="Mean set size").get_by_test_id("stMetricValue")
        expect(shown.nth(place)).to_have_text(text, timeout=DRAWN_WITHIN_MS)


@pytest.mark.usefixtures("prompted")
def test_method_and_shots_a_card_and_the_table(visit: Visitor, address: str, shared_home: Path, tmp_path: Path):
    experiment, ways = offered(shared_home)
    page = visit(address).open(f"/prompting?alpha=300&experiment={experiment}")
    shows(page, [mean_size(ways["letters", 0], 300), mean_size(ways["raw", 0], 300)])

    settled(page)
    choose(page, "Second way", ways["tokens", 0].way)
    shows(page, [mean_size(ways["letters", 0], 300), mean_size(ways["tokens", 0], 300)])
    settled(page)
    choose(page, "Base way", ways["letters", 1].way)
    shows(page, [mean_size(ways["letters", 1], 300), mean_size(ways["tokens", 0], 300)])
    expect(page).to_have_url(re.compile("&shots=1.*beside_shots=0|beside_shots=0.*&shots=1"))
    at_300, link = sizes(page), page.url

    settled(page)
    page.get_by_role("button", name="More").click()

    def at_the_smallest_alpha() -> None:
        """Streamlit's slider takes a key only once it is drawn whole, which nothing tells."""
        page.get_by_role("slider", name="alpha").press("Home")
        expect(page).to_have_url(re.compile("alpha=1(&|$)"), timeout=CLICKED_WITHIN_MS)

    eventually(page, at_the_smallest_alpha)
    shows(page, ["4.00", "4.00"])  # with 30 calibration questions, alpha 0.001 keeps every option
    page.goto(link)
    shows(page, at_300)

    settled(page)
    page.get_by_text("The questions, and their sets by both ways").click()
    table = page.get_by_test_id("stDataFrame").filter(has=page.locator("canvas[data-testid=data-grid-canvas]"))
    questions = table.nth(0)
    questions.scroll_into_view_if_needed()
    shown_question = page.get_by_role("heading", level=3).last
    before = shown_question.inner_text()

    def another_question() -> None:
        """A click may come before Streamlit's table has drawn the row, which nothing tells."""
        if shown_question.inner_text() == before:
            questions.click(position={"x": 18, "y": 90})
        expect(shown_question).not_to_have_text(before, timeout=CLICKED_WITHIN_MS)

    eventually(page, another_question)
    expect(page).to_have_url(re.compile("question=qa-"))
    expect(page.get_by_text(re.compile("^By letter, 1 shot picks [A-D]"))).to_be_visible()
    expect(page.get_by_text("Log-probabilities of the options' texts")).to_be_visible()
    settled(page)

    page.get_by_role("button", name="For a paper").click()
    with page.expect_download() as caught:
        settled(page).get_by_role("dialog").get_by_role("button", name="XLSX").click()
    path = tmp_path / "ways.xlsx"
    caught.value.save_as(path)
    sheet = list(openpyxl.load_workbook(path)["table"].iter_rows(values_only=True))
    shown = [experiments.METHODS[name] for name, _ in ways if name in FIRST]
    assert sorted(row[sheet[0].index("way")] for row in sheet[1:]) == sorted(shown)
    page.keyboard.press("Tab")  # a button that makes a file loses the focus
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("button", name="For a paper")).to_be_focused()
