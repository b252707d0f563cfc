"""What a person is told who connects to a server, and what is remembered of it."""

from __future__ import annotations

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from core.errors import InputError
from core.inference.server import connect
from core.inference.server.connect import abilities_of, addresses, models_on
from core.inference.server.remembered import KEPT, forget, remember, remembered
from core.settings import settings
from tests.core.inference.server.loopback import Loopback


class _WebPage(BaseHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>A page</title>")


@pytest.fixture(scope="module")
def web_page() -> Iterator[str]:
    http = ThreadingHTTPServer(("127.0.0.1", 0), _WebPage)
    Thread(target=http.serve_forever, args=(0.05,), daemon=True).start()
    yield f"http://127.0.0.1:{http.server_address[1]}"
    http.shutdown()
    http.server_close()


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    soon = connect.Patience(connect_s=1.0, answer_s=2.0, first_s=0.05, gone_s=0.05, tries=2, first_pause_s=0.01)
    monkeypatch.setattr(connect, "SOON", soon)


def test_a_server_tells_its_models_and_what_it_can_do(server: Loopback):
    assert models_on(addresses(server.url)) == ("pocket-3m",)
    able = abilities_of("pocket-3m", [server.url])
    assert (able.listed, able.chat_listed, able.echo, able.context) == (20, 20, True, 512)
    server.reset(most=5, echo=False, chat=False)
    able = abilities_of("pocket-3m", [server.url])
    assert (able.listed, able.chat_listed, able.echo) == (5, 0, False)


def test_each_mistake_is_one_sentence(server: Loopback, web_page: str, monkeypatch: pytest.MonkeyPatch):
    def said(url: str, key: str = "", model: str = "") -> str:
        with pytest.raises(InputError) as caught:
            abilities_of(model, [url], key=key) if model else models_on([url], key=key)
        text = str(caught.value)
        assert "resume" not in text
        assert "--" not in text
        return text

    assert "no server answers at http://127.0.0.1:9/v1" in said("http://127.0.0.1:9/v1")
    assert "perhaps a web page" in said(f"{web_page}/v1")
    assert "usually ends in /v1" in said(server.url.replace("/v1", "/other"))
    assert "has no model 'llama'" in said(server.url, model="llama")
    server.reset(logprobs=False)
    assert "gives no log-probabilities" in said(server.url, model="pocket-3m")
    server.reset(key="sk-right")
    assert "asks for a key" in said(server.url)
    assert "is not set" in said(server.url, key="MISSING_API_KEY")
    monkeypatch.setenv("WRONG_API_KEY", "sk-wrong-9f")
    refused = said(server.url, key="WRONG_API_KEY")
    assert "refuses the key in WRONG_API_KEY" in refused
    assert "sk-wrong-9f" not in refused


def test_addresses_are_read_in_their_one_form():
    assert addresses(" http://b:1/ ,http://a:2/v1 http://b:1") == ("http://a:2/v1", "http://b:1/v1")
    for wrong, words in (
        ("", "type the server's address"),
        ("here", "is no server's address"),
        ("http://a@b", "no user"),
    ):
        with pytest.raises(InputError, match=words):
            addresses(wrong)


def test_connections_are_remembered_without_a_key(home, monkeypatch: pytest.MonkeyPatch):
    assert remembered() == ()
    monkeypatch.setenv("PLANTED_API_KEY", "sk-planted-11")
    for number in range(KEPT + 2):
        remember([f"http://host-{number}:1/v1"], key="PLANTED_API_KEY")
    remember(["http://host-5:1/v1"])
    found = remembered()
    assert len(found) == KEPT
    assert (found[0].servers, found[0].key_variable) == (("http://host-5:1/v1",), "")
    assert [one.servers for one in found].count(("http://host-5:1/v1",)) == 1
    assert b"sk-planted-11" not in (settings().home / "servers.json").read_bytes()
    forget(["http://host-5:1/v1"])
    assert remembered()[0].servers == (f"http://host-{KEPT + 1}:1/v1",)


@pytest.mark.parametrize("content", ["", "{}", "[3]", '[{"servers": []}]', '[{"servers": ["x"], "key_variable": ""}]'])
def test_a_list_that_can_not_be_read_is_empty(home, content: str):
    (settings().home).mkdir(parents=True, exist_ok=True)
    (settings().home / "servers.json").write_text(content)
    assert remembered() == ()
