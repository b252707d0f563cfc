"""The static site from a plain file server: pages open, the first one is small, and nothing comes from elsewhere."""

import functools
import http.server
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, Request, expect

from app.showcase import showcase
from core.reports.lesson import LESSONS, load
from docs import manual
from hedge.cli import main
from tests.browser import axe
from tests.browser.conftest import NOT_TOO_WIDE, Lab, Visitor, eventually, holds, resize

REPOSITORY = "https://example.org/ann/hedge"
LARGEST_FIRST_PAGE = 5_000_000
PATH = "/web/people/ann"
"""The site is not at the top of its server."""


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Python's own file server, as ``python -m http.server`` starts it, without its log."""

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the site, as the command writes it."""
    folder = tmp_path_factory.mktemp("server") / PATH.strip("/")
    assert main(["site", str(folder), "--repository", REPOSITORY]) == 0
    return folder


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    """Where a plain file server shows the site."""
    handler = functools.partial(Quiet, directory=str(folder.parents[PATH.count("/") - 1]))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}{PATH}"
        server.shutdown()
        thread.join()


def read_well(page: Page) -> None:
    """Without a serious fault, and not too wide, at 1280 pixels in the light and at 360 in the dark."""
    eventually(page, lambda: axe.faults(page))
    holds(page, NOT_TOO_WIDE)
    page.emulate_media(color_scheme="dark")
    resize(page, 360, 740)
    eventually(page, lambda: axe.faults(page))
    holds(page, NOT_TOO_WIDE)
    page.emulate_media(color_scheme="light")
    resize(page, 1280, 720)


def test_the_first_page_is_small_and_its_lab_moves(address: str, visit: Visitor):
    axe.required()
    window = visit(address, width=1280, height=720)
    page, requests = window.page, list[Request]()
    page.on("request", lambda request: requests.append(request))
    window.open("/index.html")
    lab = Lab(page).ready()
    page.wait_for_load_state("networkidle")
    assert [request.url for request in requests if request.url.startswith("http")] == [f"{address}/index.html"]
    loaded = sum(len(request.response().body()) for request in requests if request.url.startswith("http"))  # type: ignore[union-attr]
    assert loaded < LARGEST_FIRST_PAGE
    expect(page).to_have_title("How sure is a language model? – Hedge")
    expect(page.get_by_role("heading", level=1)).to_have_text("How sure is a language model?")
    lesson = page.get_by_role("link", name="Take the ten-minute lesson")
    expect(lesson).to_be_in_viewport()
    expect(lesson).to_have_attribute("href", "lesson-sets.html")
    expect(lab.alpha).to_be_in_viewport()
    expect(page.locator("article[data-score=lac] [data-figure=coverage]")).to_be_in_viewport(ratio=1)
    lab.expect_report(showcase().run)
    lab.move_by_keys()
    lab.expect_report(showcase().run)
    expect(page.get_by_role("link", name="The source")).to_have_attribute("href", REPOSITORY)
    expect(page.locator("pre")).to_contain_text(f"git clone {REPOSITORY} hedge && cd hedge")
    read_well(page)


def test_every_page_opens_and_every_link_leads_somewhere(address: str, folder: Path, visit: Visitor):
    """``visit`` fails for an error on a page, for a file that is not there, and for a request to another host."""
    axe.required()
    window = visit(address, width=1280, height=720)
    page = window.open("/index.html")
    names = {path.name for path in folder.glob("*.html")}
    sections = page.locator(".more a").evaluate_all("links => links.map(link => link.getAttribute('href'))")
    assert {name for name in sections if "/" not in name} | {"index.html"} == names
    for name in sorted(names - {"index.html"}):
        window.open(f"/{name}")
        holds(page, "document.querySelector('.outside')?.shadowRoot.querySelector('svg') !== null")
        expect(page).to_have_title(re.compile(".+ – Hedge"))
        current = page.locator("nav [aria-current=page]").all_text_contents()
        assert current[0] in ("Course", "Labs", "Questions", "Stream lab")
        links = page.locator("header a").evaluate_all("links => links.map(link => link.getAttribute('href'))")
        assert all((folder / link.partition("#")[0]).is_file() for link in links if link != "#main")
    pages = [f"{name.removesuffix('.md')}.html" for group in manual.MENU.values() for name in group]
    assert {str(path.relative_to(folder / "manual")) for path in (folder / "manual").rglob("*.html")} == set(pages)
    window.open("/manual/pages/overview.html")
    read_well(page)
    page.get_by_role("link", name="Live figures").click()
    expect(page).to_have_url(f"{address}/index.html")


def test_a_lesson_is_taken_to_its_end(address: str, visit: Visitor):
    axe.required()
    page = visit(address, width=1280, height=720).open("/index.html")
    page.get_by_role("link", name="Course").click()
    page.get_by_label("Course").get_by_role("link", name="Calibration").click()
    content = load(LESSONS["calibration"])
    expect(page.get_by_role("heading", level=1)).to_have_text(content.title)
    read_well(page)
    page.get_by_role("button", name="Just show me").click()
    for step in content.steps[1:]:
        page.get_by_role("button", name=f"Next: {step.title}").click()
        expect(page.get_by_role("heading", level=2, name=step.title)).to_be_in_viewport()
    page.get_by_role("button", name="Finish").click()
    expect(page.get_by_role("heading", name="What you have learned")).to_be_in_viewport()


def test_without_scripts_a_page_says_so_and_leads_on(address: str, visit: Visitor):
    window = visit(address)
    page = window.open("/manual/index.html")  # this page may hold a frame, in which no script runs
    page.evaluate("""() => {
        const frame = Object.assign(document.createElement("iframe"), { sandbox: "", src: "../index.html" });
        document.querySelector("main").replaceChildren(frame);
    }""")
    frame = page.frame_locator("iframe")
    expect(frame.locator("noscript p")).to_be_visible()
    frame.get_by_role("link", name="Manual").click()
    expect(frame.get_by_role("heading", level=1, name="Hedge")).to_be_visible()
    assert all(error.startswith("Blocked script execution") for error in window.errors)
    window.errors.clear()
