import json
from dataclasses import replace

import numpy as np
import pytest

from core.calibration.bins import TopLabel
from core.calibration.consistency import calibration_test
from core.calibration.decomposition import BrierParts
from core.calibration.figures import top_estimates
from core.calibration.metrics import expected_calibration_error
from core.calibration.reliability import reliability
from core.errors import InputError
from core.reports.calibration import calibrated as calibrations
from core.reports.calibration.calibrated import (
    bin_questions,
    bins_frame,
    calibrated,
    figures_frame,
    nominal_coverage,
    strata,
)
from core.reports.evaluation import load
from core.reports.report import finite, report
from tests.conftest import synthetic_run
from tests.reference.calibration import at_temperature


@pytest.fixture
def run(home):
    return load(synthetic_run(600, seed=3, signal=2.0))


def test_the_figures_are_of_the_test_questions(run):
    (figures,) = calibrated(run)
    assert figures.n == len(run.test)
    assert figures.estimates["ece"].value == pytest.approx(report(run, 100).ece)
    assert sum(row.n for row in figures.reliability) == figures.n
    assert json.loads(json.dumps(finite(figures.to_json()), allow_nan=False))["stratum"] == "all"


@pytest.mark.parametrize("within", ["group", "letter"])
def test_strata_part_the_test_questions(run, within):
    parts = strata(run, within)
    rows = np.concatenate([stratum.rows for stratum in parts])
    assert len(set(rows.tolist())) == len(rows)
    assert set(rows.tolist()) <= set(run.test.tolist())
    assert all(len(stratum.rows) >= calibrations.FEWEST for stratum in parts)
    for stratum in calibrated(run, within=within):
        rows = next(part.rows for part in parts if part.name == stratum.stratum)
        if within == "letter":
            assert set(run.probabilities[rows].argmax(axis=1)) == {run.letters.index(stratum.stratum)}
        expected = expected_calibration_error(run.probabilities[rows], run.labels[rows])
        assert stratum.estimates["ece"].value == pytest.approx(expected)


@pytest.mark.parametrize(("bins", "by"), [(15, "width"), (8, "mass")])
def test_every_bins_questions_are_those_in_the_diagram(run, bins, by):
    (figures,) = calibrated(run, bins=bins, by=by)
    seen = []
    for number, row in enumerate(figures.reliability, start=1):
        frame = bin_questions(run, "all", "", number, bins=bins, by=by)
        assert len(frame) == row.n
        if row.n:
            assert frame["confidence"].mean() == pytest.approx(row.confidence)
            assert frame["right"].mean() == pytest.approx(row.accuracy)
            assert ((frame["chosen"] == frame["truth"]) == frame["right"]).all()
            assert frame["confidence"].is_monotonic_decreasing
        seen += frame["id"].tolist()
    assert sorted(seen) == sorted(run.ids[run.test].tolist())


def test_frames_have_a_row_each(run):
    result = calibrated(run, within="group")
    assert len(figures_frame(result, ["a"] * len(result))) == len(result) == 2
    frame = bins_frame(result[0])
    assert frame.loc[frame["n"] == 0, ["confidence", "accuracy"]].isna().all().all()


def test_coverage_asked_for_and_had(run):
    frame = nominal_coverage(run).set_index(["score", "alpha"])
    for alpha in (100, 500):
        expected = report(run, alpha)
        for name, figures in expected.scores.items():
            row = frame.loc[(name, alpha / 1000)]
            assert row["coverage"] == figures.coverage
            assert (row["low"], row["high"]) == figures.coverage_band


def test_temperature_1_is_the_run_as_it_is(run):
    figures, expected = at_temperature(run, 100, 100), report(run, 100)
    assert (figures.accuracy, figures.ece) == pytest.approx((expected.accuracy, expected.ece))
    assert figures.nll == pytest.approx(expected.nll)
    for name, sets in figures.sets.items():
        assert sets.coverage == expected.scores[name].coverage
        assert sets.mean_set_size == expected.scores[name].mean_set_size


def test_a_temperature_changes_sureness_and_not_what_is_chosen(run):
    cold, plain, hot = (at_temperature(run, t, 100) for t in (40, 100, 300))
    assert cold.accuracy == plain.accuracy == hot.accuracy
    assert np.nanmean(cold.confidence) > np.nanmean(hot.confidence)
    assert cold.over > plain.over
    assert hot.under > plain.under


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (lambda run: strata(run, "luck"), "choose from all, group, letter"),
        (lambda run: bin_questions(run, "all", "", 16, bins=15, by="width"), "no bin 16 of 15"),
        (lambda run: bin_questions(run, "group", "fish", 1, bins=15, by="width"), "no diagram of 'fish'"),
        (lambda run: at_temperature(run, 7, 100), "between 0.20 and 5.00, got 0.07"),
        (
            lambda run: calibrated(load(synthetic_run(30, seed=9)), within="group"),
            "no subject with at least 20 test questions",
        ),
    ],
)
def test_what_is_not_there_is_said(run, ask, says):
    with pytest.raises(InputError, match=says):
        ask(run)


def of_top(confidence, shares):
    """The figures of 200 questions a confidence, right in these shares."""
    c = np.repeat(confidence, 200)
    right = np.concatenate([np.arange(200) < round(200 * share) for share in shares]).astype(float)
    top = TopLabel(c, right)
    return calibrations.CalibrationFigures(
        run="r",
        stratum="",
        n=len(top),
        questions=len(top),
        bins=15,
        by="width",
        estimates=top_estimates(top, c),
        brier_parts=BrierParts(0, 0, 0, 0),
        test=calibration_test(top, rng=np.random.default_rng(0)),
        reliability=reliability(top, rng=np.random.default_rng(0), draws=10),
    )


def test_where_the_two_tests_disagree_the_page_says_why():
    """z sums (y − c)(1 − 2c): −.2 · −.6 at .8 and +.29 · −.4 at .7 cancel; at .52 a gap counts by .04."""
    cancel = of_top([0.8, 0.7], [0.6, 0.99])
    assert cancel.test.p_value <= 0.05 < cancel.test.z_p_value
    assert "here these parts cancel out" in calibrations.tests_in_words(cancel)
    middle = of_top([0.52, 0.97], [0.4, 0.97])
    assert middle.test.p_value <= 0.05 < middle.test.z_p_value
    assert "near 50% hardly count" in calibrations.tests_in_words(middle)
    small = of_top([0.61, 0.69, 0.75, 0.81, 0.89], [0.58, 0.655, 0.72, 0.775, 0.86])
    assert small.test.z_p_value <= 0.05 < small.test.p_value
    assert "adds up small gaps" in calibrations.tests_in_words(small)
    agreed = of_top([0.9], [0.6])
    assert calibrations.disagreement(agreed) == ""


def test_a_single_question_is_not_tested(run):
    (figures,) = calibrated(replace(run, test=run.test[:1]))
    sentence = calibrations.tests_in_words(figures)
    assert sentence.endswith("It has no interval and is not tested: 1 question, and 10 are needed.")
    row = figures_frame([figures], ["a run"]).iloc[0]
    assert row["nll_no_interval"] == row["ece_no_interval"] == "1 question, and 10 are needed"
    assert np.isnan([row["ece_low"], row["ece_high"], row["p_value"], row["z"]]).all()
    result = json.loads(json.dumps(finite(figures.to_json()), allow_nan=False))
    assert result["figures"]["ece"]["low"] is None
    assert result["test"]["p_value"] is None
    assert "NaN" not in json.dumps(result)


def test_questions_that_belong_together_count_as_one_everywhere(run):
    """Each question in five rows; Evaluation knows their question."""
    rows = np.concatenate([run.calibration, np.repeat(run.test[:60], 5)])
    n = len(run.calibration)
    many = replace(
        run,
        ids=run.ids[rows],
        groups=run.groups[rows],
        probabilities=run.probabilities[rows],
        log_probabilities=run.log_probabilities[rows],
        labels=run.labels[rows],
        calibration=np.arange(n),
        test=np.arange(n, len(rows)),
        counts=None,
    )
    (once,) = calibrated(replace(run, test=run.test[:60]))
    (independent,) = calibrated(many)
    (together,) = calibrated(replace(many, clusters=rows))
    assert together.test.z == pytest.approx(once.test.z)
    assert abs(independent.test.z) > 2 * abs(once.test.z)
    for name in ("accuracy", "nll", "brier"):
        width, narrow, five = (
            figures.estimates[name].high - figures.estimates[name].low for figures in (once, independent, together)
        )
        assert narrow < 0.75 * five, name
        assert five == pytest.approx(width, rel=0.4), name
    filled = [b for b, figures in enumerate(once.reliability) if figures.n]
    for b in filled:
        assert together.reliability[b].accuracy_high >= 0.99 * once.reliability[b].accuracy_high


def test_an_option_that_a_question_lacks_leaves_the_nll_its_interval(run):
    """A probability of 0 says that the NLL could be infinite, but not for an option that is not there."""
    p = np.column_stack([run.probabilities, np.zeros(len(run.labels))])
    with np.errstate(divide="ignore"):
        padded = replace(run, probabilities=p, log_probabilities=np.log(p), letters="ABCDEFG"[: p.shape[1]])
    (lacking,) = calibrated(replace(padded, counts=np.full(len(p), p.shape[1] - 1)))
    (there,) = calibrated(replace(padded, counts=None))
    assert lacking.estimates["nll"].low < lacking.estimates["nll"].high
    assert np.isnan(there.estimates["nll"].low)
    assert "give an option probability 0" in there.estimates["nll"].text()
