"""A server answers for its own names alone, and for no page of another site, whatever reaches it over the network."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tests.intruders.raw import Wire, run

PORT = "{port}"
"""In a host or an origin: the server's port."""
NOBODYS = [
    f"evil.example:{PORT}",
    f"127.0.0.1.evil.example:{PORT}",
    f"localhost.evil.example:{PORT}",
    f"127.0.0.1@evil.example:{PORT}",
    f"evil.example@127.0.0.1:{PORT}",
    f"localhost.:{PORT}",
    f"127.1:{PORT}",
    f"2130706433:{PORT}",
    f"0x7f.0.0.1:{PORT}",
    f"0177.0.0.1:{PORT}",
    f"127.0.0.1.:{PORT}",
    f"[::1%25lo]:{PORT}",
    f"[::1]evil.example:{PORT}",
    f"0.0.0.0:{PORT}",
    f"localhost:0{PORT}",
    f"localhost:{PORT}x",
    "localhost:",
    "localhost:99999",
    f"localhost:{PORT}/evil.example",
    f"localhost, evil.example:{PORT}",
    "",
]
"""Hosts that no server of ours answers for: rebound names, and spellings that no browser sends."""


def play(port: int, *attempts: Callable[[Wire], Awaitable[object]]) -> list[object]:
    """The result of each attempt, each on its own connection."""

    async def attempted() -> list[object]:
        results = []
        for attempt in attempts:
            async with Wire(port) as wire:
                results.append(await asyncio.wait_for(attempt(wire), 30))
        return results

    return run(attempted())


def opens(port: int, host: str) -> tuple[int, int]:
    """The status of a page and of a websocket that name this host."""
    host = host.replace(PORT, str(port))
    page, socket = play(
        port,
        lambda wire: wire.request(f"Host: {host}", f"X-Forwarded-Host: localhost:{port}", target="/"),
        lambda wire: wire.handshake(host=host or " ", origin=f"http://{host}"),
    )
    return page[0], socket  # type: ignore[index, return-value]


@pytest.mark.parametrize("host", NOBODYS)
@pytest.mark.parametrize("mode", ["local", "public", "named"])
def test_a_host_that_is_not_the_servers_own_gets_nothing(mode: str, host: str, request: pytest.FixtureRequest):
    page, socket = opens(request.getfixturevalue(mode), host)
    assert page in (400, 421)
    assert socket in (400, 403)


@pytest.mark.parametrize(
    ("mode", "host", "answers"),
    [
        ("local", "hub.example.org", True),
        *[("local", f"{name}:{PORT}", True) for name in ("127.0.0.1", "localhost", "[::1]", "LocalHost")],
        *[("local", host, False) for host in ("localhost", "localhost:1", f"[::ffff:127.0.0.1]:{PORT}")],
        *[("local", host, False) for host in (f"192.0.2.7:{PORT}", f"127.0.0.2:{PORT}", "hedge.example.org")],
        *[("public", host, True) for host in ("localhost:8080", "192.0.2.7", f"192.0.2.7:{PORT}", "[2001:db8::1]:80")],
        ("public", "hedge.example.org", False),
        *[("named", host, True) for host in ("hedge.example.org", "HEDGE.example.org:8443", f"localhost:{PORT}")],
        *[("named", host, False) for host in ("192.0.2.7", "other.example.org", "x.hedge.example.org")],
    ],
)
def test_each_mode_has_its_own_hosts(mode: str, host: str, answers: bool, request: pytest.FixtureRequest):
    assert opens(request.getfixturevalue(mode), host) == ((200, 101) if answers else (421, 403))


def test_a_server_answers_a_probe_by_its_address_and_says_how_it_is_reached(local: int, named: int):
    probe, page, other = play(
        named,
        lambda wire: wire.request("Host: 192.0.2.7:8501", target="/healthz"),
        lambda wire: wire.request("Host: evil.example", target="/"),
        lambda wire: wire.request("Host: evil.example", target="/healthz"),
    )
    assert probe == (200, b"alive\n")
    assert b"does not answer for the host 'evil.example'" in page[1]  # type: ignore[index]
    assert b"[hosts]" in page[1]  # type: ignore[index]
    assert other[0] == 421  # type: ignore[index]
    ((_, here),) = play(local, lambda wire: wire.request("Host: localhost:9000", target="/"))  # type: ignore[misc]
    assert f"ssh -L {local}:localhost:{local}".encode() in here
    assert b"--browser.serverPort" in here


@pytest.mark.parametrize("mode", ["local", "public"])
def test_a_request_has_one_host_and_names_a_path(mode: str, request: pytest.FixtureRequest):
    port = request.getfixturevalue(mode)
    own = f"Host: localhost:{port}"
    answers = play(
        port,
        lambda wire: wire.request(own, "Host: evil.example"),
        lambda wire: wire.request(),
        lambda wire: wire.request(own, target="http://evil.example/healthz"),
        lambda wire: wire.request("Host: evil.example", target=f"http://localhost:{port}/healthz"),
        lambda wire: wire.request(own, target="*", method="OPTIONS"),
    )
    assert [status for status, _ in answers] == [400] * 5  # type: ignore[misc]


FOREIGN = [
    "null",
    "http://evil.example",
    f"http://evil.example:{PORT}",
    f"http://localhost:{PORT}",
    "http://127.0.0.1:3000",
    "http://127.0.0.1",
    f"http://127.0.0.1:{PORT}/",
    f"http://127.0.0.1:{PORT}.evil.example",
    f"http://evil.example@127.0.0.1:{PORT}",
    f"ftp://127.0.0.1:{PORT}",
    f"http://127.1:{PORT}",
    f"http://127.0.0.1:{PORT} http://evil.example",
    "chrome-extension://abc",
]


@pytest.mark.parametrize("origin", FOREIGN)
@pytest.mark.parametrize("mode", ["local", "public"])
def test_a_page_of_another_site_opens_no_websocket_and_changes_nothing(
    mode: str, origin: str, request: pytest.FixtureRequest
):
    port = request.getfixturevalue(mode)
    origin = origin.replace(PORT, str(port))
    own = f"Host: 127.0.0.1:{port}"
    socket, twice, *changes = play(
        port,
        lambda wire: wire.handshake(origin=origin),
        lambda wire: wire.handshake(f"Origin: {origin}"),
        *[
            lambda wire, method=method: wire.request(
                own, f"Origin: {origin}", "Content-Length: 0", method=method, target="/join/BCDFGH/answer"
            )
            for method in ("POST", "PUT", "DELETE")
        ],
    )
    assert socket == 403
    assert twice in (400, 403)
    assert [status for status, _ in changes] == [403] * 3  # type: ignore[misc]


def test_pages_of_the_server_itself_are_let_in(local: int, public: int):
    for port in (local, public):
        for origin in (f"http://127.0.0.1:{port}", f"https://127.0.0.1:{port}", None):
            assert play(port, lambda wire, origin=origin: wire.handshake(origin=origin)) == [101]
    by_proxy = {"host": "192.0.2.7", "origin": "https://192.0.2.7"}
    explicit = {"host": "192.0.2.7:443", "origin": "https://192.0.2.7"}
    wrong = {"host": "192.0.2.7:80", "origin": "https://192.0.2.7"}
    sent = [lambda wire, given=given: wire.handshake(**given) for given in (by_proxy, explicit, wrong)]
    assert play(public, *sent) == [101, 101, 403]


def test_no_handshake_lets_the_server_ask_the_internet(public: int, attacked: Path):
    """Streamlit would try to learn its own address for twenty foreign pages, and for hosts that are the same but
    written otherwise. It would write a line when it can't, as on this machine, and the server would answer nobody.
    """
    given = [{"origin": f"http://evil-{i}.example"} for i in range(20)]
    same = [
        {"host": "192.0.2.7:443", "origin": "https://192.0.2.7"},
        {"host": "LOCALHOST", "origin": "http://localhost"},
    ]

    async def all_at_once() -> tuple[list[int], int]:
        async def handshake(**given: str) -> int:
            async with Wire(public) as wire:
                return await wire.handshake(**given)

        handshakes = [asyncio.create_task(handshake(**given)) for given in [*given, *same]]
        async with Wire(public) as wire:
            status, _ = await wire.request(f"Host: localhost:{public}")
        return list(await asyncio.gather(*handshakes)), status

    assert run(all_at_once()) == ([403] * 20 + [101] * 2, 200)
    log = (attacked / "public" / "server.log").read_text()
    assert "external IP" not in log
    assert "External URL" not in log
