"""What the server answers to phones and projectors of a class (:mod:`app.classroom.routes` has the addresses).

Imported with the first request: it needs NumPy, for which the start of the server should not wait.
"""

from __future__ import annotations

import asyncio
import functools
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from app.classroom import desks
from app.classroom.streams import Streams
from app.serving import session_cookie
from core import access
from core.access import Actor, quotas
from core.serving.classroom import class_state, guesses, lecture, live_class
from core.serving.classroom.codes import read_code
from core.serving.classroom.refusals import ClassRefusal

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

Values = dict[str, Any]
NOT_KEPT = {"cache-control": "no-store"}
LARGEST_BODY = 2000
BODY_WITHIN_S = 10.0
ACTS: dict[str, Callable[[str, dict[str, Any]], None]] = {
    "next": lambda code, values: lecture.ask_next(code),
    "show": lambda code, values: lecture.show_answer(code),
    "free": lambda code, values: lecture.free_seats(code, values.get("seats", ())),
    "allow": lambda code, values: lecture.allow_seats(code, values.get("most", 0)),
    "alpha": lambda code, values: lecture.move_alpha(
        code, alpha=values.get("alpha", 0), score=str(values.get("score"))
    ),
}

_streams = Streams()


async def seat(request: Request) -> Response:
    """Take a seat."""
    values, live = await _body(request), await _class(request)
    number = await asyncio.to_thread(live.join, _token(request), values.get("name", ""), _network(request))
    return _json({"seat": number, "code": live.code})


async def answer(request: Request) -> Response:
    """Keep an answer."""
    values, live = await _body(request), await _class(request)
    fields: Values = {name: values.get(name) for name in ("question", "shares", "turn")}
    await asyncio.to_thread(functools.partial(live.answer, _token(request), **fields))
    return _json({"kept": fields["turn"]})


async def mine(request: Request) -> Response:
    """The values that only this seat may see."""
    live = await _class(request)

    def own() -> Values:
        with live.lock:  # the seat may be freed meanwhile
            return class_state.of_seat(live, live.seat_of(_token(request)).number)

    return _json(await asyncio.to_thread(own))


async def phone_stream(request: Request) -> Response:
    """The state of the class for a phone, as server-sent events."""
    live = await _class(request)
    own = live.seat_of(_token(request))
    live.attach(own)  # nothing is awaited from here until the answer is sent
    return EventStream(functools.partial(_streams.of_phone, live, own), left=functools.partial(live.detach, own))


async def desk_stream(request: Request) -> Response:
    """The state of the class for the projector, as server-sent events."""
    check = functools.partial(_leader, request)
    _, live = await asyncio.to_thread(check)
    key = _token(request)
    desks.attach(key)
    return EventStream(functools.partial(_streams.of_desk, live, check), left=functools.partial(desks.detach, key))


async def act(request: Request) -> Response:
    """Do what the lecturer asks for."""
    values = await _body(request)
    who, live = await asyncio.to_thread(_leader, request)
    do = ACTS.get(str(values.get("act")))
    if do is None:
        raise ClassRefusal(f"a lecturer's page can ask for {', '.join(ACTS)}; reload it")

    def done() -> None:
        with access.acting_as(who):
            do(live.code, values)

    await asyncio.to_thread(done)
    return _json({"done": values["act"]})


def _token(request: Request) -> str:
    """The token or key that the request carries."""
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    return token if kind == "Bearer" else ""


def _network(request: Request) -> str:
    return quotas.network(session_cookie.client(request))


async def _class(request: Request) -> live_class.LiveClass:
    code = request.path_params["code"]
    return await asyncio.to_thread(guesses.find_from, _network(request), code, _token(request))


def _leader(request: Request) -> tuple[Actor, live_class.LiveClass]:
    """For whom a request of a projector is done, with the role that he or she has now, and the class. Its code is no
    guess: without the key nothing about it is sent.

    Raises :class:`ClassRefusal` or :class:`~core.errors.AccessError` if this person may not, or no longer, lead.
    """
    code = read_code(request.path_params["code"])
    who = desks.holder(code, _token(request))
    if access.mode() == "login":  # the key is as old as the page; who is logged in now, the cookie says
        opened_by, who = who, session_cookie.actor_of(request)
        if who.name != opened_by.name:
            raise ClassRefusal("you are no longer logged in as when this page was opened; log in and reload it", 401)
    with access.acting_as(who):
        live = lecture.led(code)
    guesses.know(_network(request), code)
    return who, live


async def _body(request: Request) -> Values:
    """The JSON object that was sent.

    Raises :class:`ClassRefusal` if it is too large, comes too slowly, or is not an object.
    """
    content = b""
    try:
        async with asyncio.timeout(BODY_WITHIN_S):
            async for part in request.stream():
                content += part
                if len(content) > LARGEST_BODY:
                    raise ClassRefusal(f"a class takes at most {LARGEST_BODY:,} bytes at a time; reload the page", 413)
        values = json.loads(content)
    except TimeoutError:
        raise ClassRefusal("the request took too long to arrive; it is sent again by itself", 408) from None
    except (ValueError, RecursionError, ClientDisconnect):
        values = None
    if not isinstance(values, dict):
        raise ClassRefusal("a class takes a JSON object; reload the page")
    return values


class EventStream(Response):
    """A response of server-sent events. ``messages`` gets an awaitable that ends when the reader has disconnected, and
    ``left`` is called when the stream has ended, however that was."""

    def __init__(
        self, messages: Callable[[Awaitable[object]], AsyncGenerator[bytes]], *, left: Callable[[], None]
    ) -> None:
        # No proxy may keep a message back (nginx reads the second header).
        super().__init__(headers={**NOT_KEPT, "x-accel-buffering": "no"}, media_type="text/event-stream")
        del self.headers["content-length"]
        self.messages, self.left = messages, left

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send each message at once."""
        try:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            async with aclosing(self.messages(_gone(receive))) as messages:
                async for message in messages:
                    await send({"type": "http.response.body", "body": message, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
        finally:
            self.left()


async def _gone(receive: Receive) -> None:
    """Wait until the reader disconnects."""
    while (await receive())["type"] != "http.disconnect":
        pass


def _json(values: Values) -> Response:
    return JSONResponse(values, headers=NOT_KEPT)
