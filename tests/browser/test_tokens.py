"""The text by token in a real browser: details of a token appear on hover and by keyboard, and data stays text."""

from playwright.sync_api import expect

from core.models.adapters.token_evaluation import load
from core.models.adapters.token_view import view_tokens
from core.reports import tokens
from core.runs.answering import token_text
from core.settings import ASSETS
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
    options = page.locator(".tokens .text [role=option]")
    expect(options).to_have_count(len(view["tokens"]))
    expect(options.last).not_to_be_empty()
    assert "".join(options.all_text_contents()) == view["text"]
    row = view["tokens"][5]
    options.nth(5).focus()
    details = page.locator(".tokens .said")
    expect(details).to_contain_text(f"a surprisal of {row['loss']:.2f} nats")
    expect(details.locator("tr")).to_have_count(len(row["alternatives"]))
    page.keyboard.press("ArrowRight")
    expect(details).to_contain_text(f"a surprisal of {view['tokens'][6]['loss']:.2f} nats")
    expect(page.locator(".tokens .text [tabindex='0']")).to_have_count(1)
    options.first.click()
    expect(details).to_contain_text("is the first token")
    expect(page.get_by_role("radio", name="another model")).to_be_visible()
    for width in (390, 900, 1280):
        resize(page, width)
        holds(page, NOT_TOO_WIDE)
        expect_whole(page)
        expect(page.get_by_test_id("stVegaLiteChart").first.locator(".role-legend-label text")).to_have_count(3)
        page.wait_for_function(LEGEND_IS_WHOLE)


def test_a_letter_of_two_tokens_and_an_emoji_of_four_are_seen_once(visit: Visitor, address: str):
    model, text = str(ASSETS / "models" / "pocket-3m"), "Grüße 😀 there"
    token_text.write_view(token_text.token_text(model, text), view_tokens(load(model), text))
    page = visit(address, theme="dark").open("/tokens?model=another%20model")
    page.get_by_label("Folder or name of the model").fill(model)
    field = page.get_by_label("Text", exact=True)
    field.fill(text)
    field.press("Control+Enter")
    options = page.locator(".tokens .text [role=option]")
    expect(page.locator(".tokens .text")).to_have_text(text, use_inner_text=True)
    names = [option.get_attribute("aria-label").rpartition(",")[0] for option in options.all()]
    assert [name for name in names if "part" in name] == [
        *(f"ü, part {i} of 2" for i in (1, 2)),
        *(f"ß, part {i} of 2" for i in (1, 2)),
        *(f"😀, part {i} of 4" for i in (1, 2, 3, 4)),
    ]
    page.get_by_role("option", name="😀, part 4 of 4").click()
    expect(page.locator(".tokens .said")).to_contain_text("“😀”, part 4 of 4, had a probability of")
    expect(page.locator(".tokens")).not_to_contain_text("▯")
    for option in (options.nth(names.index("ü, part 2 of 2")), page.get_by_role("option", name="😀, part 2 of 4")):
        assert option.evaluate("option => getComputedStyle(option, '::before').content") == '"·"'
