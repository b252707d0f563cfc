"""Alpha lab: the component's data, the view it reports, and Python's figures below it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from streamlit.testing.v1 import AppTest

from core.reports import evaluation
from core.reports.report import report
from core.runs import store
from tests.conftest import synthetic_run
from tests.pages.conftest import Open, said


def component(app: AppTest) -> Any:
    return app.get("bidi_component")[0].proto


def test_without_runs_it_offers_the_first_one(open_page: Open):
    app = open_page("alpha_lab")
    assert not app.exception
    assert "once a run has ended" in said(app)
    assert not app.get("bidi_component")


def test_the_tables_go_over_whole(open_page: Open):
    run = evaluation.load(synthetic_run(n=120))
    app = open_page("alpha_lab", run=run.run_id)
    assert not app.exception
    blobs = component(app).mixed.arrow_blobs.values()
    tables = [pa.ipc.open_stream(blob.data).read_all() for blob in blobs]
    rows = next(table for table in tables if "p0" in table.column_names)
    texts = next(table for table in tables if "o0" in table.column_names)
    assert rows.num_rows == texts.num_rows == 120
    assert rows["p0"].to_pylist() == run.probabilities[:, 0].tolist()
    assert np.flatnonzero(rows["own"].to_pylist()).tolist() == run.calibration.tolist()
    assert texts["id"].to_pylist() == run.ids.tolist()


@pytest.mark.parametrize("empty", ["allow", "top1"])
def test_the_table_below_is_the_report(open_page: Open, empty: str):
    run = evaluation.load(synthetic_run())
    app = open_page("alpha_lab", run=run.run_id, alpha="300", empty=empty)
    expected = report(run, 300, empty=empty)
    table = app.dataframe[0].value
    for name, figures in expected.scores.items():
        assert table.loc["coverage", name.upper()] == figures.coverage
        assert table.loc["mean_set_size", name.upper()] == figures.mean_set_size
        assert table.loc["threshold", name.upper()] == figures.threshold


def test_a_run_that_is_gone_or_unfinished_is_said_and_replaced(open_page: Open):
    here = synthetic_run(model="here")
    app = open_page("alpha_lab", run="gone-run", alpha="200")
    assert "There is no run gone-run here (any more)" in said(app)
    assert dict(app.query_params) == {"run": here, "alpha": "200"}
    running = synthetic_run(model="running")
    store.update_record(running, state="running", ended=None)
    app = open_page("alpha_lab", run=running)
    assert "is running; figures are shown when a run has ended well" in said(app)
    assert app.query_params["run"] == here


def test_another_run_is_picked(open_page: Open):
    synthetic_run(model="one")
    two = synthetic_run(model="two")
    app = open_page("alpha_lab")
    app.selectbox(key="run_picker").set_value(two).run()
    assert app.query_params["run"] == two
    assert not app.exception


def test_too_few_calibrated_questions_are_explained(open_page: Open):
    run_id = synthetic_run(n=10)
    app = open_page("alpha_lab", run=run_id, alpha="100")
    assert "alpha can be no smaller than 0.167" in said(app)


@pytest.mark.parametrize("k", [2, 26])
def test_any_number_of_options(open_page: Open, k: int):
    app = open_page("alpha_lab", run=synthetic_run(k=k, n=60))
    assert not app.exception
    assert not app.error


def test_a_run_without_test_questions_is_one_sentence(open_page: Open):
    run_id = synthetic_run(n=20)
    folder = store.folder_of(run_id)
    from tests.conftest import synthetic_questions

    store.write_questions(folder, synthetic_questions(20), ["calibration"] * 20)
    app = open_page("alpha_lab", run=run_id)
    assert not app.exception
    assert len(app.error) == 1
