import numpy as np
import pytest
from scipy import stats

from core.calibration.means import loss_interval, seen_loss_interval, skewed_mean_interval
from core.calibration.metrics import brier_options, brier_terms

pytestmark = pytest.mark.quick


def hall(x, skewness, n):
    """Hall's transformation of x = (mean - mu) / s, equation as in the module."""
    return x + skewness * x**2 / 3 + skewness**2 * x**3 / 27 + skewness / (6 * n)


def test_the_ends_are_where_halls_transformation_is_students_quantile():
    values = np.random.default_rng(2).exponential(size=150)
    mean, low, high = skewed_mean_interval(values)
    assert mean == values.mean()
    reach = stats.t.ppf(0.975, 149) / np.sqrt(150)
    at = (mean - np.array([low, high])) / values.std(ddof=1)
    assert hall(at, stats.skew(values), 150) == pytest.approx([reach, -reach])


def test_a_long_tail_reaches_further_up_than_down():
    mean, low, high = skewed_mean_interval(np.random.default_rng(3).exponential(size=200))
    assert high - mean > 1.1 * (mean - low)
    turned = skewed_mean_interval(-np.random.default_rng(3).exponential(size=200))
    assert turned == pytest.approx((-mean, -high, -low))


def test_without_skewness_it_is_students_interval():
    values = np.concatenate([np.arange(50.0), -np.arange(50.0)])
    assert skewed_mean_interval(values)[1:] == pytest.approx(
        stats.t.interval(0.95, 99, loc=0, scale=values.std(ddof=1) / 10), abs=1e-9
    )


@pytest.mark.parametrize("values", [[np.inf, 1.0, 2.0], [3.0]])
def test_what_has_no_interval(values):
    mean, low, high = skewed_mean_interval(np.array(values))
    assert mean == values[0]
    assert np.isnan([low, high]).all()


def test_two_values_have_students_interval_of_one_degree():
    # s = √2, so s/√2 = 1, and t of one degree of freedom is tan(.475 π) = 12.706.
    assert skewed_mean_interval(np.array([1.0, 3.0])) == pytest.approx(
        (2, 2 - np.tan(0.475 * np.pi), 2 + np.tan(0.475 * np.pi))
    )


def sure(n, wrong, confidence=0.99):
    """Probabilities (n, 3) of a model that is this sure of the first option, and labels: some are the second."""
    p = np.tile([confidence, (1 - confidence) / 2, (1 - confidence) / 2], (n, 1))
    return p, np.where(np.arange(n) < wrong, 1, 0)


def spread(n, wrong):
    """The same with confidences that differ."""
    p, y = sure(n, wrong)
    p[:, 0] = np.random.default_rng(4).uniform(0.9, 0.99, n)
    p[:, 1:] = (1 - p[:, :1]) / 2
    return p, y


def nll_interval(p, y, clusters=None):
    return loss_interval(-np.log(p), y, np.zeros(len(y), dtype=int), p, clusters=clusters)


@pytest.mark.parametrize("wrong", [0, 1, 9])
def test_few_wrong_answers_have_the_interval_of_a_poisson_count(wrong):
    # Each question's loss is −log .99, and a wrong one adds log(.99/.005). With equal weights, Fay and Feuer's interval
    # is the exact one of a Poisson count.
    interval = nll_interval(*sure(100, wrong))
    base, added = -np.log(0.99), np.log(0.99 / 0.005)
    low = stats.chi2.ppf(0.025, 2 * wrong) / 2 if wrong else 0
    high = stats.chi2.ppf(0.975, 2 * wrong + 2) / 2
    assert interval.mean == pytest.approx(base + wrong / 100 * added)
    assert (interval.low, interval.high) == pytest.approx((base + low / 100 * added, base + high / 100 * added))


def test_few_right_answers_save_what_a_right_one_saves():
    interval = nll_interval(*sure(100, 98))
    base, saved = -np.log(0.005), np.log(0.99 / 0.005)
    low, high = stats.chi2.ppf(0.025, 4) / 2, stats.chi2.ppf(0.975, 6) / 2
    assert (interval.low, interval.high) == pytest.approx((base - high / 100 * saved, base - low / 100 * saved))


def test_ten_wrong_answers_speak_for_themselves():
    p, y = spread(100, 10)
    losses = -np.log(p)[np.arange(100), y]
    interval = nll_interval(p, y)
    assert (interval.mean, interval.low, interval.high) == skewed_mean_interval(losses)
    assert seen_loss_interval(losses, (y == 0).astype(float)) == interval


def test_an_option_that_a_question_lacks_costs_nothing():
    p, y = sure(100, 1)
    lacking = np.column_stack([-np.log(p), np.full(100, np.nan)])
    padded = np.column_stack([p, np.zeros(100)])
    assert loss_interval(lacking, y, np.zeros(100, dtype=int), padded) == nll_interval(p, y)


@pytest.mark.parametrize(("n", "wrong", "says"), [(9, 3, "9 questions, and 10 are needed"), (30, 15, "same loss")])
def test_what_has_no_loss_interval_says_why(n, wrong, says):
    interval = nll_interval(*sure(n, wrong, confidence=1 / 3))
    assert np.isnan([interval.low, interval.high]).all()
    assert says in interval.reason


def test_a_loss_that_could_be_infinite_has_no_interval():
    p, y = sure(40, 20)
    p[7] = [0.5, 0.5, 0.0]
    with np.errstate(divide="ignore"):
        interval = nll_interval(p, y)
    assert np.isfinite(interval.mean)
    assert np.isnan(interval.low)
    assert "1 of 40 questions give an option probability 0" in interval.reason


def test_without_the_other_options_few_wrong_answers_have_no_interval():
    p, y = sure(100, 3)
    interval = seen_loss_interval(-np.log(p)[np.arange(100), y], (y == 0).astype(float))
    assert np.isnan(interval.low)
    assert interval.reason == "fewer than 10 wrong answers"


@pytest.mark.parametrize("wrong", [3, 20])
def test_each_question_five_times_says_as_much_as_once(wrong):
    p, y = spread(60, wrong)
    rows = np.random.default_rng(5).permutation(np.repeat(np.arange(60), 5))
    once, repeats = nll_interval(p, y), nll_interval(p[rows], y[rows], rows)
    assert (repeats.mean, repeats.low, repeats.high) == pytest.approx((once.mean, once.low, once.high))


def test_the_brier_score_of_each_option():
    p, y = np.array([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]]), np.array([0, 2])
    result = brier_options(p, y)
    for j in range(3):
        assert result[:, j] == pytest.approx(brier_terms(p, np.full(2, j)))
    assert result[[0, 1], y].tolist() == brier_terms(p, y).tolist()
