"""Requests to the servers that hold one model: one pool of connections, many in flight, each tried until it succeeds.

aiohttp sends them. With 32 requests in flight, aiohttp takes 0.2 ms of processor time for each; httpx takes 0.9 ms,
because it searches its whole pool of connections every time. A fast server answers thousands of requests per second.
The typed answers of the ``openai`` package would be in the way, because the fields that matter (``echo``,
``logprobs: -1``) differ from server to server. tenacity decides when to try again. Temporary faults are retried, with
growing pauses or after the pause that the server names (``Retry-After``), which applies to all requests to this server:
no connection, a connection that was cut, no answer in time, 408, 429, 5xx, an answer that is not JSON. A request waits
for a server that can't be reached, but not for an answer that stays wrong. Redirects are not followed, because the key
would go to another host. A request that a server wants in another form is changed as it says
(:mod:`core.models.server.advice`). Every error is one sentence, with the server's own words and without the key.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Generic, TypeVar
from urllib.parse import urlsplit

import aiohttp
import tenacity

from core.errors import InputError, RunPaused, ServerError
from core.models.price import Price
from core.models.server import permission, reply_body
from core.models.server.advice import Change, asked_changes, changed, guessed_changes, hint
from core.models.server.bodies import NEUTRAL, Body
from core.models.server.concurrency import MOST, START, InFlight
from core.models.server.left_out import FILTERED, REFUSED, UNANSWERED, NoAnswer, kind_of
from core.models.server.pauses import in_words, named_pause
from core.models.server.reply_body import (
    LARGEST_REFUSAL,
    TooLargeError,
    clean,
    code_in,
    error_text,
    error_value,
    is_unpaid,
    limit_of,
    parsed,
    status_in,
)
from core.models.server.spending import Spending
from core.models.server_address import TIMEOUT_S, check_key, key_of, server_url, without_secrets
from core.processes import proxies

Parsed = TypeVar("Parsed")
Done = TypeVar("Done")

OF_ALL = (401, 402)
"""The status codes of refusals that concern every request: a wrong key, no credit."""
TOO_FAST = (429, 503)
PASSING = (408, 425, 429, 500, 502, 503, 504, 529)
OF_GATEWAYS = (502, 503, 504)
PROXY_LOGIN = 407
"""The status codes of a gateway whose server is gone or not ready; requests wait for such a server."""
PROBES = 2
"""The number of tries of a request that only finds out what a server can do."""
FAULT_TRIES = 4
"""The fewest tries of a request on which the server itself fails: such a fault may last for several requests."""
QUOTED = 200
"""The number of characters of a server's message that are repeated."""
LONG_PAUSE_S = 60.0
"""The end of a longer pause is named."""
TICK_S = 0.5
"""How often a caller hears the reason for waiting, while no answer arrives."""
KEPT_OPEN_S = 4.0
"""Servers close a connection that was idle for 5 seconds or more (uvicorn's default), so ours is closed before."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait, in seconds. ``answer_s`` is for one request, ``first_s`` for a server that can't be reached at
    the first contact, ``gone_s`` for one that can't be reached later or says that it is busy, and ``tries`` for how
    often an answer may be wrong. Pauses double from ``first_pause_s``."""

    connect_s: float = 10.0
    answer_s: float = TIMEOUT_S
    first_s: float = 30.0
    gone_s: float = 300.0
    tries: int = 5
    first_pause_s: float = 0.5
    longest_pause_s: float = 30.0


class RefusedError(ServerError):
    """A server answered that it does not do what was asked; ``status`` is its HTTP status, ``words`` are its own, and
    ``kind`` is what they say about the one question (:func:`~core.models.server.left_out.kind_of`)."""

    def __init__(self, message: str, *, status: int, words: str = "", kind: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.words = words
        self.kind = kind


class WrongReplyError(ServerError):
    """A server answered with something that can't be read. ``words`` are its own, if it gave an error as an answer."""

    def __init__(self, message: str, *, words: str = "") -> None:
        super().__init__(message)
        self.words = words


class MissingAnswerError(WrongReplyError):
    """A server's reply holds no answer, or one without log-probabilities; ``filtered`` says that a filter took it."""

    def __init__(self, message: str, *, filtered: bool = False) -> None:
        super().__init__(message)
        self.filtered = filtered


class UnreadableError(WrongReplyError):
    """A server answered with something that can't be parsed at all, such as truncated JSON."""


class PassingError(ServerError, RunPaused):
    """A fault that may pass soon. ``after_s`` is the pause that the server named, ``status`` its HTTP status (0: no
    answer), ``words`` are its own. ``alive`` says that the server answered but failed; such a server is not waited for
    as long."""

    def __init__(self, message: str, *, after_s: float | None = None, status: int = 0, words: str = "") -> None:
        super().__init__(message)
        self.after_s = after_s
        self.status = status
        self.words = words
        self.alive = status not in (0, *TOO_FAST, *OF_GATEWAYS)


@dataclass(frozen=True, slots=True)
class TokenRequest(Generic[Parsed]):
    """One request for tokens: its destination, the function ``read`` that turns the reply into an answer, and its
    ``place`` among the others. One that is ``divisible`` and on which the server fails goes to ``leave_out`` without
    another try, because its parts show whose fault it is.

    ``read`` raises :class:`WrongReplyError` where the reply can't be right.
    """

    path: str
    body: Body
    read: Callable[[dict[str, Any]], Parsed]
    place: tuple[int, ...] = ()
    divisible: bool = False


@dataclass
class _Host:
    """One server: its address, its requests in flight, the time until which it is left alone and ``how`` it failed
    before that, and how often in a row it failed. ``proxy`` is the one that the environment names for it; aiohttp would
    look for it at every request."""

    url: str
    in_flight: int = 0
    rests_until: float = field(default=0.0)
    how: str = "has too many requests"
    failures: int = 0
    proxy: str | None = None

    def __post_init__(self) -> None:
        self.proxy = proxies.proxy_of(self.url)

    @property
    def name(self) -> str:
        """The address, with the proxy through which it is asked."""
        return f"{self.url}, asked through the proxy {proxies.shown(self.proxy)}," if self.proxy else self.url


class ServerClient:
    """Sends requests to one or several servers that hold the same model. Not for several threads at once.
    Raises :class:`~core.errors.AccessError` if they may not be asked (:mod:`core.models.server.permission`).

    ``spending`` is what the requests may cost, and counts them; several clients may share it. ``timeout_s`` replaces
    the seconds that ``patience`` gives an answer. ``on_wait`` is called about twice a second while no answer arrives,
    with the reason if there is one. An exception in it ends the requests.
    """

    def __init__(
        self,
        servers: Sequence[str],
        *,
        key_variable: str = "",
        spending: Spending | None = None,
        patience: Patience | None = None,
        timeout_s: float | None = None,
        in_flight: int = START,
        most: int = MOST,
        on_wait: Callable[[str], None] = lambda reason: None,
    ) -> None:
        if not servers:
            raise InputError("a model on a server needs the server's address, such as http://localhost:8000/v1")
        permission.check(servers, key_variable)
        self.hosts = [_Host(server_url(url)) for url in servers]
        self.key_variable = key_variable
        self.patience = patience or Patience()
        if timeout_s is not None:
            self.patience = replace(self.patience, answer_s=timeout_s)
        self.spending = spending or Spending(Price())
        self.flight = InFlight(start=in_flight * len(self.hosts), most=most)
        self.on_wait = on_wait
        self.corrected: dict[str, str] = {}
        """The addresses that are used in place of those that were given."""
        self.followed: dict[tuple[str, str], tuple[Change, ...]] = {}
        """How requests are changed, by the server's address and the endpoint; a key says that one was accepted."""
        check_key(key_variable)
        self._answered: dict[str, TokenRequest[Any]] = {}
        """The last request that was answered, by its path."""
        self._trouble = ""
        self._ending = False
        # The loop runs in a thread of its own, because in a notebook this thread already has a running loop.
        self._loop = asyncio.new_event_loop()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="hedge-server-client")
        self._http = self._wait(self._session(most))

    def __enter__(self) -> ServerClient:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        if not self._loop.is_closed():
            self._wait(self._http.close())
            self._wait(asyncio.sleep(0))  # the connections are closed one iteration of the loop later
            self._loop.close()
            self._thread.shutdown()

    @property
    def urls(self) -> tuple[str, ...]:
        """The servers' addresses."""
        return tuple(host.url for host in self.hosts)

    @property
    def changes(self) -> tuple[str, ...]:
        """How requests were changed because a server asked for it, in words."""
        return tuple(sorted({change.text for changes in self.followed.values() for change in changes}))

    @property
    def unstated(self) -> tuple[str, ...]:
        """The fields on sampling that a server does not accept, so that its own values may apply."""
        left_out = {change.field for changes in self.followed.values() for change in changes if change.leaves_out}
        return tuple(sorted(left_out & {*NEUTRAL}))

    def correct(self, url: str, used: str) -> None:
        """Ask the server with the address ``url`` at this address from now on."""
        self.corrected[url] = used
        for host in self.hosts:
            if host.url == url:
                host.url = used

    def look(self, path: str, *, url: str) -> dict[str, Any]:
        """The reply of the server at the address ``of``, as :meth:`get`, but asked only once."""
        return self._run(self._sent(_Host(url), "GET", path, None))

    def drop(self, url: str) -> None:
        """Ask this server nothing more."""
        self.hosts = [host for host in self.hosts if host.url != url]

    def get(self, path: str, *, url: str = "") -> dict[str, Any]:
        """The reply of the first server, or of the one at the address ``of``, to a request for ``path``, which is tried
        until it succeeds.

        Raises :class:`RefusedError` if it has no such thing, :class:`ServerError` if it can't be reached.
        """
        host = _Host(url or self.hosts[0].url)
        return self._run(self._tried(lambda: self._sent(host, "GET", path, None), dict, PROBES, self._first))

    def post(
        self, path: str, body: Body, read: Callable[[dict[str, Any]], Parsed], *, url: str = "", paid: bool = True
    ) -> Parsed:
        """One answer of the first server or of the one at the address ``of``, made from the reply by ``read``. This
        finds out what a server can do, so a wrong answer soon counts as "no", while a server that fails is asked more
        often. A request that no tokens are computed for is not ``paid``.
        """
        host = next((host for host in self.hosts if host.url == url), _Host(url) if url else self.hosts[0])

        def send() -> Awaitable[dict[str, Any]]:
            return self._paid(host, path, body) if paid else self._sent(host, "POST", path, body)

        return self._run(self._tried(send, read, PROBES, self._first))

    def ask(
        self,
        path: str,
        bodies: Sequence[Body],
        read: Callable[[int, dict[str, Any]], Parsed],
        *,
        leave_out: Callable[[int, NoAnswer], object] | None = None,
    ) -> Iterator[tuple[int, Parsed]]:
        """Send all requests, and yield the number of each with its answer as soon as it is there, in any order; see
        :meth:`stream`. ``read`` makes the answer of a request's number and reply."""
        waiting = deque(TokenRequest(path, body, partial(read, i), (i,)) for i, body in enumerate(bodies))
        leaving = None if leave_out is None else lambda place, missing: leave_out(place[0], missing)
        for request, answer in self.stream(waiting, leave_out=leaving):
            yield request.place[0], answer

    def stream(
        self,
        waiting: deque[TokenRequest[Parsed]],
        *,
        leave_out: Callable[[tuple[int, ...], NoAnswer], object] | None = None,
    ) -> Iterator[tuple[TokenRequest[Parsed], Parsed]]:
        """Send all requests that are ``waiting``, the first one first, and yield each with its answer as soon as it is
        there, in any order. The caller may put more into ``waiting``.

        Each request is answered once. The place of one that the server does not answer, for reasons of this request
        alone, goes to ``leave_out``, which raises if it can't be left out; without ``leave_out`` it is an error. After
        an error nothing more is sent; what is in flight by then is paid for, so its answers are yielded first.

        Raises :class:`RefusedError` if a server does not do what is asked,
        :class:`ServerError` if it can't be reached for longer than patience lasts,
        :class:`~core.errors.BudgetReachedError` if the budget does not hold the next one.
        """
        flying: dict[asyncio.Task[Parsed], TokenRequest[Parsed]] = {}
        failed: BaseException | None = None
        self.flight.pause()
        try:
            while flying or (waiting and failed is None):
                while waiting and failed is None and len(flying) < self.flight.limit:
                    request = waiting.popleft()
                    flying[self._loop.create_task(self._answer(request))] = request
                done, _ = self._wait(asyncio.wait(flying, timeout=TICK_S, return_when=asyncio.FIRST_COMPLETED))
                if not done:
                    self.on_wait(self._trouble)
                for task in sorted(done, key=lambda task: task.exception() is not None):
                    request = flying.pop(task)
                    if (error := task.exception()) is None:
                        self._answered[request.path] = request
                        yield request, task.result()
                        continue
                    try:
                        if leave_out is None:
                            raise error
                        reply: Parsed | NoAnswer | None = no_answer(error)
                        if reply is None:
                            reply = self._again(request, error, None if failed else self._answered.get(request.path))
                        if isinstance(reply, NoAnswer):
                            leave_out(request.place, reply)
                            continue
                    except BaseException as end:
                        failed, self._ending = failed or end, True
                        continue
                    yield request, reply
            if failed is not None:
                raise failed
        finally:
            self._ending = False
            self._end(list(flying))

    def _again(
        self, request: TokenRequest[Parsed], error: BaseException, answered: TokenRequest[Any] | None
    ) -> Parsed | NoAnswer:
        """The answer to a request on which a server fails again and again, asked once more after another one that it
        has ``answered`` before. If the server still answers that one, but not this, the fault is this request's. A
        divisible one is not asked again.

        Raises ``error`` if the server answers neither, or has answered nothing yet.
        """
        if answered is None or not (isinstance(error, PassingError) and error.alive):
            raise error
        if not request.divisible:
            self._run(self._answer(answered))
            try:
                return self._run(self._answer(request))
            except PassingError as again:
                if not again.alive:
                    raise
                error = again
        how = f'HTTP status {error.status}, "{error.words}"' if error.words else f"HTTP status {error.status}"
        return NoAnswer(UNANSWERED, how, error)

    def _wait(self, awaitable: Awaitable[Done]) -> Done:
        return self._thread.submit(self._loop.run_until_complete, awaitable).result()

    async def _session(self, most: int) -> aiohttp.ClientSession:
        """One pool of connections. It knows no key and keeps no cookies; proxies are those of the environment."""
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=most, keepalive_timeout=KEPT_OPEN_S),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=self.patience.answer_s, sock_connect=self.patience.connect_s),
        )

    def _run(self, asking: Coroutine[Any, Any, Done]) -> Done:
        task = self._loop.create_task(asking)
        try:
            while not self._wait(asyncio.wait([task], timeout=TICK_S))[0]:
                self.on_wait(self._trouble)
        finally:
            self._end([] if task.done() else [task])
        return task.result()

    async def _answer(self, request: TokenRequest[Parsed]) -> Parsed:
        host: _Host | None = None

        async def send() -> dict[str, Any]:
            nonlocal host
            host = self._freest(other_than=host)
            await self._rest(host)
            return await self._paid(host, request.path, request.body)

        return await self._tried(send, request.read, self.patience.tries, self.patience.gone_s)

    async def _rest(self, host: _Host) -> None:
        while (pause := host.rests_until - time.monotonic()) > 0:
            if self._ending or pause > self.patience.gone_s:
                raise PassingError(_busy(host.url, host.how, pause), after_s=pause, status=429)
            await asyncio.sleep(min(pause, TICK_S))

    async def _paid(self, host: _Host, path: str, body: Body) -> dict[str, Any]:
        reserved = self.spending.reserve(body)
        host.in_flight += 1
        try:
            reply = await self._sent(host, "POST", path, body)
        except BaseException as error:
            self.spending.release(reserved)
            if isinstance(error, PassingError):
                self._leave_alone(host, error)
            raise
        finally:
            host.in_flight -= 1
        self.spending.settle(reserved, reply.get("usage"))
        self.flight.answered(time.monotonic())
        host.failures, self._trouble = 0, ""
        return reply

    def _leave_alone(self, host: _Host, error: PassingError) -> None:
        """A pause that the server named applies to all requests. A server that is gone is tried again from time to
        time, while others do its work."""
        host.failures += 1
        pause = error.after_s
        if pause is None and not error.alive and len(self.hosts) > 1:
            grown: float = self.patience.first_pause_s * 2.0 ** min(host.failures, 20)
            pause = min(self.patience.longest_pause_s, grown)
        host.rests_until = max(host.rests_until, time.monotonic() + (pause or 0.0))
        host.how = (
            str(error).partition(";")[0].partition(", and asks to wait")[0].removeprefix(f"the server {host.name} ")
        )
        self._trouble = str(error).partition(";")[0]

    async def _tried(
        self,
        send: Callable[[], Awaitable[dict[str, Any]]],
        read: Callable[[dict[str, Any]], Parsed],
        tries: int,
        gone_s: float,
    ) -> Parsed:
        failing: list[float] = []  # since when

        def enough(state: tenacity.RetryCallState) -> bool:
            failing.append(time.monotonic())
            error = state.outcome.exception() if state.outcome else None
            if self._ending:
                return True
            if isinstance(error, UnreadableError) or (isinstance(error, PassingError) and error.alive):
                return state.attempt_number >= max(tries, FAULT_TRIES)
            if isinstance(error, WrongReplyError):
                return getattr(error, "filtered", False) or state.attempt_number >= tries
            return failing[-1] - failing[0] + state.upcoming_sleep > gone_s

        retrying = tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception_type((PassingError, WrongReplyError)),
            wait=self._pause,
            stop=enough,
            reraise=True,
        )
        async for attempt in retrying:
            with attempt:
                return read(await send())
        raise AssertionError("unreachable")

    @property
    def _first(self) -> float:
        return min(self.patience.first_s, self.patience.gone_s)

    def _pause(self, state: tenacity.RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        now = time.monotonic()
        if len(self.hosts) > 1 and any(host.rests_until <= now for host in self.hosts):
            return 0.0  # another server is there
        grown = tenacity.wait_random_exponential(
            multiplier=self.patience.first_pause_s, max=self.patience.longest_pause_s
        )(state)
        named = error.after_s if isinstance(error, PassingError) else None
        return max(named, 0.0) + min(grown, self.patience.first_pause_s) if named is not None else grown

    def _freest(self, *, other_than: _Host | None) -> _Host:
        now = time.monotonic()
        return min(self.hosts, key=lambda host: (max(host.rests_until, now), host.in_flight, host is other_than))

    async def _sent(self, host: _Host, method: str, path: str, body: Body | None) -> dict[str, Any]:
        """The reply to a request. One that the server refuses is changed and sent again; what it accepts is kept for
        all requests to this endpoint."""
        if body is None:
            return await self._sent_once(host, method, path, None)
        place = (host.url, path)
        changes, known = self.followed.get(place, ()), place in self.followed
        refusal: RefusedError | WrongReplyError | PassingError | None = None
        guessed: tuple[Change, ...] = ()
        while True:
            sent = changed(changes, body)
            try:
                reply = await self._sent_once(host, method, path, sent)
            except (RefusedError, WrongReplyError, PassingError) as error:
                if refusal is None or not guessed:
                    refusal = error
                status = getattr(error, "status", 0)
                more = asked_changes(error.words, sent, changes, status=status)
                if not more and not known:
                    more = guessed = guessed_changes(error.words, sent, status=status)
                if not more:
                    raise refusal from None
                changes += more
            else:
                self.followed[place] = tuple(dict.fromkeys((*self.followed.get(place, ()), *changes)))
                return reply

    async def _sent_once(self, host: _Host, method: str, path: str, body: Body | None) -> dict[str, Any]:
        url = f"{host.url}{path}"
        key = key_of(self.key_variable)
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        try:
            async with self._http.request(
                method, url, json=body, headers=headers, proxy=host.proxy, allow_redirects=False
            ) as reply:
                content = await self._content(reply, limit_of(body))
        except aiohttp.ClientSSLError as error:
            raise RefusedError(
                f"the server {host.url} shows a certificate that this machine does not trust; install the one that "
                "signed it, or use http inside your own network",
                status=0,
            ) from error
        except aiohttp.ClientHttpProxyError as error:
            if error.status == PROXY_LOGIN:
                raise self._refusal(host.name, error.status, {}, b"") from error
            raise RefusedError(
                f"the proxy {proxies.shown(host.proxy or '')} does not connect to {host.url} (HTTP status "
                f"{error.status}); correct its address, or add the server to no_proxy",
                status=0,
            ) from error
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            raise self._passing(_gone(host.name, "can't be reached")) from error
        except TimeoutError as error:  # aiohttp's timeouts are of this class as well
            self.flight.refused()
            raise self._passing(_gone(host.name, f"does not answer within {self.patience.answer_s:g} s")) from error
        except (aiohttp.ClientConnectionError, aiohttp.ClientPayloadError) as error:
            raise self._passing(_gone(host.name, f"cuts the connection ({type(error).__name__})")) from error
        except TooLargeError as error:
            raise WrongReplyError(_unreadable(host.name, str(error))) from error
        except aiohttp.ClientError as error:
            raise UnreadableError(_unreadable(host.name, type(error).__name__)) from error
        if reply.status != 200:
            raise self._refusal(host.name, reply.status, reply.headers, content)
        values = _object(content, host.name, listed=method == "GET")
        if (fault := error_value(values)) is not None:  # a router says in this way what the server behind it said
            raise self._refusal(host.name, status_in(fault), reply.headers, content)
        return values

    async def _content(self, reply: aiohttp.ClientResponse, limit: int) -> bytes:
        """The body of a reply; of an error nothing if it is too long to be a sentence."""
        if reply.status == 200:
            return await reply_body.read(reply, limit=limit)
        with suppress(TooLargeError):
            return await reply_body.read(reply, limit=LARGEST_REFUSAL)
        return b""

    def _passing(self, message: str) -> PassingError:
        self._trouble = message.partition(";")[0]
        return PassingError(message)

    def _refusal(self, url: str, status: int, headers: Mapping[str, str], content: bytes) -> ServerError:
        """The error that a reply with this HTTP status is, or with this status in its body (0: none is named)."""
        words = self._words(content)
        says = f' and says "{words}"' if words else ""
        if status in TOO_FAST:
            self.flight.refused()
        if is_unpaid(status, content):
            return RefusedError(f"the server {url} asks for payment{says}", status=402, words=words)
        kind = kind_of(status, words, code_in(content))
        if status in PASSING and not kind:
            pause = named_pause(headers, too_many=status == 429, now=time.time())
            how = f"has too many requests{says}" if status == 429 else f"fails with HTTP status {status}{says}"
            sentence = _busy(url, how, pause) if pause and pause > LONG_PAUSE_S else _gone(url, how)
            return PassingError(sentence, after_s=pause, status=status, words=words)
        if not status:
            return WrongReplyError(f"the server {url} answers with an error{says}", words=words)
        if 300 <= status < 400:
            where = _place(headers.get("location", ""))
            return RefusedError(
                f"the server {url} redirects{where}; Hedge does not follow, because the key would go along, so give "
                "the address that it redirects to",
                status=status,
            )
        if status == PROXY_LOGIN:
            return RefusedError(
                f"the server {url} can't be asked, because the proxy asks for a password; write it into the proxy's "
                "address, or add the server to no_proxy",
                status=status,
            )
        if status in (401, 403) and not kind:
            held = f"refuses the key in {self.key_variable}" if self.key_variable else "asks for a key"
            return RefusedError(
                f"the server {url} {held}{says}; name the environment variable that holds the right one with "
                "--key-variable",
                status=status,
                words=words,
            )
        way_out = f"; {advised}" if (advised := hint(words)) else ""
        kind = "" if way_out and kind == REFUSED else kind  # every such request is refused
        return RefusedError(
            f"the server {url} refuses with HTTP status {status}{says}{way_out}", status=status, words=words, kind=kind
        )

    def _words(self, content: bytes) -> str:
        """What an error says, in one short line without secrets; empty if it says nothing readable."""
        line = clean(error_text(content), LARGEST_REFUSAL)
        # Secrets first, so that no part of one stays after the cut. A semicolon begins Hedge's own advice.
        shown = without_secrets(line, self.key_variable).replace(";", ",").replace('"', "'")
        return clean(shown, QUOTED)

    def _end(self, tasks: list[asyncio.Task[Any]]) -> None:
        if tasks and not self._loop.is_closed():
            for task in tasks:
                task.cancel()
            self._wait(asyncio.gather(*tasks, return_exceptions=True))


def no_answer(error: BaseException) -> NoAnswer | None:
    """What an error says about one request; None if it is not about this request alone."""
    if isinstance(error, RefusedError) and error.kind:
        return NoAnswer(
            error.kind, f'HTTP status {error.status}, "{error.words}"' if error.words else str(error), error
        )
    if isinstance(error, MissingAnswerError):
        return NoAnswer(FILTERED if error.filtered else UNANSWERED, str(error), error)
    return None


def _gone(url: str, how: str) -> str:
    return f"the server {url} {how}; what has finished is kept, so resume the run when the server is back"


def _busy(url: str, how: str, pause: float) -> str:
    """The sentence on a server that asks for a long pause."""
    until = in_words(pause, now=time.time())
    return f"the server {url} {how}, and asks to wait {until}; what has finished is kept, so resume the run then"


def _unreadable(url: str, what: str) -> str:
    return f"the server {url} gave an answer that can't be read ({what}), again and again; look into its log"


def _object(content: bytes, url: str, *, listed: bool) -> dict[str, Any]:
    """The reply as an object; where it may be ``listed``, a bare list is its ``data``: some send their models so."""
    try:
        values = parsed(content)
    except ValueError as error:
        raise UnreadableError(_unreadable(url, "no JSON")) from error
    if listed and isinstance(values, list):
        return {"data": values}
    if not isinstance(values, dict):
        raise UnreadableError(_unreadable(url, f"{type(values).__name__} and no object"))
    return values


def _place(location: str) -> str:
    """Where a redirect leads, in words; empty if that is no address.

    >>> _place("http://me:secret@gpu-3:8000/v1?key=x")
    ' to http://gpu-3:8000/v1'
    """
    try:
        to = urlsplit(location)
        host = to.netloc.rpartition("@")[2]
        return f" to {clean(f'{to.scheme}://{host}{to.path}')}" if to.hostname else ""
    except ValueError:
        return ""
