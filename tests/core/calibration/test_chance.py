"""Errors by chance alone: intervals, consistency, and the test of calibration."""

import numpy as np
import pytest
from scipy import stats

from core.calibration.bins import TopLabel, edges, place, top_label
from core.calibration.consistency import calibrated_sums, calibration_test, spiegelhalter
from core.calibration.errors import top_errors
from core.calibration.figures import accuracy_estimate, estimates, loss_estimates, top_estimates
from core.calibration.metrics import accuracy, brier, brier_terms, log_losses
from core.calibration.reliability import reliability
from core.calibration.smooth import smooth_error
from core.conformal.coverage import share_interval
from core.errors import InputError
from tests.reference.calibration import classwise_error


def calibrated(n, k=4, seed=0):
    """Probabilities and labels drawn with them."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(k, 0.5), size=n)
    return p, (p.cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)


def test_estimates_are_those_of_the_metrics():
    p, y = calibrated(300)
    result = estimates(p, y, bins=10)
    errors = top_errors(top_label(p, y), bins=10)
    expected = {
        "accuracy": accuracy(p, y),
        "nll": log_losses(np.log(p), y).mean(),
        "brier": brier(p, y),
        "ece": errors.ece,
        "over": errors.over,
        "under": errors.under,
        "mce": errors.mce,
        "classwise_ece": classwise_error(p, y, bins=10),
    }
    assert {name: result[name].value for name in expected} == pytest.approx(expected)
    assert result["smooth_ece"].value == pytest.approx(smooth_error(top_label(p, y)), abs=1e-3)
    assert {estimate.n for estimate in result.values()} == {300}
    assert all(
        estimate.low <= estimate.excess <= estimate.high for estimate in result.values() if estimate.excess is not None
    )
    assert {name for name, estimate in result.items() if estimate.excess is None} == {"accuracy", "nll", "brier", "mce"}
    assert {name for name, estimate in result.items() if estimate.bias is None} == {"accuracy", "nll", "brier"}


def test_intervals_follow_the_seed_and_nothing_else():
    p, y = calibrated(100)
    assert estimates(p, y, seed=3) == estimates(p, y, seed=3)
    assert estimates(p, y, seed=3)["mce"].bias != estimates(p, y, seed=4)["mce"].bias


def test_means_are_those_that_are_simulated():
    p, y = calibrated(100)
    result = estimates(p, y, seed=3)
    assert result["accuracy"] == accuracy_estimate(top_label(p, y))
    assert {name: result[name] for name in ("nll", "brier")} == loss_estimates(p, np.log(p), y)
    assert result["nll"] == top_estimates(top_label(p, y), -np.log(p[np.arange(100), y]))["nll"]
    assert result["brier"].value == brier_terms(p, y).mean()


def test_accuracy_has_the_exact_interval_of_every_page():
    c = np.full(2000, 0.7)
    top = TopLabel(c, (np.random.default_rng(1).random(2000) < 0.7).astype(float))
    result = top_estimates(top, -np.log(c))["accuracy"]
    assert (result.low, result.high) == share_interval(int(top.correct.sum()), 2000)


def test_an_infinite_nll_has_no_interval_and_says_on_how_many_questions():
    p, y = calibrated(300)
    logs = np.log(p)
    logs[[3, 7], y[[3, 7]]] = -np.inf
    result = estimates(p, y, log_probabilities=logs)
    assert result["nll"].value == np.inf
    assert np.isnan([result["nll"].low, result["nll"].high]).all()
    assert (result["nll"].infinite, result["nll"].n, result["brier"].infinite) == (2, 300, 0)
    assert result["brier"] == estimates(p, y)["brier"]


def test_an_overconfident_models_interval_leaves_0_out():
    p, y = calibrated(2000)
    sharper = p**3 / (p**3).sum(axis=1, keepdims=True)
    result = estimates(sharper, y)["ece"]
    assert 0 < result.low < result.value
    assert result.bias < result.low
    assert result.low < result.excess < result.high


def test_sums_of_a_calibrated_model_have_its_mean_and_variance():
    top = TopLabel(np.array([0.1, 0.4, 0.4, 0.9, 0.95]), np.zeros(5))
    index = place(top.confidence, edges(top.confidence, bins=5))
    sums = calibrated_sums(top, index, bins=5, draws=20_000, rng=np.random.default_rng(0))
    assert sums.mean(axis=0) == pytest.approx([0] * 5, abs=0.02)
    assert sums.var(axis=0) == pytest.approx([0.09, 0.48, 0, 0, 0.09 + 0.0475], abs=0.02)


@pytest.mark.simulation
def test_the_p_value_of_a_calibrated_model_is_uniform():
    tested = [
        calibration_test(top_label(*calibrated(200, seed=seed)), rng=np.random.default_rng(seed), draws=200)
        for seed in range(150)
    ]
    assert stats.kstest([outcome.p_value for outcome in tested], "uniform").pvalue > 0.01
    assert stats.kstest([outcome.z for outcome in tested], "norm").pvalue > 0.01


def test_an_overconfident_model_is_found_out():
    p, y = calibrated(1000)
    sharper = p**2 / (p**2).sum(axis=1, keepdims=True)
    result = calibration_test(top_label(sharper, y), rng=np.random.default_rng(0), draws=200)
    assert result.p_value == pytest.approx(1 / 201)
    assert result.z > 3
    assert result.z_p_value < 0.01
    assert result.ece > result.expected


def test_spiegelhalter_by_hand():
    # (1 − .8)(−.6) + (0 − .6)(−.2) = 0; a third at .9, wrong: (−.9)(−.8) = .72; variance .36·.16 + .04·.24 + .64·.09
    top = TopLabel(np.array([0.8, 0.6, 0.9]), np.array([1.0, 0.0, 0.0]))
    assert spiegelhalter(top) == pytest.approx(0.72 / np.sqrt(0.0576 + 0.0096 + 0.0576))


def test_nothing_can_be_tested_where_all_is_sure():
    result = calibration_test(TopLabel(np.ones(10), np.ones(10)), rng=np.random.default_rng(0), draws=10)
    assert (result.ece, result.expected, result.p_value) == (0, 0, 1)
    assert np.isnan(result.z)
    assert np.isnan(result.z_p_value)


def test_a_diagrams_bins_hold_what_they_should():
    p, y = calibrated(500)
    top = top_label(p, y)
    result = reliability(top, rng=np.random.default_rng(0))
    index = place(top.confidence, edges(top.confidence))
    assert [b.n for b in result] == np.bincount(index, minlength=15).tolist()
    for b, row in enumerate(result):
        if row.n == 0:  # empty, not 0
            assert np.isnan([row.confidence, row.accuracy, row.accuracy_low, row.consistent_high]).all()
            continue
        assert row.accuracy == pytest.approx(top.correct[index == b].mean())
        assert row.low < row.confidence <= row.high
        assert row.accuracy_low <= row.accuracy <= row.accuracy_high
        # The Poisson-binomial law's own quantiles, from its Fourier sum over the bin's confidences.
        law = np.ones(1)
        for c in top.confidence[index == b]:
            law = np.convolve(law, [1 - c, c])
        low, high = np.searchsorted(law.cumsum(), [0.025, 0.975]) / row.n
        assert (row.consistent_low, row.consistent_high) == pytest.approx((low, high), abs=1.5 / row.n + 0.01)


def test_no_draws_are_refused():
    top = TopLabel(np.array([0.5]), np.array([1.0]))
    with pytest.raises(InputError, match="at least one draw"):
        calibration_test(top, rng=np.random.default_rng(0), draws=0)
