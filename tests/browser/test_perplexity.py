"""Edit a prompt, measure, watch, see the strip change, follow a link: the Perplexity page in the browser."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from app.formatting import rounded
from core.models.model_sources import bundled_models
from core.models.perplexity.conversations import bundled
from core.models.perplexity.prompts import UNFITTING
from core.models.perplexity.request import Request
from core.reports import perplexity as reports
from core.reports import perplexity_results
from core.runs import store
from tests.browser.conftest import Visitor, choose, eventually, holds, settled

ENDS_WITHIN_MS = 180_000
TALK = bundled()[0]


def values(page: Page, row: int) -> list[float]:
    """A strip's losses, in full precision."""
    tokens = page.locator(".strips .row").nth(row).locator(".token")
    expect(tokens.first).to_be_visible()
    return [float(value) for value in tokens.evaluate_all("all => all.map((token) => token.dataset.value)")]


def newest_run(home: Path) -> str:
    return max((home / "runs").iterdir(), key=lambda folder: folder.stat().st_ctime).name


def test_a_prompt_edited_measured_and_seen_in_every_word(pocket: str, pocket_server: tuple[str, Path], visit: Visitor):
    model = bundled_models()[0]
    page = visit(pocket).open(f"/perplexity?models={model}&talks={TALK.digest}")
    expect(page.get_by_role("heading", name="Perplexity")).to_be_visible()
    measure = page.get_by_role("button", name="Measure", exact=True)
    # What ships is measured already, where a recorded run has it.
    settled(page).get_by_text("More: the prompts' texts").click()
    text = page.get_by_role("textbox", name="Text of prompt B")
    expect(text).to_have_value(UNFITTING.text)
    text.fill("You are a pirate. You sing of the sea.")
    text.press("Control+Enter")
    expect(page.get_by_text(re.compile("This is an edited prompt, version [0-9a-f]{10}"))).to_be_visible()
    measure.click()
    # The page is free meanwhile, and the run is seen on New run too.
    expect(page.get_by_text(re.compile(r"Word by word"))).to_be_visible(timeout=ENDS_WITHIN_MS)
    expect(page).to_have_url(re.compile("[?&]b=[0-9a-f]{10}"))
    eventually(page, lambda: store.read_record(newest_run(pocket_server[1])).state != "done")
    results = perplexity_results.read(newest_run(pocket_server[1]))
    assert isinstance(results.request, Request)
    pirate = next(prompt for prompt in results.request.prompts if "pirate" in prompt.text)
    message = results.messages[pirate.digest, TALK.digest][0]

    def those_of_the_run() -> None:
        a, b = values(page, 0), values(page, 1)
        assert b == pytest.approx(message.losses.tolist(), abs=1e-6)
        assert values(page, 2) == pytest.approx([x - y for x, y in zip(a, b, strict=True)], abs=1e-6)
        assert "".join(page.locator(".strips .row").nth(1).locator(".token").all_inner_texts()) == TALK.messages[2].text

    eventually(page, those_of_the_run)
    # The word that changed most is pointed at first; keys walk from token to token.
    readout = page.locator(".readout")
    expect(readout).to_contain_text(re.compile(r"times as likely under [AB]|equally likely under both"))
    first = page.locator(".strips .row").nth(0).locator(".token").first
    first.focus()
    expect(readout).to_contain_text(f"“{message.pieces[0].strip()}”")
    page.keyboard.press("ArrowRight")
    expect(readout).to_contain_text(f"“{message.pieces[1].strip()}”")
    page.keyboard.press("ArrowDown")
    holds(page, "document.activeElement.shadowRoot?.activeElement?.dataset.value !== undefined")
    # The figures on the page are those of the run.
    whole = results.messages[pirate.digest, TALK.digest]
    expect(page.get_by_text(f"{rounded(reports.token_weighted(whole))} under B")).to_be_visible()
    # Another message, then the link in another window.
    choose(page, "The counselor's message", re.compile(r"^3: "))
    expect(page).to_have_url(re.compile("message=3"))
    third = results.messages[pirate.digest, TALK.digest][2]
    expect(page.locator(".strips .row").nth(1).locator(".token")).to_have_count(third.tokens)
    other = visit(pocket, theme="dark", width=900).open(page.url.removeprefix(pocket))
    settled(other).get_by_text("More: the prompts' texts").click()
    expect(other.get_by_role("textbox", name="Text of prompt B")).to_have_value(re.compile("pirate"))
    expect(other.locator(".strips .row").nth(1).locator(".token")).to_have_count(third.tokens)
    losses = pytest.approx(third.losses.tolist(), abs=1e-6)
    eventually(other, lambda: values(other, 1) != losses)
    # Going back to a prompt that ships changes the strip without measuring anything.
    choose(other, "Prompt B", UNFITTING.name)
    expect(other.get_by_role("textbox", name="Text of prompt B")).to_have_value(UNFITTING.text)
