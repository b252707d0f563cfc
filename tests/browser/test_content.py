"""What comes from data is text on every page: no script runs, no request leaves, nothing of it becomes markup.

``test_pages.py`` does the same with a jury, ``test_static_report.py`` with a report.
"""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from app.formatting import JOINER
from tests.browser.conftest import Visitor, in_home
from tests.browser.hostile import HOSTILE, hostile_runs, only_text

LINKS = {
    "overview": "/?figure=runs",
    "stream_lab": "/stream_lab?run={}&after={}",
    "learn": "/learn?run={}",
    "compare": "/compare?runs={},{}",
    "calibration": "/calibration?runs={}",
    "data": "/data?runs={}",
    "new_run": "/new_run",
}


@pytest.fixture(scope="session")
def runs(shared_home: Path) -> list[str]:
    with in_home(shared_home):
        return hostile_runs()


@pytest.mark.parametrize("page_name", LINKS)
def test_hostile_texts_stay_texts(visit: Visitor, address: str, runs: list[str], page_name: str):
    page = visit(address).open(LINKS[page_name].format(*runs))
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    only_text(page)


def plain_text(text: str) -> str:
    """The text as a heading shows it: letter by letter, with what keeps it from becoming a link."""
    return re.sub(r"https?(?=:)", lambda match: match[0] + JOINER, text)


def test_hostile_texts_are_shown_whole(visit: Visitor, address: str, runs: list[str]):
    """In the Alpha lab and on the page of a question."""
    page = visit(address).open(f"/alpha_lab?run={runs[0]}")
    expect(page.locator(".asked").first).to_have_text(f"30 {HOSTILE}")
    only_text(page)
    page.get_by_role("button", name="Open question 1 on its own page").click()
    expect(page.get_by_role("heading", name="document.title")).to_have_text(plain_text(f"30 {HOSTILE}"))
    expect(page.locator(".option .text").first).to_contain_text(HOSTILE)
    only_text(page)
