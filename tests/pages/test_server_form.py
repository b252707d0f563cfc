"""A model on a server: connected on New run, with only what the server can do offered, and launched."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from app.components.new_run import server_form
from core.errors import InputError
from core.models.letter_mass import LetterMass
from core.models.perplexity.conversations import Conversation, Message
from core.models.price import Price
from core.models.server import connect, permission
from core.models.server.known_servers import remember, remembered
from core.runs import store
from core.runs.answering import client, token_text, worker
from core.runs.answering.custom_question import AnswerProgress
from core.runs.answering.model_cache import ModelCache
from core.runs.answering.token_text import TokenText
from core.runs.execution.execute import execute
from core.runs.spec import RunSpec
from core.runs.status import RunStatus
from core.runs.store import RunRecord
from tests.core.models.server.loopback import Loopback, loopback_server
from tests.pages.conftest import Open, click, page_text, static_tables, unfolded
from tests.pages.test_perplexity import perplexities_shown


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
def calls(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The specs that the page submits."""
    calls: list[Any] = []
    monkeypatch.setattr("core.questions.bank.available", lambda: ("qa",))
    monkeypatch.setattr("core.runs.engine.submit", lambda spec: calls.append(spec) or spec.run_id)
    return calls


def on_server(open_page: Open, address: str, page: str = "new_run", prefix: str = "launch", key: str = "") -> Any:
    """The page with this server connected."""
    app = open_page(page)
    if prefix == "jury":
        unfolded(app, "make_jury_open")
    if page == "tokens":
        app.segmented_control(key="model").set_value("another model").run()
    app.segmented_control(key=f"{prefix}_place").set_value("server").run()
    app.text_input(key=f"{prefix}_address").set_value(address)
    app.text_input(key=f"{prefix}_key").set_value(key)
    return app.button(key=f"{prefix}_connect").click().run()


def test_a_connected_server_s_model_is_launched_with_its_price(open_page: Open, server: Loopback, calls: list[Any]):
    app = on_server(open_page, server.url.removesuffix("/v1"))
    assert (
        "gives the log-probabilities of the 20 most probable next tokens, scores texts and writes answers"
        in page_text(app)
    )
    assert app.multiselect(key="launch_served").value == ["pocket-3m"]
    assert not [field for field in app.number_input if field.key == "launch_batch"]
    app.number_input(key="launch_price_read").set_value(2.0).run()
    app.number_input(key="launch_budget").set_value(0.0001).run()
    tokens, cost = ({metric.label: metric.value for metric in app.metric}[name] for name in ("Tokens in all", "Cost"))
    # 2 for a million tokens read; the hundred tokens that are written cost nothing.
    assert float(cost) == pytest.approx((float(tokens.replace(",", "")) - 100) * 2 / 1_000_000, rel=1e-3)
    assert "It would stop there, and keep what has finished" in page_text(app)
    click(app, "Launch")
    expected = RunSpec("pocket-3m", "qa", dtype="served", samples=100, servers=(server.url,), price_read=2.0)
    assert calls == [expected]
    assert (calls[0].price_read, calls[0].budget) == (2.0, 0.0001)
    assert [connection.servers for connection in remembered()] == [(server.url,)]


def test_the_address_that_is_used_is_said_and_kept(open_page: Open, server: Loopback, calls: list[Any]):
    root = server.url.removesuffix("/v1")
    app = on_server(open_page, f"{root}/guide/first")
    assert page_text(app).count(f"The address {root}/guide/first is used as {server.url}") == 1
    assert app.text_input(key="launch_address").value == server.url
    click(app, "Launch")
    assert calls[0].servers == (server.url,)


def test_only_what_the_server_can_do_is_offered(open_page: Open, server: Loopback, calls: list[Any]):
    server.reset(most=5, echo=False, chat=False)
    app = on_server(open_page, server.url)
    assert "5 most probable next tokens, in plain text alone, writes answers, but can't score texts" in page_text(app)
    assert "figures may be ranges" in page_text(app)
    assert app.segmented_control(key="launch_form").options == ["by letter"]
    assert app.segmented_control(key="launch_format").options == ["plain text"]
    server.reset(completions=False)
    click(app, "Connect")
    assert app.segmented_control(key="launch_format").options == ["chat format"]
    click(app, "Launch")
    assert calls[0].prompt_format == "chat"


def test_a_server_that_begins_with_its_reasoning_is_said_before_the_launch(open_page: Open, server: Loopback):
    server.reset(opens="<think>")
    app = on_server(open_page, server.url)
    assert "the most probable token is" not in page_text(app)
    app.segmented_control(key="launch_format").set_value("chat").run()
    words = page_text(app).replace("\\", "")
    begins = "pocket-3m was asked a test question in chat format: the letters of the options have less than 0.001% of"
    assert begins in words
    assert "the most probable token is “<think>”. The model begins with its reasoning" in words
    assert "A run stops if its first questions have less than 1%." in words


@pytest.mark.parametrize(("mass", "warned"), [(0.018, False), (0.009, True)])
def test_little_mass_after_a_test_question_is_no_warning(monkeypatch: pytest.MonkeyPatch, mass: float, warned: bool):
    """pocket-1m gives it 1.8%, and the questions of a task more than 99%."""
    shown: list[str] = []
    monkeypatch.setattr(server_form.st, "warning", shown.append)
    able = SimpleNamespace(letters=LetterMass.of_one(mass, is_bound=False, first=" al"))
    choices = SimpleNamespace(forms=("letters",), formats=("plain",))
    server_form.letters_warning(SimpleNamespace(models=("m",), able=(able,)), choices)
    assert bool(shown) is warned


def test_texts_are_asked_in_plain_format_alone(open_page: Open, server: Loopback, calls: list[Any]):
    app = on_server(open_page, server.url)
    app.segmented_control(key="launch_format").set_value("chat").run()
    app.segmented_control(key="launch_form").set_value("cloze").run()
    assert app.segmented_control(key="launch_format").options == ["plain text"]
    click(app, "Launch")
    assert (calls[0].form, calls[0].prompt_format) == ("cloze", "plain")


@pytest.mark.parametrize(
    ("behaviour", "address", "key", "words"),
    [
        ({}, "http://127.0.0.1:9", "", "No server answers at http://127.0.0.1:9/v1"),
        ({}, "somewhere", "", "is no server's address"),
        ({}, "", "", "Type the server's address first"),
        ({"key": "sk-right"}, None, "", "asks for a key"),
        ({}, None, "sk-1234567", "a key is given by the name of its environment variable"),
    ],
)
def test_what_is_wrong_is_one_sentence(
    open_page: Open, server: Loopback, behaviour: dict[str, Any], address: str | None, key: str, words: str
):
    server.reset(**behaviour)
    app = on_server(open_page, server.url if address is None else address, key=key)
    assert [words.lower() in error.value.replace("\\", "").replace("\u2060", "").lower() for error in app.error] == [
        True
    ]
    assert next(button for button in app.button if button.label == "Launch").disabled
    assert not any("sk-1234567" in str(error.value) for error in app.error)


def test_a_server_without_log_probabilities_is_asked_for_picks(open_page: Open, server: Loopback, calls: list[Any]):
    app = on_server(open_page, server.url)
    assert not [field for field in app.number_input if field.key == "launch_picks"]
    server.reset(logprobs=False)
    click(app, "Connect")
    assert "gives no log-probabilities. It can be asked each question several times" in page_text(app)
    assert "Each question is 20 requests." in page_text(app)
    app.number_input(key="launch_picks").set_value(5).run()
    click(app, "Launch")
    (spec,) = calls
    assert (spec.picks, spec.form, spec.prompt_format, spec.servers) == (5, "letters", "chat", (server.url,))


def test_a_server_of_before_is_one_click_away_and_a_changed_address_is_said(open_page: Open, server: Loopback, home):
    remember([server.url])
    remember(["http://another:1/v1"])
    app = open_page("new_run")
    app.segmented_control(key="launch_place").set_value("server").run()
    assert app.text_input(key="launch_address").value == "http://another:1/v1"
    next(button for button in app.button if button.key == "launch_before_0").click().run()
    assert app.multiselect(key="launch_served").value == ["pocket-3m"]
    app.text_input(key="launch_address").set_value("http://third:1/v1").run()
    assert "The address or the key has changed. Press Connect again." in page_text(app)
    assert next(button for button in app.button if button.label == "Launch").disabled


def test_the_settings_of_a_run_on_a_server_come_back_into_the_form(
    open_page: Open, server: Loopback, calls: list[Any], monkeypatch: pytest.MonkeyPatch
):
    spec = RunSpec("pocket-3m", "qa", dtype="served", samples=100, servers=(server.url,), budget=3.0)
    store.create(RunRecord(spec=spec, state="failed", created=1.0, message="the server is gone"))
    record = store.read_record(spec.run_id)
    monkeypatch.setattr("core.runs.engine.statuses", lambda: [RunStatus(record, "failed", "the server is gone")])
    app = open_page("new_run")
    click(app, "Change the settings")
    assert app.text_input(key="launch_address").value == server.url
    assert "launch_connection" not in app.session_state  # the record may be a stranger's
    permission.check(spec.servers)
    click(app, "Change the settings")
    assert app.segmented_control(key="launch_place").value == "server"
    assert app.multiselect(key="launch_served").value == ["pocket-3m"]
    assert app.number_input(key="launch_budget_tokens").value == 3_000_000
    click(app, "Resume with these settings")
    assert calls == [spec]


def test_prices_and_limits_come_from_the_link(open_page: Open, server: Loopback, calls: list[Any]):
    remember([server.url])
    link = {"place": "server", "price_read": "0.15", "price_written": "0.6", "budget": "2.5", "timeout": "99"}
    app = open_page("new_run", **link)
    click(app, "Connect")
    click(app, "Launch")
    (spec,) = calls
    assert (spec.price_read, spec.price_written, spec.budget, spec.timeout_s) == (0.15, 0.6, 2.5, 99.0)


def test_prompting_launches_on_a_server_what_it_can_do(open_page: Open, server: Loopback, calls: list[Any]):
    server.reset(most=5, echo=False)
    app = on_server(open_page, server.url, "prompting", "ways")
    assert app.segmented_control(key="ways_forms").options == ["by letter"]
    app.multiselect(key="ways_shots").set_value([0]).run()
    app.number_input(key="ways_repeats").set_value(2).run()
    click(app, "Launch")
    assert [(spec.form, spec.repeats, spec.servers) for spec in calls] == [("letters", 2, (server.url,))]


def test_perplexity_is_measured_on_a_server_and_its_link_shows_it(
    open_page: Open, server: Loopback, calls: list[Any], monkeypatch: pytest.MonkeyPatch
):
    talk = Conversation("a short talk", (Message("user", "I am sad."), Message("assistant", "Why are you sad?")))
    monkeypatch.setattr("core.models.perplexity.conversations.bundled", lambda: (talk,))
    app = on_server(open_page, server.url, "perplexity", "words")
    assert "The server reads about" in page_text(app)
    click(app, "Measure")
    (spec,) = calls
    assert (spec.model, spec.dtype, spec.servers, spec.form) == ("pocket-3m", "served", (server.url,), "losses")
    link = dict(app.query_params)
    assert link["models"] == spec.asked_model
    execute(spec)
    app = open_page("perplexity", **link)
    assert not app.error
    assert app.multiselect(key="words_models").value == [spec.asked_model]  # no server has to be connected
    assert "not measured yet" not in page_text(app)
    assert any(spec.asked_model in table.to_string().replace("\u2060", "") for table in static_tables(app))
    assert "Whether the server still holds the weights that were measured is known once it is connected" in page_text(
        app
    )
    app = on_server(open_page, server.url, "perplexity", "words")
    assert perplexities_shown(app)
    assert "holds" not in page_text(app)
    with server.other_weights():
        text = page_text(on_server(open_page, server.url, "perplexity", "words"))
    assert "The server holds other weights by this name now than when these words were measured" in text


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> list[TokenText]:
    """The texts that the page asks for, which are read at once."""
    texts: list[TokenText] = []

    def read(text: TokenText) -> None:
        texts.append(text)
        worker._read(text, ModelCache(), lambda stage, **values: None)

    monkeypatch.setattr(client, "ask", read)
    monkeypatch.setattr(client, "progress", lambda name, wait_s=0.0: AnswerProgress(name, "answered"))
    return texts


def test_tokens_are_shown_of_a_model_on_a_server(
    open_page: Open, server: Loopback, heard: list[TokenText], monkeypatch: pytest.MonkeyPatch
):
    server.reset(key="sk-planted-1")
    monkeypatch.setenv("PLANTED_API_KEY", "sk-planted-1")
    app = on_server(open_page, server.url, "tokens", "token", "PLANTED_API_KEY")
    heard.clear()  # the text that was there is read by the connected model
    app.text_area[0].set_value("The capital of Peru is Lima.").run()
    (text,) = heard
    assert text.model == f"pocket-3m@{server.url}"
    assert "The entropy is not known" in page_text(app)
    view = token_text.read_view(text)
    assert view is not None
    assert "".join(row["text"] for row in view["tokens"]).strip() == "The capital of Peru is Lima."


def test_a_jury_is_made_on_a_server(open_page: Open, server: Loopback, monkeypatch: pytest.MonkeyPatch):
    launched: list[Any] = []
    monkeypatch.setattr("core.runs.jury_job.launch", lambda spec, **terms: launched.append((spec, terms)))
    app = on_server(open_page, server.url, "jury", "jury")
    there = f"pocket-3m@{server.url}"
    assert app.selectbox(key="jury_base_served").value == there
    assert app.multiselect(key="jury_jurors_served").value == [there]
    app.text_input(key="jury_jurors").set_value("juror-3m")
    app.number_input(key="jury_budget_tokens").set_value(2_000_000)
    app.number_input(key="jury_samples").set_value(20)
    click(app, "Make this jury")
    ((spec, terms),) = launched
    assert (spec.base, spec.jurors, spec.samples) == (there, (there, "juror-3m"), 20)
    assert terms == {"price": Price(budget=2.0), "timeout_s": 120.0}


@pytest.mark.parametrize(
    ("page", "prefix", "words"),
    [
        ("perplexity", "words", "so the words of a conversation can't be scored. Use a server that gives them"),
        ("tokens", "token", "so a text can't be shown by token. Use a server that gives them"),
        ("jury", "jury", "so its models can't be jurors. They can give the answers."),
    ],
)
def test_what_needs_texts_says_so_before(open_page: Open, server: Loopback, page: str, prefix: str, words: str):
    server.reset(echo=False)
    app = on_server(open_page, server.url, page, prefix)
    assert words in page_text(app)


def test_a_run_that_reached_its_budget_is_resumed_with_a_larger_one(
    open_page: Open, server: Loopback, monkeypatch: pytest.MonkeyPatch
):
    resumed: list[Any] = []
    monkeypatch.setattr("core.runs.engine.resume", lambda run_id, budget=None: resumed.append((run_id, budget)))
    spec = RunSpec("pocket-3m", "qa", dtype="served", samples=100, servers=(server.url,), budget=3.0)
    reached = {"budget_reached": 3.0, "spent": [2_000_000, 900_000]}
    store.create(RunRecord(spec, "paused", 1.0, message="the budget of 3 is reached", provenance=reached))
    status = RunStatus(store.read_record(spec.run_id), "paused", "the budget of 3 is reached")
    monkeypatch.setattr("core.runs.engine.statuses", lambda: [status])
    app = open_page("new_run")
    assert "The budget of 3 is reached" in app.warning[0].value
    assert app.number_input(key=f"resume-{spec.run_id}-budget").value == 6_000_000
    click(app, "Resume with a larger budget")
    assert resumed == [(spec.run_id, 6.0)]


def test_a_server_that_fails_for_a_moment_is_checked_again_with_one_click(open_page: Open, server: Loopback):
    server.reset(breaks_on=lambda path, body: bool(body.get("echo")))
    app = on_server(open_page, server.url)
    assert "failed (HTTP status 500) each time when it was asked for the log-probabilities of a text" in page_text(app)
    assert app.segmented_control(key="launch_form").options == ["by letter"]
    server.reset()
    click(app, "Check again")
    assert "failed" not in page_text(app)
    assert "scores texts and writes answers" in page_text(app)
    server.reset(fault=lambda number: "500")
    click(app, "Connect")
    assert "fails with HTTP status 500" in page_text(app)
    assert "gives no log-probabilities" not in page_text(app)
    server.reset()
    click(app, "Check again")
    assert "scores texts and writes answers" in page_text(app)


def test_a_text_is_read_again_once_the_server_holds_other_weights_by_the_same_name(
    open_page: Open, server: Loopback, heard: list[TokenText]
):
    app = on_server(open_page, server.url, "tokens", "token")
    heard.clear()
    app.text_area[0].set_value("The capital of Peru is Lima.").run()
    app.run()
    assert len(heard) == 1
    assert "This text was read at" in page_text(app)
    server.reset(quantisation="Q4_K_M")
    app.button(key="token_connect").click().run()
    assert [text.weights and text.weights.told for text in heard] == ["loopback", "loopback · Q4_K_M · Q4_K_M"]
    assert "by loopback 1.2.3 Q4_K_M" in page_text(app).replace("\\", "")
    with pytest.raises(InputError, match="holds other weights by the name of pocket-3m than when it was last asked"):
        client.ask(heard[0])  # its connection is older than the server


@pytest.mark.parametrize("alone", [True, False])
def test_a_server_that_answers_decisions_is_asked_for_them(
    open_page: Open, server: Loopback, calls: list[Any], alone: bool
):
    server.reset(decisions=("/systemone", "/decisions"), completions=not alone, chat=not alone)
    app = on_server(open_page, server.url)
    said = "answers decisions: it gives the probability" if alone else "It also answers decisions, with the probability"
    assert said in page_text(app)
    others = [] if alone else ["plain text", "chat format"]
    control = app.segmented_control(key="launch_format")
    assert control.options == [*others, "System One decisions", "OpenAI decisions"]
    (known,) = remembered()
    formats = ("systemone", "decisions") if alone else ("plain", "chat", "systemone", "decisions")
    assert (known.model, known.formats) == ("pocket-3m", formats)
    app.segmented_control(key="launch_format").set_value("decisions").run()
    assert not [field for field in app.multiselect if field.key == "launch_shots"]
    assert app.segmented_control(key="launch_form").options == ["by letter"]
    click(app, "Launch")
    assert calls == [RunSpec("pocket-3m", "qa", dtype="served", samples=100, servers=(server.url,),
                             prompt_format="decisions")]  # fmt: skip
    assert calls[0].picks == 0


def test_a_server_that_only_answers_decisions_holds_jurors(
    open_page: Open, server: Loopback, monkeypatch: pytest.MonkeyPatch
):
    launched: list[Any] = []
    monkeypatch.setattr("core.runs.jury_job.launch", lambda spec, **terms: launched.append(spec))
    server.reset(decisions=("/systemone",), completions=False, chat=False)
    app = on_server(open_page, server.url, "jury", "jury")
    there = f"pocket-3m@{server.url}"
    assert there not in app.selectbox(key="jury_base").options
    assert app.multiselect(key="jury_jurors_served").value == [there]
    app.text_input(key="jury_jurors").set_value("juror-3m")
    click(app, "Make this jury")
    (spec,) = launched
    assert spec.jurors == (there, "juror-3m")
