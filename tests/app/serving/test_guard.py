"""The guard before Streamlit: headers, links kept while people log in, cookies by https, and pages per address."""

import asyncio
import json
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from itsdangerous import URLSafeTimedSerializer
from starlette.requests import HTTPConnection

from app.serving import hosts, login, session_cookie, sessions
from app.serving.guard import RequestGuard
from app.serving.hosts import HostCheck
from app.serving.kept_link import KeptLink
from app.serving.login import CROWDED, ServerSettings
from app.serving.messages import message_type
from app.serving.policy import PolicyHeaders, content_security_policy
from app.serving.rate import Bucket, Buckets, Shares
from app.serving.sessions import OpenPages
from core import access
from core.access import Actor, UserRole, quotas
from core.access.quotas import Quotas
from core.errors import InputError
from core.settings import settings
from tests import openid

pytestmark = pytest.mark.quick

Headers = list[tuple[bytes, bytes]]


@pytest.fixture
def served(tmp_path: Path, home: Path) -> Iterator[Path]:
    """A server where people log in, which is reached by https; its file."""
    file = tmp_path / "server.toml"
    file.write_text(openid.server_file(openid.Provider()).replace("http://127.0.0.1:{port}", "https://a.example"))
    file.chmod(0o600)
    settings = ServerSettings(file, login=True)
    login.install(settings)
    access.serve("login", whose=login.actor_of_thread)
    yield file
    access.serve("local")
    login.install(None)
    quotas.hold(Quotas())


def run(work: Any) -> Any:
    """In a thread with a loop of its own, because Playwright may keep one in this one."""
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(asyncio.run(work)))
    thread.start()
    thread.join()
    return results[0]


def sent(app: Any, path: str, *, query: str = "", cookie: str = "", **scope: Any) -> list[Any]:
    """The response of an app to a page's request."""

    async def ask() -> list[Any]:
        messages: list[Any] = []

        async def send(message: Any) -> None:
            messages.append(message)

        headers = [(b"cookie", cookie.encode())] if cookie else []
        about = {"type": "http", "method": "GET", "path": path, "query_string": query.encode(), "headers": headers}
        await app(about | scope, None, send)
        return messages

    return run(ask())


def headers_of(
    path: str, *, query: str = "", cookie: str = "", answer: Headers | None = None
) -> dict[bytes, list[bytes]]:
    """The headers of the response to a page's request, where Streamlit answers with ``answer``."""

    async def streamlit(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 302, "headers": answer or []})

    headers: dict[bytes, list[bytes]] = {}
    guarded = PolicyHeaders(KeptLink(RequestGuard(streamlit)))
    for name, value in sent(guarded, path, query=query, cookie=cookie)[0]["headers"]:
        headers.setdefault(name, []).append(value)
    return headers


def lars() -> dict[str, Any]:
    """The provider's claims about a launcher who has just logged in."""
    return {**openid.PEOPLE["lars"], "is_logged_in": True, "iat": int(time.time())}


def signed(claims: dict[str, Any], *, secret: str, size: int = 10_000) -> dict[str, str]:
    """The cookies of a person with these claims, each with at most ``size`` characters of them."""
    text = json.dumps(claims)
    parts = [text[i : i + size] for i in range(0, len(text), size)]
    first = {session_cookie.COOKIE: text if len(parts) == 1 else f"chunks-{len(parts)}"}
    more = {f"{session_cookie.COOKIE}_{i}": part for i, part in enumerate(parts, 1)} if len(parts) > 1 else {}
    values = (first | more).items()
    return {name: str(URLSafeTimedSerializer(secret, salt=name).dumps(value)) for name, value in values}


@pytest.mark.parametrize("size", [10_000, 30])
def test_a_request_is_of_the_person_whose_cookie_the_server_signed(served: Path, size: int):
    cookies = signed(lars(), secret=login.cookie_secret(), size=size)

    def who(cookies: dict[str, str]) -> Actor:
        cookie = "; ".join(f"{name}={value}" for name, value in cookies.items())
        scope = {"type": "http", "headers": [(b"cookie", cookie.encode())], "client": ("192.0.2.7", 1)}
        return session_cookie.actor_of(HTTPConnection(scope))

    assert who(cookies) == Actor("lars@example.org", UserRole.LAUNCHER, "192.0.2.7")
    for other in (
        {},
        signed(lars(), secret="a guess", size=size),
        dict([*cookies.items()][:-1]),
        {name: value[:9] + "x" + value[10:] for name, value in cookies.items()},
    ):
        assert who(other).role is UserRole.OUTSIDER


def test_parts_of_two_logins_make_no_third(served: Path, monkeypatch: pytest.MonkeyPatch):
    """Else somebody could keep a group that the provider has taken away. Streamlit does not see the cookies either."""
    new = signed(lars(), secret=login.cookie_secret(), size=30)
    with monkeypatch.context() as before:
        before.setattr(time, "time", lambda now=time.time: now() - 60)
        old = signed(lars(), secret=login.cookie_secret(), size=30)
    seen: list[dict[str, str]] = []

    async def streamlit(scope: Any, receive: Any, send: Any) -> None:
        seen.append(HTTPConnection(scope).cookies)

    def given(cookies: dict[str, str]) -> dict[str, str]:
        sent(RequestGuard(streamlit), "/", cookie="; ".join(f"{name}={value}" for name, value in cookies.items()))
        return seen[-1]

    last = [*new][-1]
    assert given({"theme": "dark", **new}) == {"theme": "dark", **new}
    assert given({"theme": "dark", **new, last: old[last], f"{session_cookie.COOKIE}_tokens": "x"}) == {"theme": "dark"}


def test_without_a_secret_no_cookie_counts():
    assert session_cookie.claims(signed(lars(), secret=""), "") == {}


@pytest.mark.parametrize(
    ("server", "passes"),
    [
        (("127.0.0.1", 8501), True),
        (("::1", 8501), True),
        (("::ffff:127.0.0.1", 8501), True),
        (("/run/hedge.sock", None), True),
        (("192.0.2.7", 8501), False),
        (("::ffff:192.0.2.7", 8501), False),
        (("2001:db8::1", 8501), False),
    ],
)
def test_a_server_of_this_machine_refuses_whoever_reaches_it_from_another(server: tuple[str, int], passes: bool):
    """An ASGI server may listen on all addresses without the app knowing it."""
    reached: list[Any] = []

    async def streamlit(scope: Any, receive: Any, send: Any) -> None:
        reached.append(scope)

    messages = sent(RequestGuard(streamlit), "/", server=server)
    assert bool(reached) == passes
    if not passes:
        assert messages[0]["status"] == 403
        assert b"hedge --public" in messages[1]["body"]


def test_every_response_has_the_policy_and_it_admits_no_text_as_a_script():
    policy = content_security_policy()
    assert headers_of("/")[b"content-security-policy"] == [policy.encode()]
    scripts = next(part for part in policy.split("; ") if part.startswith("script-src"))
    assert "unsafe" not in scripts
    assert scripts.count("'sha256-") == 1
    assert "connect-src 'self'" in policy
    assert "http" not in policy


def test_only_listed_sites_may_frame_the_app(monkeypatch: pytest.MonkeyPatch):
    def ancestors() -> str:
        headers = headers_of("/")
        assert b"x-frame-options" not in headers  # which has no list
        (policy,) = headers[b"content-security-policy"]
        return next(part for part in policy.decode().split("; ") if part.startswith("frame-ancestors"))

    assert ancestors() == "frame-ancestors 'self'"
    monkeypatch.setenv("HEDGE_FRAME_ANCESTORS", "https://Example.org:8443, https://*.example.org,http://localhost:80")
    assert ancestors() == ("frame-ancestors 'self' https://example.org:8443 https://*.example.org http://localhost:80")


@pytest.mark.parametrize(
    "value",
    [
        *("*", "https://*", "https://*.org", "https:", "http://example.org", "example.org", "https://a.org/x", "null"),
        *("https://a.org; script-src *", "https://a.org https://b.org", "https://a.org\r\nx: y", "https://u@a.org"),
        *("https://a.*.org", "https://-a.org", "https://a_b.org", "https://a.org:0", "https://ä.org", "javascript:1"),
    ],
)
def test_what_is_no_site_may_not_frame_the_app(value: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HEDGE_FRAME_ANCESTORS", f"https://example.org,{value}")
    with pytest.raises(InputError, match=r"HEDGE_FRAME_ANCESTORS can't be .* is an origin such as https://") as error:
        settings()
    assert str(error.value).endswith("; correct or unset it")


@pytest.mark.parametrize(("path", "query"), [("/compare", "runs=a,b&alpha=200"), ("/", "x=1"), ("/sub/compare", "")])
def test_a_link_is_kept_while_its_reader_logs_in_and_opens_afterwards(served: Path, path: str, query: str):
    (cookie,) = headers_of(path, query=query)[b"set-cookie"]
    assert b"HttpOnly; SameSite=Lax" in cookie
    back = headers_of(
        "/oauth2callback", cookie=cookie.decode().partition(";")[0], answer=[(b"location", b"/"), (b"x-other", b"/")]
    )
    assert back[b"location"] == [f"{path}?{query}".encode()]
    assert back[b"x-other"] == [b"/"]
    assert b"Max-Age=0" in back[b"set-cookie"][0]


@pytest.mark.parametrize(
    "link",
    [
        "//evil.example/compare",
        "https://evil.example/compare",
        "/\\evil.example/compare",
        "/auth/logout",
        "/oauth2callback?code=x",
        "/compare?a=b\r\nSet-Cookie: x=y",
        "javascript:alert(1)",
        "compare",
        "/compare?" + "é",
    ],
)
def test_a_kept_link_that_is_no_page_of_ours_is_not_followed(served: Path, link: str):
    cookie = f"hedge_link={quote(link, safe='')}"
    assert headers_of("/oauth2callback", cookie=cookie, answer=[(b"location", b"/")])[b"location"] == [b"/"]


def test_only_people_who_logged_in_get_files_of_pages(served: Path):
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    cookie = "; ".join(f"{k}={v}" for k, v in signed(lars(), secret=login.cookie_secret(), size=10_000).items())
    for path in ("/media/0123.csv", "/tables/0123", "/hedge/tables/0123"):
        assert sent(RequestGuard(app), path)[0]["status"] == 403
        assert sent(RequestGuard(app), path, cookie=cookie)[0]["status"] == 200


def test_what_is_no_link_is_not_kept(served: Path):
    for path in ("/_stcore/health", "/static/js/index.js", "/auth/login", "/elsewhere", "/media/x"):
        assert b"set-cookie" not in headers_of(path, query="a=b"), path


def test_a_cookie_is_sent_by_https_alone_where_the_server_is_reached_so(served: Path):
    own = [(b"set-cookie", b"_streamlit_user=x; HttpOnly"), (b"set-cookie", b"y=z; Secure")]
    assert headers_of("/static/x", answer=own)[b"set-cookie"] == [own[0][1] + b"; Secure", own[1][1]]
    access.serve("public")
    login.install(None)
    assert headers_of("/static/x", answer=own)[b"set-cookie"] == [own[0][1], own[1][1]]


@pytest.mark.parametrize(
    ("client", "network"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::1", "2001:db8:1:2::/64"),
        ("[2001:db8:1:2::9]", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("64:ff9b::192.0.2.7", "192.0.2.7"),
        ("2002:c000:207:1:2:3:4:5", "192.0.2.7"),
        ("2001:0:4136:e378:8000:63bf:3fff:fdd2", "192.0.2.45"),
        ("testclient", "testclient"),
    ],
)
def test_an_ipv6_line_counts_as_one_address(client: str, network: str):
    assert quotas.network(client) == network


class Line:
    """A websocket that stays open until the test ends it."""

    def __init__(self, guarded: OpenPages, client: str, headers: Headers = []) -> None:  # noqa: B006
        self.sent: list[Any] = []
        self.ended = asyncio.Event()
        scope = {"type": "websocket", "client": (client, 1), "headers": headers, "path": "/_stcore/stream", "of": self}
        self.task = asyncio.create_task(guarded(scope, self._receive, self._send))

    async def _receive(self) -> Any:
        return {"type": "websocket.connect"}

    async def _send(self, message: Any) -> None:
        self.sent.append(message)


def test_an_address_opens_so_many_pages_and_is_told_so_before_it_is_refused(served: Path):
    quotas.hold(Quotas(sessions_per_address=2))
    reached: list[Headers] = []

    async def streamlit(scope: Any, receive: Any, send: Any) -> None:
        reached.append(scope["headers"])
        await scope["of"].ended.wait()

    async def play() -> list[Any]:
        guarded = OpenPages(streamlit)
        lines = [Line(guarded, "192.0.2.7", [(CROWDED.encode(), b"forged")]) for _ in range(5)]
        other = Line(guarded, "192.0.2.8")
        await asyncio.sleep(0)
        refused = lines[4].sent
        for line in (*lines, other):
            line.ended.set()
        await asyncio.gather(*(line.task for line in (*lines, other)))
        again = Line(guarded, "192.0.2.7")
        again.ended.set()
        await again.task
        return [refused, dict(sessions.open_pages)]

    refused, left = run(play())
    assert reached == [[], [], [(b"x-hedge-crowded", b"1")], [(b"x-hedge-crowded", b"1")], [], []]
    assert refused == [{"type": "websocket.close", "code": 1013}]
    assert left == {}


def test_messages_that_act_on_the_whole_server_are_dropped_and_others_pass(served: Path):
    kind: Any = message_type("BackMsg")
    wanted, install = kind(), kind()
    wanted.rerun_script.page_name = "compare"
    install.backend_operation_request.install_skills.SetInParent()
    dropped = [kind(**{name: True}) for name in ("clear_cache", "load_git_info", "set_run_on_save")]
    messages = [*dropped, install, wanted]
    passed: list[Any] = []

    async def streamlit(scope: Any, receive: Any, send: Any) -> None:
        passed.append(kind.FromString((await receive())["bytes"]))

    async def receive() -> Any:
        return {"type": "websocket.receive", "bytes": messages.pop(0).SerializeToString()}

    run(OpenPages(streamlit)({"type": "websocket", "client": ("192.0.2.7", 1), "headers": []}, receive, None))
    assert passed == [wanted]
    assert messages == []


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that each delayed request would have waited. The test does not wait."""
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    monkeypatch.setattr("app.serving.rate.time.monotonic", lambda: 100.0)
    limits = {"small": Buckets(per_s=1, burst=10), "everyone": Bucket(per_s=10, burst=500)}
    monkeypatch.setattr(sessions, "_messages", Shares(address=Buckets(per_s=25, burst=150), **limits))
    for buckets in ("_connects", "_begins"):
        held = getattr(sessions, buckets)
        monkeypatch.setattr(sessions, buckets, Buckets(per_s=held.per_s, burst=held.burst))
    return waited


def sends(content: bytes, count: int, address: str = "192.0.2.7") -> None:
    """Open a page that sends this message as often as asked."""
    left = [content] * count

    async def streamlit(scope: Any, receive: Any, send: Any) -> None:
        while (await receive())["type"] == "websocket.receive":
            pass

    async def receive() -> Any:
        return {"type": "websocket.receive", "bytes": left.pop()} if left else {"type": "websocket.disconnect"}

    run(OpenPages(streamlit)({"type": "websocket", "client": (address, 1), "headers": []}, receive, None))


def test_the_messages_of_a_page_and_of_an_address_are_passed_on_at_a_limited_rate(served: Path, waits: list[float]):
    rerun: Any = message_type("BackMsg")()
    rerun.rerun_script.page_name = "overview"
    content = rerun.SerializeToString()
    sends(content, 70)
    assert waits == []  # a person who clicks fast
    sends(content, 200)
    assert len(waits) > 100
    waits.clear()
    sends(content, 5)
    assert len(waits) == 5  # at the same address, in a new page
    waits.clear()
    for place in range(20):
        sends(content, 50, f"198.51.100.{place}")
    assert waits  # all together send more than the server does
    waits.clear()
    sends(content, 5, "192.0.2.8")
    assert waits == []  # who sends little does not wait for them


def test_an_address_opens_pages_at_a_limited_rate(served: Path, waits: list[float]):
    """One after the other: a page of another address begins meanwhile."""
    opened: list[str] = []
    closed: list[Any] = []

    async def streamlit(scope: Any, receive: Any, send: Any) -> None:
        opened.append(scope["client"][0])

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        closed.append(message)

    def opens(address: str) -> None:
        run(OpenPages(streamlit)({"type": "websocket", "client": (address, 1), "headers": []}, receive, send))

    for _ in range(200):
        opens("192.0.2.7")
    assert len(opened) == 120  # twice as many as an address may have open
    assert closed == [{"type": "websocket.close", "code": 1013}] * 80
    assert waits[:90] == pytest.approx([count / 20 for count in range(1, 91)])
    waits.clear()
    opens("192.0.2.8")
    assert (opened[-1], waits) == ("192.0.2.8", [])


def test_a_message_of_many_fields_counts_as_many_messages(served: Path, waits: list[float]):
    rerun: Any = message_type("BackMsg")()
    for place in range(1600):
        rerun.rerun_script.widget_states.widgets.add(id=f"a{place}", bool_value=True)
    sends(rerun.SerializeToString(), 4)
    assert len(waits) >= 2


def test_an_address_that_requests_much_waits(served: Path, waits: list[float], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(hosts, "_requests", Buckets(per_s=10, burst=20))

    async def app(scope: Any, receive: Any, send: Any) -> None:
        pass

    async def send(message: Any) -> None:
        pass

    def request(address: str) -> None:
        headers = [(b"host", b"192.0.2.1")]
        scope = {"type": "http", "client": (address, 1), "method": "GET", "path": "/healthz", "headers": headers}
        run(HostCheck(app)(scope, None, send))

    for _ in range(20):
        request("192.0.2.7")
    assert waits == []
    request("192.0.2.7")
    request("192.0.2.8")
    assert waits == [pytest.approx(0.1)]


def test_a_session_belongs_to_the_person_who_opened_it_until_it_is_closed(served: Path):
    """Also where the same session has a new connection before the end of the old one is noticed."""
    opens: Any = message_type("ForwardMsg")()
    opens.new_session.initialize.session_id = "abc"
    cookie = "; ".join(f"{name}={value}" for name, value in signed(lars(), secret=login.cookie_secret()).items())

    async def play() -> list[str | None]:
        async def streamlit(scope: Any, receive: Any, send: Any) -> None:
            await send({"type": "websocket.send", "bytes": opens.SerializeToString()})
            await scope["of"].ended.wait()

        lines = [Line(OpenPages(streamlit), "192.0.2.7", [(b"cookie", cookie.encode())]) for _ in range(2)]
        owners = []
        for line in lines:
            await asyncio.sleep(0)
            owners.append(sessions.owner("abc"))
            line.ended.set()
            await line.task
        return [*owners, sessions.owner("abc")]

    assert run(play()) == ["lars@example.org", "lars@example.org", None]


def test_a_role_that_is_taken_away_is_gone_and_a_broken_change_is_not_taken(
    served: Path, caplog: pytest.LogCaptureFixture
):
    settings = ServerSettings(served, login=True)
    assert settings.now().roles.administrators == ("anna@example.org",)
    text = served.read_text()
    change(served, text.replace("anna@", "nobody@"))
    assert settings.now().roles.administrators == ("nobody@example.org",)
    change(served, text.replace("[roles]", "[rolls]"))
    assert settings.now().roles.administrators == ("nobody@example.org",)
    assert "can't be used, so it holds as before" in caplog.text
    assert openid.SECRET not in caplog.text


def change(file: Path, text: str) -> None:
    """Write the file so that its time differs, however coarse the clock of the disk is."""
    stamp = file.stat().st_mtime_ns
    file.write_text(text)
    os.utime(file, ns=(stamp, stamp + 1_000_000_000))
