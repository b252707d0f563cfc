"""Alpha lab: the component's data, the view it reports, and Python's figures below it."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from streamlit.testing.v1 import AppTest

from core.records import OptionLogits
from core.reports import evaluation
from core.reports.alpha_lab import view as views
from core.reports.alpha_lab.sets_table import sets_table
from core.reports.alpha_lab.view import SplitView as Look
from core.reports.report import report
from core.runs import store
from tests.app.golden import CASES
from tests.conftest import classifier_run, synthetic_questions, synthetic_run
from tests.pages.conftest import Open, components, page_text, pick, static_tables, unfolded


def component(app: AppTest) -> Any:
    return components(app)[0].proto


@pytest.mark.usefixtures("in_messages")
def test_the_tables_go_over_whole(open_page: Open):
    run = evaluation.load(synthetic_run(n=120))
    app = open_page("alpha_lab", run=run.run_id)
    blobs = component(app).mixed.arrow_blobs.values()
    tables = [pa.ipc.open_stream(blob.data).read_all() for blob in blobs]
    rows = next(table for table in tables if "p0" in table.column_names)
    texts = next(table for table in tables if "o0" in table.column_names)
    assert rows.num_rows == texts.num_rows == 120
    assert rows["p0"].to_pylist() == run.probabilities[:, 0].tolist()
    assert np.flatnonzero(rows["own"].to_pylist()).tolist() == run.calibration.tolist()
    assert texts["id"].to_pylist() == run.ids.tolist()


@pytest.mark.usefixtures("in_messages")
def test_the_names_of_a_hundred_classes_go_over_once(open_page: Open):
    """They stand beside the table, not in each of its rows, and Python's figures below are by their names."""
    names = [f"species {j}" for j in range(100)]
    app = open_page("alpha_lab", run=classifier_run(names, 240))
    assert "probabilities of classes" in page_text(app)
    assert "by letter" not in page_text(app)
    values = component(app).mixed
    assert json.loads(values.json)["letters"] == json.loads(values.json)["options"] == names
    columns = [pa.ipc.open_stream(blob.data).read_all().column_names for blob in values.arrow_blobs.values()]
    assert not any("o0" in table for table in columns)
    assert any({"p0", "p99"} <= set(table) for table in columns)


@pytest.mark.parametrize("empty", ["allow", "top1"])
def test_the_table_below_is_the_report(open_page: Open, empty: str):
    run = evaluation.load(synthetic_run())
    app = unfolded(open_page("alpha_lab", run=run.run_id, alpha="300", empty=empty), "report_open")
    expected = report(run, 300, empty=empty)
    table = static_tables(app)[0].set_index("Figure")
    for name, figures in expected.scores.items():
        shown, (low, high) = table[name.upper()], figures.mean_set_size_interval
        assert shown["Coverage"] == f"{figures.coverage:.1%}"
        assert shown["Mean set size (95% interval)"] == f"{figures.mean_set_size:.2f} ({low:.2f} to {high:.2f})"
        assert shown["Threshold"] == f"{figures.threshold:.4f}"
        assert shown["Sets with 1 option"] == str(figures.sizes[1])


def test_a_run_that_is_gone_or_unfinished_is_said_and_replaced(open_page: Open):
    here = synthetic_run(model="here")
    app = open_page("alpha_lab", run="gone-run", alpha="200")
    assert "There is no run gone-run here (it may have been deleted)" in page_text(app)
    assert dict(app.query_params) == {"run": here, "alpha": "200"}
    running = synthetic_run(model="running")
    store.update_record(running, state="running", ended=None)
    app = open_page("alpha_lab", run=running)
    assert "is running; its figures are shown once it has finished successfully" in page_text(app)
    assert app.query_params["run"] == here


def test_ties_at_the_top_are_said(open_page: Open):
    run = CASES["ties"].write("tied")
    note = report(run, 100).notes[0]
    assert note in page_text(open_page("alpha_lab", run=run.run_id))
    assert "most probable" not in page_text(open_page("alpha_lab", run=synthetic_run()))


def test_another_run_is_picked(open_page: Open):
    synthetic_run(model="one")
    two = synthetic_run(model="two")
    app = open_page("alpha_lab")
    pick(app, two)
    assert app.query_params["run"] == two


def test_too_few_calibrated_questions_are_explained(open_page: Open):
    run_id = synthetic_run(n=10)
    app = unfolded(open_page("alpha_lab", run=run_id, alpha="100"), "report_open")
    assert "alpha can't be smaller than 0.167" in page_text(app)


VIEW = {"left": "raps", "right": "margin", "n": "60", "split": "5", "empty": "top1", "alpha": "250"}


@pytest.mark.parametrize("score", ["raps", "margin"])
@pytest.mark.parametrize("by", ["all", "group"])
def test_the_copied_numpy_makes_the_sets_of_the_saved_table(
    open_page: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, score: str, by: str
):
    run_id = synthetic_run()
    app = unfolded(open_page("alpha_lab", run=run_id, by=by, **VIEW), "files_open")
    next(control for control in app.segmented_control if control.label == "Score").set_value(score).run()
    script = app.code[0].value
    look = Look(n_calibration=60, split_seed=5)
    run = views.look(evaluation.load(run_id), look)
    table = sets_table(run, 250, scores=("raps", "margin"), empty="top1", by=by)
    table.to_csv(tmp_path / "hedge_synthetic_question-answering_alpha-0.25_sets.csv", index=False)
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {}
    exec(compile(script, "copied", "exec"), namespace)
    expected = report(run, 250, scores=(score,), empty="top1", by=by).scores[score]
    tested = table[table["role"] == "test"]
    letters = ["".join("ABCDEF"[j] for j in range(6) if row[j]) for row in namespace["sets"]]
    assert letters == tested[f"{score}_set"].tolist()
    assert namespace["sets"].sum(axis=1).mean() == expected.mean_set_size
    if by == "all":
        assert namespace["limits"] == expected.threshold


def test_a_shift_is_compared_when_it_is_asked_for(open_page: Open):
    run_id = synthetic_run()
    app = open_page("alpha_lab", run=run_id)
    assert len(components(app)) == 1
    app = unfolded(app, "shift_open")
    assert len(components(app)) == 2
    assert "This pair was found by searching 2 pairs: its coverage at alpha 0.1" in page_text(app)
    assert "corrected p-value, 999 shuffles" in page_text(app)
    source, target = (app.selectbox(key=f"shift_{side}").value for side in ("source", "target"))
    other = open_page("alpha_lab", run=run_id, source=target, target=source)
    assert "This pair was chosen, not found by a search" in page_text(unfolded(other, "shift_open"))
    app.selectbox(key="shift_target").set_value(app.selectbox(key="shift_source").value).run()
    assert "Both sides have the same questions" in page_text(app)
    assert app.query_params["source"] == app.query_params["target"]


def test_a_shift_from_task_to_task(open_page: Open):
    here, there = (synthetic_run(task=task) for task in ("qa", "rc"))
    app = unfolded(open_page("alpha_lab", run=here, source=f"run:{here}", target=f"run:{there}"), "shift_open")
    assert app.selectbox(key="shift_source").value == f"run:{here}"
    assert app.selectbox(key="shift_target").value == f"run:{there}"
    assert "200 questions calibrate and 200 questions test" in page_text(app)


@pytest.mark.parametrize("k", [2, 26])
def test_any_number_of_options(open_page: Open, k: int):
    app = open_page("alpha_lab", run=synthetic_run(k=k, n=60))
    assert not app.error


def test_a_run_without_test_questions_is_one_sentence(open_page: Open):
    run_id = synthetic_run(n=20)
    folder = store.folder_of(run_id)
    store.write_questions(folder, synthetic_questions(20), ["calibration"] * 20)
    app = open_page("alpha_lab", run=run_id)
    assert len(app.error) == 1


def ragged_run() -> str:
    """A run whose first test question has two options fewer than the others."""
    run_id = synthetic_run(100)
    folder, scored = store.folder_of(run_id), store.read_logits(run_id)
    questions = synthetic_questions(100)
    questions[50] = replace(questions[50], options=questions[50].options[:4], label=min(questions[50].label, 3))
    logits = scored.logits.copy()
    logits[50, 4:] = -np.inf
    store.write_questions(folder, questions, ["calibration" if i < 50 else "test" for i in range(100)])
    store.write_logits(folder, OptionLogits(scored.ids, logits, np.ones(100, dtype=np.float32)))
    return run_id


def test_questions_with_fewer_options_are_drawn_and_said(open_page: Open):
    run_id = ragged_run()
    app = unfolded(open_page("alpha_lab", run=run_id, alpha="300"), "report_open")
    assert components(app)
    assert "have from 4 to 6 options. No set holds an option that its question lacks" in page_text(app)
    table, expected = static_tables(app)[0].set_index("Figure"), report(evaluation.load(run_id), 300)
    assert table.loc["Mean set size (95% interval)", "LAC"].startswith(f"{expected.scores['lac'].mean_set_size:.2f} (")
    open_page("one_question", run=run_id, question="q50")
    open_page("learn", run=run_id)
