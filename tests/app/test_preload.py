"""The header that names Streamlit's scripts: only on pages, and with scripts that there are."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from threading import Thread

import pytest
import streamlit
from streamlit.web.server.starlette import starlette_app

from app import preload
from app.preload import Preload

STATIC = Path(streamlit.__file__).parent / "static"


def headers(kind: bytes, *, names: list[str], method: str = "GET", status: int = 200) -> list[tuple[bytes, bytes]]:
    """The headers of an answer of this content type."""
    sent = []

    async def app(scope, receive, send) -> None:
        await send({"type": "http.response.start", "status": status, "headers": [(b"Content-Type", kind)]})
        await send({"type": "http.response.body", "body": b"<p>"})

    async def send(message) -> None:
        sent.append(message)

    scope = {"type": "http", "method": method, "path": "/compare"}
    # Playwright keeps a running loop in the test worker's own thread.
    thread = Thread(target=lambda: asyncio.run(Preload(app, names)(scope, None, send)))
    thread.start()
    thread.join(20)
    assert sent[1]["body"] == b"<p>"
    return sent[0]["headers"]


def test_a_page_names_the_scripts_and_nothing_else_does():
    names = ["Slider.1.js", "moment.2.js"]
    page = headers(b"text/html; charset=utf-8", names=names)
    value = b"<./static/js/Slider.1.js>; rel=modulepreload, <./static/js/moment.2.js>; rel=modulepreload"
    assert page[1:] == [(b"link", value)]
    assert len(headers(b"text/javascript", names=names)) == 1
    assert len(headers(b"text/html", names=names, method="POST")) == 1
    assert len(headers(b"text/html", names=names, status=404)) == 1
    assert len(headers(b"text/html", names=[])) == 1


def test_the_scripts_are_streamlits_own_with_all_that_they_import():
    names = preload.scripts(STATIC)
    page = (STATIC / "index.html").read_text(encoding="utf-8")
    elements = {name.split(".")[0] for name in names}
    assert set(preload.ELEMENTS) <= elements, "another Streamlit calls these elements differently"
    for name in names:
        text = (STATIC / "static" / "js" / name).read_text(encoding="utf-8")
        assert set(re.findall(r'from"\./([^"]+)"', text)) <= {*names, *re.findall(r"js/([\w.-]+\.js)", page)}, name


def test_another_version_of_streamlit_without_these_scripts_has_no_header(tmp_path: Path):
    (tmp_path / "static" / "js").mkdir(parents=True)
    (tmp_path / "index.html").write_text('<script src="./static/js/index.1.js">')
    (tmp_path / "static" / "js" / "Slider.1.js").write_text('import{a}from"./gone.js";import"./index.1.js";')
    assert preload.scripts(tmp_path) == ["Slider.1.js"]


def test_the_server_is_told(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(starlette_app, "create_streamlit_middleware", starlette_app.create_streamlit_middleware)
    preload.install()
    assert starlette_app.create_streamlit_middleware()[-1].cls is Preload
