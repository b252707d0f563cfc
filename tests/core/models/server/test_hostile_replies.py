"""A server that means harm gets one sentence: replies of any size, nested, with odd numbers, names and headers."""

import gzip
import json
import math
import threading
import tracemalloc
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from core.errors import HedgeError
from core.models.price import Price
from core.models.server import connect
from core.models.server.bodies import chat_body, echo_body, letter_body
from core.models.server.client import Patience, ServerClient, ServerError
from core.models.server.reply_body import limit_of, number
from core.models.server.spending import Spending
from core.questions.prompting.decision import DECISION_FORMATS, decision_prompt, joined_request
from core.records import Question

PATIENCE = Patience(first_s=0.0, gone_s=0.0, tries=1, first_pause_s=0.001, longest_pause_s=0.001)
MB = 1_000_000


class Hostile(ThreadingHTTPServer):
    """Answers every request with ``status``, ``headers`` and ``body``; ``endless`` repeats the body without an end."""

    daemon_threads = True
    status, headers, body, endless = 200, {}, b"", False

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def says(self, body: bytes = b"", *, status: int = 200, endless: bool = False, **headers: str) -> None:
        self.status, self.body, self.endless, self.headers = status, body, endless, headers


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        server = self.server
        assert isinstance(server, Hostile)
        try:
            self.send_response(server.status)
            for name, value in server.headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header(
                *(("transfer-encoding", "chunked") if server.endless else ("content-length", str(len(server.body))))
            )
            self.end_headers()
            self.wfile.write(server.body if not server.endless else b"")
            while server.endless:
                self.wfile.write(f"{len(server.body):x}\r\n".encode() + server.body + b"\r\n")
        except OSError:
            self.close_connection = True

    do_GET = do_POST = answer  # noqa: N815 - the names that the library calls

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def server() -> Iterator[Hostile]:
    with Hostile(("127.0.0.1", 0), Handler) as found:
        threading.Thread(target=found.serve_forever, daemon=True).start()
        yield found
        found.shutdown()


def got(server: Hostile, path: str = "/models") -> str:
    """The sentence with which a request ends."""
    with ServerClient([server.url], patience=PATIENCE) as client, pytest.raises(ServerError) as refused:
        client.get(path) if path == "/models" else client.post(path, {"questions": [{}]}, dict)
    return str(refused.value)


BOMB = gzip.compress(b" " * 200 * MB)


@pytest.mark.parametrize("path", ["/models", *(f"/{form}" for form in DECISION_FORMATS)])
@pytest.mark.parametrize("status", [200, 400, 500])
@pytest.mark.parametrize("kind", ["bomb", "large", "endless"])
def test_no_reply_takes_more_memory_than_its_limit(server, status, kind, path):
    match kind:
        case "bomb":
            server.says(BOMB, status=status, content_encoding="gzip")
        case "large":
            server.says(b'{"data": "' + b"x" * 60 * MB + b'"}', status=status)
        case _:
            server.says(b" " * 65_536, status=status, endless=True)
    tracemalloc.start()
    try:
        sentence = got(server, path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20 * MB
    assert "\n" not in sentence
    most = "4,000,000" if path == "/models" else "1,000,000"
    assert (f"more than {most} bytes" in sentence) == (status == 200)


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"1" * MB,
        b'"\xed\xa0\x80"',
        b"\xff\xfe",
        b"",
    ],
)
def test_what_python_can_not_parse_is_no_json(server, body):
    server.says(body)
    assert "can't be read" in got(server)


def test_numbers_of_any_size_are_no_figures(server):
    server.says(b'{"data": [1, 1e999, -1e999, NaN, Infinity, ' + b"9" * 10_000 + b"]}")
    with ServerClient([server.url], patience=PATIENCE) as client:
        first_number, *others = map(number, client.get("/models")["data"])
    assert first_number == 1
    assert all(map(math.isnan, others))


def test_half_a_character_can_be_written(server):
    server.says(b'{"data": "\\ud83d and \xed\xa0\xbd"}')
    with ServerClient([server.url], patience=PATIENCE) as client:
        assert client.get("/models")["data"] == "\ufffd and \ufffd"


def test_names_are_short_and_printable(server):
    names = [
        "good",
        "org/good:7b",
        "x" * 100_000,
        "a\x1b]0;owned\x07b",
        "a\nb",
        "\u202ea",
        "",
        5,
        None,
        {"a": 1},
        ["x"],
    ]
    server.says(json.dumps({"data": [{"id": name} for name in names] + ["odd", None]}).encode())
    assert connect.models_on([server.url]) == ("good", "org/good:7b")


def test_a_list_without_a_name_that_can_be_read_is_empty(server):
    server.says(json.dumps({"data": [{"id": "x" * 100_000}]}).encode())
    with pytest.raises(HedgeError, match="has no model"):
        connect.models_on([server.url])


@pytest.mark.parametrize("status", [400, 418, 500])
def test_a_quoted_error_is_short_and_printable(server, status):
    server.says(json.dumps({"error": {"message": "\x1b[2J" + "no " * 500}}).encode(), status=status)
    sentence = got(server)
    assert sentence.isprintable()
    assert " no no no" in sentence
    assert len(sentence) < 500


@pytest.mark.parametrize("place", ["http://[", "http://[::1", "//\x7f", "http://evil.example/" + "a" * 5000])
def test_a_redirect_to_anything_gives_a_sentence(server, place):
    server.says(status=302, location=place)
    sentence = got(server)
    assert "redirects" in sentence
    assert len(sentence) < 600


@pytest.mark.parametrize(
    "pause", ["1e999", "nan", "-1", "9" * 5000, "Thu, 01 Jan 2026 00:00:00 +9999999999", "x", "\x7f"]
)
def test_a_pause_of_any_length_gives_a_sentence(server, pause):
    server.says(status=429, retry_after=pause)
    assert "too many requests" in got(server)


def test_many_headers_give_a_sentence(server):
    server.says(b"{}", **{f"x-{i}": "y" * 4000 for i in range(2000)})
    assert "\n" not in got(server)


def test_an_answer_with_tokens_has_a_limit_of_its_own():
    text = "x" * 100_000
    assert limit_of(letter_body("m", text, listed=20)) == 1_000_000
    assert limit_of(chat_body("m", [], listed=-1)) == limit_of(letter_body("m", "x", listed=-1)) == 32_000_000
    assert limit_of(echo_body("m", text)) == 21_000_000
    assert limit_of(echo_body("m", text * 100)) == 32_000_000


@pytest.mark.parametrize("form", DECISION_FORMATS)
def test_a_reply_with_decisions_has_a_limit_of_its_own(form):
    question = Question("1", "qa", "", "", "Which?", tuple("abcdefgh"), 0)
    prompt = decision_prompt(question, strategy="base", demonstrations=(), form=form)
    assert limit_of(joined_request([prompt])) == 1_000_000 + 200 * 8
    assert limit_of(joined_request([prompt] * 10_000)) == 4_000_000


@pytest.mark.parametrize("tokens", [10**400, -5, True, "many", 1.5, None])
def test_a_count_of_any_size_is_not_believed(tokens):
    spending = Spending(Price(read=1.0, budget=1.0))
    spending.settle(spending.reserve({"prompt": "abc"}), {"prompt_tokens": tokens, "completion_tokens": tokens})
    assert spending.tokens == (1, 0)
