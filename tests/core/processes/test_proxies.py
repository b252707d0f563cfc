"""Which address is asked through which proxy: never this machine's own, and an unusable one is named."""

import os
import socket
import socketserver
import threading
from dataclasses import replace

import psutil
import pytest

from core.errors import InputError, RunError
from core.models.server.client import ServerClient
from core.processes import proxies
from core.shelf import downloads
from tests.core.models.server.loopback import loopback_server
from tests.core.models.server.test_server_client import BODIES, SHORT, answers_of

pytestmark = pytest.mark.quick
FAR = "http://models.example:8000/v1"
SPELLINGS = ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY")


@pytest.fixture(autouse=True)
def none_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment names no proxy."""
    for name in list(os.environ):
        if name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)


@pytest.mark.parametrize("variable", SPELLINGS)
@pytest.mark.parametrize("proxy", ["http://me:secret@proxy.example:3128", "me:secret@proxy.example:3128"])
def test_every_spelling_names_a_proxy_for_others_alone(monkeypatch: pytest.MonkeyPatch, variable: str, proxy: str):
    monkeypatch.setenv(variable, proxy)
    assert proxies.proxy_of(FAR) == "http://me:secret@proxy.example:3128"
    named = socket.gethostname()
    for own in ("127.0.0.1:8000", "127.1", "[::1]:8000", "localhost", "a.localhost:1", "[::ffff:127.0.0.1]", named):
        assert proxies.proxy_of(f"http://{own}/v1") is None
    assert proxies.in_words() == f"{variable.lower()} http://proxy.example:3128"
    for listed in ("models.example", ".example", "*", "a.b, models.example:8000", "*.example", "a.b MODELS.example"):
        monkeypatch.setenv("no_proxy", listed)
        assert proxies.proxy_of(FAR) is None
    for listed in ("models.example:80", "odels.example", "*.models.example.org", "10.0.0.0/8", "::/0"):
        monkeypatch.setenv("no_proxy", listed)
        assert proxies.proxy_of(FAR)
        assert (proxies.proxy_of("http://10.1.2.3:8000/v1") is None) == (listed == "10.0.0.0/8")


def test_addresses_of_network_interfaces_are_this_machine_s_own():
    kinds = (socket.AF_INET, socket.AF_INET6)
    listed = [each for interface in psutil.net_if_addrs().values() for each in interface if each.family in kinds]
    assert all(proxies.is_own(each.address) for each in listed if "%" not in each.address)
    assert not any(proxies.is_own(far) for far in ("192.0.2.77", "224.0.0.1", "255.255.255.255", "2001:db8::77"))


@pytest.mark.parametrize(
    ("proxy", "sentence"),
    [
        ("socks5://me:secret@there:1080", "names the proxy socks5://there:1080, and Hedge uses only http proxies"),
        ("http://there:99999", "names a proxy that can't be read"),
        ("http://:3128", "names a proxy without a host or a port, http://:3128"),
        ("http://[there", "names a proxy that can't be read"),
        ("http:/there:3128", "names a proxy that can't be read"),
        ("http://over there:3128", "names a proxy that can't be read"),
    ],
)
@pytest.mark.parametrize("variable", ["http_proxy", "all_proxy"])
def test_a_proxy_that_can_not_be_used_is_one_sentence(monkeypatch, variable: str, proxy: str, sentence: str):
    monkeypatch.setenv(variable, proxy)
    with pytest.raises(InputError) as refused:
        ServerClient([FAR])
    assert str(refused.value) == f"{variable} {sentence}; correct or unset it, or add models.example to no_proxy"


def test_a_server_of_this_machine_is_asked_directly(monkeypatch: pytest.MonkeyPatch):
    for variable in SPELLINGS:
        monkeypatch.setenv(variable, "http://127.0.0.1:9")
    with loopback_server() as server, ServerClient([server.url], patience=SHORT) as client:
        assert len(answers_of(client, BODIES[:2])) == 2


def test_a_proxy_that_fails_is_named_without_its_password(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("http_proxy", "http://me:secret@127.0.0.1:9")
    with (
        ServerClient([FAR], patience=replace(SHORT, first_s=0.1, gone_s=0.1, tries=1)) as client,
        pytest.raises(RunError) as failed,
    ):
        answers_of(client, BODIES[:1])
    assert f"the server {FAR}, asked through the proxy http://127.0.0.1:9, can't be reached" in str(failed.value)
    assert "secret" not in str(failed.value)


@pytest.mark.parametrize(
    ("answer", "url", "sentence"),
    [
        (b"HTTP/1.1 407 no", "https://models.example/v1", "can't be asked, because the proxy asks for a password"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>", FAR, "gave an answer that can't be read (no JSON)"),
    ],
)
def test_a_proxy_that_answers_itself_is_named(monkeypatch, answer: bytes, url: str, sentence: str):
    class Proxy(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            while self.rfile.readline().strip():
                pass
            self.wfile.write(answer + b"\r\n\r\n")

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Proxy) as proxy:
        threading.Thread(target=proxy.serve_forever, args=(0.01,), daemon=True).start()
        address = f"127.0.0.1:{proxy.server_address[1]}"
        monkeypatch.setenv("all_proxy", f"http://me:secret@{address}")
        with ServerClient([url], patience=replace(SHORT, tries=1)) as client, pytest.raises(RunError) as failed:
            answers_of(client, BODIES[:1])
        proxy.shutdown()
    assert f"the server {url}, asked through the proxy http://{address}, {sentence}" in str(failed.value)


@pytest.mark.parametrize("proxy", ["socks://there:1", "socks5://there:1", "::::"])
def test_the_shelf_says_a_proxy_that_can_not_be_used(monkeypatch: pytest.MonkeyPatch, proxy: str):
    monkeypatch.setenv("all_proxy", proxy)
    with pytest.raises(InputError, match=r"^a proxy of the environment can't be used \(all_proxy .*\); correct"):
        downloads._client()


@pytest.mark.parametrize("variable", ["no_proxy", "NO_PROXY"])
def test_libraries_ask_this_machine_directly_too(monkeypatch: pytest.MonkeyPatch, variable: str):
    proxies.keep_own_direct()
    assert "no_proxy" not in os.environ  # no proxy is named
    monkeypatch.setenv("HTTPS_PROXY", "http://there:1")
    monkeypatch.setenv(variable, "a.example")
    monkeypatch.setenv("NO_PROXY" if variable == "no_proxy" else "no_proxy", "a.example")
    proxies.keep_own_direct()
    assert os.environ["no_proxy"] == os.environ["NO_PROXY"] == "a.example,localhost,.localhost,127.0.0.1,::1"
