"""What the browser's request for awaited values is answered, and when."""

import asyncio
import gc

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from app.serving import awaited
from app.serving.awaited import ARRIVED, ASK_AGAIN, GONE, Ticket

pytestmark = pytest.mark.quick


def test_a_request_starts_what_is_awaited_and_is_answered_when_all_of_it_is_there():
    there: set[str] = set()

    async def asked() -> int:
        ticket = Ticket(lambda: there.add("begun"), [lambda: "first" in there, lambda: "second" in there])
        request = asyncio.create_task(awaited.answered(ticket))
        for name in ("first", "second"):
            await asyncio.sleep(2 * awaited.LOOK_S)
            assert "begun" in there
            assert not request.done()
            there.add(name)
        return await request

    assert asyncio.run(asked()) == ARRIVED


def test_what_takes_long_does_not_keep_the_rest_from_being_shown(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(awaited, "GATHER_S", (0.0, 0.0))
    ticket = Ticket(lambda: None, [lambda: True, lambda: False])
    assert asyncio.run(awaited.answered(ticket)) == ARRIVED


def test_a_request_ends_with_a_later_one_with_the_server_and_before_a_proxy_ends_it(monkeypatch: pytest.MonkeyPatch):
    ticket = Ticket(lambda: None, [lambda: False])

    async def both() -> tuple[int, bool]:
        earlier = asyncio.create_task(awaited.answered(ticket))
        await asyncio.sleep(0)
        later = asyncio.create_task(awaited.answered(ticket))
        first = await earlier
        waits = not later.done()
        later.cancel()
        return first, waits

    assert asyncio.run(both()) == (ASK_AGAIN, True)
    with monkeypatch.context() as patch:
        patch.setattr(awaited, "is_stopping", lambda: True)
        assert asyncio.run(awaited.answered(ticket)) == ASK_AGAIN
    monkeypatch.setattr(awaited, "ANSWER_WITHIN_S", 0.0)
    assert asyncio.run(awaited.answered(ticket)) == ASK_AGAIN


def test_a_ticket_is_known_as_long_as_its_session_keeps_it():
    client = TestClient(Starlette(routes=awaited.routes("")))
    ticket = Ticket(lambda: None, [lambda: True])
    address = f"/awaited/{ticket.name}"
    assert client.get(address).status_code == ARRIVED
    del ticket
    gc.collect()
    for path in (address, "/awaited/guessed"):
        assert client.get(path).status_code == GONE
