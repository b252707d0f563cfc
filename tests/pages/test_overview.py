"""Overview: three ways in, the set sizes of every model on every task, and what has not finished."""

import json
import subprocess
import sys
from typing import Any, NoReturn
from urllib.parse import parse_qsl

import numpy as np
import pandas as pd
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from app.components.overview import answer, run_table, scatter, ways_in
from app.components.overview.matrix import OPENS_SHELF
from core.conformal.scores import SCORE_NAMES, SCORES
from core.errors import InputError
from core.exchange import bluq
from core.exchange.imported import save
from core.reports import evaluation
from core.reports.overview import published
from core.reports.overview.similar_accuracy import alike
from core.reports.report import report
from core.runs import store
from core.settings import ASSETS, ROOT
from tests.app.golden import CASES
from tests.conftest import classifier_run, synthetic_run
from tests.core.exchange.test_bluq import write
from tests.pages.conftest import Open, components, page_text, picked, sent


def test_an_empty_home_says_what_would_be_here_and_offers_the_click(open_page: Open):
    app = open_page("overview")
    assert app.title[0].value == "Hedge shows how sure a language model really is"
    assert "once a run has ended" in page_text(app)
    assert [button.label for button in app.button] == ["Launch the first run"]
    assert not components(app)


def test_cells_hold_the_reports_figures_and_open_their_runs(open_page: Open):
    ids = [synthetic_run(model=f"model-{i}", signal=1 + i, task=t) for i, t in ((0, "rc"), (0, "qa"), (1, "rc"))]
    app = open_page("overview", alpha="250", score="aps")
    assert app.slider(key="alpha_slider").value == pytest.approx(0.25)
    matrix = sent(app, "matrix")
    # The newest run's task is the one that the sentence names, so its column and its smallest sets are first.
    assert [column["title"] for column in matrix["columns"]] == ["Reading comprehension", "Question answering"]
    assert {column["below"] for column in matrix["columns"]} == {"6 options · 100 questions"}
    assert [row["title"] for row in matrix["rows"]] == ["model-1", "model-0"]
    assert [row["target"]["query"]["run"] for row in matrix["rows"]] == [ids[2], ids[0]]
    assert matrix["rows"][0]["cells"][1] is None  # this one was not run
    cells = {cell["target"]["query"]["run"]: cell for row in matrix["rows"] for cell in row["cells"] if cell}
    assert set(cells) == set(ids)
    for run_id, cell in cells.items():
        run_report = report(evaluation.load(run_id), 250)
        figures = run_report.scores["aps"]
        assert cell["size"] == f"{figures.mean_set_size:.1f}"
        empty = f", {figures.empty_rate:.0%} empty" if figures.empty_rate >= 0.005 else ""
        assert cell["right"] == f"{100 * run_report.accuracy:.0f}% right{empty}"
        assert f"Empty sets {figures.empty_rate:.1%}" in cell["said"]
        low, high = figures.mean_set_size_interval
        assert f"Mean set size {figures.mean_set_size:.2f} of 6 options ({low:.2f} to {high:.2f})" in cell["said"]
        page, _, query = cell["target"]["href"].partition("?")
        assert (page, cell["target"]["page"]) == ("alpha_lab", "alpha_lab")
        assert dict(parse_qsl(query)) == cell["target"]["query"] == {"run": run_id, "alpha": "250"}
    assert dict(app.query_params) == {"alpha": "250", "score": "aps"}


def test_the_headline_speaks_of_the_runs_in_the_matrix(open_page: Open):
    sure, unsure = synthetic_run(model="sure", signal=4), synthetic_run(model="unsure", signal=0.5)
    app = open_page("overview")
    a, b = (report(evaluation.load(run), 100) for run in (sure, unsure))
    size_a, size_b = (figures.scores["lac"].mean_set_size for figures in (a, b))
    expected = (
        f"On Question answering, sure is right on {100 * a.accuracy:.0f}% of questions and needs {size_a:.1f} of 6 "
        f"options at alpha 0.1; unsure is right on {100 * b.accuracy:.0f}% and needs {size_b:.1f}."
    )
    assert expected in page_text(app)
    assert ", sure is right" not in page_text(open_page("overview", models="unsure"))


def test_cards_show_the_showcase_and_lead_into_hedge(open_page: Open, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("core.runs.store.ASSETS", ASSETS)
    own = synthetic_run(model="later", signal=5)
    _, curve, _ = sent(open_page("overview", alpha="3"), "ways")["cards"]
    assert curve["at"][1] <= curve["sizes"][0][1]  # or the mark would be above the curve, on the card's title
    app = open_page("overview", alpha="200")
    lesson, curve, question = sent(app, "ways")["cards"]
    assert lesson["title"] == "New to this? Take the ten-minute lesson"
    assert lesson["target"]["href"] == "learn"
    showcase = curve["target"]["query"]["run"]
    assert store.is_bundled(showcase)
    figures = report(evaluation.load(showcase), 200)
    assert curve["at"] == [200, figures.scores["lac"].mean_set_size]
    assert curve["at"] in curve["sizes"]
    assert [size for _, size in curve["sizes"]] == sorted((size for _, size in curve["sizes"]), reverse=True)
    links = {link.proto.label: link.proto.query_string for link in app.get("page_link")}
    compare = links["Compare these models"]
    compared = dict(parse_qsl(compare))["runs"].split(",")
    assert showcase in compared
    assert own not in compared  # it answered other questions
    shown_id = question["target"]["query"]["question"]
    rows = store.read_questions(question["target"]["query"]["run"]).to_pylist()
    assert [row["question"] for row in rows if row["id"] == shown_id] == [question["question"]]
    assert 0 < sum(option["inside"] for option in question["options"]) < len(question["options"])
    for card, page in ((curve, "alpha_lab"), (question, "one_question")):
        assert card["target"]["href"].startswith(f"{page}?")
    # Of the runs that ship, those with default settings are shown, and the person's own beside them.
    matrix = sent(app, "matrix")
    assert matrix["corner"]["below"] == "No instruction · 0 shots · by letter · 32-bit"
    details = {row["title"]: row["details"] for row in matrix["rows"]}
    assert details.pop("later") == "yours"
    assert set(details.values()) == {"toy model"}
    assert "The pocket models are toy models of 1 to 8 million parameters, made for Hedge" in page_text(app)


def test_a_classifier_is_not_said_to_be_asked_by_letter(open_page: Open):
    classifier_run(["cat", "dog", "bird"])
    matrix = sent(open_page("overview", models="forest"), "matrix")
    assert matrix["corner"]["below"] == "forest"
    synthetic_run(model="one")
    matrix = sent(open_page("overview", models="forest,one"), "matrix")
    assert matrix["corner"]["below"] == "Language models: forest, one · no instruction · 0 shots · by letter · 32-bit"


def test_filters_live_in_the_link_and_can_be_cleared(open_page: Open):
    first, two = synthetic_run(model="one"), synthetic_run(model="two")
    app = open_page("overview", models="two")
    assert [row["title"] for row in sent(app, "matrix")["rows"]] == ["two"]
    assert app.pills(key="overview_models").value == ["two"]
    app.pills(key="overview_models").set_value(["one", "two"]).run()
    assert app.query_params["models"] == "one,two"
    assert len(sent(app, "matrix")["rows"]) == 2
    app.pills(key="overview_strategy").set_value([]).run()
    assert app.query_params["strategy"] == "all"
    assert sent(app, "matrix")["corner"]["below"] == "one, two · any prompt · 0 shots · by letter · 32-bit"
    app.button(key="clear_in_filters").click().run()
    assert dict(app.query_params) == {"alpha": "100"}
    shown = [cell["target"]["query"]["run"] for row in sent(app, "matrix")["rows"] for cell in row["cells"] if cell]
    assert shown == [first, two]


def models_of(block: dict[str, Any]) -> list[str]:
    return [row["title"] for row in block["rows"]]


def test_published_figures_stand_below_the_runs_if_they_are_switched_on(open_page: Open):
    synthetic_run(model="mine")
    app = open_page("overview")
    assert sent(app, "matrix")["published"] == []
    assert len(sent(app, "matrix")["columns"]) == 1
    app.toggle(key="published_switch").set_value(True).run()
    assert app.query_params["published"] == "on"
    matrix = sent(app, "matrix")
    (ye,) = matrix["published"]
    assert ye["title"] == "Published by Ye et al. 2024, not computed here"
    assert "at alpha 0.1. Alpha and the score do not change these figures." in ye["note"]
    assert len(models_of(ye)) == 16
    assert {"Mistral-7B", "Qwen-72B"} < set(models_of(ye))
    assert ye["heads"][0] == {"title": "MMLU 10k", "below": "other questions"}
    mistral = ye["rows"][models_of(ye).index("Mistral-7B")]["cells"][0]
    assert (mistral["size"], mistral["right"]) == ("2.8", "60% right")
    assert ye["says"][0].startswith("Published by Ye et al. 2024 (arXiv 2401.12794")
    assert mistral["target"]["page"] == "data"
    chosen = {"shelf": "llm-uncertainty-bench", "shelf_model": "Mistral-7B", "shelf_data": "mmlu_10k"}
    assert chosen.items() <= mistral["target"]["query"].items()
    assert OPENS_SHELF in ye["says"]
    # The sentence and the rows above are about what was computed here alone.
    assert "mine is right on" in page_text(app)
    assert "Yi-34B" not in page_text(app)
    assert [row["title"] for row in matrix["rows"]] == ["mine"]
    assert len(sent(open_page("overview", published="on"), "matrix")["published"]) == 1


def test_figures_of_runs_that_read_the_wrong_token_are_shown_if_a_filter_names_them(open_page: Open):
    synthetic_run(model="mine")
    (bluq,) = sent(open_page("overview", whose="bluq"), "matrix")["published"]
    assert models_of(bluq)[0] == "Gemma-2-2B-IT"
    assert bluq["rows"][0]["details"] == "5.28 options over all tasks"
    # The shelf has three of BLUQ's six models.
    of_bluq = dict(zip(models_of(bluq), [row["cells"][0] for row in bluq["rows"]], strict=True))
    chosen = {"shelf": "bluq", "shelf_model": "gemma-2-9b-it", "shelf_data": "qa"}
    assert chosen.items() <= of_bluq["Gemma-2-9B-IT"]["target"]["query"].items()
    assert OPENS_SHELF in of_bluq["Gemma-2-9B-IT"]["said"]
    assert [name for name, cell in of_bluq.items() if not cell["target"]] == [
        "Gemma-2-2B-IT", "Gemma-2B-IT", "TinyLlama-1.1B",
    ]  # fmt: skip
    assert OPENS_SHELF not in [*of_bluq["TinyLlama-1.1B"]["said"], *bluq["says"]]


def test_filters_apply_to_published_figures(open_page: Open):
    synthetic_run(model="mine")
    app = open_page("overview", models="mine,Yi-34B", tasks="qa")
    (ye,) = sent(app, "matrix")["published"]
    assert models_of(ye) == ["Yi-34B"]
    assert len(sent(app, "matrix")["columns"]) == 1
    published = app.multiselect(key="overview_published_models")
    assert published.value == ["Yi-34B"]
    published.set_value(["Yi-34B", "Phi-2"]).run()
    assert app.query_params["models"] == "mine,Yi-34B,Phi-2"
    assert [models_of(block) for block in sent(app, "matrix")["published"]] == [["Yi-34B"], ["Phi-2"]]
    app = open_page("overview", whose="ye-2024")
    assert "Only published figures are shown." in page_text(app)
    assert "No finished run matches" not in page_text(app)
    assert [len(sent(app, "matrix")[name]) for name in ("rows", "published")] == [0, 1]
    assert not sent(open_page("overview", whose="yours"), "matrix")["published"]


def test_published_figures_stand_in_panels_of_their_own_questions(open_page: Open):
    synthetic_run(model="mine")
    app = open_page("overview", figure="scatter", published="on")
    assert sent(app, "legend")["published"] == "published, not computed here"
    charts = app.get("vega_lite_chart")
    assert len(charts) == 1 + 5
    assert ["diamond" in chart.proto.spec for chart in charts] == [False] + 5 * [True]
    assert len(open_page("overview", figure="scatter", whose="ye-2024").get("vega_lite_chart")) == 5


def test_published_set_sizes_stand_beside_runs_at_their_own_alpha_alone():
    printed = published.results()
    runs = pd.DataFrame({"task": ["qa"], "bank": ["MMLU 10k"]})
    assert scatter.comparable(runs, 100, printed) == printed
    kept = scatter.comparable(runs, 150, printed)
    assert {result.bank for result in printed} - {result.bank for result in kept} == {"MMLU 10k"}
    assert scatter.comparable(runs.iloc[:0], 150, printed) == printed  # figures of their own


def test_the_table_says_the_shots_of_each_run(open_page: Open):
    synthetic_run(model="one"), synthetic_run(model="two", shots=2)
    of_all = open_page("overview", figure="runs", shots="all").dataframe[0].value
    assert dict(zip(of_all["model"], of_all["shots"], strict=True)) == {"one": 0, "two": 2}
    assert "Shots" in {column["label"] for column in run_table.SHOWN.values()}
    assert open_page("overview", figure="runs").dataframe[0].value["shots"].tolist() == [0]
    assert open_page("overview", figure="runs", shots="2").dataframe[0].value["shots"].tolist() == [2]


def test_a_name_with_a_comma_can_be_filtered_by(open_page: Open):
    synthetic_run(model="a,b"), synthetic_run(model="c")
    app = open_page("overview")
    app.pills(key="overview_models").set_value(["a,b"]).run()
    again = open_page("overview", models=app.query_params["models"])
    assert [row["title"] for row in sent(again, "matrix")["rows"]] == ["a,b"]


@pytest.mark.parametrize("figure", ["matrix", "scatter", "runs"])
def test_filters_that_keep_nothing_say_so_with_the_way_out(figure: str, open_page: Open):
    synthetic_run(model="one")
    app = open_page("overview", models="gone", precision="int4", figure=figure)
    assert "No finished run matches the filters: gone · 4-bit." in page_text(app)
    assert not sent(app, "matrix")
    app.button(key="clear_filters").click().run()
    assert "No finished run matches" not in page_text(app)
    assert dict(app.query_params) == {"alpha": "100"} | ({"figure": figure} if figure != "matrix" else {})


def test_own_runs_that_are_filtered_away_are_one_click_off(open_page: Open, monkeypatch: pytest.MonkeyPatch):
    shipped, own = synthetic_run(model="shipped"), synthetic_run(model="mine")
    monkeypatch.setattr("core.runs.store.is_bundled", lambda run_id: run_id == shipped)
    app = open_page("overview", whose="shipped")
    assert [row["title"] for row in sent(app, "matrix")["rows"]] == ["shipped"]
    assert "1 run of yours is hidden by the filters." in page_text(app)
    app.button(key="show_mine").click().run()
    assert app.query_params["whose"] == "yours"
    (row,) = sent(app, "matrix")["rows"]
    assert (row["title"], row["details"], row["cells"][0]["target"]["query"]["run"]) == ("mine", "yours", own)
    assert "hidden by the filters" not in page_text(app)


def test_ones_own_runs_in_a_link_are_the_launched_and_the_imported_ones(open_page: Open, tmp_path):
    """``whose=yours`` of an earlier version keeps both; each has a chip of its own now."""
    synthetic_run(model="mine")
    save([bluq.read(write(tmp_path, name="probs_qa_float32_base_20250101_120000.npz", model="phi-2"))])
    app = open_page("overview", whose="yours", strategy="base,task")
    assert sorted(row["title"] for row in sent(app, "matrix")["rows"]) == ["mine", "phi-2"]
    assert app.pills(key="overview_sources").value == ["launched", "imported"]
    app.pills(key="overview_sources").set_value(["imported"]).run()
    assert app.query_params["whose"] == "imported"
    assert [row["title"] for row in sent(app, "matrix")["rows"]] == ["phi-2"]
    assert len(open_page("overview", whose="theirs").warning) == 1


def test_panels_and_legend_show_the_runs_that_the_filters_keep(open_page: Open):
    for model, task in (("a", "qa"), ("b", "qa"), ("c", "rc")):
        synthetic_run(model=model, task=task)
    app = open_page("overview", figure="scatter", tasks="qa", score="aps")
    assert [model["name"] for model in sent(app, "legend")["models"]] == ["a", "b"]
    (chart,) = app.get("vega_lite_chart")
    assert "Mean APS set size" in chart.proto.spec
    assert not sent(app, "matrix")
    assert len(open_page("overview", figure="scatter").get("vega_lite_chart")) == 2


def test_the_table_has_one_run_for_each_model_and_task_and_folds_the_rest(open_page: Open):
    first = synthetic_run(model="m")
    for seed in (1, 2):
        synthetic_run(model="m", seed=seed)
    other = synthetic_run(model="m", task="rc")
    app = open_page("overview", figure="runs")
    assert app.dataframe[0].value["run"].tolist() == [first, other]
    assert len(app.dataframe) == 1
    (folded,) = [expander for expander in app.expander if "2 more runs of these models and tasks" in expander.label]
    assert not folded.dataframe
    app.session_state["other_runs_open"] = True
    assert len(app.run().dataframe) == 2
    assert len(app.dataframe[1].value) == 2


def test_runs_of_replaced_weights_stand_beside_each_other_in_the_table(open_page: Open):
    runs = [synthetic_run(model="m", model_fingerprint=value * 32) for value in ("a", "b")]
    app = open_page("overview", figure="runs")
    shown = app.dataframe[0].value
    names = dict(zip(shown["run"], shown["model"], strict=True))
    assert names == dict(zip(runs, ("m · weights aaaaaa", "m · weights bbbbbb"), strict=True))


def tick(app: AppTest, *rows: int) -> None:
    """Tick these rows of the first table."""
    app.session_state[app.dataframe[0].key] = {"selection": {"rows": list(rows), "columns": [], "cells": []}}
    app.run()


@pytest.mark.parametrize("page", ["compare", "calibration"])
def test_ticked_rows_open_in_compare_and_in_calibration(open_page: Open, page: str):
    ids = [synthetic_run(model=f"model-{i}", seed=3) for i in range(3)]
    app = open_page("overview", figure="runs", alpha="200", score="aps")
    assert "Tick runs to open them." in page_text(app)
    assert app.button(key="ticked_compare").disabled
    tick(app, 0, 2)
    assert app.button(key="ticked_compare").label == "Compare the 2 chosen runs"
    assert app.button(key="ticked_calibration").label == "Calibration of the 2 chosen runs"
    app.button(key=f"ticked_{page}").click().run()
    assert app.query_params["runs"] == f"{ids[0]},{ids[2]}"
    assert app.query_params["alpha"] == "200"
    assert picked(app) == [ids[0], ids[2]]


def test_a_single_ticked_row_opens_in_the_alpha_lab_too(open_page: Open):
    first, _ = synthetic_run(model="a"), synthetic_run(model="b")
    app = open_page("overview", figure="runs")
    tick(app, 0)
    app.button(key="ticked_alpha_lab").click().run()
    assert app.query_params["run"] == first
    assert app.title[0].value == "Alpha lab"


def test_ties_at_the_top_are_said(open_page: Open):
    synthetic_run()
    assert "equally and most probable" not in page_text(open_page("overview", figure="runs"))
    run = CASES["ties"].write("tied")
    figures = report(run, 100)
    assert figures.top_ties.n > 0
    text = page_text(open_page("overview", figure="runs"))
    assert (
        f"On {figures.top_ties.n:,} of {figures.n_test:,} test questions two or more options are equally and most"
        in text
    )
    assert f"it would be {figures.top_ties.lost:.3f} with every tie lost" in text


def test_no_two_banks_are_judged_together_and_each_task_says_its_bank(open_page: Open, tmp_path):
    synthetic_run(model="ours")
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 4, 200)
    p = np.full((200, 6), 0.001)  # sure of itself, and as often right as the other: alike but for the questions
    p[np.arange(200), np.where(np.arange(200) % 100 < 53, labels, (labels + 1) % 4)] = 0.995
    parts = {
        f"{side}_{kind}": values[half]
        for side, half in (("cal", slice(100)), ("test", slice(100, None)))
        for kind, values in (("probs", p), ("labels", labels))
    }
    save([bluq.read(write(tmp_path, name="probs_qa_float32_base_20250101_120000.npz", model="phi-2", **parts))])
    app = open_page("overview", figure="runs")
    titles = ["Question answering", "Question answering · BLUQ MMLU"]
    assert sorted(app.dataframe[0].value["task"]) == titles
    figures = app.dataframe[0].value
    merged = figures.assign(accuracy=figures["accuracy"] / 100, task="qa", questions="as if they were the same")
    assert len(alike(merged, "lac")) == 1
    app = open_page("overview", figure="scatter")
    assert "right about equally often" not in page_text(app)
    assert [title for title in titles if f"**{title}**\u00a0· 6\u00a0options" in page_text(app)] == titles
    assert [column["title"] for column in sent(open_page("overview"), "matrix")["columns"]] == titles[::-1]


def test_a_released_slider_moves_the_figures_and_each_choice_the_address(open_page: Open):
    synthetic_run()
    app = open_page("overview")

    def size() -> float:
        return float(sent(app, "matrix")["rows"][0]["cells"][0]["size"])

    before = size()
    app.slider(key="alpha_slider").set_value(0.4).run()
    assert app.query_params["alpha"] == "400"
    assert size() < before
    app = open_page("overview", score="aps", figure="scatter")
    app.selectbox(key="score_choice").set_value("lac").run()
    assert dict(app.query_params) == {"alpha": "100", "figure": "scatter"}
    app.segmented_control(key="overview_figure").set_value("matrix").run()
    assert dict(app.query_params) == {"alpha": "100"}
    assert sent(app, "matrix")


@pytest.mark.parametrize("score", SCORE_NAMES)
def test_every_score_has_its_figure_and_its_columns(score: str, open_page: Open):
    run_id = synthetic_run(n=240)
    app = open_page("overview", alpha="250", score=score, figure="runs")
    assert app.selectbox(key="score_choice").value == score
    title = SCORES[score].title
    expected = report(evaluation.load(run_id), 250, scores=[score]).scores[score]
    row = app.dataframe[0].value.iloc[0]
    assert row[f"{score}_set_size"] == expected.mean_set_size
    assert row[f"{score}_coverage"] == pytest.approx(100 * expected.coverage)
    assert (row[f"{score}_coverage_low"], row[f"{score}_coverage_high"]) == pytest.approx(expected.coverage_band)
    for name, interval in (("set_size", expected.mean_set_size_interval), ("uacc", expected.uacc_interval)):
        assert (row[f"{score}_{name}_low"], row[f"{score}_{name}_high"]) == pytest.approx(interval)
    shown = json.loads(app.dataframe[0].proto.columns)
    assert shown[f"{score}_set_size"]["label"] == f"{title} size"
    matrix = sent(open_page("overview", alpha="250", score=score), "matrix")
    assert matrix["caption"].startswith(f"Mean set size by {title}")
    assert matrix["meaning"] == ("lac" if score == "lac" else "aps")
    assert matrix["rows"][0]["cells"][0]["size"] == f"{expected.mean_set_size:.1f}"


def test_a_run_that_has_not_ended_is_listed_without_figures(open_page: Open):
    synthetic_run(model="finished")
    waiting = synthetic_run(model="unfinished")
    store.update_record(waiting, state="failed", message="The model can't be read.", ended=None)
    app = open_page("overview")
    assert [row["title"] for row in sent(app, "matrix")["rows"]] == ["finished"]
    assert app.dataframe[0].value["State"].tolist() == ["failed"]
    assert app.dataframe[0].value["Why"].tolist() == ["The model can't be read."]
    assert list(app.dataframe[0].value) == ["Run", "State", "Why"]


def test_nonsense_in_a_link_is_one_sentence_and_the_default(open_page: Open):
    synthetic_run()
    app = open_page("overview", alpha="<b>1e9</b>")
    assert len(app.warning) == 1
    assert "from 1 to 999" in page_text(app)
    assert app.query_params["alpha"] == "100"
    assert not app.run().warning


@pytest.mark.parametrize("figure", ["matrix", "scatter", "runs"])
def test_what_the_page_shows_is_computed_once_for_all_sessions(
    figure: str, open_page: Open, monkeypatch: pytest.MonkeyPatch
):
    for task in ("rc", "qa"):
        synthetic_run(model="one", task=task, n=240)
    first = open_page("overview", figure=figure, alpha="250", score="aps")
    with monkeypatch.context() as patch:
        for computes in ("headline", "matrix", "leads", "offered", "by_model_and_task"):
            patch.delattr(answer, computes)
        patch.delattr(scatter, "accuracy_against_size")
        patch.delattr(ways_in, "_alpha_card")
        second = open_page("overview", figure=figure, alpha="250", score="aps")
    shown = [
        [component.proto.mixed.json or component.proto.json for component in components(app)] for app in (first, second)
    ]
    assert shown[0] == shown[1]
    assert page_text(first) == page_text(second)
    charts = [[chart.proto.spec for chart in app.get("vega_lite_chart")] for app in (first, second)]
    assert charts[0] == charts[1]
    assert bool(charts[0]) is (figure == "scatter")


def test_a_run_that_could_not_be_read_once_is_in_the_figure_the_next_time(
    open_page: Open, monkeypatch: pytest.MonkeyPatch
):
    runs = [synthetic_run(model=f"model-{i}", signal=1 + i) for i in range(2)]
    with monkeypatch.context() as patch:
        load, broken = evaluation.load, InputError(f"run {runs[0]} is somewhere else now; look again")
        patch.setattr(evaluation, "load", lambda name, **_: _raise(broken) if name == runs[0] else load(name))
        app = open_page("overview")
        assert len(sent(app, "matrix")["rows"]) == 1
        assert "look again" in page_text(app)
    app.run()
    assert len(sent(app, "matrix")["rows"]) == 2


def _raise(error: Exception) -> NoReturn:
    raise error


def test_a_session_s_links_hold_its_own_choices_and_new_runs_are_shown_at_once(open_page: Open):
    synthetic_run(model="one")
    own = [open_page("overview", alpha="250", **more) for more in ({}, {"run": "elsewhere", "runs": "a,b"})]
    assert sent(own[0], "matrix") == sent(own[1], "matrix")
    app = open_page("alpha_lab", empty="top1")
    app.switch_page("../pages/overview.py").run()
    cell = sent(app, "matrix")["rows"][0]["cells"][0]
    assert cell["target"]["query"]["empty"] == "top1"
    assert "empty" not in sent(own[0].run(), "matrix")["rows"][0]["cells"][0]["target"]["query"]
    synthetic_run(model="two")
    assert [row["title"] for row in sent(app.run(), "matrix")["rows"]] == ["one", "two"]


@pytest.mark.parametrize("first", ["good", "broken"])
def test_a_broken_run_is_one_sentence(open_page: Open, first: str):
    for model in sorted(("good", "broken"), key=lambda name: name == first):  # the latest opens the page
        run = synthetic_run(model=model)
        if model == "broken":
            (store.folder_of(run) / "questions.parquet").write_bytes(b"no parquet")
    st.cache_resource.clear()
    app = open_page("overview")
    assert [row["title"] for row in sent(app, "matrix")["rows"]] == ["good"]
    assert "delete the run and repeat it" in page_text(app)
    assert sent(app, "ways")


def test_the_first_paint_waits_for_neither_charts_nor_models(home):
    """The whole script of the first page, with the frame around it, in a process that has imported nothing else."""
    code = (
        "import sys\n"
        "from streamlit.testing.v1 import AppTest\n"
        "before = set(sys.modules)\n"
        f"page = AppTest.from_file({str(ROOT / 'app' / 'main.py')!r}, default_timeout=100).run()\n"
        "assert not page.exception, page.exception\n"
        "assert page.title[0].value.startswith('Hedge shows'), page.title\n"
        "heavy = {'torch', 'transformers', 'altair', 'dbos', 'sqlalchemy', 'scipy.stats', 'scipy.optimize',"
        " 'scipy.fft', 'scipy.sparse', 'scipy.linalg'} & (set(sys.modules) - before)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120, cwd=ROOT)
