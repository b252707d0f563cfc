"""The text by token in a real browser: what is pointed at is told, also by keyboard, and data stays text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from core.reports import tokens
from tests.browser.conftest import Visitor, server


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    home: Path = tmp_path_factory.mktemp("tokens") / "home"
    home.mkdir()
    with server(home, agent=False) as url:
        yield url


@pytest.mark.parametrize(("width", "theme"), [(390, "light"), (1280, "dark")])
def test_a_token_tells_what_was_expected(visit: Visitor, address: str, width: int, theme: str):
    page = visit(address, width=width, theme=theme).open("/tokens")
    view = next(iter(tokens.recorded_views().values()))
    buttons = page.locator(".tokens .text button")
    expect(buttons).to_have_count(len(view["tokens"]))
    assert "".join(buttons.all_text_contents()) == view["text"]
    row = view["tokens"][5]
    buttons.nth(5).focus()
    told = page.locator(".tokens .said")
    expect(told).to_contain_text(f"a surprisal of {row['loss']:.2f} nats")
    expect(told.locator("tr")).to_have_count(len(row["alternatives"]))
    buttons.first.click()
    expect(told).to_contain_text("is the first token")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
