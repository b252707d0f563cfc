"""The page server's answers below ``/join``: the page that phones open, and what it asks.

=================================  =======================================================================
``GET /join/``, ``GET /join/CODE``  the phone's page; ``/join/-/NAME`` are its script and style
``POST /join/CODE/seat``            take a seat: ``{"name"}``
``POST /join/CODE/answer``          ``{"question", "shares", "turn"}``
``GET /join/CODE/stream``           what every phone is told, as server-sent events
``GET /join/CODE/mine``             what this seat alone is told
``GET /join/CODE/desk``             what the projector is told, as server-sent events
``POST /join/CODE/desk``            what the lecturer does: ``{"act", …}``
=================================  =======================================================================

A phone sends its seat's token and a projector its key (:mod:`app.classroom.desks`) as ``Authorization: Bearer …``.
Neither is ever in a cookie, so no other site can act for them. Every refusal is a status and one sentence.
"""

from __future__ import annotations

import asyncio
import functools
import json
import logging
import re
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.classroom import desks
from app.classroom.streams import Streams
from core import access
from core.classroom import class_state, lecture, live_class
from core.classroom.refusals import ClassRefusal
from core.errors import AccessError, HedgeError, InputError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

LOG = logging.getLogger(__name__)
HERE = Path(__file__).parent
FILES = {
    path.name: path
    for path in (
        HERE / "phone.js",
        HERE / "phone_view.js",
        HERE / "phone_link.js",
        HERE / "chips.js",
        HERE / "event_stream.js",
        HERE / "class_sets.js",
        HERE / "phone.css",
        HERE.parent / "components" / "shared" / "single_keys.js",
    )
}
"""The files of the phone's page by their names in its addresses. No other file can be asked for."""
KINDS = {".js": b"text/javascript; charset=utf-8", ".css": b"text/css; charset=utf-8"}
JOIN = "/join"
ASKED = re.compile(r"/(?P<code>[^/]{1,40})/(?P<what>seat|answer|stream|mine|desk)")
PAGE = re.compile(r"/[^/]{0,40}")
LARGEST_BODY = 2000
BODY_WITHIN_S = 10.0
ACTS: dict[str, Callable[[str, dict[str, Any]], None]] = {
    "next": lambda code, told: lecture.ask_next(code),
    "show": lambda code, told: lecture.show_answer(code),
    "alpha": lambda code, told: lecture.move_alpha(code, alpha=told.get("alpha", 0), score=str(told.get("score"))),
}


class ClassRoutes:
    """Middleware of the server (ASGI): it answers below ``/join`` and passes on everything else."""

    def __init__(self, app: ASGIApp, base: str = "") -> None:
        self.app = app
        self.prefix = (f"/{base.strip('/')}" if base.strip("/") else "") + JOIN
        self.streams = Streams()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a phone or a projector."""
        path = str(scope["path"]) if scope["type"] == "http" else ""
        if path != self.prefix and not path.startswith(f"{self.prefix}/"):
            await self.app(scope, receive, send)
            return
        rest = path.removeprefix(self.prefix)
        try:
            await self._answered(rest, scope, receive, send)
        except HedgeError as error:
            await _tell(send, {"error": _sentence(error)}, status=_status(error))
        except Exception:
            LOG.exception("a request of a class failed")
            await _tell(send, {"error": "Something unexpected went wrong; reload the page."}, status=500)

    async def _answered(self, rest: str, scope: Scope, receive: Receive, send: Send) -> None:
        method = scope["method"]
        if found := ASKED.fullmatch(rest):
            await self._asked(found["code"], found["what"], scope, receive, send)
        elif method != "GET":
            raise ClassRefusal("nothing can be sent to this address; open the link on the projector again", 405)
        elif not rest:
            await _send(send, b"", b"text/plain", status=308, more=[(b"location", b"join/")])
        elif rest.startswith("/-/") and rest.removeprefix("/-/") in FILES:
            file = FILES[rest.removeprefix("/-/")]
            await _send(send, _content(file), KINDS[file.suffix], more=[(b"cache-control", b"no-cache")])
        elif PAGE.fullmatch(rest):
            await _send(send, _content(HERE / "phone.html"), b"text/html; charset=utf-8")
        else:
            raise ClassRefusal("there is nothing at this address; open the link on the projector again", 404)

    async def _asked(self, code: str, what: str, scope: Scope, receive: Receive, send: Send) -> None:
        token, posts = _token(scope), scope["method"] == "POST"
        if (posts != (what in ("seat", "answer")) and what != "desk") or scope["method"] not in ("GET", "POST"):
            raise ClassRefusal("this address takes another kind of request; reload the page", 405)
        told = await _body(scope, receive) if posts else {}
        live = await asyncio.to_thread(live_class.find, code)
        if what == "seat":
            seat = await asyncio.to_thread(live.join, token, told.get("name", ""))
            await _tell(send, {"seat": seat, "code": live.code})
        elif what == "answer":
            given: dict[str, Any] = {name: told.get(name) for name in ("question", "shares", "turn")}
            await asyncio.to_thread(functools.partial(live.answer, token, **given))
            await _tell(send, {"kept": given["turn"]})
        elif what == "mine":
            seat = live.seat_of(token).number
            await _tell(send, await asyncio.to_thread(class_state.of_seat, live, seat))
        elif what == "stream":
            own = live.seat_of(token)
            live.attach(own)
            try:
                await _stream(send, self.streams.of_phone(live, own, _left(receive)))
            finally:
                live.detach(own)
        else:
            await self._desk(live, token, told if posts else None, receive, send)

    async def _desk(
        self, live: live_class.LiveClass, key: str, told: dict[str, Any] | None, receive: Receive, send: Send
    ) -> None:
        who = desks.holder(live.code, key)
        if told is None:
            await _stream(send, self.streams.of_desk(live, _left(receive)))
            return
        act = ACTS.get(str(told.get("act")))
        if act is None:
            raise ClassRefusal(f"a lecturer's page can ask for {', '.join(ACTS)}; reload it")

        def done() -> None:
            with access.acting_as(who):
                act(live.code, told)

        await asyncio.to_thread(done)
        await _tell(send, {"done": told["act"]})


@functools.cache
def _content(path: Path) -> bytes:
    return path.read_bytes()


def _token(scope: Scope) -> str:
    """The token or key that the request carries."""
    for name, value in scope["headers"]:
        if name == b"authorization" and value.startswith(b"Bearer "):
            return bytes(value[7:]).decode("latin-1")
    return ""


async def _body(scope: Scope, receive: Receive) -> dict[str, Any]:
    """The JSON object that was sent.

    Raises :class:`ClassRefusal` if it is too large, comes too slowly, or is no object.
    """
    content = b""
    try:
        async with asyncio.timeout(BODY_WITHIN_S):
            while True:
                message = await receive()
                content += message.get("body", b"")
                if len(content) > LARGEST_BODY:
                    raise ClassRefusal(f"a class takes at most {LARGEST_BODY:,} bytes at a time; reload the page", 413)
                if message["type"] != "http.request" or not message.get("more_body"):
                    break
        told = json.loads(content)
    except TimeoutError:
        raise ClassRefusal("the request took too long to arrive; it is sent again by itself", 408) from None
    except (ValueError, RecursionError):
        told = None
    if not isinstance(told, dict):
        raise ClassRefusal("a class takes a JSON object; reload the page")
    return told


async def _left(receive: Receive) -> None:
    """Wait until the other side has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def _stream(send: Send, messages: AsyncGenerator[bytes]) -> None:
    # No proxy may keep a message back (nginx reads the second header).
    headers = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-store"), (b"x-accel-buffering", b"no")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    async with aclosing(messages):
        async for message in messages:
            await send({"type": "http.response.body", "body": message, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


async def _tell(send: Send, values: dict[str, Any], *, status: int = 200) -> None:
    await _send(send, json.dumps(values).encode(), b"application/json", status=status)


async def _send(
    send: Send, body: bytes, kind: bytes, *, status: int = 200, more: list[tuple[bytes, bytes]] | None = None
) -> None:
    about = [(b"content-type", kind), (b"content-length", str(len(body)).encode())]
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": [*about, *(more or [(b"cache-control", b"no-store")])],
        }
    )
    await send({"type": "http.response.body", "body": body})


def _status(error: HedgeError) -> int:
    if isinstance(error, ClassRefusal):
        return error.status
    return 403 if isinstance(error, AccessError) else 400 if isinstance(error, InputError) else 503


def _sentence(error: HedgeError) -> str:
    from app.formatting import sentence

    return sentence(access.without_places(str(error)))


def install() -> None:
    """Put the class's addresses before Streamlit's own. Call this before the server starts, and before the guard."""
    from starlette.middleware import Middleware
    from streamlit import config
    from streamlit.web.server.starlette import starlette_app

    own = starlette_app.create_streamlit_middleware
    starlette_app.create_streamlit_middleware = lambda: [
        Middleware(ClassRoutes, base=config.get_option("server.baseUrlPath") or ""),
        *own(),
    ]
