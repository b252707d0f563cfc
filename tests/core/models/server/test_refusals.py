"""What a server says when it refuses: repeated in one sentence without secrets, or followed where that is possible."""

import time
from base64 import b64encode
from dataclasses import replace
from typing import Any

import pytest

from core.errors import AccessError, InputError, ServerError
from core.models.server import connect, permission
from core.models.server.abilities import models
from core.models.server.client import Patience, ServerClient
from core.models.server.connect import abilities_of, models_on
from core.models.server.engine import ServerEngine
from core.models.server.pauses import LONGEST_S, in_words, named_pause
from core.models.server.reply_body import error_text
from core.models.server_address import corrected, server_url, without_secrets
from core.records import Prompt
from tests.core.models.server.loopback import Loopback

pytestmark = pytest.mark.usefixtures("home")

KEY = "sk-planted-5b2e77"
MODEL = "pocket-3m"
SOON = Patience(answer_s=60, first_s=0.3, gone_s=0.3, tries=2, first_pause_s=0.01, longest_pause_s=0.02)


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connect, "SOON", SOON)


def refusal(server: Loopback, status: int, body: Any, *, key: str = "", **headers: str) -> str:
    """The sentence that a person reads if every request for tokens ends so."""
    server.reset(strict=lambda path, asked: (status, body), headers=headers)
    with pytest.raises(InputError) as caught:
        abilities_of(MODEL, [server.url], key=key)
    return str(caught.value)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, {"error": {"message": "The lamp is off", "type": "x", "code": 400}}),
        (400, {"error": "The lamp is off"}),
        (404, {"message": "The lamp is off"}),
        (422, {"detail": "The lamp is off"}),
        (422, {"detail": [{"loc": ["body", "lamp"], "msg": "The lamp is off"}]}),
        (400, {"object": "error", "message": "The lamp is off", "code": 400}),
        (400, [{"error": {"code": 400, "message": "The lamp is off", "status": "INVALID_ARGUMENT"}}]),
        (400, {"errors": [{"message": "The lamp is off"}]}),
        (400, b"The lamp is off"),
        (501, b"<!doctype html><html><head><title>The lamp\n is off</title></head><body>long</body>"),
        (500, {"error": {"message": "The lamp is off"}}),
        (200, {"error": {"message": "The lamp is off", "code": 400}}),
        (200, {"error": {"message": "The lamp is off"}}),
        (200, {"object": "error", "message": "The lamp is off", "code": 40001}),
        (200, {"error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": "The lamp is off"}}}),
    ],
)
def test_the_words_of_a_server_are_repeated(server: Loopback, status: int, body: Any):
    sentence = refusal(server, status, body)
    assert "The lamp is off" in sentence
    assert "says " in sentence
    assert "\n" not in sentence


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (200, {"error": {"message": "Insufficient credits", "code": 402}}, "asks for payment"),
        (402, {"error": {"message": "Insufficient credits"}}, "asks for payment"),
        (429, {"error": {"message": "Insufficient credits", "code": "insufficient_quota"}}, "asks for payment"),
        (400, {"error": {"message": "stream must be set to true"}}, "Hedge reads whole answers"),
        (400, {"error": {"message": "logprobs are not supported with reasoning models"}}, "does not reason first"),
    ],
)
def test_a_refusal_that_can_not_be_followed_says_what_to_do(server: Loopback, status: int, body: Any, words: str):
    sentence = refusal(server, status, body)
    assert words in sentence
    assert body["error"]["message"] in sentence


def test_what_a_server_says_is_short_and_holds_no_secret(server: Loopback, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PLANTED_API_KEY", KEY)
    monkeypatch.setenv("OTHER_TOKEN", "another-planted-value")
    reply = (
        f"\x1b[2J\u202eno\u2028 {' ' * 900}{KEY} Bearer abc.def another-planted-value https://me:{KEY}@host/x?sig=1 "
        f"eyJhbGci.eyJzdWIi.c2ln sk-someone-elses-key-123 {'0123456789abcdef' * 2}; resume {'y' * 2000}"
    )
    sentence = refusal(server, 400, {"error": {"message": reply}}, key="PLANTED_API_KEY")
    for secret in (KEY, "abc.def", "another-planted-value", "me:", "sig=1", "eyJ", "elses", "0123456789abcdef"):
        assert secret not in sentence
    assert sentence.isprintable()
    assert "resume" not in sentence.partition(' says "')[2].partition('"')[2]
    assert len(sentence.partition(' says "')[2].partition('"')[0]) <= 200


def test_parts_and_encodings_of_the_key_are_hidden_too(monkeypatch: pytest.MonkeyPatch):
    key = "Abc9secretvalue77xyzQ12"
    monkeypatch.setenv("PLANTED_API_KEY", key)
    header = b64encode(f"user:{key}".encode()).decode()
    text = f"bad {key[:8]}...{key[-4:]}, {key[:14]}, {key.upper()}, {header[:20]}, {key[:10].encode().hex()}"
    shown = without_secrets(text, "PLANTED_API_KEY")
    assert shown.startswith("bad (the key)...zQ12, (the key), (the key), ")
    assert not {key[:6].lower(), header[10:18].lower(), key[:6].encode().hex()} & {
        shown.lower()[i : i + n] for n in (6, 8, 12) for i in range(len(shown))
    }


def test_words_that_are_no_secret_stay():
    text = (
        "The model `meta-llama/Llama-3.1-70B-Instruct-Turbo` has max_tokens: 8192, see https://docs.example.com/errors"
    )
    assert without_secrets(text) == text


@pytest.mark.parametrize(
    "body", [b"", b"\xff\xfe", b"[" * 5000, b'{"error": {"error": {"error": ', b"{}", b"null", b"7"]
)
def test_an_error_without_words_says_nothing(body: bytes):
    assert len(error_text(body)) <= 2


# ---------------------------------------------------------------- advice


def strict(path: str, body: dict[str, Any]) -> tuple[int, Any] | None:
    """A server that wants another name, and refuses one field after the other, each in other words."""
    if "max_tokens" in body:
        text = "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."
        return 400, {"error": {"message": text, "param": "max_tokens"}}
    if body.get("temperature", 1) != 1:
        return 400, {"error": {"message": "'temperature' does not support 0. Only the default (1) value is supported."}}
    if "top_p" in body:
        return 422, {"detail": [{"loc": ["body", "top_p"], "msg": "Extra inputs are not permitted"}]}
    return None


def test_advice_is_followed_and_described(server: Loopback):
    right = abilities_of(MODEL, [server.url])
    server.reset(strict=strict)
    engine = ServerEngine.load(MODEL, servers=[server.url], patience=SOON)
    able, changes = engine.able, engine.description["changed_requests"]
    engine.close()
    assert (able.listed, able.chat_listed, able.echo) == (right.listed, right.chat_listed, right.echo)
    assert able.probe == right.probe
    assert {"max_completion_tokens instead of max_tokens", "without temperature", "without top_p"} <= {*changes}


@pytest.mark.parametrize(
    ("field", "words"),
    [
        ("presence_penalty", "presencePenalty is not supported for this model"),
        ("frequency_penalty", "Penalties are not enabled for this model"),
        ("temperature", "temperature: Input should be greater than or equal to 0.01"),
    ],
)
def test_a_field_that_changes_nothing_is_left_out_however_its_refusal_is_worded(
    server: Loopback, field: str, words: str
):
    server.reset(strict=lambda path, body: (400, {"error": {"message": words}}) if body.get(field, 1) == 0 else None)
    assert abilities_of(MODEL, [server.url]).listed == 20


def test_a_reply_without_log_probabilities_has_not_the_words_of_an_earlier_refusal(server: Loopback):
    server.reset(logprobs=False)
    with pytest.raises(InputError, match="chat endpoint; start it so that it gives them"):
        abilities_of(MODEL, [server.url])
    assert "change what it names, or use" in refusal(server, 403, {"error": {"message": "Not allowed"}})


def test_a_most_probable_answer_needs_its_temperature(server: Loopback):
    server.reset(strict=lambda path, body: strict(path, body) if "temperature" in body else None)
    engine = ServerEngine.load(MODEL, servers=[server.url], patience=SOON)
    with pytest.raises(ServerError, match=r"says .*temperature.*; a model's most probable answer needs temperature 0"):
        list(engine.answers([f"What is {i}?" for i in range(12)]))
    engine.close()


@pytest.mark.parametrize("most", [7, 12, 50])
def test_as_many_tokens_are_requested_as_a_server_says(server: Loopback, most: int):
    server.reset(most=most)
    able = abilities_of(MODEL, [server.url])
    assert (able.listed, able.chat_listed) == (most, most)


def test_a_template_that_takes_no_system_prompt_is_named(server: Loopback):
    def no_system(status: int, body: dict[str, Any]) -> tuple[int, Any] | None:
        roles = [message["role"] for message in body.get("messages", ())]
        return (status, {"error": {"message": "Roles must alternate"}}) if "system" in roles else None

    for status in (400, 500):
        server.reset(strict=lambda path, body, status=status: no_system(status, body))
        engine = ServerEngine.load(MODEL, servers=[server.url], patience=SOON)
        with pytest.raises(InputError, match=r"takes no system prompt .*Roles must alternate.*--system"):
            engine.prepare([Prompt("a", "What now?\nA. x\nB. y\nAnswer:", 2, chat=True, system="Be brief.")])
        engine.close()
    server.reset()
    engine = ServerEngine.load(MODEL, servers=[server.url], patience=SOON)
    server.behaviour.breaks_on = lambda path, body: True
    with pytest.raises(ServerError, match="HTTP status 500"):  # it fails on everything, so this says nothing
        engine.prepare([Prompt("a", "What now?", 2, chat=True, system="Be brief.")])
    engine.close()


# ---------------------------------------------------------------- lists of models, and addresses


@pytest.mark.parametrize(
    "listing",
    [
        lambda models: models,
        lambda models: {"models": models},
        lambda models: {"models": [{"name": model["id"]} for model in models]},
        lambda models: [{"model": model["id"]} for model in models],
    ],
)
def test_a_list_of_models_is_read_in_each_form(server: Loopback, listing: Any):
    server.reset(listing=listing)
    assert models_on([server.url]) == (MODEL,)


@pytest.mark.parametrize(
    ("base", "given"),
    [
        ("/v1", "/v1/chat/completions"),
        ("/v1", "/v1/completions/"),
        ("/v1", "//v1/v1/models"),
        ("/v1", "/docs#/default/show"),
        ("/v1", "/other"),
        ("/team/v1", "/team"),
        ("/team/v1", "/team/guide/first"),
        ("/api/v1", ""),
        ("/openai/v1", "/openai/deployments/gpt/chat/completions?api-version=2024-02-01"),
    ],
)
def test_an_address_becomes_that_of_the_api(server: Loopback, base: str, given: str):
    server.reset(base=base)
    root = server.url.removesuffix("/v1")
    with ServerClient([root + given], patience=SOON) as client:
        assert models(client) == [MODEL]
        assert client.urls == (root + base,)
    assert connect.connected([root + given]) == ((root + base,), (MODEL,))
    assert corrected(root + base) == ""


def test_a_base_that_looks_like_a_page_stays():
    for url in ("http://gw/models/llama/v1", "http://gw/docs/api/v1", "https://gw/x/openai/v1"):
        assert server_url(url) == url


def test_an_address_that_is_not_below_the_given_one_needs_a_permission_of_its_own(
    server: Loopback, monkeypatch: pytest.MonkeyPatch
):
    """A worker asks only what a person was allowed to ask, and no other host or port is tried."""
    server.reset(base="/team/v1")
    root = server.url.removesuffix("/v1")
    checked: list[str] = []

    def check(urls: Any, key: str = "") -> None:
        checked.extend(urls)
        if any(url != f"{root}/team/guide" for url in urls):
            raise AccessError("not allowed")

    monkeypatch.setattr(permission, "check", check)
    with pytest.raises(InputError, match="usually ends in /v1"):
        models_on([f"{root}/team/guide"])
    assert f"{root}/team/v1" in checked
    assert all(url.startswith(f"{root}/") for url in checked)


# ---------------------------------------------------------------- pauses


def test_a_long_pause_is_named_and_not_waited_for(server: Loopback):
    server.reset(strict=lambda path, body: (429, {"error": "Daily limit"}), headers={"Retry-After": "3600"})
    with pytest.raises(ServerError) as caught:
        ServerEngine.load(MODEL, servers=[server.url], patience=replace(SOON, gone_s=1000, first_s=1000))
    until = time.strftime("%H:%M", time.localtime(time.time() + 3600))
    sentence = str(caught.value)
    assert "(60 minutes)" in sentence
    assert until[:2] in sentence
    assert "Daily limit" in sentence
    assert sentence.endswith("what has finished is kept, so resume the run then")


@pytest.mark.parametrize(
    ("headers", "pause"),
    [
        ({"retry-after": "1"}, 1.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-5"}, 0.0),
        ({"retry-after": "nan"}, 0.0),
        ({"retry-after": "1e30"}, LONGEST_S),
        ({"retry-after": "inf"}, LONGEST_S),
        ({"retry-after": "Thu, 01 Jan 1970 01:00:00 GMT"}, 3000.0),
        ({"retry-after": "Wed, 99 Foo 2030 25:61:61 GMT"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after-ms": "700"}, 0.7),
        ({"retry-after-ms": "700", "retry-after": "1"}, 0.7),
        ({"x-ratelimit-reset-requests": "6m0s"}, 360.0),
        ({"x-ratelimit-reset-tokens": "250ms", "x-ratelimit-remaining-tokens": "0"}, 0.25),
        ({"x-ratelimit-reset-requests": "24h", "x-ratelimit-remaining-requests": "12"}, None),
        ({"x-ratelimit-reset": "1e30"}, LONGEST_S),
        ({"ratelimit-reset": "30"}, 30.0),
        ({}, None),
    ],
)
def test_a_pause_is_read_in_each_form_and_bounded(headers: dict[str, str], pause: float | None):
    assert named_pause(headers, too_many=True, now=600.0) == (None if pause is None else pytest.approx(pause))


def test_a_reset_may_be_a_time_and_says_nothing_about_other_faults():
    now = 1.8e9
    assert named_pause({"x-ratelimit-reset": f"{1000 * (now + 90):.0f}"}, too_many=True, now=now) == pytest.approx(90)
    assert named_pause({"x-ratelimit-reset": f"{now + 90:.0f}"}, too_many=True, now=now) == pytest.approx(90)
    assert named_pause({"x-ratelimit-reset": "90"}, too_many=False, now=now) is None
    assert in_words(3 * 86_400, now=now).endswith("(3 days)")
