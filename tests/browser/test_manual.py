"""The manual as files in a browser: the search leads to a section, and pages are readable in both themes and widths."""

from pathlib import Path

from playwright.sync_api import BrowserContext, expect

from docs.manual import write_manual
from tests.browser import axe
from tests.browser.conftest import NOT_TOO_WIDE, eventually, holds


def test_a_person_searches_and_reads(browser: BrowserContext, tmp_path: Path):
    axe.required()
    write_manual(tmp_path)
    page = browser.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    try:
        page.set_viewport_size({"width": 1280, "height": 800})
        page.goto((tmp_path / "formulas" / "scores.html").as_uri())
        page.get_by_role("searchbox", name="Search the manual").fill("floating thousandths")
        page.get_by_role("link", name="Why does alpha count in thousandths?").click()
        expect(page).to_have_url((tmp_path / "faq.html").as_uri() + "#why-does-alpha-count-in-thousandths")
        expect(page.get_by_role("heading", name="Why does alpha count in thousandths?")).to_be_in_viewport()
        expect(page.locator("nav [aria-current]")).to_have_text("First questions")
        for width, theme in ((1280, "light"), (390, "dark")):
            page.set_viewport_size({"width": width, "height": 800})
            page.emulate_media(color_scheme=theme)
            eventually(page, lambda: axe.faults(page))
            holds(page, NOT_TOO_WIDE)
    finally:
        page.close()
    assert errors == []
