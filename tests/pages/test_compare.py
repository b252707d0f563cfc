"""Compare: the chosen runs' figures, two of them question by question, the claims, and what abstaining costs."""

from __future__ import annotations

import json

import pytest

from core.conformal.scores import SCORE_NAMES, SCORES
from core.reports import evaluation
from core.reports.compare import paired
from core.reports.report import shown_with
from tests.conftest import synthetic_run
from tests.pages.conftest import Open, pick, picked, said
from tests.simulation.claims import FEW_SAID


def test_an_empty_home_says_what_would_be_here(open_page: Open):
    app = open_page("compare")
    assert not app.exception
    assert "Runs side by side will be here" in said(app)


def test_figures_are_those_of_the_reports_and_the_choice_is_in_the_address(open_page: Open):
    ids = [synthetic_run(model=f"model-{i}", seed=7, signal=1.0 + i) for i in range(3)]
    app = open_page("compare", runs=",".join(ids[:2]), alpha="200")
    assert not app.exception
    assert picked(app) == ids[:2]
    assert dict(app.query_params)["runs"] == ",".join(ids[:2])
    pick(app, *ids)
    assert app.query_params["runs"] == ",".join(ids)
    runs = [evaluation.load(name) for name in ids]
    (pair,) = paired.compare([(runs[0], runs[1])], 200)
    assert [metric.value for metric in app.metric] == [
        f"{n:,}" for n in (pair.both_right, pair.only_first, pair.only_second, pair.both_wrong)
    ]
    table = app.dataframe[0].value
    assert table["Difference"].tolist() == pytest.approx([pair.accuracy.mean, pair.set_size.mean, pair.uacc.mean])
    assert table["p, Holm"].tolist() == pytest.approx(list(pair.holm.values()))


def test_an_emptied_choice_stays_empty_and_one_click_brings_the_first_ones_back(open_page: Open):
    ids = [synthetic_run(model=f"model-{i}", seed=7) for i in range(2)]
    app = open_page("compare", runs=",".join(ids))
    app.button(key="compare_clear").click().run()
    app.run()
    assert not app.exception
    assert picked(app) == []
    assert app.query_params["runs"] == "none"
    assert "No run is chosen. Choose at least one run above." in said(app)
    assert not app.metric
    app.button(key="compare_default").click().run()
    assert sorted(picked(app)) == sorted(ids)
    assert "runs" not in app.query_params
    assert len(app.metric) == 4


def test_a_link_with_no_runs_reopens_empty_and_a_run_can_be_chosen(open_page: Open):
    name = synthetic_run()
    app = open_page("compare", runs="none")
    assert picked(app) == []
    assert app.button(key="compare_default").label == "Show the first run again"
    pick(app, name)
    assert app.query_params["runs"] == name
    assert "No run is chosen" not in said(app)


def test_a_single_run_has_its_figures_and_what_needs_two_says_so(open_page: Open):
    app = open_page("compare", runs=synthetic_run())
    assert not app.exception
    assert "This part compares two runs, and only one is chosen." in said(app)
    assert not app.metric
    assert app.get("vega_lite_chart")


def test_claims_have_a_verdict_here_and_on_the_published_table(open_page: Open):
    synthetic_run()
    app = open_page("compare")
    assert said(app).count("Can't tell with 1 model") == 1
    app.segmented_control(key="claims_on").set_value("ye-2024").run()
    # Sixteen base models share five tasks; the more accurate ones have the smaller sets there.
    assert said(app).count("**No general tendency**") == 2
    assert "An instance in these figures" in said(app)
    assert "n = 16" in said(app)
    assert FEW_SAID in said(app)


def test_what_is_folded_opens(open_page: Open):
    ids = [synthetic_run(model="one", seed=1), synthetic_run(model="two", seed=1)]
    app = open_page("compare", runs=",".join(ids))
    for key in ("shapes_open", "contrasts_open", "abstaining_open"):
        app.session_state[key] = True
    app.run()
    assert not app.exception
    text = said(app)
    assert "No two of these runs differ only in precision" in text
    assert "the run answers" in text
    before = text
    app.slider(key="abstaining_cost").set_value(0.9).run()
    assert said(app) != before


def test_runs_of_different_questions_are_told_apart_in_a_sentence(open_page: Open):
    ids = [synthetic_run(seed=1, n=30), synthetic_run(seed=2, n=14, model="other")]
    app = open_page("compare", runs=",".join(ids))
    assert not app.exception
    assert "a comparison needs at least 10" in said(app)


def test_a_run_that_is_gone_is_one_sentence(open_page: Open):
    name = synthetic_run()
    app = open_page("compare", runs=f"{name},no-such-run")
    assert "There is no finished run no-such-run here" in said(app)
    assert picked(app) == [name]


@pytest.mark.parametrize("score", SCORE_NAMES)
def test_every_score_can_be_compared(score: str, open_page: Open):
    """It is chosen on the page, lives in the address, and gives the figures of the reports everywhere."""
    ids = [synthetic_run(model=f"model-{i}", seed=7, n=240) for i in range(2)]
    app = open_page("compare", runs=",".join(ids))
    app.selectbox(key="score_choice").set_value(score)
    for key in ("shapes_open", "abstaining_open"):
        app.session_state[key] = True
    app.run()
    assert not app.exception
    assert app.query_params.get("score", "lac") == score
    runs = [evaluation.load(name) for name in ids]
    (pair,) = paired.compare([(runs[0], runs[1])], 100, score=score)
    assert app.dataframe[0].value["Difference"].tolist() == pytest.approx(
        [pair.accuracy.mean, pair.set_size.mean, pair.uacc.mean]
    )
    spec = json.loads(app.get("vega_lite_chart")[0].proto.spec)
    drawn = [SCORES[name].title for name in sorted(shown_with(score), key=lambda name: name != "lac")]
    assert json.dumps(drawn) in json.dumps(spec)  # the legend
    again = open_page("compare", runs=",".join(ids), score=score)
    assert not again.exception
    assert not again.error
    assert again.selectbox(key="score_choice").value == score
