"""One visitor takes what others need: uploads, seats of a class, codes, a class whose lecturer has lost the role."""

import asyncio
import io
import json
import re
import secrets
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import aiohttp
import pytest

from core import access
from core.access import Actor, UserRole
from core.serving.classroom import guesses, lecture, quiz
from core.serving.classroom.live_class import LiveClass
from tests import openid
from tests.benchmarks.classroom import projector_data
from tests.browser.conftest import held_by_tests, page_server
from tests.core.runs.conftest import until
from tests.intruders.client import XSRF, Client, Reply, Session

LIMITS = "uploads_mb = 3\nseats_per_address = 3"
MB = 1_000_000
LARS = Actor("lars@example.org", UserRole.LAUNCHER)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path, Path]]:
    """A server where people log in, with small limits: its address, its home and its file."""
    folder = tmp_path_factory.mktemp("limits")
    home, file = folder / "home", folder / "server.toml"
    with openid.running() as provider:
        file.write_text(openid.server_file(provider, limits=LIMITS))
        file.chmod(0o600)
        options = ["--login", str(file)]
        with held_by_tests(home) as nothing_warm, page_server(home, options=options, **nothing_warm) as address:
            yield address, home, file


@pytest.fixture(scope="module")
def lars(served: tuple[str, Path, Path]) -> Iterator[Client]:
    client = Client(served[0])
    client.log_in("lars")
    yield client
    client.close()


@pytest.fixture(scope="module")
def lena(served: tuple[str, Path, Path]) -> Iterator[Client]:
    client = Client(served[0])
    client.log_in("lena")
    yield client
    client.close()


# ---------------------------------------------------------------- uploads


def put(client: Client, session: Session, size: int, name: str = "1", *, chunked: bool = False) -> Reply:
    """Upload a file of ``size`` bytes, as the page does, or in chunks without a length."""
    head = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
    form = head + b"x" * size + b"\r\n--b--\r\n"

    async def parts() -> AsyncIterator[bytes]:
        for start in range(0, len(form), 65_536):
            yield form[start : start + 65_536]

    path = f"/_stcore/upload_file/{session.screen.session}/{name}"
    headers = {"X-Xsrftoken": client.cookie(XSRF), "Content-Type": "multipart/form-data; boundary=b"}
    return client.ask("PUT", path, headers=headers, data=parts() if chunked else io.BytesIO(form))


def test_all_pages_of_a_person_share_one_limit_until_they_are_closed(lars: Client, lena: Client):
    with lars.session("data") as first, lars.session("data") as second, lena.session("data") as other:
        assert put(lars, first, 2 * MB).status == 204
        for page in (first, second):
            refused = put(lars, page, 2 * MB, "2")
            assert refused.status == 413
            assert refused.body.decode() == (
                "Your open pages hold 2 MB of uploads, so there is no room for this file of 2 MB or more: this server "
                "keeps 3 MB for each person. Remove files from your pages or close a page, and upload it again."
            )
        assert put(lars, second, 2 * MB, "3", chunked=True).status == 413
        assert put(lena, other, 2 * MB).status == 204
        assert lars.ask("DELETE", f"/_stcore/upload_file/{first.screen.session}/1", headers=token(lars)).status == 204
        assert put(lars, second, 2 * MB).status == 204
    # The pages are closed, so everything is free.
    with lars.session("data") as page:
        until(lambda: put(lars, page, 2 * MB).status == 204, "the files of closed pages to be freed")


def token(client: Client) -> dict[str, str]:
    return {"X-Xsrftoken": client.cookie(XSRF)}


def test_an_upload_counts_before_it_has_arrived(lars: Client):
    """A slow upload that has sent only its length reserves its space."""
    with lars.session("data") as page:
        slow = lars.run(_slow(lars, page, 2 * MB))
        try:
            until(lambda: put(lars, page, 2 * MB).status == 413, "the slow upload to count")
            assert put(lars, page, MB // 2).status == 204
        finally:
            slow.close()
        until(lambda: put(lars, page, 2 * MB).status == 204, "the upload that was given up to be forgotten")


def test_a_page_whose_connection_was_lost_keeps_its_uploads_for_its_return(lars: Client):
    with lars.session("data") as page:
        assert put(lars, page, 2 * MB).status == 204
        name = page.screen.session
        lars.run(_cut(page))
    with lars.session("data") as other:
        assert put(lars, other, 2 * MB).status == 413  # it still counts
        with lars.session("data", session=name) as back:
            assert back.screen.session == name
            assert put(lars, back, 2 * MB, "1").status == 413
        until(lambda: put(lars, other, 2 * MB).status == 204, "the files to be freed when the page is closed")


async def _cut(page: Session) -> None:
    """End a connection as a network does, without a word."""
    page.socket._response.connection.transport.abort()


async def _slow(client: Client, page: Session, size: int) -> asyncio.StreamWriter:
    host, port = client.address.removeprefix("http://").split(":")
    _, writer = await asyncio.open_connection(host, int(port))
    cookies = "; ".join(f"{cookie.key}={cookie.value}" for cookie in client.http.cookie_jar)
    writer.write(
        f"PUT /_stcore/upload_file/{page.screen.session}/slow HTTP/1.1\r\nHost: {host}:{port}\r\nCookie: {cookies}\r\n"
        f"X-Xsrftoken: {client.cookie(XSRF)}\r\nContent-Type: multipart/form-data; boundary=b\r\n"
        f"Content-Length: {size}\r\n\r\n--b\r\n".encode()
    )
    await writer.drain()
    return writer


# ---------------------------------------------------------------- classes


@pytest.fixture
def live(served: tuple[str, Path, Path], monkeypatch: pytest.MonkeyPatch) -> LiveClass:
    """A class of Lars's."""
    monkeypatch.setenv("HEDGE_HOME", str(served[1]))
    with access.acting_as(LARS):
        return lecture.open_class(quiz.draw("qa", n=4, calibration=2, seed=1))


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def join(client: Client, code: str, *, address: str, seat: str = "", name: str = "") -> tuple[int, str]:
    """Ask for a seat from a network address."""
    headers = {**bearer(seat or secrets.token_hex(16)), "X-Forwarded-For": address}
    reply = client.ask("POST", f"/join/{code}/seat", headers=headers, data=json.dumps({"name": name}))
    return reply.status, json.loads(reply.body).get("error", "")


def desk_key(client: Client, code: str) -> str:
    """The key of the lecturer's page."""
    with client.session("classroom", f"class={code}") as page:
        return next(data["key"] for message in page.quiet().messages if (data := projector_data(message)))


def act(client: Client, code: str, key: str, *, address: str = "127.0.0.1", **data: object) -> tuple[int, str]:
    headers = {**bearer(key), "X-Forwarded-For": address}
    reply = client.ask("POST", f"/join/{code}/desk", headers=headers, data=json.dumps(data))
    return reply.status, json.loads(reply.body).get("error", "")


def test_one_address_takes_a_part_of_the_seats_and_the_lecturer_frees_them(lars: Client, live: LiveClass):
    line = [f"2001:db8:5:5::{n + 1:x}" for n in range(5)]
    assert [join(lars, live.code, address=address)[0] for address in line] == [200, 200, 200, 403, 403]
    assert "3 seats of this class are taken from your network" in join(lars, live.code, address=line[4])[1]
    assert join(lars, live.code, address="2001:db8:5:6::1")[0] == 200
    key = desk_key(lars, live.code)
    assert act(lars, live.code, key, act="free", seats=[1, 2])[0] == 200
    assert [join(lars, live.code, address=line[0])[0] for _ in range(3)] == [200, 200, 403]
    assert act(lars, live.code, key, act="allow", most=4)[0] == 200
    assert [join(lars, live.code, address=line[0])[0] for _ in range(2)] == [200, 403]
    for odd in ({"act": "free", "seats": [99]}, {"act": "free", "seats": "1"}, {"act": "allow", "most": 10**30}):
        assert act(lars, live.code, key, **odd)[0] == 400


def test_a_seat_that_was_freed_can_do_nothing_more(lars: Client, live: LiveClass):
    seat = secrets.token_hex(16)
    join(lars, live.code, address="192.0.2.1", seat=seat)
    headers = {**bearer(seat), "X-Forwarded-For": "192.0.2.1"}
    assert lars.ask("GET", f"/join/{live.code}/mine", headers=headers).status == 200
    act(lars, live.code, desk_key(lars, live.code), act="free", seats=[1])
    for what in ("mine", "stream"):
        assert lars.ask("GET", f"/join/{live.code}/{what}", headers=headers).status == 401


def test_an_address_can_t_search_for_codes_and_a_hall_is_not_kept_out(lars: Client, live: LiveClass):
    guesser, hall = "192.0.2.9", "192.0.2.10"
    wrong = [join(lars, f"{a}{b}QQQQ", address=guesser)[0] for a in "BCDFG" for b in "BCDFGHJ"]
    assert wrong[: guesses.MOST] == [404] * guesses.MOST
    assert 429 in wrong[guesses.MOST :]
    assert join(lars, live.code, address=guesser)[0] == 429  # the right one is not told either
    assert join(lars, live.code, address="192.0.2.11")[0] == 200
    # Where a class is known already, somebody who guesses keeps nobody out of it.
    assert join(lars, live.code, address=hall)[0] == 200
    for _ in range(guesses.MOST + 5):
        join(lars, "XXXXXX", address=hall)
    assert join(lars, "XXXXXX", address=hall)[0] == 429
    assert join(lars, live.code, address=hall)[0] == 200


def test_a_guesser_keeps_no_lecturer_and_no_seat_out(lars: Client, live: LiveClass):
    hall, lecturers, code = "192.0.2.30", "192.0.2.31", live.code
    for address in (hall, lecturers):
        for _ in range(guesses.MOST + 5):
            join(lars, "XXXXXX", address=address)
    key = desk_key(lars, code)  # the page has another address
    assert act(lars, code, "b" * 32, act="next", address=hall)[0] == 401
    assert act(lars, code, key, act="next", address=hall)[0] == 200
    assert join(lars, code, address=hall)[0] == 200  # who leads a class shows that it is there
    reply = lars.ask("POST", f"/join/{code}/seat", headers=bearer("a" * 32) | {"X-Forwarded-For": lecturers}, data="{}")
    assert reply.status == 429
    assert 1 <= int(reply.headers["Retry-After"]) <= guesses.AGAIN_S
    with lars.session("classroom", f"class={code}", headers={"X-Forwarded-For": lecturers}) as page:
        page.quiet()
    assert join(lars, code, address=lecturers)[0] == 200


def test_a_desk_stops_when_its_lecturer_loses_the_role(
    served: tuple[str, Path, Path], lars: Client, lena: Client, live: LiveClass
):
    file = served[2]
    key, before = desk_key(lars, live.code), file.read_text()
    assert act(lars, live.code, key, act="next")[0] == 200
    stranger = Client(served[0])
    try:  # as after a logout: the page has its key, and the browser no cookie
        for other in (stranger, lena):
            status, sentence = act(other, live.code, key, act="show")
            assert (status, sentence.split(";")[0]) == (401, "You are no longer logged in as when this page was opened")
    finally:
        stranger.close()
    stream = lars.run(_listening(lars, live.code, key))
    try:
        for changed in (before.replace("group:lab", "group:none"), before.replace("[roles]", "[roles]\nhours = 1e-9")):
            assert changed != before
            file.write_text(changed)
            status, sentence = act(lars, live.code, key, act="show")
            assert status == 403
            assert re.match("(A viewer|Only people who are logged in and have a role) can", sentence)
            assert lars.ask("GET", f"/join/{live.code}/desk", headers=bearer(key)).status == 403
        join(lars, live.code, address="192.0.2.20", name="Zoe")
        assert b"Zoe" not in lars.run(_rest(stream))
    finally:
        file.write_text(before)
    assert act(lars, live.code, key, act="show")[0] == 200


async def _listening(client: Client, code: str, key: str) -> aiohttp.ClientResponse:
    answer = await client.http.get(f"{client.address}/join/{code}/desk", headers=bearer(key))
    assert answer.status == 200
    await answer.content.readuntil(b"\n\n")
    return answer


async def _rest(answer: aiohttp.ClientResponse) -> bytes:
    """The messages until the stream ends by itself."""
    return await asyncio.wait_for(answer.content.read(), 30)
