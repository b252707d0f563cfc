"""The app inside a frame of another site: it works where the server's settings allow that site, and only there."""

import functools
import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import expect

from app.showcase import showcase
from tests.browser.conftest import Lab, Visitor, eventually, held_by_tests, page_server
from tests.browser.test_site import Quiet


@contextmanager
def file_server(folder: Path) -> Iterator[str]:
    """A plain file server; its address is of another site than the app's, which browsers give no cookies there."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://localhost:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("allowed", [True, False])
def test_a_listed_site_shows_the_app_and_another_one_does_not(allowed: bool, tmp_path: Path, visit: Visitor):
    home = tmp_path / "home"
    with file_server(tmp_path) as site, held_by_tests(home) as variables:
        if allowed:
            variables |= {"HEDGE_FRAME_ANCESTORS": f"https://huggingface.co, {site}"}
        with page_server(home, options=["--public"], **variables) as address:
            (tmp_path / "index.html").write_text(
                f'<iframe src="{address}/alpha_lab" width="1200" height="800"></iframe>'
            )
            window = visit(site, width=1280, height=860)
            kept = window.page.context.cookies(address)  # of other tests' servers, since a cookie knows no port
            page = window.open("/index.html")
            if allowed:
                eventually(page, lambda: not any(frame.url.startswith(address) for frame in page.frames))
                frame = next(frame for frame in page.frames if frame.url.startswith(address))
                lab = Lab(frame).ready()  # type: ignore[arg-type]
                lab.type("0.2")
                lab.expect_alpha(200)
                lab.expect_report(showcase().run)
                assert page.context.cookies(address) == kept
            else:
                eventually(page, lambda: [frame.url for frame in page.frames][1:] != ["chrome-error://chromewebdata/"])
                expect(page.frame_locator("iframe").get_by_role("slider")).to_have_count(0)
                assert [error for error in window.errors if "frame-ancestors" not in error] == []
                window.errors.clear()
            assert all(url.startswith((address, "ws" + address.removeprefix("http"))) for url in window.foreign)
            window.foreign.clear()
