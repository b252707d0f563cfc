from dataclasses import replace

import numpy as np
import pytest

from core.calibration.recalibration import METHODS, fit, tempered
from core.conformal.probabilities import frequencies, log, softmax, top_options
from core.conformal.scores import score, true_scores
from core.conformal.threshold import exact
from core.errors import InputError
from core.reports.calibration.recalibrated import halves, recalibrated
from core.reports.calibration.temperature import dial_rows
from core.reports.course.calibration import fitted_temperature
from core.reports.evaluation import load
from core.runs import store
from tests.conftest import synthetic_run
from tests.reference.calibration import at_temperature


@pytest.fixture
def run(home):
    return load(synthetic_run(400, signal=2.5))


def test_the_halves_are_the_calibration_questions(run):
    first, second = halves(run)
    assert sorted([*first, *second]) == run.calibration.tolist()
    assert abs(len(first) - len(second)) <= 1


def test_alike_questions_stay_together(run, monkeypatch):
    monkeypatch.setattr(
        "core.reports.calibration.recalibrated.clustered", lambda run: (np.arange(400), np.arange(400) // 4)
    )
    first, second = halves(run)
    assert not set(first // 4) & set(second // 4)


def test_every_figure_is_the_mean_of_two_fits_done_by_hand(run):
    by_method = {entry.method: entry for entry in recalibrated(run, 100)}
    assert list(by_method) == ["none", *METHODS]
    sides = halves(run)
    coverage, sizes, temperatures = [], [], []
    for fitted, own in (sides, sides[::-1]):
        t = fit("temperature", run.log_probabilities[fitted], run.labels[fitted]).temperature
        values = score("aps", softmax(tempered(run.log_probabilities, t)))
        limit = exact(true_scores(values[own], run.labels[own]), 100)
        members = values[run.test] <= limit
        coverage.append(members[np.arange(len(run.test)), run.labels[run.test]].mean())
        sizes.append(members.sum(axis=1).mean())
        temperatures.append(t)
    result = by_method["temperature"]
    assert result.coverage["aps"] == pytest.approx(np.mean(coverage))
    assert result.mean_set_size["aps"] == pytest.approx(np.mean(sizes))
    assert [entry["temperature"] for entry in result.parameters] == pytest.approx(temperatures)
    low, middle, high = result.nll_change[1], result.nll_change[0], result.nll_change[2]
    assert low < middle < high
    assert middle == pytest.approx(result.nll - by_method["none"].nll)
    assert result.accuracy == by_method["none"].accuracy  # a temperature keeps the ranking


@pytest.fixture
def picked(run):
    """The run with frequencies of 6 picks in place of its probabilities."""
    rng = np.random.default_rng(0)
    shares, samples = frequencies(np.stack([rng.multinomial(6, p / p.sum()) for p in run.probabilities]))
    return replace(run, probabilities=shares, log_probabilities=log(shares), samples=samples)


def test_frequencies_are_recalibrated_by_what_needs_no_logarithm_of_them(picked):
    before, after = recalibrated(picked, 100)
    assert after.method == "isotonic"
    assert np.isnan([before.nll, after.nll, *after.nll_change]).all()
    assert after.nll_infinite == 0
    with pytest.raises(InputError, match="scaling need logarithms, and a frequency of 0"):
        recalibrated(picked, 100, methods=("isotonic", "platt"))
    assert fitted_temperature(picked) is None


def test_frequencies_have_no_nll_at_any_temperature(run, picked):
    for hundredths in (50, 100):
        result = at_temperature(picked, hundredths, 100)
        assert np.isnan(result.nll)
        assert result.nll_infinite == 0
    assert "frequency" in dial_rows(picked).column_names
    assert "frequency" not in dial_rows(run).column_names


def test_isotonic_regression_that_rules_out_a_truth_has_an_infinite_nll(run):
    before, after = recalibrated(run, 100, methods=("isotonic",))
    zeros = set()
    for fitted, _ in (halves(run), halves(run)[::-1]):
        p = softmax(fit("isotonic", run.log_probabilities[fitted], run.labels[fitted]).logits(run.log_probabilities))
        zeros |= {int(row) for row in run.test if p[row, run.labels[row]] == 0}
    assert after.nll_infinite == len(zeros) > 0
    assert after.nll == np.inf
    assert after.nll_change[0] == np.inf
    assert np.isnan(after.nll_change[1:]).all()
    assert np.isfinite(before.nll)
    assert before.nll_infinite == 0


def test_before_is_the_run_as_it_is(run):
    before = recalibrated(run, 100, methods=())[0]
    assert before.n_fit + before.n_calibration == len(run.calibration)
    top = top_options(run.probabilities[run.test])
    assert before.accuracy == (top == run.labels[run.test]).mean()
    assert np.isnan(before.nll_change).all()


def test_too_few_questions_are_said(home):
    with pytest.raises(InputError, match="recalibration needs at least 40"):
        recalibrated(load(synthetic_run(60)), 100)


def test_a_run_of_nothing_but_one_question_is_said(run, monkeypatch):
    monkeypatch.setattr(
        "core.reports.calibration.recalibrated.clustered", lambda run: (np.arange(400), np.zeros(400, dtype=int))
    )
    with pytest.raises(InputError, match="too few different"):
        recalibrated(run, 100)


@pytest.mark.simulation
def test_coverage_is_kept_by_every_map(home):
    """Thresholds come from questions that no map was fitted on, so the promise holds after each."""
    coverages = {method: [] for method in ("none", *METHODS)}
    for seed in range(25):
        for row in recalibrated(load(synthetic_run(600, seed=seed, signal=2.0)), 100):
            coverages[row.method].append(row.coverage["lac"])
    for method, coverage in coverages.items():
        assert np.mean(coverage) == pytest.approx(0.9, abs=0.015), method


def test_a_run_without_texts_is_halved_too(home):
    run_id = synthetic_run(200)
    record = store.read_record(run_id)
    store.update_record(run_id, provenance={**record.provenance, "texts": False})
    first, second = halves(load(run_id))
    assert len(first) == len(second) == 50


def scored(run, p):
    """The run with these probabilities."""
    return replace(run, probabilities=p, log_probabilities=np.log(p))


def test_a_nearly_perfect_models_change_of_nll_has_an_interval(run):
    """Three of 200 test questions are wrong: the change's interval is that of few wrong answers, and no point."""
    k = run.probabilities.shape[1]
    p = np.full(run.probabilities.shape, 0.004 / (k - 1))
    p[np.arange(len(p)), run.labels] = 0.996
    for row in [*run.test[:3], *run.calibration[:2]]:
        p[row] = np.roll(p[row], 1)
    result = recalibrated(scored(run, p), 100, methods=("temperature",))[1]
    change, low, high = result.nll_change
    assert low < change < high
    assert (high - low) > 0.02
    right = recalibrated(scored(run, np.where(p == p.max(axis=1, keepdims=True), 0.996, p)), 100, methods=("platt",))[1]
    assert right.nll_change[1] < right.nll_change[2]


def test_what_a_fit_does_not_determine_is_said(run):
    p = np.full(run.probabilities.shape, 0.01)
    p[np.arange(len(p)), run.labels] = 1 - 0.01 * (p.shape[1] - 1)
    by_method = {entry.method: entry for entry in recalibrated(scored(run, p), 100, methods=("temperature", "platt"))}
    assert [entry["temperature"] for entry in by_method["temperature"].parameters] == [0.01, 0.01]
    assert by_method["temperature"].notes[0].startswith("The temperature is at its limit of 0.01")
    assert by_method["platt"].notes == by_method["none"].notes == ()
    assert fitted_temperature(scored(run, p)) is None
    assert fitted_temperature(run) is not None


def test_a_change_of_nll_counts_repeats_as_one(run):
    many = replace(run, test=np.repeat(run.test[:40], 5), clusters=np.arange(len(run.labels)))
    once = recalibrated(replace(run, test=run.test[:40]), 100, methods=("temperature",))[1]
    five = recalibrated(many, 100, methods=("temperature",))[1]
    assert five.nll_change == pytest.approx(once.nll_change)


def test_questions_of_a_cluster_are_in_the_same_half(run):
    clusters = np.arange(len(run.labels)) // 6
    first, second = halves(replace(run, clusters=clusters))
    assert not set(clusters[first]) & set(clusters[second])
