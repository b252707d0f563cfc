"""An open page whose server is stopped and started again."""

from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import expect

from tests.browser.conftest import Visitor, engine_ended, held_by_tests, page_server, settled

TYPED = "Which planet has the most moons?"


def test_an_open_page_is_loaded_again_once_and_says_so(home: Path, visit: Visitor):
    with engine_ended(home), held_by_tests(home):
        with page_server(home) as address:
            window = visit(address)
            page = settled(window.open("/one_question?ask=own"))
            question = page.get_by_role("textbox", name="Question", exact=True)
            question.fill(TYPED)
            settled(page)
            opened = page.url
            loads: list[str] = []
            page.on("load", lambda loaded: loads.append(loaded.url))
        with page_server(home, port=urlsplit(address).port or 0):
            notice = page.locator(".restarted")
            expect(notice).to_contain_text("The server was restarted, so this page was loaded again.")
            window.errors.clear()  # the browser says that it had no connection, as it should
            expect(notice.get_by_text(TYPED)).to_be_visible()
            expect(page).to_have_url(opened)
            notice.get_by_role("button", name="Close").click()
            expect(notice).to_be_hidden()
            question.fill("Another one?")
            page.get_by_role("button", name="Clear", exact=True).click()
            expect(question).to_have_value("")  # the page is alive
            settled(page)
            assert loads == [opened]
