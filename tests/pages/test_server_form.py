"""A model on a server: connected on New run, with only what the server can do offered, and launched."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from core.inference.server import connect
from core.inference.server.remembered import remember, remembered
from core.runs import store
from core.runs.spec import RunSpec
from core.runs.status import RunStatus
from core.runs.store import RunRecord
from tests.core.inference.server.loopback import Loopback, loopback_server
from tests.pages.conftest import Open, said


@pytest.fixture(scope="module")
def loopback() -> Iterator[Loopback]:
    with loopback_server() as server:
        yield server


@pytest.fixture
def server(loopback: Loopback, monkeypatch: pytest.MonkeyPatch) -> Loopback:
    loopback.reset()
    soon = connect.Patience(connect_s=1.0, answer_s=10.0, first_s=0.05, gone_s=0.05, tries=2, first_pause_s=0.01)
    monkeypatch.setattr(connect, "SOON", soon)
    return loopback


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The specs that the page submits."""
    calls: list[Any] = []
    monkeypatch.setattr("core.tasks.bank.available", lambda: ("qa",))
    monkeypatch.setattr("core.runs.engine.submit", lambda spec: calls.append(spec) or spec.run_id)
    return calls


def press(app: Any, label: str) -> Any:
    return next(button for button in app.button if button.label == label).click().run()


def connected(open_page: Open, address: str, key: str = "") -> Any:
    app = open_page("new_run")
    app.segmented_control(key="launch_place").set_value("server").run()
    app.text_input(key="launch_address").set_value(address)
    app.text_input(key="launch_key").set_value(key)
    press(app, "Connect")
    assert not app.exception
    return app


def test_a_connected_server_s_model_is_launched_with_its_price(open_page: Open, server: Loopback, asked: list[Any]):
    app = connected(open_page, server.url.removesuffix("/v1"))
    assert "gives the log-probabilities of the 20 most probable next tokens, scores texts and writes answers" in said(
        app
    )
    assert app.multiselect(key="launch_served").value == ["pocket-3m"]
    assert not [one for one in app.number_input if one.key == "launch_batch"]
    app.number_input(key="launch_price_read").set_value(2.0)
    app.number_input(key="launch_budget").set_value(0.0001).run()
    tokens, cost = ({one.label: one.value for one in app.metric}[name] for name in ("Tokens in all", "Cost"))
    # 2 for a million tokens read; the hundred tokens that are written cost nothing.
    assert float(cost) == pytest.approx((float(tokens.replace(",", "")) - 100) * 2 / 1_000_000, rel=1e-3)
    assert "It would stop there, and keep what has finished" in said(app)
    press(app, "Launch")
    assert not app.exception
    expected = RunSpec("pocket-3m", "qa", dtype="served", samples=100, servers=(server.url,), price_read=2.0)
    assert asked == [expected]
    assert (asked[0].price_read, asked[0].budget) == (2.0, 0.0001)
    assert [one.servers for one in remembered()] == [(server.url,)]


def test_only_what_the_server_can_do_is_offered(open_page: Open, server: Loopback, asked: list[Any]):
    server.reset(most=5, echo=False, chat=False)
    app = connected(open_page, server.url)
    assert "5 most probable next tokens, in plain text alone, writes answers, but can't score texts" in said(app)
    assert "figures may be ranges" in said(app)
    assert app.segmented_control(key="launch_form").options == ["by letter"]
    assert app.segmented_control(key="launch_format").options == ["plain text"]
    server.reset(completions=False)
    press(app, "Connect")
    assert app.segmented_control(key="launch_format").options == ["chat format"]
    press(app, "Launch")
    assert asked[0].prompt_format == "chat"


def test_texts_are_asked_in_plain_format_alone(open_page: Open, server: Loopback, asked: list[Any]):
    app = connected(open_page, server.url)
    app.segmented_control(key="launch_format").set_value("chat").run()
    app.segmented_control(key="launch_form").set_value("cloze").run()
    assert app.segmented_control(key="launch_format").options == ["plain text"]
    press(app, "Launch")
    assert (asked[0].form, asked[0].prompt_format) == ("cloze", "plain")


@pytest.mark.parametrize(
    ("behaviour", "address", "key", "words"),
    [
        ({}, "http://127.0.0.1:9", "", "No server answers at http://127.0.0.1:9/v1"),
        ({}, "somewhere", "", "is no server's address"),
        ({}, "", "", "Type the server's address first"),
        ({"key": "sk-right"}, None, "", "asks for a key"),
        ({}, None, "sk-1234567", "a key is given by the name of its environment variable"),
        ({"logprobs": False}, None, "", "gives no log-probabilities"),
    ],
)
def test_what_is_wrong_is_one_sentence(
    open_page: Open, server: Loopback, behaviour: dict[str, Any], address: str | None, key: str, words: str
):
    server.reset(**behaviour)
    app = connected(open_page, server.url if address is None else address, key)
    assert [words.lower() in error.value.replace("\\", "").replace("\u2060", "").lower() for error in app.error] == [
        True
    ]
    assert next(button for button in app.button if button.label == "Launch").disabled
    assert not any("sk-1234567" in str(error.value) for error in app.error)


def test_a_server_of_before_is_one_click_away_and_a_changed_address_is_said(open_page: Open, server: Loopback, home):
    remember([server.url])
    remember(["http://another:1/v1"])
    app = open_page("new_run")
    app.segmented_control(key="launch_place").set_value("server").run()
    assert app.text_input(key="launch_address").value == "http://another:1/v1"
    next(button for button in app.button if button.key == "launch_before_0").click().run()
    assert app.multiselect(key="launch_served").value == ["pocket-3m"]
    app.text_input(key="launch_address").set_value("http://third:1/v1").run()
    assert "The address or the key has changed. Press Connect again." in said(app)
    assert next(button for button in app.button if button.label == "Launch").disabled


def test_the_settings_of_a_run_on_a_server_come_back_into_the_form(
    open_page: Open, server: Loopback, asked: list[Any], monkeypatch: pytest.MonkeyPatch
):
    spec = RunSpec("pocket-3m", "qa", dtype="served", samples=100, servers=(server.url,), budget=3.0)
    store.create(RunRecord(spec=spec, state="failed", created=1.0, message="the server is gone"))
    record = store.read_record(spec.run_id)
    monkeypatch.setattr("core.runs.engine.statuses", lambda: [RunStatus(record, "failed", "the server is gone")])
    app = open_page("new_run")
    press(app, "Change the settings")
    assert app.segmented_control(key="launch_place").value == "server"
    assert app.multiselect(key="launch_served").value == ["pocket-3m"]
    assert app.number_input(key="launch_budget").value == 3.0
    press(app, "Launch")
    assert asked == [spec]


def test_prompting_launches_on_a_server_what_it_can_do(open_page: Open, server: Loopback, asked: list[Any]):
    server.reset(most=5, echo=False)
    app = open_page("prompting")
    app.segmented_control(key="ways_place").set_value("server").run()
    app.text_input(key="ways_address").set_value(server.url)
    press(app, "Connect")
    assert not app.exception
    assert app.segmented_control(key="ways_forms").options == ["by letter"]
    app.multiselect(key="ways_shots").set_value([0]).run()
    app.number_input(key="ways_repeats").set_value(2).run()
    press(app, "Launch")
    assert not app.exception
    assert [(spec.form, spec.repeats, spec.servers) for spec in asked] == [("letters", 2, (server.url,))]
