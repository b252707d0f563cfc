"""Requests to the servers that hold one model: one pool of connections, many in flight, each tried until it succeeds.

httpx2 sends them, because it is here already (huggingface_hub uses it), it speaks async, and the fields that matter
(``echo``, ``prompt_logprobs``, ``logprobs: -1``) differ from server to server, so the typed answers of the ``openai``
package would be in the way. tenacity decides when to try again.

What passes is tried again, with growing pauses or after the pause that the server names (``Retry-After``): no
connection, a connection that was cut, no answer in time, 408, 429, 5xx, an answer that is no JSON. A server that can't
be reached is waited for; an answer that stays wrong is not. Redirects are not followed, because the key would go to
another host. Every error is one sentence, without the key.
"""

from __future__ import annotations

import asyncio
import email.utils
import json
import os
import time
from collections import deque
from collections.abc import Awaitable, Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx2
import tenacity

from core.errors import InputError, ServerError
from core.inference.server.address import check_key, server_url, without_key
from core.inference.server.concurrency import MOST, START, InFlight
from core.inference.server.spending import Price, Spending

Parsed = TypeVar("Parsed")
Body = Mapping[str, Any]

TOO_FAST = (429, 503)
PASSING = (408, 425, 429, 500, 502, 503, 504, 529)
PROBES = 2
"""Tries of a request that only asks what a server can do."""
QUOTED = 200
"""Characters of a server's own message that are repeated."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait, in seconds. ``answer_s`` is for one request, ``gone_s`` for a server that can't be reached or
    says that it is busy, and ``tries`` for how often an answer may be wrong. Pauses double from ``first_pause_s``."""

    connect_s: float = 10.0
    answer_s: float = 120.0
    gone_s: float = 300.0
    tries: int = 5
    first_pause_s: float = 0.5
    longest_pause_s: float = 30.0


class KeyFromEnvironment(httpx2.Auth):
    """Puts the key into the header of each request; it holds only the variable's name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def auth_flow(self, request: httpx2.Request) -> Generator[httpx2.Request, httpx2.Response, None]:
        """The one request, with its key if there is one."""
        key = os.environ.get(self.name, "") if self.name else ""
        if key:
            request.headers["Authorization"] = f"Bearer {key}"
        yield request


class RefusedError(ServerError):
    """A server answered that it does not do what was asked; ``status`` is its HTTP status."""

    def __init__(self, message: str, *, status: int) -> None:
        super().__init__(message)
        self.status = status


class WrongReplyError(ServerError):
    """A server answered with something that can't be read."""


class PassingError(ServerError):
    """What may be over in a moment. ``after_s`` is the pause that the server named, ``alive`` whether it answered with
    an error of its own, which is not waited for as long."""

    def __init__(self, message: str, *, after_s: float | None = None, alive: bool = False) -> None:
        super().__init__(message)
        self.after_s = after_s
        self.alive = alive


@dataclass
class _Host:
    """One server: its address, its requests in flight, and the time until which it is left alone."""

    url: str
    in_flight: int = 0
    rests_until: float = field(default=0.0)


class ServerClient:
    """Sends requests to one or several servers that hold the same model. Not for several threads at once."""

    def __init__(
        self,
        servers: Sequence[str],
        *,
        key_variable: str = "",
        price: Price | None = None,
        patience: Patience | None = None,
        in_flight: int = START,
        most: int = MOST,
    ) -> None:
        if not servers:
            raise InputError("a model on a server needs the server's address, such as http://localhost:8000/v1")
        self.hosts = [_Host(server_url(url)) for url in servers]
        self.key_variable = key_variable
        self.patience = patience or Patience()
        self.spending = Spending(price or Price())
        self.flight = InFlight(start=in_flight, most=most)
        check_key(key_variable)
        self._loop = asyncio.new_event_loop()
        self._http = httpx2.AsyncClient(
            auth=KeyFromEnvironment(key_variable),
            timeout=httpx2.Timeout(self.patience.answer_s, connect=self.patience.connect_s, pool=None),
            limits=httpx2.Limits(max_connections=most, max_keepalive_connections=most),
            follow_redirects=False,
        )

    def __enter__(self) -> ServerClient:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        if not self._loop.is_closed():
            self._loop.run_until_complete(self._http.aclose())
            self._loop.close()

    @property
    def urls(self) -> tuple[str, ...]:
        """The servers' addresses."""
        return tuple(host.url for host in self.hosts)

    def get(self, path: str, *, of: str = "") -> dict[str, Any]:
        """What the first server, or whatever is at the address ``of``, says at ``path``, tried until it succeeds.

        Raises :class:`RefusedError` if it has no such thing, :class:`ServerError` if it can't be reached.
        """
        host = _Host(of or self.hosts[0].url)
        asking = self._tried(lambda: self._sent(host, "GET", path, None), _as_it_is, PROBES)
        return self._loop.run_until_complete(asking)

    def post(self, path: str, body: Body, read: Callable[[dict[str, Any]], Parsed]) -> Parsed:
        """One answer, as ``read`` makes it of the reply; see :meth:`ask`. It asks what a server can do, so a wrong
        answer soon counts as "no"."""
        return next(self.ask(path, [body], lambda _, reply: read(reply), tries=PROBES))[1]

    def ask(
        self,
        path: str,
        bodies: Sequence[Body],
        read: Callable[[int, dict[str, Any]], Parsed],
        *,
        tries: int | None = None,
    ) -> Iterator[tuple[int, Parsed]]:
        """Send all requests, and yield the number of each with its answer as soon as it is there, in any order.

        ``read`` makes the answer of a request's number and reply, and raises :class:`WrongReplyError` where it can't.
        Each request is answered once. ``tries`` is how often an answer may be wrong (None: as often as patience says).
        Raises :class:`RefusedError` if a server does not do what is asked, :class:`ServerError` if it can't be reached
        for longer than patience lasts, :class:`~core.errors.RunError` if the budget is reached; answers that were there
        by then are yielded first.
        """
        waiting = deque(range(len(bodies)))
        flying: dict[asyncio.Task[Parsed], int] = {}
        self.flight.pause()
        try:
            while waiting or flying:
                while waiting and len(flying) < self.flight.limit:
                    i = waiting.popleft()
                    task = self._loop.create_task(
                        self._answer(path, bodies[i], partial(read, i), tries or self.patience.tries)
                    )
                    flying[task] = i
                done, _ = self._loop.run_until_complete(
                    asyncio.wait(flying, return_when=asyncio.FIRST_COMPLETED)  # all that are there, seldom only one
                )
                for task in sorted(done, key=lambda task: task.exception() is not None):
                    yield flying.pop(task), task.result()
        finally:
            self._end(list(flying))

    async def _answer(self, path: str, body: Body, read: Callable[[dict[str, Any]], Parsed], tries: int) -> Parsed:
        host: _Host | None = None

        async def send() -> dict[str, Any]:
            nonlocal host
            host = self._freest(other_than=host)
            return await self._paid(host, path, body)

        return await self._tried(send, read, tries)

    async def _paid(self, host: _Host, path: str, body: Body) -> dict[str, Any]:
        reserved = self.spending.reserve(body)
        host.in_flight += 1
        try:
            reply = await self._sent(host, "POST", path, body)
        except BaseException as error:
            self.spending.release(reserved)
            if isinstance(error, PassingError):
                pause = error.after_s or self.patience.first_pause_s
                host.rests_until = max(host.rests_until, time.monotonic() + pause)
            raise
        finally:
            host.in_flight -= 1
        self.spending.settle(reserved, reply.get("usage"))
        self.flight.answered(time.monotonic())
        return reply

    async def _tried(
        self, send: Callable[[], Awaitable[dict[str, Any]]], read: Callable[[dict[str, Any]], Parsed], tries: int
    ) -> Parsed:
        retrying = tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception_type((PassingError, WrongReplyError)),
            wait=self._pause,
            stop=lambda state: self._enough(state, tries),
            reraise=True,
        )
        async for attempt in retrying:
            with attempt:
                return read(await send())
        raise AssertionError("unreachable")

    def _pause(self, state: tenacity.RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        grown = tenacity.wait_random_exponential(
            multiplier=self.patience.first_pause_s, max=self.patience.longest_pause_s
        )(state)
        named = error.after_s if isinstance(error, PassingError) else None
        return max(named, 0.0) + min(grown, self.patience.first_pause_s) if named is not None else grown

    def _enough(self, state: tenacity.RetryCallState, tries: int) -> bool:
        error = state.outcome.exception() if state.outcome else None
        if isinstance(error, WrongReplyError) or (isinstance(error, PassingError) and error.alive):
            return state.attempt_number >= tries
        return (state.seconds_since_start or 0.0) + state.upcoming_sleep > self.patience.gone_s

    def _freest(self, *, other_than: _Host | None) -> _Host:
        now = time.monotonic()
        return min(self.hosts, key=lambda host: (host.rests_until > now, host.in_flight, host is other_than))

    async def _sent(self, host: _Host, method: str, path: str, body: Body | None) -> dict[str, Any]:
        url = f"{host.url}{path}"
        try:
            reply = await self._http.request(method, url, json=body)
        except httpx2.ConnectError as error:
            raise PassingError(_gone(host.url, "can't be reached")) from error
        except httpx2.TimeoutException as error:
            self.flight.refused()
            raise PassingError(_gone(host.url, f"does not answer within {self.patience.answer_s:g} s")) from error
        except httpx2.TransportError as error:
            raise PassingError(_gone(host.url, f"cuts the connection ({type(error).__name__})")) from error
        except httpx2.HTTPError as error:
            raise WrongReplyError(_unreadable(host.url, type(error).__name__)) from error
        if reply.status_code == 200:
            return _object(reply, host.url)
        raise self._refusal(host.url, reply)

    def _refusal(self, url: str, reply: httpx2.Response) -> ServerError:
        status = reply.status_code
        said = _message(reply, self.key_variable)
        if status in TOO_FAST:
            self.flight.refused()
        if status in PASSING:
            busy = status in TOO_FAST
            words = "has too many requests" if busy else f"fails with HTTP status {status}{said}"
            return PassingError(_gone(url, words), after_s=_retry_after(reply), alive=not busy)
        if 300 <= status < 400:
            to = urlsplit(reply.headers.get("location", ""))
            where = f" to {to.scheme}://{to.hostname}{to.path}" if to.hostname else ""
            return RefusedError(
                f"the server {url} redirects{where}; Hedge does not follow, because the key would go along, so give "
                "the address that it redirects to",
                status=status,
            )
        if status in (401, 403):
            held = f"refuses the key in {self.key_variable}" if self.key_variable else "asks for a key"
            return RefusedError(
                f"the server {url} {held}; name the environment variable that holds the right one with --key-variable",
                status=status,
            )
        return RefusedError(f"the server {url} refuses with HTTP status {status}{said}", status=status)

    def _end(self, tasks: list[asyncio.Task[Any]]) -> None:
        if tasks and not self._loop.is_closed():
            for task in tasks:
                task.cancel()
            self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))


def _as_it_is(reply: dict[str, Any]) -> dict[str, Any]:
    return reply


def _gone(url: str, how: str) -> str:
    return f"the server {url} {how}; what has finished is kept, so resume the run when the server is back"


def _unreadable(url: str, what: str) -> str:
    return f"the server {url} gave an answer that can't be read ({what}), again and again; look into its log"


def _object(reply: httpx2.Response, url: str) -> dict[str, Any]:
    try:
        values = json.loads(reply.content)
    except ValueError as error:
        raise WrongReplyError(_unreadable(url, "no JSON")) from error
    if not isinstance(values, dict):
        raise WrongReplyError(_unreadable(url, f"{type(values).__name__} and no object"))
    return values


def _message(reply: httpx2.Response, key_variable: str) -> str:
    """What an error reply says, shortened and without the key; empty if it says nothing readable."""
    try:
        values = json.loads(reply.content)
    except ValueError:
        return ""
    values = values.get("error", values) if isinstance(values, dict) else ""
    if isinstance(values, dict):
        values = values.get("message") or values.get("detail") or ""
    said = without_key(" ".join(str(values).split()), key_variable)  # before it is cut, or a part of the key would stay
    return f" ({said[:QUOTED]})" if said else ""


def _retry_after(reply: httpx2.Response) -> float | None:
    """The pause in seconds that a reply names, as a number or as a date (RFC 9110, section 10.2.3)."""
    named = reply.headers.get("retry-after", "").strip()
    if not named:
        return None
    try:
        return max(0.0, float(named))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(named).timestamp() - time.time())
    except ValueError:
        return None
