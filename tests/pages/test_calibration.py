"""Calibration: diagrams of runs, a bin's questions, the temperature, recalibration, every alpha."""

from app.formatting import signed
from core.reports import evaluation
from core.reports.calibration import calibrated
from core.reports.calibration.in_words import bin_in_words, telling_bin, verdict_in_words, verdicts_in_words
from tests.app.golden import CASES
from tests.conftest import synthetic_run
from tests.pages.conftest import Open, components, keep_their_places, page_text, static_tables, unfolded


def test_a_diagram_a_run_with_its_figures(open_page: Open):
    ids = [synthetic_run(400, model=f"model-{i}", seed=7, signal=1.0 + i) for i in range(2)]
    app = open_page("calibration", runs=",".join(ids), bins="10", edges="mass")
    assert len(app.get("vega_lite_chart")) == 4  # one a run, and coverage at every alpha, one a score
    table = static_tables(app)[0].set_index("Figure")
    more = static_tables(app)[1].set_index("Figure")
    assert "Observed MCE" in more.index
    assert not set(more.index) & set(table.index)
    for column, run_id in zip(table.columns, ids, strict=True):
        (calibration,) = calibrated.calibrated(evaluation.load(run_id), bins=10, by="mass")
        ece = calibration.estimates["ece"]
        assert table.loc["ECE beyond chance", column] == ece.text()
        assert ece.text().startswith(f"{ece.excess:.3f} ({ece.low:.3f} to {ece.high:.3f}); seen ")
        assert table.loc["Spiegelhalter's z", column].startswith(f"{signed(calibration.test.z, 2)} (p ")
    assert dict(app.query_params)["edges"] == "mass"


def test_the_answer_is_of_the_bin_with_the_ring_whose_questions_are_listed(open_page: Open):
    run_id = synthetic_run(400, model="one")
    (calibration,) = calibrated.calibrated(evaluation.load(run_id))
    number = telling_bin(calibration)
    words, trust = bin_in_words(calibration.reliability[number - 1], "one")
    app = open_page("calibration", runs=run_id)
    assert f"**{words}** ({trust}). {verdict_in_words(calibration)}" in page_text(app)
    assert unfolded(app, "bin_questions_open").selectbox(key="bin_number").value == number


def test_several_diagrams_are_counted_in_the_answer(open_page: Open):
    run_id = synthetic_run(400)
    of_letters = calibrated.calibrated(evaluation.load(run_id), within="letter")
    assert len(of_letters) > 3
    app = open_page("calibration", runs=run_id, within="letter")
    assert f"**{verdicts_in_words(of_letters)}**" in page_text(app)


def test_arriving_figures_leave_every_list_in_its_place(open_page_early: Open):
    app = open_page_early("calibration", runs=f"{synthetic_run()},{synthetic_run(400)}")
    assert keep_their_places(app, at_least=8)


def test_a_diagram_for_each_subject_and_letter(open_page: Open):
    run_id = synthetic_run(400)
    app = open_page("calibration", runs=run_id, within="group")
    assert len(app.get("vega_lite_chart")) == 4
    app.segmented_control(key="calibration_within").set_value("letter").run()
    assert app.query_params["within"] == "letter"
    assert len(app.get("vega_lite_chart")) == 2 + len(calibrated.strata(evaluation.load(run_id), "letter"))


def test_a_bins_questions_are_listed(open_page: Open):
    run_id = synthetic_run(400)
    app = unfolded(open_page("calibration", runs=run_id), "bin_questions_open")
    run = evaluation.load(run_id)
    for number in app.selectbox(key="bin_number").options[:2]:
        assert "confidence" in number
    chosen = app.selectbox(key="bin_number").value
    expected = calibrated.bin_questions(run, "all", "", chosen, bins=15, by="width")
    assert app.dataframe[0].value["question"].tolist() == expected["question"].tolist()


def test_recalibration_is_computed_when_it_is_opened(open_page: Open):
    app = open_page("calibration", runs=synthetic_run(400))
    shut = len(static_tables(app))
    unfolded(app, "recalibrated_open")
    maps = static_tables(app)[shut]
    assert maps["Method"].tolist() == ["none", "temperature", "vector scaling", "Platt scaling", "isotonic regression"]
    assert maps["Accuracy"].iloc[0] == maps["Accuracy"].iloc[1]


def test_an_infinite_nll_is_shown_as_such_with_its_questions(open_page: Open):
    run = CASES["ones and zeros"].write("certain")
    (calibration,) = calibrated.calibrated(run)
    count = int((run.probabilities[run.test, run.labels[run.test]] == 0).sum())
    assert calibration.estimates["nll"].infinite == count > 0
    app = open_page("calibration", runs=run.run_id)
    nll = static_tables(app)[0].set_index("Figure").loc["NLL"].item()
    assert nll == f"∞ ({count} of {calibration.n} with probability 0)"
    shut = len(static_tables(app))
    unfolded(app, "recalibrated_open")
    maps = static_tables(app)[shut].set_index("Method")
    assert maps.loc["none", "NLL"] == f"∞ ({count} of {calibration.n})"
    assert maps["Change of NLL"].tolist() == ["", *["∞ before and after"] * 4]


def test_too_few_questions_are_a_sentence(open_page: Open):
    app = open_page("calibration", runs=synthetic_run(30), within="letter")
    assert "Recalibration needs at least 40" in page_text(app)
    assert "no option with at least 20 test questions" in page_text(app)


def test_questions_may_have_unlike_numbers_of_options(open_page: Open):
    run = CASES["unlike numbers of options"].write("ragged")
    app = open_page("calibration", runs=run.run_id)
    unfolded(app, "recalibrated_open")
    assert len(components(app)) == 1


def test_a_temperature_beyond_the_dial_is_shown_as_it_is(open_page: Open):
    app = open_page("calibration", runs=synthetic_run(200, signal=60.0))
    assert "Fitted on other questions, the temperature is 0.01" in page_text(app)
    assert "The temperature is at its limit of 0.01" in page_text(app)
