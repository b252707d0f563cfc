"""A client without a browser, which speaks to a page server as a browser does and as no browser would.

It keeps cookies, follows the login of an OpenID provider, opens Streamlit's websocket, and sends messages that it
makes itself. It runs in a thread with a loop of its own, because Playwright keeps one in a test's thread.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import urlsplit

import aiohttp

from app.serving.messages import message_type

BackMsg, ForwardMsg, WidgetState = map(message_type, ("BackMsg", "ForwardMsg", "WidgetState"))
ANSWERS_WITHIN_S = 60.0
LISTENS_S = 0.5
"""After a message that must have no answer, the client listens for this long."""
XSRF = "_streamlit_xsrf"
LIGHT = "account"
"""A page that computes nothing."""

Value = TypeVar("Value")


@dataclass
class Screen:
    """What a session has been sent: its id, the texts of all elements, widgets by their labels, and the rest."""

    session: str = ""
    words: list[str] = field(default_factory=list)
    widgets: dict[str, str] = field(default_factory=dict)
    """Label → id."""
    fragments: list[str] = field(default_factory=list)
    messages: list[ForwardMsg] = field(default_factory=list)
    goes_to: str = ""
    """The address of a login or logout to which the browser is sent."""
    page_hashes: dict[str, str] = field(default_factory=dict)
    """Page's name → its hash."""
    closed: int | None = None

    @property
    def text(self) -> str:
        """All texts, without markdown's escapes."""
        return " ".join(self.words).replace("\\", "").replace("\u2060", "")

    def take(self, message: ForwardMsg) -> None:
        """Note what a message says."""
        self.messages.append(message)
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self.session = message.new_session.initialize.session_id or self.session
        elif kind == "navigation":
            self.page_hashes |= {page.url_pathname: page.page_script_hash for page in message.navigation.app_pages}
        elif kind == "auth_redirect":
            self.goes_to = message.auth_redirect.url
        elif kind == "delta":
            if message.delta.fragment_id:
                self.fragments.append(message.delta.fragment_id)
            element = message.delta.new_element
            name = element.WhichOneof("type")
            if name:
                proto = getattr(element, name)
                self.words += _texts(proto)
                if widget_id := getattr(proto, "id", ""):
                    self.widgets[getattr(proto, "label", "") or widget_id] = widget_id


def _texts(value: Any) -> Iterator[str]:
    """All texts in a message of Streamlit's protocol, but styles."""
    if isinstance(value, str):
        if not value.startswith("<style>"):
            yield value
    elif hasattr(value, "ListFields"):
        for _, field in value.ListFields():
            yield from _texts(field)
    elif not isinstance(value, (bytes, int, float)):
        for field in value:
            yield from _texts(field)


@dataclass(frozen=True)
class Reply:
    """The server's answer to a request."""

    status: int
    body: bytes
    headers: Mapping[str, str]


class Client:
    """One browser's cookies, and the sessions that it opens."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.http: aiohttp.ClientSession = self.run(self._opened())

    async def _opened(self) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True))

    def run(self, work: Coroutine[Any, Any, Value]) -> Value:
        """Do it in the client's own loop."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(2 * ANSWERS_WITHIN_S)

    def close(self) -> None:
        """End the loop and its thread."""
        self.run(self.http.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def ask(self, method: str, path: str, *, follow: bool = False, **arguments: Any) -> Reply:
        """Send a request, with this client's cookies."""
        return self.run(self._ask(method, path, follow=follow, **arguments))

    async def _ask(self, method: str, path: str, *, follow: bool, **arguments: Any) -> Reply:
        url = path if path.startswith("http") else self.address + path
        async with self.http.request(method, url, allow_redirects=follow, **arguments) as answer:
            return Reply(answer.status, await answer.read(), dict(answer.headers))

    def cookie(self, name: str) -> str:
        """A cookie's value; empty if there is none."""
        return next((cookie.value for cookie in self.http.cookie_jar if cookie.key == name), "")

    def set_cookie(self, name: str, value: str) -> None:
        """Give the browser a cookie."""

        async def put() -> None:
            self.http.cookie_jar.update_cookies({name: value}, aiohttp.client.URL(self.address))

        self.run(put())

    def log_in(self, person: str) -> None:
        """Log in as a person of the provider, through the page's own button."""
        with self.session() as screen:
            screen.press("Log in")
        place = self.ask("GET", screen.screen.goes_to).headers["Location"]
        self.ask("GET", f"{place}&person={person}", follow=True)

    @contextmanager
    def session(self, page: str = LIGHT, query: str = "", **handshake: Any) -> Iterator[Session]:
        """Open a page in a session of its own."""
        session = self.run(Session.opened(self, **handshake))
        try:
            if session.screen.closed is None:
                session.visit(page, query)
            yield session
        finally:
            self.run(session.socket.close())

    def screen(self, page: str = LIGHT, query: str = "") -> Screen:
        """The content of a page when it opens."""
        with self.session(page, query) as session:
            return session.screen


class Session:
    """A session of Streamlit over its websocket."""

    def __init__(self, client: Client, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.client, self.socket, self.screen = client, socket, Screen()
        self.page = ""

    @classmethod
    async def opened(
        cls, client: Client, *, xsrf: str | None = None, session: str = "", headers: Mapping[str, str] | None = None
    ) -> Session:
        """Connect as Streamlit's page does; what is given replaces what the page would send."""
        if not client.cookie(XSRF):
            await client._ask("GET", "/_stcore/host-config", follow=False)
            await client._ask("GET", "/_stcore/health", follow=False)
        token = client.cookie(XSRF) if xsrf is None else xsrf
        protocols = [protocol for protocol in ("streamlit", token, session) if protocol]
        given = {"Origin": client.address, **(headers or {})}
        url = f"ws://{urlsplit(client.address).netloc}/_stcore/stream"
        socket = await client.http.ws_connect(url, protocols=protocols, headers=given, max_msg_size=0)
        return cls(client, socket)

    def visit(self, page: str = "", query: str = "", *, page_hash: str = "") -> Screen:
        """Open a page by its name, as a link does, or by its hash, as the menu does."""
        self.page = page
        message = BackMsg()
        message.rerun_script.page_name = page
        message.rerun_script.query_string = query
        message.rerun_script.page_script_hash = page_hash
        return self.send(message)

    def press(self, label: str = "", *, widget: str = "", fragment: str = "") -> Screen:
        """Press a button by its label, or by an id that the page may never have shown."""
        return self.set(WidgetState(id=widget or self.screen.widgets[label], trigger_value=True), fragment=fragment)

    def set(self, *states: WidgetState, fragment: str = "") -> Screen:
        """Send widgets' values as the page would."""
        message = BackMsg()
        message.rerun_script.page_name = self.page
        message.rerun_script.fragment_id = fragment
        for state in states:
            message.rerun_script.widget_states.widgets.append(state)
        return self.send(message)

    def send(self, message: BackMsg | bytes, *, answered: bool = True) -> Screen:
        """Send a message and read until the page's script has ended; without ``answered``, for a short while."""
        return self.client.run(self._send(message, answered=answered))

    def quiet(self) -> Screen:
        """Read until nothing more comes, as after a script that has ended."""

        async def read() -> None:
            while True:
                try:
                    await asyncio.wait_for(self.socket.receive(), LISTENS_S)
                except TimeoutError:
                    return

        self.client.run(read())
        return self.screen

    async def _send(self, message: BackMsg | bytes, *, answered: bool) -> Screen:
        await self.socket.send_bytes(message if isinstance(message, bytes) else message.SerializeToString())
        while True:
            try:
                got = await asyncio.wait_for(self.socket.receive(), ANSWERS_WITHIN_S if answered else LISTENS_S)
            except TimeoutError:
                assert not answered, "the page's script did not end"
                return self.screen
            if got.type is not aiohttp.WSMsgType.BINARY:
                self.screen.closed = self.socket.close_code
                return self.screen
            forward = ForwardMsg()
            forward.ParseFromString(got.data)
            self.screen.take(forward)
            if answered and forward.WhichOneof("type") == "script_finished":
                return self.screen
