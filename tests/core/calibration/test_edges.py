"""Calibration figures at the edges: few questions, nearly perfect models, ranges, and questions asked repeatedly."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from core.calibration.bins import TopLabel, top_label
from core.calibration.consistency import calibrated_sums, calibration_test, spiegelhalter
from core.calibration.crossfit import folds_of
from core.calibration.figures import estimates
from core.calibration.recalibration import COLDEST, HOTTEST, fit
from core.calibration.reliability import reliability

ERRORS = ("ece", "over", "under", "l2", "classwise_ece", "smooth_ece")
NAMES = ("accuracy", "nll", "brier", "mce", *ERRORS)


def drawn(n, seed=0, k=4, power=1.0):
    """Probabilities (n, k), and labels drawn from a power of them."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(k), n)
    shares = p**power / (p**power).sum(axis=1, keepdims=True)
    return p, (shares.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1).clip(0, k - 1)


def always(confidence, n=100):
    """A model that gives the first of two options this probability."""
    return np.tile([confidence, 1 - confidence], (n, 1))


@pytest.mark.parametrize("k", [2, 4, 10])
@pytest.mark.parametrize("by", ["width", "mass"])
def test_the_classwise_interval_of_a_model_that_is_far_off_has_an_upper_half(k, by):
    result = estimates(*drawn(1000, k=k, power=0.0), by=by)["classwise_ece"]
    assert result.high > result.value + 0.2 * (result.value - result.low)
    assert result.low < result.excess < result.high <= 2 / k


def test_a_classwise_error_without_noise_has_finite_ends():
    # Always the first option, .9 sure: the gap of every bin is .1.
    result = estimates(always(0.9, 20), np.zeros(20, dtype=int))["classwise_ece"]
    assert result.value == pytest.approx(0.1)
    assert result.low == 0
    assert np.isfinite(result.high)


@pytest.mark.parametrize("label", [0, 1])
@pytest.mark.parametrize("confidence", [0.6, 0.99, 1 - 1e-12])
def test_no_interval_is_a_point_or_out_of_range(confidence, label):
    """All right and all wrong, from modest to certain."""
    result = estimates(always(confidence), np.full(100, label))
    for name in NAMES:
        estimate, most = result[name], {"nll": np.inf, "brier": 2.0}.get(name, 1.0)
        assert 0 <= estimate.low < estimate.high <= most, name


def test_the_ends_of_an_error_allow_for_rare_answers():
    # 100 wrong answers at .45: the accuracy may be up to .0362 (Clopper and Pearson), so the error as low as .4138.
    most = stats.binomtest(0, 100).proportion_ci(0.95, method="exact").high
    figures = estimates(np.tile([0.45, 0.3, 0.25], (100, 1)), np.full(100, 2))
    for name in ("ece", "over", "smooth_ece"):
        assert figures[name].low == pytest.approx(0.45 - most, abs=1e-3), name
    # 100 right ones at .999: the accuracy may be as low as 1 − .0362.
    figures = estimates(np.tile([0.999, 0.0005, 0.0005], (100, 1)), np.zeros(100, dtype=int))
    for name in ("ece", "over", "smooth_ece"):
        assert figures[name].high == pytest.approx(most - 0.001, abs=1e-3), name
    assert figures["classwise_ece"].high == pytest.approx(2 / 3 * (most - 0.001), abs=1e-3)


@pytest.mark.parametrize("n", [1, 2, 9])
def test_few_questions_have_neither_interval_nor_test(n):
    p, y = drawn(n)
    result = estimates(p, y)
    for name in ("nll", "brier", *ERRORS):
        assert np.isnan([result[name].low, result[name].high]).all(), name
        assert result[name].excess is None
        assert "10 are needed" in result[name].text(), name
        assert "nan" not in result[name].text(), name
    for name in ("accuracy", "mce"):
        assert result[name].low < result[name].high
    test = calibration_test(top_label(p, y), rng=np.random.default_rng(0))
    assert np.isnan([test.p_value, test.z, test.z_p_value]).all()
    assert "10 are needed" in test.reason
    assert np.isfinite(estimates(*drawn(10))["ece"].low)


def test_repeats_of_few_questions_are_few():
    p, y = drawn(9)
    rows = np.repeat(np.arange(9), 5)
    result = estimates(p[rows], y[rows], clusters=rows)["ece"]
    assert np.isnan(result.low)
    assert result.reason == "9 different questions, and 10 are needed"


# ---------------------------------------------------------------- questions that belong together


@pytest.fixture(scope="module")
def repeats():
    p, y = drawn(200, power=0.6)
    rows = np.random.default_rng(1).permutation(np.repeat(np.arange(200), 5))
    return estimates(p, y), estimates(p[rows], y[rows], clusters=rows), estimates(p[rows], y[rows])


@pytest.mark.parametrize("name", NAMES)
def test_each_question_five_times_has_the_interval_of_once(repeats, name):
    once, clustered, independent = (variant[name] for variant in repeats)
    assert clustered.value == pytest.approx(once.value)
    wide, same, narrow = (estimate.high - estimate.low for estimate in (once, clustered, independent))
    assert same == pytest.approx(wide, rel=0.25)
    assert narrow < 0.75 * same


def test_each_question_five_times_has_the_chance_of_once(repeats):
    once, clustered, _ = repeats
    for name in ("ece", "l2", "classwise_ece", "smooth_ece", "mce"):
        assert clustered[name].bias == pytest.approx(once[name].bias, rel=0.1), name


def test_a_cluster_is_drawn_with_one_uniform_number():
    # Five repeats at .4: all right or all wrong, so their sum is 5·.6 or 5·(−.4).
    together = np.zeros(5, dtype=int)
    top = TopLabel(np.full(5, 0.4), np.zeros(5))
    rng = np.random.default_rng(0)
    sums = calibrated_sums(top, together, bins=1, draws=500, rng=rng, clusters=together)
    assert set(np.round(sums[:, 0], 9)) == {3.0, -2.0}


def test_tests_of_each_question_five_times_are_those_of_once():
    p, y = drawn(100, power=0.8)
    rows = np.repeat(np.arange(100), 5)
    once = calibration_test(top_label(p, y), rng=np.random.default_rng(0), draws=4000)
    clustered = calibration_test(top_label(p[rows], y[rows]), rng=np.random.default_rng(1), draws=4000, clusters=rows)
    assert clustered.z == pytest.approx(once.z)
    assert clustered.p_value == pytest.approx(once.p_value, abs=0.03)
    assert abs(spiegelhalter(top_label(p[rows], y[rows]))) == pytest.approx(np.sqrt(5) * abs(once.z))


def test_a_diagrams_bins_of_each_question_five_times():
    p, y = drawn(100)
    rows = np.repeat(np.arange(100), 5)
    rng = np.random.default_rng(0)
    once = reliability(top_label(p, y), rng=rng)
    clustered = reliability(top_label(p[rows], y[rows]), rng=rng, clusters=rows)
    for once_bin, five in zip(once, clustered, strict=True):
        if once_bin.n:
            assert five.accuracy == pytest.approx(once_bin.accuracy)
            assert five.accuracy_high - five.accuracy_low > 0.95 * (once_bin.accuracy_high - once_bin.accuracy_low)
            band = once_bin.consistent_high - once_bin.consistent_low
            assert five.consistent_high - five.consistent_low == pytest.approx(band, abs=1 / once_bin.n + 1e-9)


def test_a_cluster_is_in_one_fold():
    clusters = np.random.default_rng(0).permutation(np.repeat(np.arange(40), 5))
    folds = folds_of(np.zeros(200, dtype=int), clusters)
    assert {len(set(folds[clusters == cluster])) for cluster in range(40)} == {1}
    assert np.bincount(folds[np.unique(clusters, return_index=True)[1]]).tolist() == [4] * 10


def test_clusters_of_one_question_each_change_no_interval_much():
    p, y = drawn(300, power=0.7)
    alone, clustered = estimates(p, y), estimates(p, y, clusters=np.arange(300))
    for name in NAMES:
        assert clustered[name].value == pytest.approx(alone[name].value)
        assert clustered[name].ends == pytest.approx(alone[name].ends, abs=0.02), name


# ---------------------------------------------------------------- recalibration


def test_a_temperature_that_is_not_determined_says_so():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 60)
    with np.errstate(divide="ignore"):
        certain = fit("temperature", np.log(np.eye(3)[y]), y)
    assert certain.words() == {"temperature": 1.0}
    assert "Every temperature fits" in certain.notes()[0]
    p = rng.dirichlet(np.ones(3), 60)
    wrong, right = (fit("temperature", np.log(p), truth) for truth in (p.argmin(axis=1), p.argmax(axis=1)))
    assert wrong.words() == {"temperature": HOTTEST}
    assert "at its limit of 100" in wrong.notes()[0]
    assert right.words() == {"temperature": COLDEST}
    assert "at its limit of 0.01" in right.notes()[0]
    assert fit("temperature", np.log(p), (p.cumsum(axis=1) < rng.random((60, 1))).sum(axis=1)).notes() == ()


def test_a_letter_that_is_never_true_has_no_weight_that_runs_away():
    p, y = drawn(300, power=0.7)
    others_true, others = y != 2, [0, 1, 3]
    result = fit("vector", np.log(p[others_true]), y[others_true])
    assert result.never_true == (2,)
    assert result.weights[2] == pytest.approx(result.weights[others].mean())
    assert result.biases[2] == pytest.approx(result.biases[others].mean())
    assert np.abs(result.biases).max() < 2
    assert result.notes() == (
        "C is never true in the questions of the fit, and has the mean weight and bias of the other options.",
    )
    assert fit("vector", np.log(p), y).notes() == ()
    assert replace(result, never_true=(1, 2)).notes()[0].startswith("B, C are never true")


def test_weights_at_their_limits_are_named():
    p, _ = drawn(60)
    assert "Some weights are at their limits" in fit("vector", np.log(p), p.argmax(axis=1)).notes()[0]


def test_a_few_questions_with_most_of_the_rows_give_no_interval():
    rng = np.random.default_rng(0)
    clusters = np.concatenate([np.zeros(60, dtype=np.int64), np.arange(1, 61)])
    p = rng.dirichlet(np.ones(4), size=len(clusters))
    result = estimates(p, rng.integers(0, 4, len(clusters)), clusters=clusters)
    for name in ("nll", "brier", "ece", "classwise_ece", "smooth_ece"):
        assert np.isnan(result[name].low)
        assert result[name].reason == "some of the 61 different questions have most of the 120 rows"
    assert result["accuracy"].low > 0
