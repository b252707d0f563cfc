"""What a viewer tries on a server where people log in, to do what only others may, and what each attempt gets.

Vera is the viewer, Lars a launcher, Anna the administrator. Each attempt returns in few words what it got, which must
be ``got``; docs/text/intruders.md has the same table.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import aiohttp
from itsdangerous import URLSafeTimedSerializer

from tests import openid
from tests.intruders.client import XSRF, BackMsg, Client, Session, WidgetState

SENTENCE = "On this server, you can look at everything but not "
NOTHING = "nothing happens"
BAD = "400: Bad Request"
DEFAULT = "the page, no error, and nothing of the file"
DROPPED = "the message is dropped"
LOG_IN_PAGE = "the login page"


@dataclass
class Scene:
    """The server's address, the two people's browsers, a run of Lars's, and a file of the server with a secret."""

    address: str
    vera: Client
    lars: Client
    run_id: str
    secret: Path
    lars_session: Session
    """Lars has New run open, with its widgets and fragments."""
    classes: tuple[str, str]
    """The codes of two classes; in the first one a seat is taken, whose token is :data:`SEAT_TOKEN`."""


@dataclass(frozen=True)
class Attempt:
    """What was tried, on which way, what it got, and how it is done."""

    way: str
    what: str
    got: str
    do: Callable[[Scene], str]


def seen(text: str) -> str:
    """The sentence that a page says in the place of what is not available."""
    if "This server is for people who log in" in text:
        return LOG_IN_PAGE
    sentences = re.findall(re.escape(SENTENCE) + r"[^.]*\.", text)
    return sentences[-1] if sentences else NOTHING


def page(name: str, query: str = "") -> Callable[[Scene], str]:
    """Open a page by a link."""
    return lambda scene: seen(scene.vera.screen(name, query).text)


def by_hash(scene: Scene) -> str:
    with scene.vera.session() as vera:
        before = len(vera.screen.words)
        vera.visit("", page_hash=scene.lars_session.screen.page_hashes["new_run"])
        return seen(" ".join(vera.screen.words[before:]))


def pressed(name: str, button: str, query: str = "") -> Callable[[Scene], str]:
    """Press, by its id, a button that only Lars's page has shown; ``button`` is its label's beginning or its key."""

    def attempt(scene: Scene) -> str:
        def ids_of(shown: dict[str, str]) -> list[str]:
            return [
                widget_id
                for label, widget_id in shown.items()
                if label.startswith(button) or widget_id.endswith(f"-{button}")
            ]

        with scene.lars.session(name, query) as lars:
            (widget,) = ids_of(lars.screen.widgets)
        with scene.vera.session(name, query) as vera:
            before = len(vera.screen.words)
            vera.press(widget=widget)
            assert ids_of(vera.screen.widgets) == []
            return seen(" ".join(vera.screen.words[before:]))

    return attempt


def fragment(scene: Scene) -> str:
    """Run a fragment of Lars's session in one's own."""
    with scene.vera.session() as vera:
        message = BackMsg()
        message.rerun_script.fragment_id = scene.lars_session.screen.fragments[0]
        before = len(vera.quiet().messages)
        vera.send(message, answered=False)
        return NOTHING if len(vera.screen.messages) == before else "an answer"


def filled(scene: Scene) -> str:
    """Fill the form of New run by widgets' values that Lars's page has, and press Launch."""
    ids = scene.lars_session.screen.widgets
    with scene.vera.session("new_run") as vera:
        models = WidgetState(id=ids["Models"])
        models.string_array_value.data.append(str(scene.secret.parent))
        launch = WidgetState(
            id=next(widget_id for shown, widget_id in ids.items() if "Launch" in shown), trigger_value=True
        )
        vera.set(models, launch)
        return seen(vera.screen.text)


def component(scene: Scene) -> str:
    """A component's message with fields that no component sends."""
    with scene.vera.session("alpha_lab") as vera:
        widget = next(widget_id for widget_id in vera.screen.widgets.values() if widget_id.startswith("$$ID"))
        crafted = json.dumps(
            {"launch": True, "run": "../../../etc", "path": str(scene.secret), "role": "administrator"}
        )
        before = len(vera.screen.words)
        vera.set(WidgetState(id=widget, json_value=crafted))
        text = " ".join(vera.screen.words[before:])
        return NOTHING if str(scene.secret) not in text and "Traceback" not in text else text


def asks(model: Callable[[Scene], str]) -> Callable[[Scene], str]:
    """Ask a question of one's own to a model that does not ship with Hedge."""

    def attempt(scene: Scene) -> str:
        with scene.vera.session("one_question", "ask=own") as vera:
            ids = vera.screen.widgets
            wanted = WidgetState(id=ids["Model"], string_value=model(scene))
            question = WidgetState(id=ids["Question"], string_value="Which planet is the largest?")
            options = WidgetState(
                id=next(widget_id for shown, widget_id in ids.items() if shown.startswith("Options")),
                string_value="Mars\nVenus",
            )
            before = len(vera.screen.words)
            vera.set(wanted, question, options, WidgetState(id=ids["**Ask**"], trigger_value=True))
            text = " ".join(vera.screen.words[before:]).replace("\\", "")
            match = re.search(r"A viewer can't [^;]*;", text)
            return match[0].rstrip(";") if match else text

    return attempt


def link(name: str, query: Callable[[Scene], str]) -> Callable[[Scene], str]:
    """A link with a crafted value: the message must not tell a path or a file's content."""

    def attempt(scene: Scene) -> str:
        text = scene.vera.screen(name, query(scene)).text
        assert scene.secret.read_text() not in text
        assert "Traceback" not in text
        assert "unexpected" not in text
        return DEFAULT

    return attempt


def taken_over(scene: Scene) -> str:
    """Connect to Lars's session by its id."""
    with scene.vera.session("account", session=scene.lars_session.screen.session) as vera:
        assert vera.screen.session != scene.lars_session.screen.session
        return "a session of her own" if "vera@example.org" in vera.screen.text else vera.screen.text


def connected(**handshake: object) -> Callable[[Scene], str]:
    """Connect with another handshake than the page's."""

    def attempt(scene: Scene) -> str:
        try:
            with scene.vera.session("account", **handshake) as vera:
                if "vera@example.org" in vera.screen.text:
                    return "she stays Vera"
                return seen(vera.screen.text)
        except aiohttp.WSServerHandshakeError as error:
            return f"refused, {error.status}"

    return attempt


def forged(make: Callable[[Scene], str]) -> Callable[[Scene], str]:
    """Connect with a user cookie of one's own making."""

    def attempt(scene: Scene) -> str:
        own = scene.vera.cookie("_streamlit_user")
        scene.vera.set_cookie("_streamlit_user", make(scene))
        try:
            return seen(scene.vera.screen("account").text)
        finally:
            scene.vera.set_cookie("_streamlit_user", own)

    return attempt


def self_signed(scene: Scene) -> str:
    claims = {"email": "anna@example.org", "email_verified": True, "is_logged_in": True, "origin": scene.address}
    return str(URLSafeTimedSerializer("a guess", salt="_streamlit_user").dumps(json.dumps(claims)))


def altered(scene: Scene) -> str:
    own = scene.vera.cookie("_streamlit_user")
    return own[:20] + ("A" if own[20] != "A" else "B") + own[21:]


def message(**fields: object) -> Callable[[Scene], str]:
    """A message of Streamlit's protocol that no page of Hedge sends."""

    def attempt(scene: Scene) -> str:
        with scene.vera.session() as vera:
            before = len(vera.quiet().messages)
            vera.send(BackMsg(**fields), answered=False)
            assert vera.screen.closed is None
            assert scene.vera.ask("GET", "/_stcore/health").status == 200
            kinds = {message.WhichOneof("type") for message in vera.screen.messages[before:]}
            return DROPPED if not kinds else f"an answer: {', '.join(map(str, kinds))}"

    return attempt


def operation(kind: str, **fields: str) -> Callable[[Scene], str]:
    """An operation of Streamlit's protocol."""

    def attempt(scene: Scene) -> str:
        with scene.vera.session() as vera:
            message = BackMsg()
            request = message.backend_operation_request
            request.request_id = "1"
            request.session_id = scene.lars_session.screen.session if kind == "other" else vera.screen.session
            getattr(request, "deferred_file" if kind == "other" else kind).SetInParent()
            for name, value in fields.items():
                setattr(getattr(request, kind), name, value)
            before = len(vera.screen.messages)
            vera.send(message, answered=False)
            for answer in vera.screen.messages[before:]:
                if answer.WhichOneof("type") == "backend_operation_response":
                    return "an error" if answer.backend_operation_response.error_msg else "an answer"
            return DROPPED

    return attempt


def garbage(scene: Scene) -> str:
    with scene.vera.session() as vera:
        vera.send(b"\xff\xfe\x00crafted", answered=False)
        return f"the connection is closed, {vera.screen.closed}"


def uploads(method: str, *, whose: str = "vera", xsrf: bool = True) -> Callable[[Scene], str]:
    """Call the endpoint of uploads directly."""

    def attempt(scene: Scene) -> str:
        with scene.vera.session("data") as vera:
            session = vera.screen.session if whose == "vera" else scene.lars_session.screen.session
            headers = {"X-Xsrftoken": scene.vera.cookie(XSRF)} if xsrf else {}
            form = aiohttp.FormData()
            form.add_field("file", b"question,A,B\n", filename="questions.csv")
            path = f"/_stcore/upload_file/{session}/1"
            answer = scene.vera.ask(method, path, headers=headers, **({"data": form} if method == "PUT" else {}))
            return f"{answer.status}: {answer.body.decode()}"

    return attempt


def request(method: str, path: str, *, stranger: bool = False, **headers: str) -> Callable[[Scene], str]:
    """A request as Vera, or as somebody who is not logged in."""

    def attempt(scene: Scene) -> str:
        browser = Client(scene.address) if stranger else scene.vera
        try:
            answer = browser.ask(method, path, headers=headers)
        finally:
            if stranger:
                browser.close()
        assert scene.secret.read_text().encode() not in answer.body
        place = answer.headers.get("Location", "")
        if place:
            return f"{answer.status} to {place}"
        return f"{answer.status}: {answer.body.decode()}" if answer.body[:1].isupper() else str(answer.status)

    return attempt


def in_class(
    what: str, *, method: str = "POST", token: str = "f" * 32, place: int = 0, data: object = None
) -> Callable[[Scene], str]:
    """A request below ``/join``, as a phone or a projector sends it."""

    def attempt(scene: Scene) -> str:
        path = what if what.startswith("/") else f"/join/{scene.classes[place]}/{what}"
        sent = {"data": json.dumps(data)} if method == "POST" else {}
        answer = scene.vera.ask(method, path, headers={"Authorization": f"Bearer {token}"}, **sent)
        assert scene.secret.read_text().encode() not in answer.body
        try:
            return f"{answer.status}: {json.loads(answer.body)['error']}"
        except ValueError:
            return str(answer.status)

    return attempt


def others_class(scene: Scene) -> str:
    """Open the lecturer's page of a class by its code."""
    return seen(scene.vera.screen("classroom", f"class={scene.classes[0]}").text)


def lured(scene: Scene) -> str:
    """Make the login lead to another host, by the cookie that keeps a link."""
    browser = Client(scene.address)
    try:
        browser.set_cookie("hedge_link", quote("//evil.example/overview", safe=""))
        return browser.ask("GET", "/oauth2callback?state=x&code=y").headers["Location"]
    finally:
        browser.close()


def replayed(scene: Scene) -> str:
    """Use the address with a login's code a second time."""
    browser = Client(scene.address)
    try:
        with browser.session() as shown:
            shown.press("Log in")
        place = browser.ask("GET", shown.screen.goes_to).headers["Location"]
        back = browser.ask("GET", f"{place}&person=lars").headers["Location"]
        browser.ask("GET", back)
        browser.http.cookie_jar.clear(lambda cookie: cookie.key == "_streamlit_user")
        browser.ask("GET", back)
        return LOG_IN_PAGE if not browser.cookie("_streamlit_user") else "a login"
    finally:
        browser.close()


def person(name: str) -> Callable[[Scene], str]:
    """Log in as somebody whom the administrator did not mean."""

    def attempt(scene: Scene) -> str:
        browser = Client(scene.address)
        try:
            browser.log_in(name)
            text = browser.screen("new_run").text
            return "the page of people without a role" if "You have no role on this server" in text else text
        finally:
            browser.close()

    return attempt


SEAT_TOKEN = "a" * 32
NO_SEAT = "401: This phone has no seat in this class; join it with the code on the projector."
NO_KEY = "401: This page may not lead the class; reload the lecturer's page."
NOT_OPEN = f"{SENTENCE}open a class."
NOT_IMPORT = f"{SENTENCE}import results."
NOT_LAUNCH = f"{SENTENCE}launch runs or check the machine."
REFUSED_UPLOAD = "403: Only people with the role launcher can upload files to this server."
NOT_ASK = "A viewer can't ask a model that does not ship with Hedge"

ATTEMPTS = (
    Attempt("page", "open New run by its address", NOT_LAUNCH, page("new_run")),
    Attempt("page", "open Doctor by its address", NOT_LAUNCH, page("doctor")),
    Attempt("page", "open Data to import", NOT_IMPORT, page("data")),
    Attempt("page", "open New run by its hash, as the menu does", NOT_LAUNCH, by_hash),
    Attempt("page", "log in as somebody without a role", "the page of people without a role", person("otto")),
    Attempt(
        "page", "claim the administrator's e-mail, unverified", "the page of people without a role", person("mara")
    ),
    Attempt("widget", "press Launch by the id of a launcher's button", NOT_LAUNCH, pressed("new_run", "launch")),
    Attempt(
        "widget",
        "press Measure by the id of a launcher's button",
        f"{SENTENCE}measure what has not been measured.",
        pressed("perplexity", "words_measure", "window=1"),
    ),
    Attempt("widget", "press Show the exact prompt", NOT_LAUNCH, pressed("new_run", "Show the exact prompt")),
    Attempt("widget", "import a link from the shelf", NOT_IMPORT, pressed("data", "Download and import the link")),
    Attempt("widget", "fill the launch form with a folder of the server, and launch", NOT_LAUNCH, filled),
    Attempt("component", "a component's message with a launch, a path and a role", NOTHING, component),
    Attempt("fragment", "run a fragment of a launcher's session", NOTHING, fragment),
    Attempt("question", "ask a folder of the server", NOT_ASK, asks(lambda scene: str(scene.secret.parent))),
    Attempt("question", "ask a model of the hub", NOT_ASK, asks(lambda scene: "gpt2")),
    Attempt("question", "ask a server on the inner network", NOT_ASK, asks(lambda scene: "m@http://127.0.0.1:9/v1")),
    Attempt("link", "a run named ../../etc", DEFAULT, link("alpha_lab", lambda scene: "run=../../../../etc/passwd")),
    Attempt("link", "a run with a null byte", DEFAULT, link("alpha_lab", lambda scene: "run=a%00b")),
    Attempt("link", "a run of 5,000 letters", DEFAULT, link("alpha_lab", lambda scene: "run=" + "a" * 5000)),
    Attempt("link", "a jury named by a path", DEFAULT, link("jury", lambda scene: f"jury={scene.secret}")),
    Attempt("link", "an answer named by a path", DEFAULT, link("one_question", lambda scene: f"answer={scene.secret}")),
    Attempt(
        "link", "models named by a path", DEFAULT, link("perplexity", lambda scene: f"models={scene.secret.parent}")
    ),
    Attempt("websocket", "connect to a launcher's session by its id", "a session of her own", taken_over),
    Attempt("websocket", "connect without the token against forged requests", LOG_IN_PAGE, connected(xsrf="-")),
    Attempt(
        "websocket", "connect from another site", "refused, 403", connected(headers={"Origin": "http://evil.example"})
    ),
    Attempt(
        "websocket",
        "name another e-mail in a header",
        "she stays Vera",
        connected(headers={"X-Streamlit-User": "anna@example.org", "X-Forwarded-Email": "anna@example.org"}),
    ),
    Attempt("websocket", "connect with a user cookie that she signed herself", LOG_IN_PAGE, forged(self_signed)),
    Attempt("websocket", "connect with her cookie, one letter changed", LOG_IN_PAGE, forged(altered)),
    Attempt("websocket", "empty everyone's caches", DROPPED, message(clear_cache=True)),
    Attempt("websocket", "ask what the source folder's Git repository is", DROPPED, message(load_git_info=True)),
    Attempt("websocket", "switch on runs at each change of the source", DROPPED, message(set_run_on_save=True)),
    Attempt("websocket", "stop the server", DROPPED, message(debug_shutdown_runtime=True)),
    Attempt("websocket", "have files written into the source folder", DROPPED, operation("install_skills")),
    Attempt("websocket", "an operation for a launcher's session", "an error", operation("other")),
    Attempt("websocket", "fetch a file by a made-up id", "an error", operation("deferred_file", file_id="1")),
    Attempt("websocket", "send what is no message", "the connection is closed, 1002", garbage),
    Attempt("upload", "put a file into her own session", REFUSED_UPLOAD, uploads("PUT")),
    Attempt("upload", "put a file into a launcher's session", REFUSED_UPLOAD, uploads("PUT", whose="lars")),
    Attempt("upload", "delete a launcher's file", REFUSED_UPLOAD, uploads("DELETE", whose="lars")),
    Attempt("upload", "put a file without the token", REFUSED_UPLOAD, uploads("PUT", xsrf=False)),
    Attempt(
        "request",
        "fetch an export without a login",
        "403: Log in first.",
        request("GET", "/media/1.csv", stranger=True),
    ),
    Attempt("request", "fetch an export by a made-up id", "404: File not found", request("GET", "/media/1.csv")),
    Attempt(
        "request",
        "read the server's figures from elsewhere",
        "403: The server's figures can be read on its own machine only.",
        request("GET", "/_stcore/metrics", **{"X-Forwarded-For": "10.9.8.7"}),
    ),
    Attempt(
        "request",
        "read a file by a path with ..",
        "400: Bad Request",
        request("GET", "/static/..%2f..%2f..%2fetc%2fpasswd"),
    ),
    Attempt(
        "request",
        "read a component's file by a path with ..",
        "400: Bad Request",
        request("GET", "/component/a/..%2f..%2fx"),
    ),
    Attempt("request", "drive the app by Streamlit's agent API", "403", request("POST", "/_stcore/agent/interact")),
    Attempt("login", "begin a login with a token of her own", "302 to /", request("GET", "/auth/login?provider=x.y.z")),
    Attempt("login", "end a login with a made-up code", "302 to /", request("GET", "/oauth2callback?state=a&code=b")),
    Attempt("login", "use a login's code a second time", LOG_IN_PAGE, replayed),
    Attempt("login", "have the login lead to another host", "/", lured),
    Attempt("class", "open Classroom to open a class", NOT_OPEN, page("classroom")),
    Attempt(
        "class", "press Open a class by the id of a launcher's button", NOT_OPEN, pressed("classroom", "Open a cl")
    ),
    Attempt("class", "lead another's class by its code", NOT_OPEN, others_class),
    Attempt(
        "class",
        "answer with a made-up seat's token",
        NO_SEAT,
        in_class("answer", data={"question": 0, "shares": [100, 0, 0, 0], "turn": 1}),
    ),
    Attempt("class", "read a seat's own figures", NO_SEAT, in_class("mine", method="GET")),
    Attempt(
        "class",
        "use a seat's token in another class",
        NO_SEAT,
        in_class("mine", method="GET", token=SEAT_TOKEN, place=1),
    ),
    Attempt(
        "class", "lead a class with a seat's token", NO_KEY, in_class("desk", token=SEAT_TOKEN, data={"act": "next"})
    ),
    Attempt("class", "listen as the projector", NO_KEY, in_class("desk", method="GET", token=SEAT_TOKEN)),
    Attempt(
        "class",
        "answer with 3,000 bytes",
        "413: A class takes at most 2,000 bytes at a time; reload the page.",
        in_class("answer", token=SEAT_TOKEN, data="x" * 3000),
    ),
    Attempt(
        "class",
        "fetch a file beside the phone's by a path with ..",
        BAD,
        request("GET", "/join/-/..%2froutes.py"),
    ),
)

PLANTED = (openid.SECRET, openid.COOKIE_SECRET, openid.MARK)
"""Secrets that may be in no log, record, export, link or error."""
