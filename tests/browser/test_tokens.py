"""The text by token in a real browser: details of a token appear on hover and by keyboard, and data stays text."""

from playwright.sync_api import expect

from core.reports import tokens
from tests.browser.conftest import NOT_TOO_WIDE, Visitor, expect_whole, holds, resize

LEGEND_IS_WHOLE = """() => {
    const chart = document.querySelector('[data-testid=stVegaLiteChart]');
    const right = chart.getBoundingClientRect().right + 1;
    const labels = [...chart.querySelectorAll('.role-legend-label text')];
    return labels.every((label) => label.getBoundingClientRect().right <= right);
}"""


def test_a_token_tells_what_was_expected_and_nothing_is_too_wide(visit: Visitor, address: str):
    page = visit(address, width=390, theme="dark").open("/tokens")
    view = next(iter(tokens.recorded_views().values()))
    buttons = page.locator(".tokens .text button")
    expect(buttons).to_have_count(len(view["tokens"]))
    expect(buttons.last).not_to_be_empty()
    assert "".join(buttons.all_text_contents()) == view["text"]
    row = view["tokens"][5]
    buttons.nth(5).focus()
    details = page.locator(".tokens .said")
    expect(details).to_contain_text(f"a surprisal of {row['loss']:.2f} nats")
    expect(details.locator("tr")).to_have_count(len(row["alternatives"]))
    buttons.first.click()
    expect(details).to_contain_text("is the first token")
    expect(page.get_by_role("radio", name="another model")).to_be_visible()
    for width in (390, 900, 1280):
        resize(page, width)
        holds(page, NOT_TOO_WIDE)
        expect_whole(page)
        expect(page.get_by_test_id("stVegaLiteChart").first.locator(".role-legend-label text")).to_have_count(3)
        page.wait_for_function(LEGEND_IS_WHOLE)
