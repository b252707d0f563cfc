"""Compare: the chosen runs' figures, two of them question by question, the claims, and what abstaining costs."""

import subprocess
import sys
from dataclasses import astuple
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from app.components.compare import compare_cache
from app.components.compare.pairs import TOGETHER
from core.conformal.scores import SCORE_NAMES
from core.reports import answer_or_pass, evaluation
from core.reports.compare import benchmark, kept_rows, run_matrix
from core.reports.compare.benchmark import SetRule
from core.reports.compare.pair_in_words import pair_in_words
from core.reports.compare.paired import CHOSEN
from core.reports.compare.run_matrix import MOST_RUNS
from core.reports.report import shown_with
from core.settings import ROOT
from tests.conftest import synthetic_run
from tests.core.reports.compare.rotated import narrow_copy, shorter_copy
from tests.pages.conftest import Open, keep_their_places, page_text, pick, picked, sent, unfolded
from tests.parameters import rest_nightly
from tests.simulation.claims import FEW_SAID
from tests.simulation.run_matrix import SAYS

CLAIMS = "Claims of a paper, tested"


def folds(app: AppTest) -> list[str]:
    """The names of the page's folded parts."""
    return [fold.label for fold in app.expander]


def test_published_figures_stand_in_rows_of_their_own(open_page: Open):
    ids = [synthetic_run(model=f"model-{i}", task="rc", seed=7, signal=1.0 + i) for i in range(2)]
    app = open_page("compare", runs=",".join(ids))
    ye, bluq = sent(app, "groups")["published"]
    assert (ye["name"], len(ye["models"])) == ("CosmosQA 10k", 16)
    assert ye["title"].endswith("other questions than the runs here")
    assert ye["source"][0].startswith("Published by Ye et al. 2024 (arXiv 2401.12794")
    assert {"name": "Qwen-72B", "accuracy": pytest.approx(0.9179, abs=0.01), "set_size": 1.9} in [
        model | {"set_size": round(model["set_size"], 1)} for model in ye["models"]
    ]
    assert [model["set_size"] for model in bluq["models"]] == 6 * [None]
    assert "no test compares them with a run" in page_text(app)
    assert len(sent(app, "groups")["matrix"]["pairs"]["accuracy"]) == 1
    app.toggle(key="published_switch").set_value(False).run()
    assert app.query_params["published"] == "off"
    assert sent(app, "groups")["published"] == []
    assert "hollow diamonds" not in page_text(app)
    app = open_page("compare")
    assert sent(app, "groups")["published"] == [], "they are off at the first visit, and on in a link of before"
    assert app.query_params["published"] == "off"


def test_published_figures_are_filtered_by_source_and_model(open_page: Open):
    run = synthetic_run(model="mine", task="rc", seed=7)
    app = open_page("compare", runs=run)
    before = sent(app, "groups")
    app.multiselect(key="compare_published_models").set_value(["Qwen-72B", "Phi-2"]).run()
    assert app.query_params["published_models"] == "Qwen-72B,Phi-2"
    after = sent(app, "groups")
    assert [[model["name"] for model in group["models"]] for group in after["published"]] == [["Qwen-72B"], ["Phi-2"]]
    assert after["version"] != before["version"], "the browser redraws it"
    app.button_group(key="compare_published_by").set_value(["bluq"]).run()
    assert app.query_params["published_by"] == "bluq"
    app = open_page("compare", runs=run, published_by="bluq", published_models="Qwen-72B,Phi-2")
    assert [[model["name"] for model in group["models"]] for group in sent(app, "groups")["published"]] == [["Phi-2"]]
    app.multiselect(key="compare_published_models").set_value(["Qwen-72B"]).run()
    assert sent(app, "groups")["published"] == []
    assert "The filter leaves no published figures of these tasks." in page_text(app)
    app.button(key="compare_published_clear").click().run()
    assert [len(group["models"]) for group in sent(app, "groups")["published"]] == [16, 6]
    assert "published_by" not in app.query_params


def test_figures_are_those_of_the_reports_and_the_choice_is_in_the_address(open_page: Open):
    ids = [synthetic_run(model=f"model-{i}", seed=7, signal=1.0 + i) for i in range(3)]
    app = open_page("compare", runs=",".join(ids[:2]), alpha="200")
    assert picked(app) == ids[:2]
    assert dict(app.query_params)["runs"] == ",".join(ids[:2])
    pick(app, *ids)
    assert app.query_params["runs"] == ",".join(ids)
    runs = [evaluation.load(name) for name in ids]
    rows = benchmark.run_rows(runs, benchmark.reports(runs, SetRule(200)))
    shown = sent(app, "groups")
    of_lac = rows[rows["score"] == "lac"]
    assert [run["id"] for run in shown["runs"]] == ids
    assert [run["accuracy"][0] for run in shown["runs"]] == of_lac["accuracy"].tolist()
    assert [run["set_size"]["lac"][1] for run in shown["runs"]] == of_lac["set_size_low"].tolist()
    matrix = run_matrix.run_matrix(runs, 200)
    assert shown["matrix"]["n"] == matrix.n_test
    for name, pairs in matrix.pairs.items():
        assert [row[2:] for row in shown["matrix"]["pairs"][name]] == [
            [pair.difference.value, pair.difference.low, pair.difference.high, pair.p, pair.corrected] for pair in pairs
        ]


def test_an_emptied_choice_stays_empty_and_one_click_brings_the_first_ones_back(open_page: Open):
    ids = [synthetic_run(model=f"model-{i}", seed=7) for i in range(2)]
    app = open_page("compare", runs=",".join(ids))
    app.button(key="compare_clear").click().run()
    app.run()
    assert picked(app) == []
    assert app.query_params["runs"] == "none"
    assert "No run is chosen. Choose at least one run above." in page_text(app)
    assert not sent(app, "groups")
    app.button(key="compare_default").click().run()
    assert sorted(picked(app)) == sorted(ids)
    assert "runs" not in app.query_params
    assert sent(app, "letters")


def test_a_link_with_no_runs_reopens_empty_and_a_run_can_be_chosen(open_page: Open):
    name = synthetic_run()
    app = open_page("compare", runs="none")
    assert picked(app) == []
    assert app.button(key="compare_default").label == "Show the first run again"
    pick(app, name)
    assert app.query_params["runs"] == name
    assert "No run is chosen" not in page_text(app)


def test_a_single_run_has_its_figures_and_what_needs_two_says_so(open_page: Open):
    app = open_page("compare", runs=synthetic_run())
    shown = sent(app, "groups")
    assert len(shown["runs"]) == 1
    assert shown["problem"].startswith("A comparison needs two runs, and only one is chosen.")
    assert not sent(app, "letters")


def test_the_first_run_shows_figures_and_questions_and_tests_nothing(
    open_page_early: Open, monkeypatch: pytest.MonkeyPatch
):
    ids = [synthetic_run(model=f"model-{i}", seed=7, signal=1.0 + i) for i in range(3)]
    with monkeypatch.context() as patch:
        for name in ("run_matrix.run_matrix", "claims.claims"):
            patch.setattr(f"core.reports.compare.{name}", lambda *_, **__: pytest.fail("computed before the paint"))
        app = open_page_early("compare", runs=",".join(ids))
    shown = sent(app, "groups")
    assert [run["id"] for run in shown["runs"]] == ids
    assert shown["matrix"] is None
    assert sent(app, "letters")["numbers"] is None, "the dot plots are painted first"
    assert "Can't tell" not in page_text(app)


def test_the_questions_come_after_the_dot_plots_and_with_another_alpha_at_once(
    open_page_early: Open, monkeypatch: pytest.MonkeyPatch
):
    link = {"runs": ",".join(synthetic_run(model=f"model-{i}", seed=7) for i in range(2)), "right": "first"}
    app = open_page_early("compare", **link)
    assert sent(app, "letters")["numbers"] is None
    assert sent(app, "letters")["view"]["right"] == "first"
    waiting = sent(app, "letters")["revision"]
    app.run()
    assert sent(app, "letters")["numbers"] is not None
    assert sent(app, "letters")["revision"] == waiting, "the browser shows what the link says, and nothing is undone"
    monkeypatch.setattr("app.background.start", lambda awaited: None)
    app.slider(key="alpha_slider").set_value(0.2).run()
    assert sent(app, "letters")["alpha"] == 200
    assert sent(app, "letters")["numbers"] is not None


def test_what_a_person_has_opened_stays_while_the_claims_arrive(open_page_early: Open, monkeypatch: pytest.MonkeyPatch):
    ids = [synthetic_run(model=f"model-{i}", seed=7) for i in range(5)]
    app = open_page_early("compare", runs=",".join(ids))
    with monkeypatch.context() as patch:
        patch.setattr("app.background.start", lambda awaited: None)
        app.run()  # the questions and what is below them
    assert keep_their_places(app, 8)
    assert CLAIMS in folds(app)


def test_the_answer_in_words_is_that_of_the_pair_and_follows_it(open_page: Open):
    ids = [synthetic_run(300, model=f"model-{i}", seed=7, signal=(4, 1, 1)[i]) for i in range(3)]
    app = open_page("compare", runs=",".join(ids))
    matrix = run_matrix.run_matrix([evaluation.load(name) for name in ids], 100)
    names = [f"model-{i}" for i in range(3)]
    for pair, link in (((0, 1), {}), ((2, 1), {"first": ids[2], "second": ids[1]}), ((2, 0), {"first": ids[2]})):
        app = open_page("compare", runs=",".join(ids), **link)
        words, figures = pair_in_words(matrix, names, *pair)
        assert words in [plain_words.value.replace("\\", "") for plain_words in app.subheader]
        assert figures in page_text(app)
    assert words == "model-0 is right more often than model-2 and more certain: both are more than chance."


def test_a_link_without_runs_opens_with_a_pair_and_with_the_run_that_its_pair_names(open_page: Open):
    """Links of earlier versions that name no runs opened with three of them, and their pair may be any two."""
    ids = [synthetic_run(model=f"model-{i}", seed=7, signal=4 - i) for i in range(3)]
    shown = picked(open_page("compare"))
    assert len(shown) == 2
    (other,) = set(ids) - set(shown)
    app = open_page("compare", second=other)
    assert picked(app) == [*shown, other]
    names = [f"model-{ids.index(name)}" for name in (shown[0], other)]
    assert f"{names[0]} is right on" in page_text(app)
    assert f"of the questions and {names[1]} on" in page_text(app)


def test_runs_of_one_model_are_called_by_what_differs_and_the_heading_has_the_rest(open_page: Open):
    ids = [synthetic_run(seed=7, shots=shots, model="one") for shots in (0, 5)]
    app = open_page("compare", runs=",".join(ids))
    shown = sent(app, "groups")
    assert [run["name"] for run in shown["runs"]] == ["0 shots", "5 shots"]
    assert shown["heading"].startswith("one · Question answering")
    assert [run["name"] for run in sent(app, "letters")["runs"]] == ["0 shots", "5 shots"]


def test_runs_that_take_part_in_no_test_are_named_with_the_reason(open_page: Open):
    pair = [synthetic_run(model=f"model-{i}", seed=7) for i in range(2)]
    others = [synthetic_run(model=f"else-{i}", seed=8) for i in range(2)]
    app = open_page("compare", runs=",".join([*pair, synthetic_run(model="alone", seed=9, task="rc"), *others]))
    text = page_text(app)
    assert app.subheader[0].value.startswith("Question answering"), "of the several tasks, the one that is tested"
    alone = "alone · Reading comprehension takes part in no test here, because no other chosen run was tested"
    assert alone in text
    others = "else-0 · Question answering, else-1 · Question answering take part in no test here, because runs"
    assert others in text
    many = [synthetic_run(20, model=f"m-{i:02}", seed=3) for i in range(MOST_RUNS + 1)]
    app = open_page("compare", runs=",".join(many))
    assert "m-12 † takes part in no test here, because at most 12 runs are tested together." in page_text(app)


def test_claims_are_shown_only_where_they_can_be_tested(open_page: Open):
    few = [synthetic_run(model=f"m-{i}B", seed=7, n=40, signal=i) for i in range(1, 3)]
    app = open_page("compare", runs=",".join(few), published="off")
    assert CLAIMS not in folds(app)
    several = few + [synthetic_run(model=f"m-{i}B", seed=7, n=40, signal=i) for i in range(3, 6)]
    app = open_page("compare", runs=",".join(several), published="off")
    unfolded(app, "claims_open")
    text = page_text(app)
    assert "n = 5." in text
    assert FEW_SAID in text
    assert "Instruction-finetuning" not in text, "no run is of a tuned model"
    app = open_page("compare", runs=few[0], published="on")
    unfolded(app, "claims_open")
    # Sixteen base models share five tasks; the more accurate ones have the smaller sets there.
    text = page_text(app)
    assert "**A strong tendency in the other direction**" in text
    assert "**A tendency in the other direction**" in text
    assert "An instance in these figures" in text
    assert "n = 16" in text


def test_what_is_folded_opens(open_page: Open):
    ids = [synthetic_run(model="one", seed=1), synthetic_run(model="two", seed=1)]
    app = open_page("compare", runs=",".join(ids))
    unfolded(app, "shapes_open", "contrasts_open", "abstaining_open")
    text = page_text(app)
    assert "No two of these runs differ only in precision" in text
    assert "the run answers" in text
    before = text
    app.slider(key="abstaining_cost").set_value(0.9).run()
    assert page_text(app) != before


def test_a_run_answers_from_a_confidence_or_up_to_a_set_size(open_page: Open):
    ids = [synthetic_run(model=name, seed=1, signal=4.0) for name in ("one", "two")]
    app = unfolded(open_page("compare", runs=",".join(ids), error="150"), "abstaining_open")
    run = evaluation.load(ids[0])
    data = sent(app, "judged")
    sides = answer_or_pass.run_sides(run)
    assert (data["judges"], data["what"], data["k"], data["view"]) == (
        ["one"],
        "questions",
        0,
        {"error": 150, "delta": 100},
    )
    assert data["calibration"]["c0"] == sides.calibration.confidence[:, 0].tolist()
    assert data["judged"]["w0"] == sides.judged.wrong[:, 0].tolist()
    app.segmented_control(key="answer_by").set_value("set-size").run()
    assert app.query_params["pass_by"] == "set-size"
    by_size = sent(app, "judged")
    assert (by_size["k"], len(by_size["judged"]["c0"]), by_size["version"] != data["version"]) == (6, 50, True)
    assert "a random half of the test questions calibrates this rule" in page_text(app)
    assert "error must be" not in page_text(app)
    app = open_page("compare", runs=",".join(ids), error="900")
    assert "from 1 to 500" in page_text(app)


def test_the_other_figures_stay_where_nothing_can_calibrate_a_rule_by_set_size(open_page: Open):
    ids = [synthetic_run(model=name, n=2) for name in ("one", "two")]
    app = unfolded(open_page("compare", runs=",".join(ids), pass_by="set-size"), "abstaining_open")
    text = page_text(app)
    assert "By set size, half of the test questions calibrate, and this run has only one; answer by confidence." in text
    assert "the run answers" in text


def test_runs_of_different_questions_are_told_apart_in_a_sentence(open_page: Open):
    ids = [synthetic_run(seed=1, n=30), synthetic_run(seed=2, n=14, model="other")]
    app = open_page("compare", runs=",".join(ids))
    assert sent(app, "groups")["problem"] == "No two of the chosen runs were tested on the same questions."
    app = open_page("compare", runs=",".join(ids), first=ids[0], second=ids[1])
    assert "a comparison needs at least 10" in sent(app, "groups")["problem"]
    whole = synthetic_run(seed=3)
    app = open_page("compare", runs=f"{whole},{shorter_copy(whole, without=91)}")
    assert "share 9 test questions; runs that share fewer than 10" in sent(app, "groups")["problem"]


def test_runs_that_share_nearly_all_questions_are_compared_and_what_differs_is_said(open_page: Open):
    """Three questions less, another number of shots, and options A to D instead of A to F."""
    whole = synthetic_run(seed=3)
    ids = [whole, shorter_copy(whole, without=3), narrow_copy(whole)]
    app = open_page("compare", runs=",".join(ids))
    shown = sent(app, "groups")
    assert shown["groups"][0]["runs"] == ids
    assert shown["problem"] == ""
    assert [row["k"] for row in shown["runs"]] == [4, 4, 4]
    matrix = run_matrix.run_matrix([evaluation.load(name) for name in ids], 100)
    assert (shown["matrix"]["n"], shown["matrix"]["figures"]["uacc"]) == (97, list(matrix.figures["uacc"]))
    text = page_text(app)
    assert "E and F are left out of 2 of 3 runs, because other runs on the same questions lack them." in text
    assert "3 of 100 questions are not in all of these runs and are left out." in text
    assert "Besides their models" not in text
    assert sent(app, "letters")["letters"] == ["A", "B", "C", "D"]
    with_shots = synthetic_run(seed=3, shots=2, model="other")
    app = open_page("compare", runs=f"{whole},{with_shots}")
    assert "Besides their models, these runs differ in shots (0, 2)." in page_text(app)


def test_a_run_that_is_gone_is_one_sentence(open_page: Open):
    name = synthetic_run()
    app = open_page("compare", runs=f"{name},no-such-run")
    assert "There is no finished run no-such-run here" in page_text(app)
    assert picked(app) == [name]


@pytest.mark.parametrize("score", rest_nightly(SCORE_NAMES, now=["raps"]))
def test_every_score_can_be_compared(score: str, open_page: Open):
    """It is chosen on the page, lives in the address, and gives the figures of the reports everywhere."""
    ids = [synthetic_run(model=f"model-{i}", seed=7, n=240) for i in range(2)]
    app = open_page("compare", runs=",".join(ids))
    app.selectbox(key="score_choice").set_value(score)
    unfolded(app, "shapes_open", "abstaining_open")
    assert app.query_params.get("score", "lac") == score
    runs = [evaluation.load(name) for name in ids]
    matrix = run_matrix.run_matrix(runs, 100, score=score)
    shown = sent(app, "groups")
    assert [score_row["name"] for score_row in shown["scores"]] == list(shown_with(score))
    assert shown["matrix"]["figures"]["set_size"] == list(matrix.figures["set_size"])
    assert shown["matrix"]["pairs"]["set_size"][0][2:5] == [*astuple(matrix.pairs["set_size"][0].difference)]
    again = open_page("compare", runs=",".join(ids), score=score)
    assert not again.error
    assert again.selectbox(key="score_choice").value == score


def test_the_page_says_what_its_tests_and_intervals_mean(open_page: Open):
    ids = [synthetic_run(model=f"model-{i}", seed=7) for i in range(3)]
    text = page_text(open_page("compare", runs=",".join(ids)))
    assert TOGETHER == SAYS
    assert SAYS in text
    assert "P-values are corrected for all 3 pairs of a figure (Holm)" in text
    alone = page_text(open_page("compare", runs=",".join(ids[:2])))
    assert SAYS not in alone
    assert "The intervals are 95% intervals that cover the draw of calibration questions." in alone
    assert CHOSEN not in alone
    assert CHOSEN in page_text(open_page("compare", runs=",".join(ids[:2]), score="saps"))


def test_a_link_reopens_the_pair_the_filters_and_the_question(open_page: Open):
    ids = [synthetic_run(model=f"model-{i}", seed=7) for i in range(3)]
    link = {
        "runs": ",".join(ids),
        "measure": "set_size",
        "first": ids[2],
        "second": ids[0],
        "right": "first",
        "change": "grew",
        "sure": "neither",
        "search": "two words",
        "order": "confidence",
        "question": "q150",
    }
    app = open_page("compare", **link)
    assert {name: app.query_params[name] for name in link} == link
    assert sent(app, "groups")["view"] == {name: link[name] for name in ("measure", "first", "second")}
    bad = open_page("compare", runs=",".join(ids), right="most", change="no")
    assert "right" in page_text(bad)


def test_runs_of_two_banks_have_a_matrix_each(open_page: Open):
    ids = [synthetic_run(model=f"model-{i}", seed=i // 2, n=60) for i in range(4)]
    shown = sent(open_page("compare", runs=",".join(ids)), "groups")
    assert shown["group"] == [0, 1]
    assert [group["runs"] for group in shown["groups"]] == [ids[:2], ids[2:]]
    shown = sent(open_page("compare", runs=",".join(ids), first=ids[2], second=ids[3]), "groups")
    assert shown["group"] == [2, 3]


@pytest.mark.filterwarnings("ignore")  # outside a server every call to a cached function warns
def test_the_dot_plots_of_runs_whose_figures_are_kept_wait_for_no_run(home: Path, monkeypatch: pytest.MonkeyPatch):
    st.cache_resource.clear()
    runs = tuple(synthetic_run(60, model=f"model-{i}", seed=7) for i in range(2))
    rule = SetRule(100, ("lac", "aps"))
    kept_rows.compared_rows(runs, rule, evaluation.load)
    with monkeypatch.context() as patch:
        patch.setattr("core.reports.evaluation.load", lambda _: pytest.fail("a run was read"))
        assert set(compare_cache.compared(runs, rule)["run"]) == set(runs)
        matrix = compare_cache.matrix(runs, 100, "lac", "allow")
    matrix.run()
    assert matrix.value().runs == runs


@pytest.mark.nightly
def test_the_first_paint_of_compare_waits_for_no_charts_and_no_tests(home: Path):
    """The whole page in a process that has imported nothing else, before anything is computed in the background."""
    runs = tuple(synthetic_run(60, model=f"model-{i}", seed=7) for i in range(2))
    code = (
        "import sys\n"
        "from streamlit.testing.v1 import AppTest\n"
        "from app import background\n"
        "background.start = lambda awaited: None\n"
        "before = set(sys.modules)\n"
        f"page = AppTest.from_file({str(ROOT / 'app' / 'main.py')!r}, default_timeout=100)\n"
        "page.switch_page('../pages/compare.py')\n"
        f"page.query_params['runs'] = {','.join(runs)!r}\n"
        "page.run()\n"
        "assert not page.exception, page.exception\n"
        "parts = [one.key for one in page.main if 'bidi' in str(one.type) and one.key != 'shortcuts']\n"
        "assert len(parts) == 2, parts\n"
        "heavy = {'altair', 'scipy.stats', 'scipy.optimize'} & (set(sys.modules) - before)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120, cwd=ROOT)
