"""From the first page to a real model's sets: the published cell, the download, and a moving alpha.

The shelf's own entry is imported, with the authors' files from a mirror on this machine.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from core.runs import store
from tests.browser.conftest import Lab, Visitor, server
from tests.core.shelf.mirror import Mirror, serving

MODEL, DATA = "Mistral-7B-v0.1", "halu_dialogue"
ENDS_WITHIN_MS = 90_000


@pytest.fixture
def shelf(tmp_path: Path, real_data: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, Mirror]]:
    """A server whose shelf takes files from a mirror, which has those of one model on one data set."""
    home = tmp_path / "home"
    with serving() as mirror:
        for path in (real_data / "llm-uncertainty-bench" / "logits").glob(f"{MODEL}_{DATA}_*.pkl"):
            mirror.add("smartyfh/LLM-Uncertainty-Bench", "5d189dc", f"outputs_base/{path.name}", path.read_bytes())
        assert len(mirror.files) == 3
        monkeypatch.setenv("HEDGE_HOME", str(home))
        with server(home, agent=False, HEDGE_SHELF_MIRROR=mirror.url, HEDGE_SHELF_STALL_SECONDS="60") as address:
            yield address, mirror


@pytest.mark.nightly
def test_four_clicks_lead_from_the_first_page_to_a_7b_models_sets(shelf: tuple[str, Mirror], visit: Visitor):
    """The download is cancelled once, and the second continues where it stopped."""
    address, mirror = shelf
    page = visit(address).open("/")
    page.get_by_text("Published figures").click()
    page.get_by_role("row", name="Mistral-7B").get_by_role("gridcell").nth(3).click()
    bring = page.get_by_test_id("stButton").get_by_role("button", name="Download and import (")
    expect(bring).to_be_visible()
    expect(page.get_by_text("3 files, about").or_(page.get_by_text("4 files, about")).first).to_be_visible()
    mirror.fault = "stall"
    bring.click()
    expect(page.get_by_text(re.compile(r"^(?!0 ).+B of about "))).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("what was downloaded is kept, and the next time continues from there")).to_be_visible()
    mirror.fault = ""
    mirror.released.set()
    stopped_at = sum(mirror.sent.values())
    assert 0 < stopped_at < sum(map(len, mirror.files.values()))
    bring.click()
    expect(page.get_by_text("3 of 3 published figures recomputed.")).to_be_visible(timeout=ENDS_WITHIN_MS)
    assert sum(mirror.sent.values()) == sum(map(len, mirror.files.values())), "no byte was sent twice"
    page.get_by_role("link", name=f"1. {MODEL}").click()
    lab = Lab(page).ready()
    run = next(name for name in store.run_ids() if not store.is_bundled(name) and name in page.url)
    lab.expect_report(run)
    before = lab.value("lac", "meanSize")
    lab.alpha.fill("400")
    lab.expect_alpha(400)
    lab.expect_report(run)
    assert lab.value("lac", "meanSize") < before
