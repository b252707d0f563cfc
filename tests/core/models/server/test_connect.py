"""The messages to a person who connects to a server, and what is remembered."""

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from core.errors import InputError
from core.models.server import connect
from core.models.server.abilities import CHAT, TEXTS
from core.models.server.client import FAULT_TRIES
from core.models.server.connect import abilities_of, addresses, models_on
from core.models.server.known_servers import KEPT, forget, remember, remembered
from core.settings import settings
from tests.core.models.server.loopback import Loopback, loopback_server


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
    soon = connect.Patience(connect_s=60, answer_s=60, first_s=0.05, gone_s=0.05, tries=2, first_pause_s=0.01)
    monkeypatch.setattr(connect, "SOON", soon)


def test_a_server_tells_its_models_and_what_it_can_do(server: Loopback):
    assert models_on(addresses(server.url)) == ("pocket-3m",)
    able = abilities_of("pocket-3m", [server.url])
    assert (able.listed, able.chat_listed, able.echo, able.context) == (20, 20, True, 512)
    server.reset(most=5, echo=False, chat=False)
    able = abilities_of("pocket-3m", [server.url])
    assert (able.listed, able.chat_listed, able.echo) == (5, 0, False)


def test_each_mistake_is_one_sentence(server: Loopback, web_page: str, monkeypatch: pytest.MonkeyPatch):
    def message(url: str, key: str = "", model: str = "") -> str:
        with pytest.raises(InputError) as caught:
            abilities_of(model, [url], key=key) if model else models_on([url], key=key)
        text = str(caught.value)
        assert "resume" not in text
        assert "--" not in text
        return text

    assert "no server answers at http://127.0.0.1:9/v1" in message("http://127.0.0.1:9/v1")
    assert "perhaps a web page" in message(f"{web_page}/v1")
    assert "has no model 'llama'" in message(server.url, model="llama")
    server.reset(logprobs=False)
    assert "gives no log-probabilities" in message(server.url, model="pocket-3m")
    server.reset(key="sk-right")
    assert "asks for a key" in message(server.url)
    assert "is not set" in message(server.url, key="MISSING_API_KEY")
    monkeypatch.setenv("WRONG_API_KEY", "sk-wrong-9f")
    refused = message(server.url, key="WRONG_API_KEY")
    assert "refuses the key in WRONG_API_KEY" in refused
    assert "sk-wrong-9f" not in refused


@pytest.mark.parametrize("fault", ["500", "malformed"])
@pytest.mark.parametrize("failing", [2, 6])
def test_a_fault_that_passes_hides_no_ability(server: Loopback, fault: str, failing: int):
    right = abilities_of("pocket-3m", [server.url])
    requests = server.number
    for begins in range(0, requests, 2):
        server.reset(fault=lambda number, begins=begins: fault if begins <= number < begins + failing else "")
        found: object
        try:
            found = abilities_of("pocket-3m", [server.url])
        except InputError as error:
            found = str(error).endswith("look into its log, then check again")
        # A fault that lasts longer than the wait is reported; no ability ever counts as missing.
        assert found == right or (failing > FAULT_TRIES and found is True)


def test_a_server_that_fails_on_everything_is_not_one_that_can_do_nothing(server: Loopback):
    for fault, words in (("500", "fails with HTTP status 500"), ("malformed", "can't be read (no JSON)")):
        server.reset(fault=lambda number, fault=fault: fault)
        with pytest.raises(InputError) as caught:
            abilities_of("pocket-3m", [server.url])
        assert words in str(caught.value)
        assert str(caught.value).endswith("look into its log, then check again")
        assert "run" not in str(caught.value)
    server.reset(fault=lambda number: "503")
    with pytest.raises(InputError, match=r"fails with HTTP status 503 .*; check again in a moment"):
        abilities_of("pocket-3m", [server.url])


def test_what_a_server_always_fails_on_counts_as_not_possible_and_is_told(server: Loopback):
    server.reset(breaks_on=lambda path, body: bool(body.get("echo")))
    able = abilities_of("pocket-3m", [server.url])
    assert (able.listed, able.echo, able.failing) == (20, False, ((TEXTS, "HTTP status 500"),))
    server.reset(breaks_on=lambda path, body: path.startswith("/chat"))
    able = abilities_of("pocket-3m", [server.url])
    assert (able.listed, able.chat_listed, able.echo, able.failing) == (20, 0, True, ((CHAT, "HTTP status 500"),))
    server.reset(breaks_on=lambda path, body: body.get("logprobs") == -1 or body.get("top_logprobs") == -1)
    able = abilities_of("pocket-3m", [server.url])  # it fails on numbers that it does not know, as some servers do
    assert (able.listed, able.chat_listed, able.failing) == (20, 20, ())


def test_other_weights_by_the_same_name_are_told_apart(server: Loopback):
    weights = abilities_of("pocket-3m", [server.url]).weights
    assert weights.alike(abilities_of("pocket-3m", [server.url]).weights)
    assert weights.text_log_p < 0
    with loopback_server("pocket-8m") as other:
        other.name = "pocket-3m"
        assert not weights.alike(abilities_of("pocket-3m", [other.url]).weights)


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
    connections = remembered()
    assert len(connections) == KEPT
    assert (connections[0].servers, connections[0].key_variable) == (("http://host-5:1/v1",), "")
    assert [connection.servers for connection in connections].count(("http://host-5:1/v1",)) == 1
    assert b"sk-planted-11" not in (settings().home / "servers.json").read_bytes()
    forget(["http://host-5:1/v1"])
    assert remembered()[0].servers == (f"http://host-{KEPT + 1}:1/v1",)


@pytest.mark.parametrize("content", ["", "{}", "[3]", '[{"servers": []}]', '[{"servers": ["x"], "key_variable": ""}]'])
def test_a_list_that_can_not_be_read_is_empty(home, content: str):
    (settings().home).mkdir(parents=True, exist_ok=True)
    (settings().home / "servers.json").write_text(content)
    assert remembered() == ()
