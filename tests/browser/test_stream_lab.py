"""The Stream lab in a real browser: what is moved is what Python computes, and stays in the link."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from core.reports import evaluation
from core.reports.stream_lab import stream_pool
from tests.browser.conftest import Visitor, eventually, in_home, settled, still
from tests.conftest import synthetic_run
from tests.reference.streams import StreamFigures, question_stream, stream_figures


@pytest.fixture(scope="session")
def runs(shared_home: Path) -> tuple[str, str]:
    with in_home(shared_home):
        before = synthetic_run(600, model="stream", task="ds", signal=2.5)
        return before, synthetic_run(400, model="stream", task="qa", signal=0.5, seed=1)


def agrees(
    page: Page, runs: tuple[str, str], *, alpha: int, gamma: int, change: int, score: str = "lac"
) -> StreamFigures:
    """Wait until the page shows what Python computes."""
    pool = stream_pool(*(evaluation.load(run) for run in runs), score)
    figures = stream_figures(question_stream(pool, change=change), alpha=alpha, gamma=gamma)
    expected = {
        "fixed-before": 1 - figures.missed[:change].mean(),
        "fixed-after": 1 - figures.missed[change:].mean(),
        "adaptive-after": 1 - figures.adaptive.missed[change:].mean(),
        "adaptive-size-after": figures.adaptive_sizes[change:].mean(),
        "alarm": -1 if (alarm := figures.capital.alarm()) is None else alarm,
    }

    def equal() -> None:
        shown = {name: page.locator(f"[data-figure={name}]").get_attribute("data-value") for name in expected}
        assert {name: float(value or "nan") for name, value in shown.items()} == pytest.approx(expected, abs=1e-12)

    eventually(page, equal)
    return figures


def test_the_first_screen_answers_in_words_and_shows_coverage(visit: Visitor, address: str):
    """The figures in words are those of the cards, also at an alpha that moves, and the chart is above the fold."""
    page = visit(address, width=1280, height=720).open("/stream_lab")
    answer = page.locator(".stream > .answer")
    said = "After the change to Question answering, the fixed threshold covers only 70.0% instead of the promised 90%."
    expect(answer).to_contain_text(said)
    expect(answer).to_contain_text(
        "The adaptive one covers 89.1%. The betting test notices the change after 37 questions."
    )
    chart = still(page.locator("[data-plot=coverage] .plot"))
    assert chart["y"] + chart["height"] < 720
    page.get_by_role("slider", name="alpha").press("PageUp")
    expect(answer).to_contain_text("instead of the promised 89%")
    for way in ("fixed", "adaptive"):
        expect(answer).to_contain_text(page.locator(f"[data-figure={way}-after]").inner_text())


def test_the_score_is_chosen_under_more_and_kept_in_the_link(visit: Visitor, address: str, runs: tuple[str, str]):
    page = visit(address, height=1300).open(f"/stream_lab?run={runs[0]}")
    agrees(settled(page), runs, alpha=100, gamma=5, change=300)
    page.get_by_text("More", exact=True).click()
    page.get_by_role("combobox", name="Score").select_option("APS")
    page.wait_for_url(re.compile("score=aps"))
    agrees(page, runs, alpha=100, gamma=5, change=300, score="aps")
    page.reload()
    expect(page.get_by_role("combobox", name="Score")).to_be_visible()  # what is not at its default is in sight
    agrees(page, runs, alpha=100, gamma=5, change=300, score="aps")


def test_what_is_moved_is_what_python_computes(visit: Visitor, address: str, runs: tuple[str, str]):
    page = visit(address, height=1300).open(f"/stream_lab?run={runs[0]}")
    expect(page.locator(".stream .tracks svg.chart").first).to_be_visible()
    settled(page)
    agrees(page, runs, alpha=100, gamma=5, change=300)
    # By the keyboard: gamma 0.015, alpha 0.2, and a change that is out of range.
    page.get_by_text("More", exact=True).press("Enter")
    page.get_by_role("slider", name="gamma").press("PageUp")
    alpha = page.get_by_role("spinbutton", name="alpha as a number")
    alpha.fill("0.2")
    alpha.press("Enter")
    change = page.get_by_role("spinbutton", name="questions before the change as a number")
    change.fill("301")
    change.press("Enter")
    expect(page.get_by_text("The change must come after 0 to 300 questions. It stays at 300.")).to_be_visible()
    agrees(page, runs, alpha=200, gamma=15, change=300)
    page.wait_for_url(re.compile("alpha=200.*gamma=15"))
    # By the pointer: the line of the change in a figure follows it.
    plot = page.locator("[data-plot=capital] .plot")
    plot.scroll_into_view_if_needed()
    box = still(plot)
    page.mouse.move(box["x"] + box["width"] * 0.4, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.2, box["y"] + 60)
    eventually(page, lambda: not 50 < int(change.input_value()) < 200)
    page.mouse.up()
    moved = int(change.input_value())
    page.wait_for_url(re.compile(f"change={moved}"))
    agrees(page, runs, alpha=200, gamma=15, change=moved)
    page.reload()
    expect(change).to_have_value(str(moved))
    agrees(page, runs, alpha=200, gamma=15, change=moved)
    page.goto(page.url.replace(f"change={moved}", "change=5000"))
    expect(page.get_by_text("At most 300 questions can come before the change, not 5,000.")).to_be_visible()
    agrees(page, runs, alpha=200, gamma=15, change=300)
    # Fewer questions than are asked for: the page says so.
    page.get_by_role("radio", name="drawn again").check()
    expect(page.get_by_text("The runs have only 600 and 400 different questions")).to_be_visible()
    drawn = page.get_by_role("spinbutton", name="number of questions that are drawn")
    drawn.fill("99")
    drawn.press("Enter")
    expect(page.get_by_text("a whole number from 100 to 10,000. It stays at 10,000.")).to_be_visible()
    page.wait_for_url(re.compile("length=10000"))
