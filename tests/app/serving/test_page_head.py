"""The head of each page names the files that its first screen needs, and Streamlit's page is otherwise as it was."""

import gzip
import re
from importlib import resources
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from app.navigation import PAGES
from app.serving import icons, page_head
from app.serving.page_head import PageHead

pytestmark = pytest.mark.quick

STATIC = Path(str(resources.files("streamlit") / "static"))
PAGE = {"accept": "text/html", "accept-encoding": "gzip"}
JOIN = "<html><head></head><body>Join the class</body></html>"


async def answered(request: Request) -> Response:
    path = request.url.path
    if path == "/join":
        return HTMLResponse(JOIN)
    return Response("No such page.", 404) if path == "/missing" else FileResponse(STATIC / "index.html")


@pytest.fixture
def client() -> TestClient:
    return TestClient(Starlette(routes=[Route("/{path:path}", answered)], middleware=[Middleware(PageHead)]))


def test_a_page_names_its_files_and_is_compressed(client: TestClient) -> None:
    original = (STATIC / "index.html").read_text("utf-8")
    with client.stream("GET", "/alpha_lab", headers=PAGE) as response:
        sent = b"".join(response.iter_raw())
    page = gzip.decompress(sent).decode()
    assert page.replace(page_head.lines("alpha_lab"), "") == icons.with_our_icons(original)
    assert re.search(r'<link rel="modulepreload" href="/bundles/alpha_lab-\w+\.js">', page)
    assert response.headers["content-length"] == str(len(sent))
    assert "etag" not in response.headers
    plain = client.get("/alpha_lab", headers={"accept": "text/html", "accept-encoding": "identity"})
    assert plain.text == page


def test_a_page_that_a_browser_has_is_sent_anew(client: TestClient) -> None:
    """Streamlit's file may be the same while Hedge's files have changed."""
    etag = client.get("/alpha_lab", headers={"accept": "*/*"}).headers["etag"]
    response = client.get("/alpha_lab", headers=PAGE | {"if-none-match": etag, "range": "bytes=0-9"})
    assert response.status_code == 200
    assert "</html>" in response.text


def test_other_answers_stay_as_they_are(client: TestClient) -> None:
    assert client.get("/join", headers=PAGE).text == JOIN
    assert client.get("/missing", headers=PAGE).text == "No such page."
    assert "bundles" not in client.get("/alpha_lab", headers={"accept": "*/*"}).text


@pytest.mark.parametrize("path", ["/", "/overview", "/elsewhere", "/hedge/overview"])
def test_the_first_page_has_no_name_in_the_address(client: TestClient, path: str) -> None:
    assert ("first_page" in client.get(path, headers=PAGE).text) == (path in ("/", "/overview"))


def test_the_named_files_are_there() -> None:
    assert set(page_head.NEEDED) | set(page_head.DRAWN_BY_STREAMLIT) <= {entry.name for entry in PAGES}
    for entry in PAGES:
        for path in re.findall('href="/static/(.*?)"', page_head.lines(entry.name)):
            assert (STATIC / "static" / path).is_file()
    for part in (*page_head.PARTS, page_head.CHART):
        assert page_head._files(part), f"Streamlit has no {part} any more; see which parts its pages load instead"
    assert any(file.startswith("embed.") for file in page_head._files(page_head.CHART))
    assert page_head._files("NoSuchPart") == ()
