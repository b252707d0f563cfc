"""A question of one's own on the page: a real worker, a fake model, and nothing typed that is lost."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from app.components.shared.runs import title
from core.records import DONT_KNOW, NONE_OF_ABOVE
from core.reports import evaluation
from core.reports.one_question import asked, bench
from core.runs import store
from core.runs.answering import client, custom_question
from core.runs.execution.execute import execute
from core.runs.spec import RunSpec
from core.settings import settings
from tests.conftest import synthetic_run
from tests.core.runs.conftest import until
from tests.pages.conftest import Open, click, listed, opened_picker, page_text, pick, sent, unfolded


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished run of the fake model, of the bank's questions."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEDGE_HOME", str(tmp_path_factory.mktemp("finished") / "home"))
        patch.delenv("HEDGE_DATABASE_URL", raising=False)
        patch.setenv("HEDGE_FAKE_ENGINE", "{}")
        return store.folder_of(execute(RunSpec(model="fake", task="qa", samples=40)))


@pytest.fixture
def run_id(fake_home: Path, finished: Path) -> str:
    """That run in a home of the test's own."""
    shutil.copytree(finished, settings().runs / finished.name)
    return finished.name


def fill(app: AppTest, question: str, options: str, *, context: str = "", extra: bool | None = True) -> AppTest:
    app.text_area(key="own_question").set_value(question)
    app.text_area(key="own_options").set_value(options)
    app.text_area(key="own_context").set_value(context)
    if extra is not None:
        app.toggle(key="own_extra").set_value(extra)
    return press_ask(app)


def press_ask(app: AppTest) -> AppTest:
    return app.button(key="own_ask").click().run()


def answered(app: AppTest) -> AppTest:
    """The page once the answer is there."""
    name = app.query_params["answer"]
    until(lambda: client.progress(name).ended, "the answer")
    return app.run()


def typed_fields(app: AppTest) -> tuple[Any, ...]:
    return tuple(app.text_area(key=f"own_{name}").value for name in ("question", "options", "context"))


def test_without_a_run_that_calibrates_it_says_so(open_page: Open):
    app = open_page("one_question", ask="own")
    assert "once a run has ended" in page_text(app)
    assert [button.label for button in app.button] == ["Launch the first run"]


def test_a_typed_question_gets_its_set_by_the_runs_calibration(open_page: Open, run_id: str):
    app = open_page("one_question", ask="own", run=run_id, alpha="150")
    assert "have 4 options, and “I don't know” and “None of the above” besides" in app.text_area(key="own_options").help
    app = answered(fill(app, "What is the capital of France?", "Paris\nLondon\n\n Rome \nBerlin\n"))
    assert not app.error
    assert not app.warning
    answer = custom_question.read_answer(app.query_params["answer"])
    assert answer.options == ("Paris", "London", "Rome", "Berlin", DONT_KNOW, NONE_OF_ABOVE)
    data = sent(app, "question")
    by = bench(evaluation.load(run_id))
    probabilities, standings = asked(by, answer.logits)
    assert data["truth"] == -1
    assert data["alpha"] == 150
    assert [standing["counts"] for standing in data["scores"]] == [standing.counts.tolist() for standing in standings]
    assert app.dataframe[0].value["probability"].tolist() == probabilities.tolist()
    assert "answered in" in page_text(app)
    assert app.code[0].value == answer.prompt
    # The link alone brings it back, question and all.
    again = open_page("one_question", **{name: app.query_params[name] for name in ("ask", "run", "alpha", "answer")})
    assert sent(again, "question")["scores"] == data["scores"]
    assert typed_fields(again) == ("What is the capital of France?", "Paris\nLondon\nRome\nBerlin", "")
    # It can be taken along as a file.
    unfolded(again, "question_embed")
    assert not again.error
    assert any("_alpha-0.15_one-question.html" in str(code.value) for code in again.code)


def test_another_number_of_options_is_out_of_the_guarantee(open_page: Open, run_id: str):
    app = answered(fill(open_page("one_question", ask="own", run=run_id), "What?", "x\ny", extra=False))
    (warning,) = app.warning
    text = warning.value.replace("\\", "")
    assert text.startswith(
        "Your question has 2 options, but the questions that calibrated this set have 6. The guarantee"
    )
    assert "may miss the right answer more often than alpha says" in text
    assert f"It needs 4 typed options with “{DONT_KNOW}” and “{NONE_OF_ABOVE}” offered as well." in text
    assert len(sent(app, "question")["options"]) == 2


def test_another_models_calibration_is_out_of_the_guarantee(open_page: Open, run_id: str):
    other = synthetic_run(60, model="somebody")
    app = open_page("one_question", ask="own", run=run_id)
    pick(app, other)
    app = answered(fill(app, "What?", "x\ny\nz\nw"))
    assert "fake answered, but the calibration is that of somebody. The guarantee does not hold here" in page_text(app)


def test_the_models_own_runs_come_first(open_page: Open, run_id: str):
    synthetic_run(60, model="later")
    app = open_page("one_question", ask="own", run=run_id)
    assert app.selectbox(key="own_model").value == "fake"
    assert calibration(app) == (title(store.read_record(run_id)), "chosen automatically")
    opened_picker(app)
    assert [name.split()[0] for name in listed(app)] == ["fake"]
    app.pills(key="calibrated_by_pick_models").set_value([]).run()
    assert sorted(name.split()[0] for name in listed(app)) == ["fake", "later"]
    app.selectbox(key="own_model").set_value("later").run()
    assert calibration(app)[0].startswith("later")
    assert [name.split()[0] for name in listed(app)] == ["later"]


def test_a_chosen_calibration_stays_until_another_model_is_chosen(open_page: Open, run_id: str):
    other = synthetic_run(60, model="later")
    app = open_page("one_question", ask="own", run=run_id)
    pick(app, run_id)
    assert app.query_params["calibration"] == app.query_params["run"] == run_id
    assert calibration(app)[1] == "chosen by you"
    app.selectbox(key="own_model").set_value("later").run()
    assert "calibration" not in app.query_params
    assert calibration(app)[0].startswith("later")
    again = open_page("one_question", ask="own", run=run_id, calibration=other)
    assert again.selectbox(key="own_model").value == "later"
    assert calibration(again) == (title(store.read_record(other)), "chosen by you")
    again.button(key="own_automatic").click().run()
    assert "calibration" not in again.query_params
    assert calibration(again)[1] == "chosen automatically"


def calibration(app: AppTest) -> tuple[str, str]:
    """The run that calibrates, and who chose it."""
    return app.button(key="calibrated_by_choose").label.replace("\\", "").removeprefix("Calibrated by "), next(
        caption.value for caption in app.caption if caption.value.startswith("chosen")
    )


def with_passages() -> str:
    """A finished run of the fake model whose questions have a passage before them."""
    return execute(RunSpec(model="fake", task="rc", samples=40))


def test_a_question_with_a_passage_is_calibrated_by_questions_with_a_passage(open_page: Open, run_id: str):
    reading = with_passages()
    app = open_page("one_question", ask="own", run=run_id)
    app = answered(fill(app, "Who went?", "a\nb\nc\nd", context="Anna went to the market."))
    assert custom_question.read_answer(app.query_params["answer"]).own.run_id == reading
    assert not app.warning
    app = answered(fill(app, "What?", "a\nb\nc\nd"))
    assert custom_question.read_answer(app.query_params["answer"]).own.run_id == run_id
    pick(app, reading)
    app = answered(fill(app, "What else?", "a\nb\nc\nd"))
    assert "Your question has no text before it, but the calibration questions" in page_text(app)
    assert "The guarantee does not hold here" in page_text(app)


def test_several_fields_that_have_to_be_changed_each_have_a_sentence_and_nothing_is_lost(open_page: Open, run_id: str):
    app = fill(open_page("one_question", ask="own", run=run_id), "", "one", context="a context")
    assert [error.value.replace("\\", "") for error in app.error] == [
        "The question is empty; type one.",
        "A question needs at least 2 options, one per line; there is only 1.",
    ]
    assert typed_fields(app) == ("", "one", "a context")
    assert "answer" not in app.query_params
    app = answered(fill(app, "What?", "x\ny\nz\nw"))
    assert not app.error


def test_the_session_remembers_what_was_asked_and_goes_back(open_page: Open, run_id: str):
    app = answered(fill(open_page("one_question", ask="own", run=run_id), "The first?", "a\nb\nc\nd"))
    first = app.query_params["answer"]
    assert "Asked in this session" not in [header.value for header in app.subheader]
    app = answered(fill(app, "The second?", "e\nf\ng\nh"))
    assert app.subheader[-1].value == "Asked in this session"
    assert app.button(key=f"own_again_{app.query_params['answer']}").disabled
    members = asked(bench(evaluation.load(run_id)), custom_question.read_answer(first).logits)[1][0].members(100)
    assert f"{members.sum()} of 6" in page_text(app)
    app.button(key=f"own_again_{first}").click().run()
    assert app.query_params["answer"] == first
    assert app.subheader[0].value == "The first?"
    assert typed_fields(app) == ("The first?", "a\nb\nc\nd", "")
    app.button(key="own_clear").click().run()
    assert typed_fields(app) == ("", "", "")
    assert app.subheader[0].value == "The first?"
    assert not app.error


def test_by_text_nothing_is_offered_besides(open_page: Open, fake_home: Path):
    run_id = execute(RunSpec(model="fake", task="qa", samples=40, form="cloze"))
    app = open_page("one_question", ask="own", run=run_id)
    assert not app.toggle
    assert "The questions that calibrate the set have 4 options." in app.text_area(key="own_options").help
    app = answered(fill(app, "What?", "x\ny\nz\nw", extra=None))
    assert custom_question.read_answer(app.query_params["answer"]).options == ("x", "y", "z", "w")
    assert not app.warning
    # A question about a text goes to a run by letter, which offers the two again.
    reading = with_passages()
    app = answered(fill(app, "Who went?", "x\ny\nz\nw", context="Anna went to the market.", extra=None))
    assert not app.warning
    answer = custom_question.read_answer(app.query_params["answer"])
    assert answer.own.run_id == reading
    assert answer.options == ("x", "y", "z", "w", DONT_KNOW, NONE_OF_ABOVE)
    assert app.toggle(key="own_extra").value


def test_a_model_that_can_not_be_loaded_is_one_sentence(open_page: Open, run_id: str, tmp_path: Path):
    gone = str(tmp_path / "no-model")
    app = open_page("one_question", ask="own", run=synthetic_run(60, model=gone))
    assert app.selectbox(key="own_model").value == gone
    app = answered(fill(app, "What?", "x\ny\nz\nw"))
    assert len(app.error) == 1
    assert "There is no folder" in page_text(app)
    assert typed_fields(app) == ("What?", "x\ny\nz\nw", "")


def test_how_far_it_is_shows_and_can_be_stopped(open_page: Open, run_id: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HEDGE_FAKE_ENGINE", '{"load_ms": 60000}')
    app = fill(open_page("one_question", ask="own", run=run_id), "What?", "x\ny\nz\nw")
    name = app.query_params["answer"]
    until(lambda: client.progress(name).stage == "loading", "the model to load")
    app.run()
    assert "Loading the model" in page_text(app)
    assert "usually needs 3 to 10 s the first time; it then stays loaded" in page_text(app)
    assert "Loading the model" in page_text(open_page("one_question", ask="own", run=run_id, answer=name))  # a reload
    click(app, "Stop")
    app = answered(app)
    assert "Stopped." in page_text(app)
    assert typed_fields(app) == ("What?", "x\ny\nz\nw", "")


def test_links_to_what_is_gone_say_so(open_page: Open, run_id: str):
    for name in ("0" * 16, "../../etc/passwd", "nonsense"):
        app = open_page("one_question", ask="own", run=run_id, answer=name)
        assert len(app.error) == 1
        assert "ask the question again" in page_text(app)
    app = answered(fill(open_page("one_question", ask="own", run=run_id), "What?", "x\ny\nz\nw"))
    other = execute(RunSpec(model="fake", task="qa", samples=50))
    shutil.rmtree(store.folder_of(run_id))
    app = open_page("one_question", ask="own", run=other, answer=app.query_params["answer"])
    assert "The run that calibrated this answer can't be read" in page_text(app)


def test_a_link_to_an_older_answer_leaves_a_draft_alone(open_page: Open, run_id: str):
    app = answered(fill(open_page("one_question", ask="own", run=run_id), "The first?", "x\ny\nz\nw"))
    first = app.query_params["answer"]
    app = answered(fill(app, "The second?", "x\ny\nz\nw"))
    app.query_params["answer"] = first  # as the way back in the browser does
    assert typed_fields(app.run())[0] == "The first?"  # nothing was typed since the second was asked
    app.text_area(key="own_question").set_value("A draft")
    press_ask(app)
    app.text_area(key="own_question").set_value("Another draft")
    app.text_area(key="own_options").set_value("")
    press_ask(app)
    app.query_params["answer"] = first
    assert typed_fields(app.run())[0] == "Another draft"


def test_a_message_that_crosses_the_click_does_not_lose_the_question(open_page: Open, run_id: str):
    app = answered(fill(open_page("one_question", ask="own", run=run_id), "The first?", "x\ny\nz\nw"))
    before = app.query_params["answer"]
    app = fill(app, "The second?", "x\ny\nz\nw")
    asked_for = app.query_params["answer"]
    app.query_params["answer"] = before  # what a browser still sends that has not heard of the new address
    app.run()
    assert app.query_params["answer"] == asked_for != before
    assert app.subheader[0].value == "The second?"
    app.run()
    app.query_params["answer"] = before  # and now it is a way back
    assert app.run().subheader[0].value == "The first?"


def test_an_answer_that_is_not_as_recorded_is_told(open_page: Open, run_id: str):
    app = answered(fill(open_page("one_question", ask="own", run=run_id), "What?", "x\ny\nz\nw"))
    answer = custom_question.read_answer(app.query_params["answer"])
    custom_question.write_answer(replace(answer, recorded_difference=0.4, dropped=2, letter_mass=0.1))
    app.run()
    assert "its log-probabilities differ by 0.4" in page_text(app)
    assert "2 examples were left out" in page_text(app)
    assert "Only 10% of the next word's probability fell on the letters" in page_text(app)


def test_an_answer_in_letters_that_have_no_probability_is_no_set(open_page: Open, run_id: str):
    app = answered(fill(open_page("one_question", ask="own", run=run_id), "What?", "x\ny\nz\nw"))
    answer = custom_question.read_answer(app.query_params["answer"])
    assert sent(app, "question")["scores"]
    custom_question.write_answer(replace(answer, letter_mass=0.0002, first="<think>"))
    app.run()
    words = page_text(app).replace("\\", "")
    assert "No answer, so there is no set: the letters of the options have 0.02% of the next token's" in words
    assert "the most probable token is “<think>”; the model begins with its reasoning" in words
    assert not sent(app, "question")
    assert "fell on the letters" not in words
