"""Pages after the weights in a model's folder were replaced: none shows an earlier result as one of the model."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.models.adapters import token_evaluation
from core.models.model_fingerprint import fingerprint, short
from core.models.perplexity.prompts import EMPTY, FITTING, UNFITTING
from core.models.perplexity.request import Request
from core.reports.report import finite
from core.runs import store
from core.runs.answering import client
from core.runs.answering.custom_question import AnswerProgress, CustomQuestion, write_answer
from core.runs.answering.model_cache import ModelCache
from core.runs.answering.token_text import TokenText
from core.runs.answering.worker import _read, answer
from core.runs.execution import perplexity_run
from core.runs.execution.execute import execute
from core.runs.spec import RunSpec
from core.settings import settings
from tests.conftest import without_digests
from tests.core.runs.answering.conftest import OPTIONS
from tests.pages.conftest import Open, page_text, static_tables
from tests.pages.test_own_question import fill
from tests.pages.test_perplexity import TALK, perplexities_shown
from tests.replaced import own_model, replace_weights


@pytest.fixture
def model(home: Path, tmp_path: Path) -> Path:
    return own_model(tmp_path / "mine")


def nothing(*stage: object, **values: object) -> None:
    """Hears of the progress."""


def warnings(app: AppTest, words: str) -> list[str]:
    """The warnings with these words, as a person reads them."""
    return [text for each in app.warning if words in (text := each.value.replace("\\", ""))]


def test_an_answer_of_other_weights_is_named_as_such(open_page: Open, model: Path):
    run_id = execute(RunSpec(str(model), "qa", samples=40))
    own = CustomQuestion(str(model), run_id, "What is the capital of France?", OPTIONS)
    first = answer(own, ModelCache(), nothing)
    write_answer(first)
    app = open_page("one_question", ask="own", run=run_id, answer=own.answer_id)
    assert f"weights {short(first.weights)}" in page_text(app)
    assert not warnings(app, "weights")
    replace_weights(model)
    app.run()
    then, now = short(first.weights), short(fingerprint(str(model)))
    (warning,) = warnings(app, "weights")
    assert f"The weights of mine ({now}) are not those that gave this answer ({then})." in warning
    second = answer(own, ModelCache(), nothing)
    write_answer(second)
    app.run()
    (warning,) = warnings(app, "that calibrates")
    assert f"The weights of mine that answered ({now}) are not those of the run that calibrates ({then})." in warning
    assert "The guarantee does not hold here" in warning
    # An answer of an older version does not know its weights.
    write_answer(replace(second, weights=""))
    assert "(weights not recorded)" in page_text(app.run())


def test_a_question_is_calibrated_by_the_run_of_the_weights_that_are_there(
    open_page: Open, model: Path, monkeypatch: pytest.MonkeyPatch
):
    questions: list[CustomQuestion] = []
    monkeypatch.setattr(client, "ask", questions.append)
    monkeypatch.setattr(client, "progress", lambda name, wait_s=0.0: AnswerProgress(name, "failed", "Not now."))
    first = execute(RunSpec(str(model), "qa", samples=40))
    replace_weights(model)
    second = execute(RunSpec(str(model), "qa", samples=40))
    fill(open_page("one_question", ask="own", run=first), "What is the capital of France?", "\n".join(OPTIONS))
    assert [own.run_id for own in questions] == [second] != [first]


def test_a_text_is_read_again(open_page: Open, model: Path, monkeypatch: pytest.MonkeyPatch):
    texts: list[TokenText] = []

    def read(text: TokenText) -> None:
        texts.append(text)
        _read(text, ModelCache(), nothing)

    monkeypatch.setattr(client, "ask", read)
    monkeypatch.setattr(client, "progress", lambda name, wait_s=0.0: AnswerProgress(name, "answered"))
    app = open_page("tokens", model="another model")
    app.text_input(key="token_own").set_value(str(model)).run()
    texts.clear()  # the text that was there is read by the chosen model
    app.text_area[0].set_value("Rome is in Italy.").run()
    assert f"Read with weights {short(fingerprint(str(model)))}" in page_text(app)
    app.run()
    assert len(texts) == 1
    replace_weights(model)
    app.run()
    assert len(texts) == 2
    assert f"Read with weights {short(fingerprint(str(model)))}" in page_text(app)


def test_evaluations_before_and_after_have_names_of_their_own(open_page: Open, model: Path):
    for _ in range(2):
        loaded = token_evaluation.load(str(model))
        token_evaluation.write(finite(token_evaluation.evaluate(loaded, "trivia", count=200)), loaded, None)
        replace_weights(model)
    path = next((settings().home / "tokens").glob("mine-*.json"))
    older = without_digests(path) | {"data": "older"}
    del older["weights"], older["notes"], older["file"]
    (path.parent / "older.json").write_text(json.dumps(older))
    app = open_page("tokens")
    chosen = app.multiselect(key="evaluations")
    mine = [i for i, name in enumerate(chosen.options) if name.startswith("mine on")]
    assert len({chosen.options[i] for i in mine}) == len(mine) == 3
    chosen.set_value(mine).run()
    (weights,) = (table["Weights"].tolist() for table in static_tables(app) if "Weights" in table)
    assert weights.count("not recorded") == 1
    assert len(set(weights)) == 3


def test_words_are_measured_again(open_page: Open, model: Path):
    request = Request((FITTING, UNFITTING, EMPTY), (TALK,))

    def page():
        return open_page("perplexity", models=str(model), talks=TALK.digest)

    execute(perplexity_run.spec_of(request, str(model)))
    app = page()
    before = perplexities_shown(app)
    assert len(before) == 2
    assert not [button for button in app.button if button.key == "words_measure"]
    replace_weights(model)
    app = page()
    assert not perplexities_shown(app)
    assert "are not measured yet" in page_text(app)
    assert [button for button in app.button if button.key == "words_measure"]
    execute(perplexity_run.spec_of(request, str(model)))
    app = page()
    after = perplexities_shown(app)
    assert len(after) == 2
    assert after != before


def test_words_of_an_older_version_are_shown_and_marked(open_page: Open, model: Path):
    run_id = execute(perplexity_run.spec_of(Request((FITTING, UNFITTING, EMPTY), (TALK,)), str(model)))
    record = store.read_record(run_id)
    older = replace(record, spec=replace(record.spec, model_fingerprint=""))
    folder = store.create(older)
    (store.folder_of(run_id) / perplexity_run.FILE).rename(folder / perplexity_run.FILE)
    (store.folder_of(run_id) / "run.json").unlink()
    app = open_page("perplexity", models=str(model), talks=TALK.digest)
    assert len(perplexities_shown(app)) == 2
    assert "Weights not recorded: an older version measured some of this" in page_text(app)
    assert [button for button in app.button if button.key == "words_measure"]
