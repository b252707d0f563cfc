"""Overview: all finished runs at one alpha, and what has not finished."""

from __future__ import annotations

import json

import numpy as np
import pytest

from core.conformal.scores import SCORE_NAMES, SCORES
from core.exchange import bluq
from core.exchange.imported import save
from core.reports import evaluation
from core.reports.overview.similar_accuracy import alike
from core.reports.report import report
from core.runs import store
from tests.app.golden import CASES
from tests.conftest import synthetic_run
from tests.core.exchange.test_bluq import write
from tests.pages.conftest import Open, said


def test_an_empty_home_says_what_would_be_here_and_offers_the_click(open_page: Open):
    app = open_page("overview")
    assert not app.exception
    assert "once a run has ended" in said(app)
    assert [button.label for button in app.button] == ["Launch the first run"]
    assert not app.get("vega_lite_chart")


def test_figure_and_table_hold_the_reports_figures_at_alpha(open_page: Open):
    ids = [synthetic_run(model=f"model-{i}", seed=i) for i in range(2)]
    app = open_page("overview", alpha="250")
    assert not app.exception
    assert app.slider(key="alpha_slider").value == pytest.approx(0.25)
    table = app.dataframe[0].value.set_index("run")
    for run_id in ids:
        expected = report(evaluation.load(run_id), 250)
        assert table.loc[run_id, "aps_set_size"] == expected.scores["aps"].mean_set_size
        for name in ("lac", "aps"):  # one interval of a figure, on every page
            of = expected.scores[name]
            ends = tuple(table.loc[run_id, [f"{name}_set_size_low", f"{name}_set_size_high"]])
            assert ends == pytest.approx(of.mean_set_size_interval)
            ends = tuple(table.loc[run_id, [f"{name}_uacc_low", f"{name}_uacc_high"]])
            assert ends == pytest.approx(of.uacc_interval)
        assert table.loc[run_id, "lac_coverage"] == pytest.approx(100 * expected.scores["lac"].coverage)
    spec = json.loads(app.get("vega_lite_chart")[0].proto.spec)
    assert "LAC" in json.dumps(spec["layer"][1])
    assert dict(app.query_params) == {"alpha": "250"}


def test_ties_at_the_top_are_said(open_page: Open):
    synthetic_run()
    assert "equally and most probable" not in said(open_page("overview"))
    run = CASES["ties"].write("tied")
    made = report(run, 100)
    assert made.top_ties.n > 0
    text = said(open_page("overview"))
    assert "1 run has test questions on which two or more options are equally and most probable" in text
    assert f"at most {100 * made.top_ties.n / made.n_test:.1f}% of a run's" in text
    assert f"at most {100 * (made.top_ties.won - made.top_ties.lost):.1f} points of accuracy" in text


def test_no_two_banks_are_judged_together_and_each_task_says_its_bank(open_page: Open, tmp_path):
    synthetic_run(model="ours")
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 4, 200)
    p = np.full((200, 6), 0.001)  # sure of itself, and as often right as the other: alike but for the questions
    p[np.arange(200), np.where(np.arange(200) % 100 < 53, labels, (labels + 1) % 4)] = 0.995
    parts = {
        f"{side}_{kind}": of[half]
        for side, half in (("cal", slice(100)), ("test", slice(100, None)))
        for kind, of in (("probs", p), ("labels", labels))
    }
    save(bluq.read([write(tmp_path, name="probs_qa_float32_base_20250101_120000.npz", model="phi-2", **parts)]))
    app = open_page("overview")
    assert not app.exception
    assert sorted(app.dataframe[0].value["task"]) == ["Question answering", "Question answering · BLUQ MMLU"]
    figures = app.dataframe[0].value
    merged = figures.assign(accuracy=figures["accuracy"] / 100, task="qa", questions="as if they were the same")
    assert len(alike(merged, "lac")) == 1
    assert "Alike in accuracy" not in said(app)
    assert "BLUQ MMLU" in app.get("vega_lite_chart")[0].proto.spec


def test_a_released_slider_moves_the_address_and_the_figures(open_page: Open):
    synthetic_run()
    app = open_page("overview")
    before = app.dataframe[0].value["lac_set_size"].iloc[0]
    app.slider(key="alpha_slider").set_value(0.4).run()
    assert app.query_params["alpha"] == "400"
    assert app.dataframe[0].value["lac_set_size"].iloc[0] < before


def test_the_score_of_the_figure_lives_in_the_address(open_page: Open):
    synthetic_run()
    app = open_page("overview", score="aps")
    assert "APS" in app.get("vega_lite_chart")[0].proto.spec
    app.selectbox(key="score_choice").set_value("lac").run()
    assert "score" not in app.query_params


@pytest.mark.parametrize("score", SCORE_NAMES)
def test_every_score_has_its_figure_and_its_columns(score: str, open_page: Open):
    run_id = synthetic_run(n=240)
    app = open_page("overview", score=score)
    assert not app.exception
    assert app.selectbox(key="score_choice").value == score
    title = SCORES[score].title
    assert f"Mean {title} set size, options" in app.get("vega_lite_chart")[0].proto.spec
    expected = report(evaluation.load(run_id), 100, scores=[score]).scores[score]
    row = app.dataframe[0].value.iloc[0]
    assert row[f"{score}_set_size"] == expected.mean_set_size
    assert row[f"{score}_coverage"] == pytest.approx(100 * expected.coverage)
    assert (row[f"{score}_coverage_low"], row[f"{score}_coverage_high"]) == pytest.approx(expected.coverage_band)
    shown = json.loads(app.dataframe[0].proto.columns)
    assert shown[f"{score}_set_size"]["label"] == f"{title} size"


def test_a_run_that_has_not_ended_is_listed_without_figures(open_page: Open):
    synthetic_run(model="finished")
    waiting = synthetic_run(model="unfinished")
    store.update_record(waiting, state="failed", message="The model can't be read.", ended=None)
    app = open_page("overview")
    assert app.dataframe[0].value["model"].tolist() == ["finished"]
    assert app.dataframe[1].value["State"].tolist() == ["failed"]
    assert app.dataframe[1].value["Why"].tolist() == ["The model can't be read."]
    assert list(app.dataframe[1].value) == ["Run", "State", "Why"]


def test_nonsense_in_a_link_is_one_sentence_and_the_default(open_page: Open):
    synthetic_run()
    app = open_page("overview", alpha="<b>1e9</b>")
    assert len(app.warning) == 1
    assert "from 1 to 999" in said(app)
    assert app.query_params["alpha"] == "100"
    assert not app.run().warning


def test_a_broken_run_is_one_sentence(open_page: Open):
    synthetic_run(model="good")
    broken = synthetic_run(model="broken")
    (store.folder_of(broken) / "questions.parquet").write_bytes(b"no parquet")
    app = open_page("overview")
    assert not app.exception
    assert app.dataframe[0].value["model"].tolist() == ["good"]
    assert "delete the run and repeat it" in said(app)
