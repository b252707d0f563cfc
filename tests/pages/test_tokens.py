"""Token uncertainty: the shipped texts and evaluations, a person's own, and what can't be read."""

import json
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from app.components.new_run import server_form
from app.formatting import plain
from core.reports import tokens
from core.reports.token_pairs import token_pairs, tokens_answer
from core.runs.answering import client, token_text
from core.runs.answering.custom_question import AnswerProgress
from core.runs.answering.token_text import TokenText
from core.settings import ASSETS
from tests.conftest import without_digests
from tests.core.runs.conftest import until
from tests.pages.conftest import Open, click, components, page_text, static_tables


def texts_by_token(app: AppTest) -> list[Any]:
    """The components that show a text by token."""
    return [component for component in components(app) if component.key == "token_text_view"]


def test_the_shipped_text_and_evaluations_are_shown(open_page: Open):
    app = open_page("tokens")
    views = tokens.recorded_views()
    assert len(views) == 3
    assert app.text_area[0].value == next(iter(views.values()))["text"]
    assert len(texts_by_token(app)) == 1
    assert "The stronger the orange of a token, the less the model expected it." in page_text(app)
    table = static_tables(app)[1]
    assert table["Adapter"].tolist() == ["base", "LoRA", "ARD-LoRA"]
    evaluations, _ = tokens.results()
    for cell, evaluation in zip(table["ECE beyond chance"], evaluations, strict=False):
        figures = evaluation.values["figures"]["ece"]
        assert cell == f"{figures['excess']:.3f} ({figures['low']:.3f} to {figures['high']:.3f})"
    assert table["ECE seen"].tolist() == [
        f"{evaluation.values['figures']['ece']['value']:.3f}" for evaluation in evaluations[:3]
    ]
    pairs = token_pairs(evaluations[:3], [str(evaluation.values["model"]) for evaluation in evaluations[:3]])
    assert app.header[0].value == plain(tokens_answer(pairs)[0])
    paired = static_tables(app)[0]
    assert paired["Less surprised"].tolist() == [pair.second for pair in pairs]
    assert len(app.get("vega_lite_chart")) == 2  # reliability, and the ARD-LoRA's ranks


def test_an_infinite_nll_is_shown_as_such(open_page: Open, home):
    values = without_digests(ASSETS / "tokens" / "1-base.json")
    values |= {"model": "mine", "nll": None, "nll_infinite": 3}
    values["figures"]["nll"] |= {"value": None, "low": None, "high": None, "infinite": 3}
    (home / "tokens").mkdir(parents=True)
    (home / "tokens" / "mine.json").write_text(json.dumps(values))
    app = open_page("tokens")
    names = app.multiselect(key="evaluations").options
    app.multiselect(key="evaluations").set_value([next(i for i, name in enumerate(names) if "mine" in name)]).run()
    assert static_tables(app)[0]["NLL"].tolist() == [f"∞ (3 of {values['n_samples']:,} with probability 0)"]


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> list[TokenText]:
    """The page's questions. The fixture answers at once with the recorded view."""
    texts: list[TokenText] = []

    def answered(request: TokenText) -> None:
        texts.append(request)
        view = next(iter(tokens.recorded_views().values())) | {"text": request.text, "window": 512}
        token_text.write_view(request, view)

    monkeypatch.setattr(client, "ask", answered)
    monkeypatch.setattr(client, "progress", lambda name, wait_s=0.0: AnswerProgress(name, "answered"))
    return texts


@pytest.mark.nightly
def test_ones_own_text_is_asked_of_the_model(open_page: Open, fake_home: Path):
    """The real server with its worker and the shipped model."""
    app = open_page("tokens")
    app.text_area[0].set_value("Rome is in Italy.").run()
    own_text = token_text.token_text("pocket-3m", "Rome is in Italy.")
    until(lambda: client.progress(own_text.answer_id).ended, "the tokens")
    app.run()
    assert "Try again" not in [button.label for button in app.button]
    (text,) = texts_by_token(app)
    data = json.loads(text.proto.mixed.json or text.proto.json)
    assert "".join(row["text"] for row in data["tokens"]) == "Rome is in Italy."


def test_ones_own_text_stays_whichever_model_is_chosen(open_page: Open, requests: list[TokenText]):
    """Also while the form of a server, which has no model yet, is shown."""
    app = open_page("tokens")
    shipped = list(tokens.recorded_views())
    app.text_area[0].set_value("Grüße aus Rom").run()
    for model in (shipped[1], "another model", shipped[0]):
        app.button_group(key="model").set_value(model).run()
        assert app.text_area[0].value == "Grüße aus Rom"
        if model == "another model":
            app.button_group(key="token_place").set_value(server_form.SERVER).run()
            assert app.text_area[0].value == "Grüße aus Rom"
    assert {Path(request.model).name for request in requests} == set(shipped[:2])


def test_a_long_text_is_read_to_its_end_and_the_limit_is_said(open_page: Open, requests: list[TokenText]):
    app = open_page("tokens")
    assert "At most 20,000 characters" in app.text_area[0].help
    long = "Rome is. " * 5000
    app.text_area[0].set_value(long[:20_000]).run()
    assert [request.text for request in requests] == [long[:20_000]]
    assert "reads 512 tokens at once, fewer than the text has" in page_text(app)
    app.text_area[0].set_value(long[:20_001]).run()
    assert len(requests) == 1
    assert "The text has 20,001 characters, but at most 20,000 can be read. Remove 1 character." in page_text(app)
    assert not texts_by_token(app)


def test_a_refusal_is_a_sentence(open_page: Open, monkeypatch: pytest.MonkeyPatch):
    texts: list[TokenText] = []
    refused = "the text is a single token, with nothing before it to predict it from; write more"
    monkeypatch.setattr(client, "ask", texts.append)
    monkeypatch.setattr(client, "progress", lambda name, wait_s=0.0: AnswerProgress(name, "failed", refused))
    app = open_page("tokens")
    app.text_area[0].set_value("a").run()
    app.run()
    assert "The text is a single token" in page_text(app)
    assert len(texts) == 1  # what was refused is asked again only when a person wants it
    click(app, "Try again")
    assert len(texts) == 2


def test_a_file_that_is_no_evaluation_is_named(open_page: Open, home):
    folder = home / "tokens"
    folder.mkdir(parents=True)
    (folder / "odd.json").write_text("{")
    (folder / "half.json").write_text(json.dumps({"model": "x", "kind": "base"}))
    app = open_page("tokens")
    assert "odd.json is no token evaluation" in page_text(app)
    assert "it lacks data, n_samples" in page_text(app)


def test_losses_of_texts_that_cannot_be_used_are_named(open_page: Open, home):
    values = without_digests(ASSETS / "tokens" / "1-base.json")
    values["texts"]["loss"] = values["texts"]["loss"][:-1]
    (home / "tokens").mkdir(parents=True)
    (home / "tokens" / "mine.json").write_text(json.dumps(values))
    assert "mine.json is damaged, because its figures can't be used" in page_text(open_page("tokens"))


def test_a_link_opens_the_model_and_the_evaluations(open_page: Open):
    model, evaluations = list(tokens.recorded_views())[1], tokens.results()[0]
    app = open_page("tokens", model=model, evaluations=evaluations[2].name)
    assert not app.warning
    assert app.button_group(key="model").value == model
    assert app.multiselect(key="evaluations").value == [2]
    assert dict(app.query_params) == {"model": model, "evaluations": evaluations[2].name}


def test_a_link_to_a_model_that_is_not_here_is_named(open_page: Open):
    app = open_page("tokens", model="pocket-900b", evaluations="nobody's")
    assert [warning.value.replace("\\", "") for warning in app.warning] == [
        "The link's model is “pocket-900b”, which is not here (it may have been deleted).",
        "The link's evaluations is “nobody's”, which is not here (it may have been deleted).",
    ]
    assert app.button_group(key="model").value == next(iter(tokens.recorded_views()))
