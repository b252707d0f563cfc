"""The Perplexity page: measuring, launching, and the messages where nothing can be measured."""

import json
import re
from functools import partial

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from app.caches import live_runs
from app.components.perplexity import perplexity_form
from app.components.perplexity.perplexity_figures import verdict
from app.formatting import plain, rounded, signed
from core.models.perplexity import choices, conversations
from core.models.perplexity.choices import Choice
from core.models.perplexity.conversation_files import parse
from core.models.perplexity.conversations import Conversation, Message
from core.models.perplexity.figures import Paired, token_weighted
from core.models.perplexity.prompts import EMPTY, FITTING, UNFITTING, SystemPrompt
from core.models.perplexity.request import Request
from core.reports import perplexity as reports
from core.reports import perplexity_results
from core.runs import store
from core.runs.execution import perplexity_run
from core.runs.execution.execute import execute
from core.runs.status import RunStatus
from tests.pages.conftest import Open, components, page_text, static_tables, unfolded

MODEL = "pocket-1m"
TALK = Conversation(
    "a short talk",
    tuple(
        Message(role, text)
        for role, text in (
            ("assistant", "Hi."),
            ("user", "I am sad."),
            ("assistant", "Why are you sad?"),
            ("user", "I lost *my* ball."),
            ("assistant", "That sounds <b>hard</b>."),
        )
    ),
)
CHOICES = tuple(Choice((Message("user", f"I am sad, {i}."),), ("Why?", "Ball.", "No.", "Go."), i % 4) for i in range(6))


def measure(*prompts: SystemPrompt, **changes) -> str:
    request = Request(prompts or (FITTING, UNFITTING, EMPTY), **({"conversations": (TALK,)} | changes))
    return execute(perplexity_run.spec_of(request, MODEL))


def perplexities_shown(app: AppTest) -> list[str]:
    """The perplexities under A and B in the sentence below the answer; none if nothing is measured."""
    text = next((element.value for element in app.markdown if element.value.startswith("Perplexity of")), "")
    return re.findall(r"([\d,.]+|∞) under [AB]", text.replace("\\", ""))


def test_an_empty_home_says_what_would_be_here_and_asks_for_it(open_page: Open, monkeypatch: pytest.MonkeyPatch):
    specs = []
    monkeypatch.setattr("core.runs.engine.submit", lambda spec: specs.append(spec) or spec.run_id)
    app = open_page("perplexity")
    assert "Prompts A and B are not measured yet" in page_text(app)
    assert app.selectbox(key="words_a").value == FITTING.digest
    assert app.selectbox(key="words_b").value == UNFITTING.digest
    assert len(app.multiselect(key="words_talks").value) == 9
    app.text_area(key="words_b_text").set_value("You are a pirate.").run()
    pirate = SystemPrompt("x", "You are a pirate.").digest
    assert f"This is an edited prompt, version {pirate}." in page_text(app)
    app.button(key="words_measure").click().run()
    (spec,) = specs
    request = perplexity_run.read_request(spec)
    assert [prompt.text for prompt in request.prompts] == [FITTING.text, "You are a pirate.", ""]
    assert request.conversations == conversations.bundled()
    assert (request.mode, request.exchanges) == ("standard", 2)


def test_while_something_is_measured_nobody_is_told_to_press_measure(open_page: Open, monkeypatch: pytest.MonkeyPatch):
    record = store.RunRecord(perplexity_run.spec_of(Request((FITTING, UNFITTING), (TALK,)), MODEL), "running", 1.0)
    now = RunStatus(record, "running", "", worker="here:cpu", worker_alive=True)
    monkeypatch.setattr("core.runs.engine.statuses", lambda: [now])
    monkeypatch.setattr(live_runs, "WAIT_S", 60.0)  # on a busy machine a page is drawn without the latest answer
    app = open_page("perplexity")
    assert "shown here when the measurement has ended" in page_text(app)
    assert "Press “Measure”" not in page_text(app)


def test_figures_are_those_of_the_run_and_the_view_is_in_the_address(open_page: Open):
    name = measure()
    messages = perplexity_results.read(name).messages
    app = open_page("perplexity", models=MODEL, talks=TALK.digest, message="2")
    a, b = (messages[prompt.digest, TALK.digest] for prompt in (FITTING, UNFITTING))
    pair = reports.overall({"t": a}, {"t": b})
    assert perplexities_shown(app) == [rounded(token_weighted(a)), rounded(token_weighted(b))]
    assert f"A − B is {signed(pair.mean, 3)} nats per token" in page_text(app).replace("\\", "")
    assert f"p = {pair.p_value:.2g}" in page_text(app).replace("\\", "")
    assert "no chat template" in page_text(app)
    strip = json.loads(components(app)[0].proto.json)
    assert strip["pieces"] == list(a[1].pieces)
    assert "".join(strip["pieces"]) == "That sounds <b>hard</b>."
    assert np.allclose(strip["a"], a[1].losses)
    assert np.allclose(strip["b"], b[1].losses)
    assert "words_measure" not in [button.key for button in app.button]
    app.selectbox(key="words_message").set_value(1).run()
    assert "message" not in dict(app.query_params)
    app.selectbox(key="words_b").set_value(EMPTY.digest).run()
    assert dict(app.query_params)["b"] == EMPTY.digest
    assert perplexities_shown(app)[1] == rounded(token_weighted(messages[EMPTY.digest, TALK.digest]))


def test_a_model_that_is_worse_than_uniform_guessing_is_said_to_be(open_page: Open):
    name = measure()
    perplexities = perplexity_results.read(name)
    assert perplexities.vocabulary == 2048
    worse = token_weighted(perplexities.messages[FITTING.digest, TALK.digest]) > 2048
    app = open_page("perplexity", models=MODEL, talks=TALK.digest)
    assert "equally likely has a perplexity of 2,048 (11.0 bits per token)" in page_text(app)
    assert any("worse than uniform guessing" in warning.value for warning in app.warning) == worse
    # A run of before the vocabulary was recorded has no line, and a sentence that says so.
    provenance = store.read_record(name).provenance
    del provenance["engine"]["vocabulary"]
    store.update_record(name, provenance=provenance)
    app = open_page("perplexity", models=MODEL, talks=TALK.digest)
    assert "did not record how many tokens the model has" in page_text(app)
    assert not app.warning


def test_only_what_is_missing_is_asked_for(open_page: Open, monkeypatch: pytest.MonkeyPatch):
    measure(FITTING, EMPTY)
    specs = []
    monkeypatch.setattr("core.runs.engine.submit", lambda spec: specs.append(spec) or spec.run_id)
    app = open_page("perplexity", models=MODEL, talks=TALK.digest)
    app.button(key="words_measure").click().run()
    (spec,) = specs
    request = perplexity_run.read_request(spec)
    assert (request.prompts, request.conversations) == ((UNFITTING,), (TALK,))


def test_a_link_to_an_edited_prompt_opens_it(open_page: Open):
    pirate = SystemPrompt("Minister, edited", "You are a pirate.")
    measure(FITTING, pirate, EMPTY)
    app = open_page("perplexity", models=MODEL, talks=TALK.digest, b=pirate.digest)
    assert app.text_area(key="words_b_text").value == "You are a pirate."
    assert len(perplexities_shown(app)) == 2
    app = open_page("perplexity", b="0123456789")
    assert "Prompt B of the link is not here" in page_text(app)


def test_two_ways_do_not_mix(open_page: Open):
    measure()
    app = open_page("perplexity", models=MODEL, talks=TALK.digest, mode="published")
    assert perplexities_shown(app) == []
    measure(mode="published")
    app = open_page("perplexity", models=MODEL, talks=TALK.digest, mode="published")
    assert len(perplexities_shown(app)) == 2
    app = open_page("perplexity", models=MODEL, talks=TALK.digest, window="all")
    assert perplexities_shown(app) == []


def test_conversations_of_one_name_stay_apart(open_page: Open, monkeypatch: pytest.MonkeyPatch):
    # AppTest sends a choice by its label when a page runs again, so the table has to be open from the start.
    monkeypatch.setattr(st, "expander", partial(st.expander, expanded=True))
    other = Conversation(TALK.name, (*TALK.messages[:3], Message("user", "Go on."), Message("assistant", "I see.")))
    measure(conversations=(TALK, other))
    app = open_page("perplexity", models=MODEL, talks=f"{TALK.digest},{other.digest}")
    table = app.dataframe[0].value
    assert sorted(set(table["conversation"])) == sorted(
        [reports.ALL, f"{TALK.name} {TALK.digest[:4]}", f"{TALK.name} {other.digest[:4]}"]
    )
    assert table["messages"].tolist() == [2] * 6 + [4] * 3


def test_a_failed_run_is_said(open_page: Open, monkeypatch: pytest.MonkeyPatch):
    def fail(spec):
        store.create(store.RunRecord(spec=spec, state="failed", created=1.0, message="the prompt is too long"))
        return spec.run_id

    monkeypatch.setattr("core.runs.engine.submit", fail)
    app = open_page("perplexity")
    app.button(key="words_measure").click().run()
    assert "The prompt is too long." in page_text(app)


def test_choices_have_accuracy_and_sets(open_page: Open):
    name = measure(FITTING, UNFITTING, EMPTY, choices=CHOICES)
    messages = perplexity_results.read(name).messages[FITTING.digest, choices.digest_of(CHOICES)]
    app = open_page("perplexity", models=MODEL, talks=TALK.digest)
    unfolded(app, "choices_open")
    source = choices.digest_of(CHOICES)
    app.selectbox(key="choices_of").set_value(source).run()
    table = next(table for table in static_tables(app) if "Accuracy" in table)
    choice_figures = reports.chosen(messages, [choice.label for choice in CHOICES])
    assert table["Prompt"].tolist() == ["Counselor", "Minister", "No prompt"]
    assert table["Accuracy"][0].startswith(f"{choice_figures.accuracy:.1%} (")
    assert reports.choice_sets(choice_figures, 100).mean_size == 4  # 3 choices calibrate
    assert table["LAC set size"][0].startswith("4.00 (")
    assert "With 3 calibration choices, alpha can't be smaller than 0.250" in page_text(app)
    app.slider(key="choices_alpha").set_value(0.5).run()
    assert dict(app.query_params)["alpha"] == "500"
    assert "alpha can't be smaller" not in page_text(app)


def test_an_uploaded_file_of_choices_is_selected_once(open_page: Open):
    measure(choices=CHOICES)
    app = open_page("perplexity", models=MODEL, talks=TALK.digest)
    unfolded(app, "choices_open")
    before = choices.digest_of(CHOICES)
    app.selectbox(key="choices_of").set_value(before).run()
    mine = CHOICES[:4]
    content = "".join(json.dumps(choice.to_json()) + "\n" for choice in mine).encode()
    uploaded = choices.digest_of(mine)
    app.file_uploader(key="choices_file").set_value(("mine.jsonl", content, "text/plain")).run()
    assert app.selectbox(key="choices_of").value == uploaded
    app.selectbox(key="choices_of").set_value(before).run()
    assert app.selectbox(key="choices_of").value == before
    app.run()
    assert app.selectbox(key="choices_of").value == before


def test_an_uploaded_conversation_that_is_known_is_selected_too(open_page: Open):
    measure()
    app = open_page("perplexity", models=MODEL)
    assert TALK.digest not in app.multiselect(key="words_talks").value
    content = "".join(f"{message.role}: {message.text}\n" for message in TALK.messages)
    assert parse(content.encode(), f"{TALK.name}.txt").conversations[0].digest == TALK.digest
    app.file_uploader(key="words_files").set_value([(f"{TALK.name}.txt", content.encode(), "text/plain")]).run()
    assert app.multiselect(key="words_talks").value == [TALK.digest]
    shipped = conversations.bundled()[0].digest
    app.multiselect(key="words_talks").set_value([shipped]).run()
    assert app.multiselect(key="words_talks").value == [shipped]


def test_words_of_a_run_are_no_run_of_answers(open_page: Open):
    measure()
    for page in ("overview", "compare", "alpha_lab", "one_question", "new_run"):
        app = open_page(page)
        assert not app.error


def test_results_that_are_uploaded_as_a_conversation_are_taken_to_data(open_page: Open):
    app = open_page("perplexity")
    table = b"A,B,label\n0.7,0.3,A\n0.2,0.8,B\n0.6,0.4,A\n0.1,0.9,B\n"
    app.file_uploader(key="words_files").set_value([("mine.csv", table, "text/csv")]).run()
    assert "mine.csv is a table of option probabilities. It belongs on the page Data" in page_text(app)
    app.button(key="carry-mine.csv").click().run()
    assert "mine.csv was taken here from another page." in page_text(app)
    assert [button.label for button in app.button if button.label.startswith("Import")] == ["Import 1 run"]


@pytest.mark.quick
def test_a_page_keeps_the_latest_uploads_as_many_as_there_is_room_for(monkeypatch: pytest.MonkeyPatch):
    """A file that was removed no longer counts as an upload, and what was read from it stays."""
    monkeypatch.setattr(perplexity_form, "MOST_CHARACTERS", 150)  # the talk has 69
    uploaded = dict.fromkeys("abcd", TALK)
    assert list(perplexity_form._latest(uploaded)) == ["c", "d"]
    monkeypatch.setattr(perplexity_form, "MOST_CHARACTERS", 1)
    assert list(perplexity_form._latest(uploaded)) == ["d"]


def test_a_verdict_is_given_only_where_the_test_can_tell(open_page: Open):
    """Two messages give a p-value of 0.5 at least, and of two conversations the interval alone may lack 0."""
    unknown = "Can't tell under which prompt the counselor's words are more likely"
    assert verdict(Paired(60, 2, -0.3, -0.4, -0.2, 0.5), "X", "Y", 40, 54) == unknown
    assert verdict(Paired(60, 9, 0.1, -0.1, 0.3, 0.4), "X", "Y", 54, 50) == unknown
    assert verdict(Paired(60, 9, -0.3, -0.4, -0.2, 0.004), "X", "Y", 40, 54).startswith(
        "Prompt A (X) makes the counselor's words more likely: a token is 1.35 times as likely as under B (Y)"
    )
    measure()
    app = open_page("perplexity", models=MODEL, talks=TALK.digest)
    assert app.header[0].value == plain(unknown)


def test_choices_that_ship_are_offered_for_models_that_can_tell_them(open_page: Open):
    """The pocket models are right on none, because they find every text by a model more likely."""
    measure(choices=CHOICES)
    for models, is_offered in ((MODEL, False), (f"{MODEL},./another", True)):
        app = unfolded(open_page("perplexity", models=models, talks=TALK.digest), "choices_open")
        words = app.selectbox(key="choices_of").options
        assert any(option.startswith("shipped with Hedge") for option in words) == is_offered


def test_a_file_of_choices_stays_with_the_person_who_uploaded_it(open_page: Open):
    def offered(app: AppTest) -> list[str]:
        unfolded(app, "choices_open")
        return [option for choice in app.selectbox if choice.key == "choices_of" for option in choice.options]

    models = f"{MODEL},./another"
    before = offered(open_page("perplexity", models=models, talks=TALK.digest))
    app = unfolded(open_page("perplexity", models=models, talks=TALK.digest), "choices_open")
    content = "".join(json.dumps(choice.to_json()) + "\n" for choice in CHOICES).encode()
    app.file_uploader(key="choices_file").set_value(("mine.jsonl", content, "text/plain")).run()
    assert len(offered(app)) == len(before) + 1
    assert offered(open_page("perplexity", models=models, talks=TALK.digest)) == before
