"""Logging in, roles and logging out in a browser, with a real OpenID provider, and the policy that pages keep to."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests import openid
from tests.browser.conftest import Visit, Visitor, held_by_tests, page_server
from tests.pictures.faults import lasting_faults

PHONES = ("ada", "bo", "cy")
"""Names of the server, one for each phone: cookies and storage are kept by host."""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server with the tests' provider; its address."""
    folder: Path = tmp_path_factory.mktemp("login")
    with openid.running() as provider, held_by_tests(folder / "home") as nothing_warm:
        file = folder / "server.toml"
        names = [f"{name}.localhost" for name in PHONES]
        file.write_text(f"{openid.server_file(provider)}\n[hosts]\nnames = {names}\n")
        file.chmod(0o600)
        with page_server(folder / "home", options=["--login", str(file)], **nothing_warm) as address:
            yield address


def test_a_person_and_a_stranger_log_in_and_out(served: str, visit: Visitor):
    window = visit(served, width=1280, height=720)
    page = window.page
    page.context.clear_cookies()
    window.foreign = _PassingProvider()
    page.goto(f"{served}/one_question?ask=own")
    expect(page.get_by_role("heading", name="Hedge")).to_be_visible()
    expect(page.get_by_role("navigation")).to_have_count(0)
    no_script_runs_and_nothing_is_sent_elsewhere(window)
    page.get_by_role("button", name="Log in").click()
    page.get_by_role("link", name="vera").click()
    expect(page.get_by_role("button", name="Ask", exact=True)).to_be_visible()
    expect(page).to_have_url(re.compile(r"/one_question\?.*ask=own"))
    page.goto(f"{served}/account")
    expect(page.get_by_text("Your role is viewer")).to_be_visible()
    assert lasting_faults(page, but="drawing") == []
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_role("button", name="Log in")).to_be_visible()
    assert "_streamlit_user" not in [cookie["name"] for cookie in page.context.cookies(served)]
    # A person without a role sees what to ask for.
    page.goto(f"{served}/jury")
    page.get_by_role("button", name="Log in").click()
    page.get_by_role("link", name="otto").click()
    expect(page.get_by_role("heading", name="You have no role on this server")).to_be_visible()
    expect(page.get_by_text("otto@elsewhere.example")).to_be_visible()
    expect(page.get_by_text("Jury")).to_have_count(0)
    assert lasting_faults(page, but="drawing") == []
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_role("button", name="Log in")).to_be_visible()


def no_script_runs_and_nothing_is_sent_elsewhere(window: Visit) -> None:
    """The page's policy refuses scripts that are written into it, and requests to other hosts."""
    result = window.page.evaluate(
        """async () => {
            const script = document.createElement('script');
            script.textContent = 'window.injected = 1';
            document.body.append(script);
            const image = document.createElement('div');
            image.innerHTML = '<img src=x onerror="window.injected = 2">';
            document.body.append(image);
            setTimeout('window.injected = 3');
            const sent = await fetch('http://127.0.0.1:9/').then(() => 'sent', () => 'refused');
            await new Promise(done => setTimeout(done, 200));
            return [window.injected ?? 'nothing', sent];
        }"""
    )
    assert result == ["nothing", "refused"]
    assert len(window.errors) >= 3
    assert all("Content Security Policy" in error or "404" in error for error in window.errors)
    window.errors.clear()


@pytest.mark.nightly
def test_a_launcher_opens_a_class_that_phones_join_without_an_account_and_a_viewer_opens_none(
    served: str, visit: Visitor
):
    window = visit(served, width=1280, height=720)
    desk = window.page
    desk.context.clear_cookies()
    window.foreign = _PassingProvider()
    desk.goto(f"{served}/classroom")
    desk.get_by_role("button", name="Log in").click()
    desk.get_by_role("link", name="lars").click()
    desk.get_by_role("button", name="Open a class").click()
    expect(desk.locator(".code")).to_have_text(re.compile("^[A-Z]{6}$"))
    code = desk.locator(".code").inner_text()
    # Each phone has a name of the server for itself: cookies and storage are kept by host.
    addresses = [served.replace("127.0.0.1", f"{name}.localhost") for name in PHONES]
    phones = [visit(address, width=390, height=844).open(f"/join/{code}") for address in addresses]
    for phone in phones:
        phone.bring_to_front()
        phone.get_by_role("button", name="Join").click()
        expect(phone.locator("#title")).to_contain_text("You are in")
    assert [desk.context.cookies(address) for address in addresses] == [[]] * len(PHONES)
    desk.bring_to_front()
    expect(desk.locator(".who")).to_have_text("3 joined")
    desk.get_by_role("button", name="First question").click()
    for phone in phones:
        phone.bring_to_front()
        expect(phone.locator("#title")).to_contain_text("Question 1 of 12")
        phone.locator(".more").first.click()
        expect(phone.locator("#link")).to_have_text("Saved")
    desk.bring_to_front()
    expect(desk.locator(".who")).to_contain_text("3 of 3 answered")
    desk.get_by_role("button", name="Show the answer").click()
    expect(desk.locator(".share")).to_contain_text(["100%"])
    expect(phones[1].locator(".option.true")).to_have_count(1)

    desk.goto(f"{served}/account")
    desk.get_by_role("button", name="Log out").click()
    expect(desk.get_by_role("button", name="Log in")).to_be_visible()
    desk.goto(f"{served}/classroom?class={code}")
    desk.get_by_role("button", name="Log in").click()
    desk.get_by_role("link", name="vera").click()
    expect(desk.get_by_text("you can look at everything but not open a class")).to_be_visible()
    expect(desk.get_by_text("You need no account for that.")).to_be_visible()
    expect(desk.get_by_role("button", name="Open a class")).to_have_count(0)
    expect(desk.locator(".classroom")).to_have_count(0)


class _PassingProvider(list[str]):
    """In the place of the hosts that a page has asked: the provider is another one, and is meant."""

    def append(self, url: str) -> None:
        assert url.startswith("http://127.0.0.1:"), url
