"""Which run a page opens with: a shipped one, whatever a person has launched since."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from app.components.shared.runs import SHOWCASE
from core.runs import store
from tests.conftest import synthetic_run
from tests.pages.conftest import Open, said

PAGES = ("alpha_lab", "learn", "one_question")


def shipped(run_id: str) -> str:
    """Move a run from the person's own to those that ship."""
    (store.ASSETS / "runs").mkdir(parents=True, exist_ok=True)
    shutil.move(store.folder_of(run_id), store.ASSETS / "runs" / run_id)
    assert store.is_bundled(run_id)
    return run_id


def showcase() -> str:
    """A run with the id of the pinned one, among those that ship."""
    assert synthetic_run(model="pocket-8m") == SHOWCASE
    return shipped(SHOWCASE)


def test_the_pinned_run_ships(home: Path):
    assert store.is_bundled(SHOWCASE)
    record = store.read_record(SHOWCASE)
    spec = record.spec
    assert record.state == "done"
    assert (spec.model, spec.task, spec.form, spec.strategy, spec.dtype, spec.shots) == (
        "pocket-8m",
        "qa",
        "letters",
        "base",
        "float32",
        0,
    )


@pytest.mark.parametrize("page", PAGES)
def test_a_launched_run_does_not_become_the_default(open_page: Open, page: str):
    showcase()
    shipped(synthetic_run(model="pocket-1m"))
    own = synthetic_run(model="launched")
    app = open_page(page)
    assert not app.exception
    assert app.query_params["run"] == app.selectbox(key="run_picker").value == SHOWCASE
    linked = open_page(page, run=own)
    assert linked.query_params["run"] == linked.selectbox(key="run_picker").value == own
    app.selectbox(key="run_picker").set_value(own).run()
    assert app.query_params["run"] == own


@pytest.mark.parametrize("page", PAGES)
def test_without_the_pinned_run_another_that_ships_is_the_default(open_page: Open, page: str):
    shipped(synthetic_run(model="pocket-1m"))
    latest = shipped(synthetic_run(model="pocket-3m"))
    synthetic_run(model="launched")
    assert open_page(page).query_params["run"] == latest


@pytest.mark.parametrize("page", PAGES)
def test_where_no_run_ships_the_latest_is_the_default(open_page: Open, page: str):
    synthetic_run(model="first")
    latest = synthetic_run(model="second")
    assert open_page(page).query_params["run"] == latest


def test_a_link_to_no_run_names_the_default(open_page: Open):
    showcase()
    synthetic_run(model="launched")
    app = open_page("alpha_lab", run="gone-run")
    assert app.query_params["run"] == SHOWCASE
    assert "There is no run gone-run here (any more). The run pocket-8m" in said(app)


def test_an_own_question_is_calibrated_by_the_pinned_run(open_page: Open, fake_home: Path):
    showcase()
    own, another = synthetic_run(model="pocket-8m", task="rc"), synthetic_run(model="launched")
    app = open_page("one_question", ask="own")
    assert not app.exception
    assert app.selectbox(key="own_model").value == "pocket-8m"
    assert app.selectbox(key="own_run").value == SHOWCASE
    app.selectbox(key="own_model").set_value("launched").run()
    assert app.query_params["run"] == another
    app.selectbox(key="own_model").set_value("pocket-8m").run()
    assert app.query_params["run"] == SHOWCASE
    linked = open_page("one_question", ask="own", run=own)
    assert linked.selectbox(key="own_run").value == own
