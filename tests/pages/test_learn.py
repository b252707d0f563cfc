"""Learn: every step shows words with the run's figures, and the lab's figure for them."""

from __future__ import annotations

import pytest

from core.reports import evaluation, lesson
from core.reports.report import report
from tests.conftest import synthetic_run
from tests.pages.conftest import Open, said

STEPS = lesson.load().steps


@pytest.mark.parametrize("place", range(len(STEPS)))
def test_each_step_has_words_a_figure_and_a_question(open_page: Open, place: int):
    run_id = synthetic_run()
    app = open_page("learn", run=run_id, step=str(place + 1))
    assert not app.exception
    assert app.header[0].value == STEPS[place].title
    figures = [one.key for one in app.get("bidi_component") if one.key != "page_top"]
    assert len(figures) == (2 if STEPS[place].shift else 1)
    figures = lesson.facts(evaluation.load(run_id), None, None)
    for name in lesson.names(STEPS[place].question):
        assert figures[name].split()[0] in said(app)
    assert "{" not in said(app).replace("{{", "")


def test_the_words_follow_the_run(open_page: Open):
    sure, unsure = synthetic_run(model="sure", signal=5.0), synthetic_run(model="unsure", signal=0.2)
    for run_id in (sure, unsure):
        accuracy = report(evaluation.load(run_id), 100).accuracy
        app = open_page("learn", run=run_id)
        assert f"{100 * accuracy:.1f}" in said(app).replace("\\", "")


def test_next_and_back(open_page: Open):
    synthetic_run()
    app = open_page("learn")
    next(button for button in app.button if button.label == "Next").click().run()
    assert app.header[0].value == STEPS[1].title
    assert app.query_params["step"] == "2"
    next(button for button in app.button if button.label == "Back").click().run()
    assert app.header[0].value == STEPS[0].title


def test_a_step_beyond_the_last_is_the_last(open_page: Open):
    synthetic_run()
    assert open_page("learn", step="99").header[0].value == STEPS[-1].title
    assert "must be a whole number from 1" in said(open_page("learn", step="0"))


def test_without_runs_it_offers_the_first_one(open_page: Open):
    app = open_page("learn")
    assert not app.exception
    assert "once a run has ended" in said(app)
