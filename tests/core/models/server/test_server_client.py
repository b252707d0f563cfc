"""Faults of servers end in every answer once, or in one clear sentence; limits, budgets and keys are kept."""

import asyncio
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from core.errors import InputError, RunCancelled, RunError, ServerError
from core.models.price import Price
from core.models.server.abilities import models
from core.models.server.bodies import letter_body
from core.models.server.client import Patience, RefusedError, ServerClient, TokenRequest
from core.models.server.concurrency import InFlight
from core.models.server.replies import next_tokens
from core.models.server.spending import Spending
from core.models.server_address import check_key, key_of, key_variable, server_url, without_secrets

SOON = Patience(answer_s=60, first_s=2, gone_s=20, tries=8, first_pause_s=0.01, longest_pause_s=0.05)
SHORT = replace(SOON, answer_s=1.5)
"""An answer that is slower, because the machine is, is asked for again."""
KEY = "sk-planted-9f1c"
MODEL = "pocket-3m"
BODIES = [letter_body(MODEL, f"Question {i}: what now?\nAnswer:", listed=5) for i in range(40)]


def answers_of(client, bodies=BODIES):
    return dict(client.ask("/completions", bodies, lambda i, reply: next_tokens(reply, chat=False, requested=5)))


@pytest.fixture(scope="module")
def right(_server):
    _server.reset()
    with ServerClient([_server.url], patience=SOON) as client:
        return answers_of(client)


def test_it_works_where_an_event_loop_runs_already_as_in_a_notebook(server, right):
    server.reset()

    async def cell():
        with ServerClient([server.url], patience=SOON) as client:
            return answers_of(client)

    with ThreadPoolExecutor(1) as thread:  # the tests' own thread may have a running loop, that of Playwright
        assert thread.submit(lambda: asyncio.run(cell())).result() == right


@pytest.mark.parametrize("kind", ["429", "429 0.05", "429 Thu, 01 Jan 2026 00:00:00 GMT", "503", "500", "cut", "stall",
                                  "malformed", "list", "no-choice"])  # fmt: skip
def test_what_passes_is_tried_again_and_every_answer_comes_once(server, right, kind):
    server.reset(fault=lambda number: kind if number % 7 == 3 else "", stall_s=4.0)
    with ServerClient([server.url], patience=SHORT if kind == "stall" else SOON, in_flight=8) as client:
        answers = list(client.ask("/completions", BODIES, lambda i, reply: next_tokens(reply, chat=False, requested=5)))
    assert sorted(i for i, _ in answers) == list(range(len(BODIES)))
    assert dict(answers) == right
    assert len(server.texts) == len(BODIES)
    assert kind == "stall" or set(server.texts.values()) == {1}


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("429", "has too many requests"),
        ("500", "fails with HTTP status 500"),
        ("cut", "cuts the connection"),
        ("stall", "does not answer within 0.2 s"),
        ("malformed", r"can't be read \(no JSON\)"),
        ("list", "list and no object"),
        ("no-choice", "gives 0 answers to one question"),
        ("redirect", "redirects to https://elsewhere.example/v1/completions; Hedge does not follow"),
    ],
)
def test_what_stays_wrong_ends_in_one_sentence(server, monkeypatch, kind, says):
    monkeypatch.setenv("PLANTED_API_KEY", KEY)
    server.reset(fault=lambda number: kind, stall_s=0.5, key=KEY)
    patience = replace(SOON, answer_s=0.2 if kind == "stall" else 60, gone_s=0.3, tries=3)
    with (
        ServerClient([server.url], key_variable="PLANTED_API_KEY", patience=patience) as client,
        pytest.raises(ServerError, match=says) as caught,
    ):
        answers_of(client, BODIES[:3])
    assert KEY not in str(caught.value)
    assert "key=1" not in str(caught.value)


def test_a_pause_that_the_server_names_is_kept(server):
    server.reset(fault=lambda number: "429 0.3" if number == 0 else "")
    begin = time.monotonic()
    with ServerClient([server.url], patience=SOON) as client:
        assert len(answers_of(client, BODIES[:1])) == 1
    assert time.monotonic() - begin >= 0.3


def test_a_pause_is_kept_by_all_requests_to_this_server(server):
    with ServerClient([server.url], patience=SOON) as client:
        client.hosts[0].rests_until = begin = time.monotonic() + 0.3
        assert len(answers_of(client, BODIES[:3])) == 3
    assert time.monotonic() >= begin


def test_a_pause_longer_than_patience_ends_at_once(server):
    server.reset(fault=lambda number: "429 3600")
    with ServerClient([server.url], patience=SOON) as client, pytest.raises(ServerError, match="resume the run"):
        answers_of(client, BODIES[:1])


def test_a_server_that_is_gone_is_named():
    with (
        ServerClient(["http://127.0.0.1:9"], patience=replace(SOON, gone_s=0.2)) as client,
        pytest.raises(ServerError, match=r"http://127\.0\.0\.1:9/v1 can't be reached; what has finished is kept"),
    ):
        models(client)


def test_a_dead_server_leaves_its_work_to_the_other(server, right):
    with ServerClient([server.url, "http://127.0.0.1:9/v1"], patience=SOON) as client:
        assert answers_of(client) == right
    assert set(server.texts.values()) == {1}


def test_the_first_answers_are_kept_where_a_later_one_is_refused(server):
    bodies = [*BODIES[:5], letter_body("another", "x", listed=5)]
    collected = []
    with ServerClient([server.url], in_flight=1, patience=SOON) as client, pytest.raises(RefusedError, match="no such"):
        collected += client.ask("/completions", bodies, lambda i, reply: i)
    assert len(collected) == 0 or sorted(i for i, _ in collected) == list(range(5))


def test_a_wrong_key_is_refused_without_its_text(server, monkeypatch):
    monkeypatch.setenv("PLANTED_API_KEY", KEY)
    server.reset(key="another")
    with (
        ServerClient([server.url], key_variable="PLANTED_API_KEY", patience=SOON) as client,
        pytest.raises(RefusedError, match="refuses the key in PLANTED_API_KEY") as caught,
    ):
        models(client)
    assert KEY not in str(caught.value)
    with ServerClient([server.url], patience=SOON) as client, pytest.raises(RefusedError, match="asks for a key"):
        models(client)


def test_a_key_is_only_ever_a_variables_name(monkeypatch):
    assert key_variable("OPENAI_API_KEY") == "OPENAI_API_KEY"
    for given in (KEY, "SKPLANTED9F1C", "openai_api_key"):
        with pytest.raises(InputError) as caught:
            key_variable(given)
        assert given not in str(caught.value)
    monkeypatch.delenv("PLANTED_API_KEY", raising=False)
    with pytest.raises(InputError, match="PLANTED_API_KEY, which names the server's key, is not set"):
        ServerClient(["http://127.0.0.1:9"], key_variable="PLANTED_API_KEY")


def test_a_key_may_be_among_streamlits_secrets(monkeypatch, tmp_path):
    monkeypatch.delenv("PLANTED_API_KEY", raising=False)
    monkeypatch.setattr("core.models.server_address.ROOT", tmp_path)
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "nobody")
    (tmp_path / ".streamlit").mkdir()
    secrets = tmp_path / ".streamlit" / "secrets.toml"
    secrets.write_text(f'PLANTED_API_KEY = "{KEY}"\n[more]\nOTHER_API_KEY = "x"\n')
    check_key("PLANTED_API_KEY")
    assert without_secrets(f"wrong key {KEY}", "PLANTED_API_KEY") == "wrong key (the key)"
    monkeypatch.setenv("PLANTED_API_KEY", "sk-of-the-environment")
    assert key_of("PLANTED_API_KEY") == "sk-of-the-environment"
    assert key_of("OTHER_API_KEY") == ""
    secrets.write_text("this is no TOML")
    assert key_of("MISSING_API_KEY") == ""


def test_addresses_have_one_form_and_hold_no_secrets():
    assert server_url(" http://[::1]:8000/ ") == "http://[::1]:8000/v1"
    assert server_url("https://host/api/v1/") == "https://host/api/v1"
    for secret in (f"http://me:{KEY}@host/v1", f"http://host/v1?key={KEY}", f"http://{KEY}@host"):
        with pytest.raises(InputError, match="no user name") as caught:
            server_url(secret)
        assert KEY not in str(caught.value)
    for wrong in ("host:8000", "ftp://host", "http://", "http://ho st"):
        with pytest.raises(InputError, match="no server's address"):
            server_url(wrong)


def test_a_budget_stops_before_it_is_passed(server):
    server.reset(wrong_counts=True)
    price = Price(read=1000.0, written=2000.0, budget=0.2)
    with (
        ServerClient([server.url], spending=Spending(price), in_flight=2, patience=SOON) as client,
        pytest.raises(RunError, match=r"the budget of 0\.2 is reached: what has finished is kept"),
    ):
        answers_of(client)
    assert 0.1 < client.spending.cost <= 0.2
    assert server.number < len(BODIES)


def test_what_is_in_flight_at_a_stop_is_paid_for_and_kept(server):
    server.reset(delay_s=0.05)
    price, collected = Price(read=1000.0, budget=0.2), {}
    with ServerClient([server.url], spending=Spending(price), in_flight=8, patience=SOON) as client:
        with pytest.raises(RunError, match="budget"):
            collected.update(client.ask("/completions", BODIES, lambda i, reply: i))
        assert len(collected) == sum(server.texts.values()) > 8
        spent = client.spending.tokens
    with ServerClient([server.url], spending=Spending(price, spent), patience=SOON) as again, pytest.raises(RunError):
        answers_of(again)
    assert sum(server.texts.values()) <= len(collected) + 4  # an earlier try's tokens count


def test_more_requests_may_be_put_in_while_answers_come(server):
    waiting = deque([TokenRequest("/completions", BODIES[0], lambda reply: 0, (0,))])
    places = []
    with ServerClient([server.url], patience=SOON) as client:
        for request, _ in client.stream(waiting):
            places.append(request.place[0])
            if len(places) < 5:
                i = request.place[0] + 1
                waiting.append(TokenRequest("/completions", BODIES[i], lambda reply: 0, (i,)))
    assert places == [0, 1, 2, 3, 4]


def test_whoever_waits_is_told_why_and_can_stop(server):
    server.reset(fault=lambda number: "500 2" if number else "stall", stall_s=3)
    messages = []

    def on_wait(reason):
        messages.append(reason)
        if reason:
            raise RunCancelled("stop")

    with ServerClient([server.url], patience=SOON, on_wait=on_wait) as client, pytest.raises(RunCancelled):
        answers_of(client, BODIES[:2])
    assert messages[-1] == f'the server {server.url} fails with HTTP status 500 and says "key None"'


def test_a_budget_without_prices_counts_tokens():
    spending = Spending(Price(budget=1e-6 * 20))
    spending.settle(spending.reserve({"prompt": "Answer:", "max_tokens": 1}), {"prompt_tokens": 9})
    assert (spending.read, spending.written) == (9, 1)
    with pytest.raises(RunError, match="the budget of 20 tokens is reached"):
        spending.reserve({"messages": [{"content": "x" * 60}], "max_tokens": 1})


def simulated(flight, most_useful, *, seconds=0.2, answers=4000):
    """A server that answers each request after this many seconds, ``most_useful`` of them at once."""
    now = 0.0
    for _ in range(answers):
        now += seconds / min(flight.limit, most_useful)
        flight.answered(now)
    return flight.limit


def test_as_many_requests_are_in_flight_as_help():
    assert simulated(InFlight(), 10**6) >= 250
    assert simulated(InFlight(), 1) == 32
    assert 70 <= simulated(InFlight(), 100) <= 170


def test_a_refusal_halves_the_limit_once_for_what_was_in_flight():
    flight = InFlight()
    for _ in range(32):
        flight.refused()
    assert flight.limit == 16
    for _ in range(32):
        flight.answered(1.0)
    flight.refused()
    assert flight.limit == 8
    for _ in range(1000):
        flight.refused()
        for _ in range(300):
            flight.answered(1.0)
    assert flight.limit == 1


def test_the_limit_is_kept(server):
    server.reset(delay_s=0.02)
    with ServerClient([server.url], in_flight=4, most=4, patience=SOON) as client:
        answers_of(client)
    assert 1 < server.most_in_flight <= 4


def test_a_client_holds_no_key(monkeypatch):
    monkeypatch.setenv("PLANTED_API_KEY", KEY)
    with ServerClient(["http://127.0.0.1:9"], key_variable="PLANTED_API_KEY") as client:
        held = [client.__dict__, client._http.headers, *(vars(host) for host in client.hosts)]
        assert not any(KEY in repr(values) for values in held)
