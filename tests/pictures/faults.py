"""What a script can see to be wrong with the look of a page."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page

SCRIPT = Path(__file__).with_suffix(".js").read_text(encoding="utf-8").split("\n", 1)[1].rstrip("; \n")


def faults(page: Page) -> list[str]:
    """One sentence for each fault of the page as it is shown: sideways scrolling, cut text, overlapping words or
    controls, exceptions."""
    found: list[str] = page.evaluate(SCRIPT)
    return found
