"""What each page writes into its address, and what a session takes from one page to the next."""

from pathlib import Path

import pytest

from app.state.address import names_in_address, readers
from tests.app.test_state import PAGES
from tests.conftest import synthetic_run
from tests.pages.conftest import Open, page_text, pick

EVERYTHING = {
    "alpha": "250", "score": "aps", "empty": "top1", "left": "margin", "by": "group", "row": "3", "source": "sums",
    "step": "2", "question": "q55", "bars": "aps", "answer": "0a1b", "runs": "none", "bins": "20",
    "edges": "mass", "t": "150", "judged": "all", "at": "50", "method": "raw", "shots": "2", "models": "x",
    "window": "all", "dtype": "float16", "message": "2",
}  # fmt: skip
"""A link that has fields of every page."""


@pytest.mark.parametrize("page", PAGES)
def test_no_page_writes_the_fields_of_another(page: str, open_page: Open, home: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("core.jury.pipeline.jury_store.jury_ids", lambda: ())  # those that ship take a while
    run = synthetic_run(60)
    app = open_page(page, run=run, **EVERYTHING)
    written = dict(app.query_params)
    assert set(written) <= set(names_in_address(PAGES[page]))
    own = {name: value for name, value in EVERYTHING.items() if name in names_in_address(PAGES[page])}
    assert written | own == written


@pytest.mark.parametrize("page", ["doctor", "tokens"])
def test_a_page_without_a_view_writes_no_address(page: str, open_page: Open, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("core.checks.doctor.ask", lambda: [])
    app = open_page("overview", alpha="300")
    app.query_params.clear()
    app.switch_page(f"../pages/{page}.py").run()
    assert dict(app.query_params) == {}


def test_run_and_alpha_follow_a_person_and_each_page_keeps_its_own(open_page: Open, home: Path):
    first, two = synthetic_run(60), synthetic_run(60, seed=1)
    app = open_page("alpha_lab", run=first, alpha="250", left="margin", row="3")
    app.query_params.clear()
    app.switch_page("../pages/one_question.py").run()
    opened = app.query_params["question"]
    assert dict(app.query_params) == {"run": first, "alpha": "250", "question": opened}
    next(button for button in app.button if button.label.startswith("Next")).click().run()
    question = app.query_params["question"]
    assert question != opened
    app.query_params.clear()
    app.switch_page("../pages/alpha_lab.py").run()
    assert dict(app.query_params) == {"run": first, "alpha": "250", "left": "margin", "row": "3"}
    app.query_params.clear()
    app.switch_page("../pages/one_question.py").run()
    assert app.query_params["question"] == question
    pick(app, two)
    assert dict(app.query_params) == {"run": two, "alpha": "250", "question": app.query_params["question"]}
    app.query_params.clear()
    app.switch_page("../pages/alpha_lab.py").run()
    assert dict(app.query_params) == {"run": two, "alpha": "250", "left": "margin"}
    assert "row" not in page_text(app)


def test_every_name_of_a_link_is_a_field_of_some_page():
    known = set().union(*(readers(page) for page in PAGES.values()))
    assert set(EVERYTHING) <= known
