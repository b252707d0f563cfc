"""Runs whose server did not list all letters: ranges where they are shown, one sentence where they can't be."""

from dataclasses import replace
from typing import Any

import pytest

from app.components.shared.ranges import NOT_PRESENTED
from core.conformal.scores import SCORES
from core.reports.bounded import bounded_report
from core.runs import store
from core.runs.answering import custom_question
from core.runs.answering.custom_question import CustomQuestion, ModelAnswer
from tests.conftest import synthetic_run
from tests.pages.conftest import Open, click, page_text
from tests.served import SERVER, served_run


def test_the_alpha_lab_shows_ranges(open_page: Open):
    run = served_run(listed=2)
    app = open_page("alpha_lab", run=run, alpha="100")
    assert not app.warning
    assert "need the probability of every letter" in page_text(app)
    frame = app.dataframe[0].value
    expected = bounded_report(run, 100).scores["aps"]
    row = frame[frame["score"] == "APS"].iloc[0]
    assert (row["coverage_low"], row["coverage_high"]) == tuple(100 * end for end in expected.coverage)
    assert (row["set_size_low"], row["set_size_high"]) == expected.mean_set_size
    assert row["exact_share"] == 100 * expected.exact_share


@pytest.mark.parametrize(("left", "right"), [("raps", "saps"), ("margin", "top-k"), ("aps-randomised", "lac")])
def test_every_score_has_ranges_in_the_alpha_lab(open_page: Open, left: str, right: str):
    run = served_run(listed=2)
    app = open_page("alpha_lab", run=run, left=left, right=right, alpha="200")
    frame = app.dataframe[0].value
    assert list(frame["score"]) == [SCORES[name].title for name in (left, right)]
    expected = bounded_report(run, 200, scores=(left, right)).scores[right]
    assert (frame["coverage_low"].iloc[1], frame["coverage_high"].iloc[1]) == tuple(
        100 * end for end in expected.coverage
    )
    app.selectbox(key="score_left").set_value("aps").run()
    assert dict(app.query_params)["left"] == "aps"
    assert app.dataframe[0].value["score"].iloc[0] == "APS"


@pytest.mark.parametrize("page", ["alpha_lab", "one_question"])
def test_ranges_are_not_presented_and_say_so(open_page: Open, page: str):
    run = served_run(listed=2)
    app = open_page(page, run=run)
    assert NOT_PRESENTED in [caption.value for caption in app.caption]
    app = open_page(page, run=run, present="1")
    assert [info.value for info in app.info] == [NOT_PRESENTED]
    exact = served_run(model="mistral-7b")
    assert NOT_PRESENTED not in page_text(open_page(page, run=exact))


def test_one_question_compares_any_score_with_aps(open_page: Open):
    run = served_run(listed=2)
    app = open_page("one_question", run=run, bars="margin")
    app.selectbox(key="score_bars").set_value("aps").run()
    assert dict(app.query_params)["bars"] == "aps"


def test_a_run_whose_server_listed_everything_is_shown_like_any_other(open_page: Open):
    run = served_run()
    app = open_page("alpha_lab", run=run)
    assert "need the probability of every letter" not in page_text(app)
    assert "on a server" in page_text(app)


def test_one_question_shows_which_options_can_not_be_told(open_page: Open):
    run = served_run(listed=2)
    app = open_page("one_question", run=run, alpha="100")
    assert "In the hatched part, this depends on the probabilities that are not known" in page_text(app)
    before = app.subheader[0].value
    click(app, "Next")
    assert app.subheader[0].value != before


@pytest.mark.parametrize(("page", "field"), [("calibration", "runs"), ("compare", "runs")])
def test_pages_that_need_every_probability_refuse_in_one_sentence(open_page: Open, page: str, field: str):
    run, other = served_run(listed=2), synthetic_run()
    app = open_page(page, **{field: f"{run},{other}"})
    assert "are ranges, because some of its probabilities are not known" in page_text(app)
    assert "The Alpha lab shows them." in page_text(app)


def test_the_overview_shows_both_ends_beside_the_exact_runs(open_page: Open):
    run = served_run(listed=2, model="far-away")
    exact = served_run(model="near")
    synthetic_run(model="at-home")
    app = open_page("overview", alpha="100")
    assert "Some probabilities of 1 run are not known" in page_text(app)
    (frame,) = [frame.value for frame in app.dataframe if "APS exact" in frame.value]
    figures = bounded_report(run, 100)
    low, high = figures.scores["aps"].mean_set_size
    assert frame.iloc[0]["Run"] == "far-away · Question answering"
    assert frame.iloc[0]["APS size"] == f"{low:.2f} to {high:.2f}"
    assert "hidden by the filters" not in page_text(app)  # a model on a server has no precision that would hide it
    assert exact


def test_a_home_with_ranges_alone_is_not_empty(open_page: Open):
    served_run(listed=2)
    app = open_page("overview")
    assert "There is no finished run yet" not in page_text(app)
    assert "Known as ranges" in [heading.value for heading in app.subheader]


def own_question(run_id: str, **changes: Any) -> CustomQuestion:
    spec = store.read_record(run_id).spec
    fields = {"model": spec.asked_model, "run_id": run_id, "question": "Who?", "options": ("a", "b", "c", "d")}
    return CustomQuestion(**fields | {"extra": False} | changes)


def test_one_s_own_question_is_asked_of_the_server_whose_run_is_chosen(open_page: Open):
    run = served_run()
    synthetic_run(model="llama-70b")
    app = open_page("one_question", ask="own", run=run)
    assert app.selectbox(key="own_model").value == f"llama-70b on {SERVER}"
    assert "Calibrated by llama-70b · Question answering · on a server" in " ".join(
        button.label.replace("\\", "") for button in app.button
    )


@pytest.mark.parametrize("listed", [None, 2])
def test_an_answer_with_letters_that_are_not_listed_is_shown_as_ranges(open_page: Open, listed: int | None):
    run = served_run(listed=listed)
    marks = (False, False, True, True) if listed else ()
    given = ModelAnswer(
        own=own_question(run),
        options=("a", "b", "c", "d"),
        logits=(-0.5, -1.5, -3.0, -3.0),
        letter_mass=1.0,
        milliseconds=5.0,
        loading_s=0.3,
        prompt="Who?",
        device="server",
        rung="",
        recorded_difference=0.0,
        tolerance=0.3,
        dropped=0,
        asked_at=1.0,
        bounded=marks,
    )
    custom_question.write_answer(given)
    app = open_page("one_question", ask="own", run=run, answer=given.answer_id)
    assert not app.error
    assert ("In the hatched part" in page_text(app)) == bool(listed)
    assert f"llama-70b on {SERVER} answered in 5 ms, after 0.3 s of connecting" in page_text(app)
    assert "The prompt, as the model read it" in [folded.label for folded in app.expander]
    decided = served_run(prompt_format="systemone")
    given = replace(given, own=own_question(decided), recorded_difference=0.4)
    custom_question.write_answer(given)
    app = open_page("one_question", ask="own", run=decided, answer=given.answer_id)
    assert "its probabilities differ by 0.4" in page_text(app)
    assert "The request, as Hedge sent it" in [folded.label for folded in app.expander]
