"""Requests of phones and projectors: what they may do, and the answers to malformed ones."""

import asyncio
import json
import threading
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.testclient import TestClient

from app.classroom import desks, invite
from app.classroom.routes import routes
from charts.bundles import script
from core import access
from core.serving.classroom import lecture, quiz
from core.serving.classroom.live_class import LiveClass

pytestmark = pytest.mark.quick

TOKEN, OTHER = "0" * 32, "1" * 32
SURE = [100, 0, 0, 0]


@pytest.fixture
def live(home: Path) -> LiveClass:
    return lecture.open_class(quiz.draw("qa", n=6, calibration=3, seed=1))


def in_thread(work: Coroutine[Any, Any, None]) -> None:
    """In a thread of its own, because a browser's loop may run in this one."""
    thread = threading.Thread(target=lambda: asyncio.run(work))
    thread.start()
    thread.join(60)


def ask(
    method: str, path: str, *, sent: object = None, body: bytes | None = None, token: str = TOKEN, base: str = ""
) -> tuple[int, str]:
    """The status and the text of an answer."""
    app = Router([*routes(base), Route("/{rest:path}", lambda request: Response("streamlit", 299))])
    content = json.dumps(sent).encode() if body is None else body
    headers = {"authorization": f"Bearer {token}"}
    client = TestClient(app, follow_redirects=False)
    answer = client.request(method, path, content=content, headers=headers)
    return answer.status_code, answer.text


def error(answer: tuple[int, str]) -> tuple[int, str]:
    return answer[0], json.loads(answer[1])["error"]


def test_a_phone_joins_answers_and_reads_its_own(live: LiveClass):
    place = f"/join/{live.code.lower()}"
    assert ask("POST", f"{place}/seat", sent={"name": "Ada"})[0] == 200
    lecture.ask_next(live.code)
    assert ask("POST", f"{place}/answer", sent={"question": 0, "shares": SURE, "turn": 4}) == (200, '{"kept":4}')
    assert json.loads(ask("GET", f"{place}/mine")[1]) == {"seat": 1, "name": "Ada", "answers": 0}
    assert live.all_shares() == {1: {0: tuple(SURE)}}


def test_bad_input_is_one_sentence(live: LiveClass):
    place = f"/join/{live.code}"
    ask("POST", f"{place}/seat", sent={})
    lecture.ask_next(live.code)
    answer = {"question": 0, "shares": [50, 40, 0, 0], "turn": 1}
    for got, status, words in (
        (ask("POST", "/join/ABC/seat", sent={}), 404, "'ABC' is not the code of a class"),
        (ask("POST", "/join/XXXXXX/seat", sent={}), 404, "There is no class XXXXXX on this server"),
        (ask("POST", f"{place}/answer", sent=answer), 400, "got a sum of 90%"),
        (ask("POST", f"{place}/seat", sent={"name": "<script>"}, token=OTHER), 400, "A name may have letters"),
        (ask("POST", f"{place}/answer", sent=answer, token=OTHER), 401, "This phone has no seat in this class"),
        (ask("GET", f"{place}/mine", token=OTHER), 401, "This phone has no seat in this class"),
        (ask("GET", f"{place}/desk"), 401, "This page may not lead the class"),
        (ask("POST", f"{place}/desk", sent={"act": "next"}), 401, "This page may not lead the class"),
        (ask("POST", f"{place}/answer", body=b"x" * 2001), 413, "at most 2,000 bytes"),
        (ask("POST", f"{place}/answer", body=b"[" * 2000), 400, "a JSON object"),
        (ask("POST", f"{place}/answer", sent=[]), 400, "a JSON object"),
        (ask("POST", f"{place}/answer", body=b"\xff"), 400, "a JSON object"),
        (ask("DELETE", f"{place}/seat"), 405, "another kind of request"),
        (ask("PUT", "/join/"), 405, "another kind of request"),
    ):
        assert got[0] == status
        sentence = error(got)[1]
        assert words in sentence.replace("A class takes", "a class takes")
        assert sentence.endswith(".")
    assert live.all_shares() == {}
    lecture.end_class(live.code)
    assert error(ask("GET", f"{place}/mine")) == (
        410,
        f"The class {live.code} is over; ask the lecturer for the code of a new one.",
    )


@pytest.mark.parametrize("path", ["/join/-/%2e%2e/routes.py", "/join/-/routes.py", "/join/-//etc/passwd", "/join/a/b"])
def test_no_other_file_is_given(home: Path, path: str):
    assert ask("GET", path)[0] == 404


def test_the_page_its_files_and_what_is_passed_on(home: Path):
    assert "phone.js" in ask("GET", "/join/BCDFGH")[1]
    assert ask("GET", "/join")[0] == 308
    assert ask("GET", "/join/-/phone.js")[1] == script("phone")
    assert ask("GET", "/classroom") == (299, "streamlit")
    assert ask("GET", "/joined") == (299, "streamlit")
    assert ask("GET", "/join/BCDFGH", base="/other") == (299, "streamlit")
    assert "phone.js" in ask("GET", "/hedge/join/BCDFGH", base="/hedge")[1]


def test_a_projector_leads_its_own_class_alone(live: LiveClass):
    other = lecture.open_class(quiz.draw("qa", n=6, calibration=3, seed=2))
    key = desks.new_key(live.code, access.LOCAL)
    assert ask("POST", f"/join/{live.code}/desk", sent={"act": "next"}, token=key)[0] == 200
    assert live.phase == "asked"
    assert ask("POST", f"/join/{other.code}/desk", sent={"act": "next"}, token=key)[0] == 401
    assert ask("POST", f"/join/{live.code}/desk", sent={"act": "end"}, token=key)[0] == 400
    moved = {"act": "alpha", "alpha": 300, "score": "aps"}
    assert ask("POST", f"/join/{live.code}/desk", sent=moved, token=key)[0] == 200
    assert (live.alpha, live.score, other.phase) == (300, "aps", "lobby")
    assert ask("POST", f"/join/{live.code}/desk", sent=moved | {"alpha": "x"}, token=key)[0] == 400


async def first_messages(path: str, token: str) -> list[dict[str, Any]]:
    """What four streams that are open at once begin with, and a fifth after they were left. Before them comes
    one whose reader is gone when its head is sent."""
    app, left = Router([*routes("")]), asyncio.Event()
    scope = {"type": "http", "method": "GET", "path": path, "headers": [(b"authorization", f"Bearer {token}".encode())]}

    async def receive() -> dict[str, Any]:
        await left.wait()
        return {"type": "http.disconnect"}

    async def broken(message: dict[str, Any]) -> None:
        raise OSError("gone")

    async def opened() -> tuple[asyncio.Task[None], dict[str, Any]]:
        messages: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        task = asyncio.create_task(app(dict(scope), receive, messages.put))  # type: ignore[arg-type]
        head, body = await messages.get(), await messages.get()
        return task, head | body

    with pytest.raises(OSError, match="gone"):
        await app(dict(scope), receive, broken)
    streams = [await opened() for _ in range(4)]
    left.set()
    await asyncio.gather(*(task for task, _ in streams))
    left.clear()
    again = await opened()
    left.set()
    await again[0]
    return [message for _, message in [*streams, again]]


@pytest.mark.parametrize(
    ("what", "sentence"),
    [
        ("stream", "This seat is open on 3 pages already; close one of them."),
        ("desk", "This page listens to its class 3 times already, which is the most; reload it."),
    ],
)
def test_the_fourth_stream_is_refused_until_one_has_ended(live: LiveClass, what: str, sentence: str):
    live.join(TOKEN)
    token = TOKEN if what == "stream" else desks.new_key(live.code, access.LOCAL)
    begun: list[dict[str, Any]] = []

    async def play() -> None:
        begun.extend(await asyncio.wait_for(first_messages(f"/join/{live.code}/{what}", token), 30))

    in_thread(play())
    assert [answer["status"] for answer in begun] == [200, 200, 200, 429, 200]
    assert json.loads(begun[3]["body"]) == {"error": sentence}
    assert not any(person[3] for person in live.people())
    assert not desks._streams


def test_the_lecturer_s_link_and_the_address_of_phones():
    key = desks.allow_lecturer()
    assert desks.is_lecturer(key)
    assert not any(desks.is_lecturer(key) for key in ("", key[:-1], "é"))
    assert "data:image/svg+xml" in invite.qr_code("http://10.0.0.5/join/BCDFGH")
    assert "this computer alone" in invite.problem("http://127.0.0.1:8501/classroom")
    assert "hedge --public --lecturer" in invite.remedy("http://127.0.0.1:8501/classroom")
    access.serve("public")
    try:
        assert "another machine on each phone" in invite.problem("http://localhost:8501/classroom")
        assert ":8501/classroom`" in invite.remedy("http://localhost:8501/classroom")
        assert invite.problem("http://10.0.0.5:8501/classroom") == ""
    finally:
        access.serve("local")
