"""A real server that may open few files: visitors who left take none, new pages are refused, and open ones continue."""

import asyncio
import json
import os
import time
from collections.abc import Callable
from contextlib import AsyncExitStack, ExitStack, suppress
from pathlib import Path

import aiohttp
import pytest

from app.serving.file_limit import REFUSAL
from core.serving.classroom import lecture, quiz
from tests.app.serving.test_server import APP, started
from tests.intruders.client import Client

FEW = 64
WITH_FEW = ("sh", "-c", f'ulimit -n {FEW}; exec "$0" "$@"')
PAGE = {"Accept": "text/html"}

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows has no such limit")


def until(condition: Callable[[], bool]) -> None:
    """Wait until the condition holds; an answer of ``/readyz`` is used again for two seconds."""
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.1)


def test_a_server_survives_more_visitors_than_it_may_have_files(home: Path):
    with started(APP, home, under=WITH_FEW) as (address, _), ExitStack() as closing:
        client = Client(address)
        closing.callback(client.close)
        for _ in range(FEW // 2):  # a visitor who has left takes no file
            assert client.screen().text
        assert client.ask("GET", "/readyz").status == 200
        with ExitStack() as pages:
            first = pages.enter_context(client.session())
            screens = [first.screen.text]

            def is_full() -> bool:
                """A page that is drawn has more files open for a moment, so one more may fit after a refusal."""
                with suppress(aiohttp.WSServerHandshakeError):
                    while len(screens) < FEW:
                        screens.append(pages.enter_context(client.session()).screen.text)
                refused = client.ask("GET", "/", headers=PAGE)
                if refused.status == 200:
                    return False
                assert (refused.status, refused.body.decode()) == (503, REFUSAL)
                return client.ask("GET", "/readyz").status == 503

            until(is_full)
            assert all(screens)
            assert FEW / 2 < len(screens) < FEW  # each takes one file, and the server keeps 16
            assert first.visit("account").text
            assert client.ask("GET", "/healthz").status == 200
            assert f"of {FEW} files and connections" in client.ask("GET", "/readyz").body.decode()
        until(lambda: client.ask("GET", "/readyz").status == 200)
        assert client.screen().text
        assert client.ask("GET", "/", headers=PAGE).status == 200
        lines = (home.parent / "server.log").read_text(encoding="utf-8").splitlines()
        assert sum("new pages are refused" in line for line in lines) == 1
        assert not any("Traceback" in line for line in lines)


def test_many_connections_at_once_write_one_line_and_phones_leave_room(home: Path):
    live = lecture.open_class(quiz.draw("qa", n=4, calibration=2))
    seats = [f"{number:032x}" for number in range(FEW)]
    for seat in seats:
        live.join(seat)
    with started(APP, home, under=WITH_FEW) as (address, _):
        client = Client(address)

        async def visit(http: aiohttp.ClientSession) -> None:
            with suppress(aiohttp.ClientError):  # it is refused or cut off
                async with http.get(f"{address}/") as answer:
                    await answer.read()

        async def visit_together() -> None:
            async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as http:
                await asyncio.gather(*(visit(http) for _ in range(4 * FEW)))

        client.run(visit_together())
        until(lambda: client.ask("GET", "/", headers=PAGE).status == 200)

        async def listen_together() -> list[tuple[int, bytes]]:
            stream = f"{address}/join/{live.code}/stream"
            async with (
                aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as http,
                AsyncExitStack() as streams,
            ):
                answers = [
                    await streams.enter_async_context(http.get(stream, headers={"Authorization": f"Bearer {seat}"}))
                    for seat in seats
                ]
                heard = [(answer.status, await answer.content.readline()) for answer in answers]
                async with aiohttp.ClientSession() as monitoring, monitoring.get(f"{address}/healthz") as answer:
                    assert answer.status == 200
                return heard

        heard = client.run(listen_together())
        assert heard.count((200, b"event: state\n")) > FEW / 2
        refused = {body for status, body in heard if status == 503}
        assert [json.loads(body)["error"] for body in refused] == [REFUSAL.strip()]
        until(lambda: client.ask("GET", "/readyz").status == 200)
        client.close()
        log = (home.parent / "server.log").read_text(encoding="utf-8")
        assert log.count("new pages are refused") == 1
        assert "Traceback" not in log
