"""The button "Embed": on which pages it stands, and what it offers."""

import pytest
from streamlit.testing.v1 import AppTest

from app.components.shared import embed
from core.reports.lesson import LESSONS, load
from tests.conftest import synthetic_run
from tests.pages.conftest import Open, page_text, unfolded


def frames(app: AppTest) -> list[str]:
    """The lines of HTML that are offered to copy."""
    return [str(code.value) for code in app.code if "<iframe" in str(code.value)]


@pytest.mark.parametrize(
    ("page", "key", "ending"),
    [
        ("alpha_lab", "alpha_lab", "alpha-0.20_alpha-lab"),
        ("one_question", "question", "alpha-0.20_one-question"),
        ("stream_lab", "stream_lab", "alpha-0.20_stream-lab"),
        ("learn", "lesson", "lesson-sets-2-score"),
    ],
)
def test_every_page_of_moving_figures_offers_its_file(open_page: Open, page: str, key: str, ending: str):
    run_id = synthetic_run(n=200)
    app = open_page(page, run=run_id, alpha="200", **({"step": "2"} if page == "learn" else {}))
    assert frames(app) == []  # made only once a person asks
    app = unfolded(app, *(["for_a_lecture"] if page == "learn" else []), f"{key}_embed")
    assert not app.error
    (line,) = frames(app)
    assert f'src="hedge_synthetic_question-answering_{ending}.html"' in line
    assert "One HTML file of 0." in page_text(app)
    assert "title=" in line
    assert run_id not in line


def test_the_end_of_a_lesson_and_the_sheet_offer_none(open_page: Open):
    run_id = synthetic_run(n=200)
    end = len(load(LESSONS["sets"]).steps) + 1
    for view in ({"step": str(end)}, {"sheet": "on"}):
        app = unfolded(open_page("learn", run=run_id, **view), "for_a_lecture", "lesson_embed")
        assert frames(app) == []


def test_too_large_a_run_is_refused_in_one_sentence(open_page: Open, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("charts.embed.LARGEST", 1000)
    app = unfolded(open_page("alpha_lab", run=synthetic_run(n=60)), "alpha_lab_embed")
    assert frames(app) == []
    assert "This embed would have 0." in page_text(app)
    assert "choose a run with fewer questions." in page_text(app)


def test_the_line_to_copy_escapes_names():
    line = embed.frame("a.html", '"><script>', 10)
    assert line == (
        '<iframe src="a.html" title="&#34;&gt;&lt;script&gt;" width="100%" height="10" style="border: 0"></iframe>'
    )
