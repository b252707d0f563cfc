import itertools

import numpy as np
import pytest
from scipy import stats

from core.conformal import coverage as c
from core.conformal.sets import prediction_sets
from core.conformal.threshold import exact
from core.errors import InputError
from tests.reference.redraw import beta_band

pytestmark = pytest.mark.quick


def test_coverage_by_hand():
    sets = prediction_sets(np.array([[0.1, 0.9], [0.9, 0.1], [0.1, 0.1]]), 0.5)
    assert c.coverage(sets, np.array([0, 0, 1])) == pytest.approx(2 / 3)
    assert np.isnan(c.coverage(prediction_sets(np.zeros((0, 2)), 0.5), np.array([], dtype=int)))


def test_beta_parameters_by_hand():
    # l = ⌊(n + 1) α⌋ = ⌊100.1⌋, and the two add up to n + 1.
    assert c.beta_parameters(1000, 100) == (901, 100)
    assert c.beta_parameters(5, 100) == (6, 0)


@pytest.mark.parametrize(("n", "alpha"), [(50, 100), (1000, 100), (4997, 37), (19, 500)])
def test_beta_band_is_scipys(n: int, alpha: int):
    a, b = c.beta_parameters(n, alpha)
    assert beta_band(n, alpha) == pytest.approx(stats.beta(a, b).interval(0.95))


@pytest.mark.parametrize(
    ("n", "m", "alpha"),
    [(50, 50, 100), (1000, 300, 100), (4997, 4998, 100), (30, 9000, 100), (20000, 9000, 3), (5, 9000, 500)],
)
def test_beta_binomial_band_is_scipys(n: int, m: int, alpha: int):
    law = stats.betabinom(m, *c.beta_parameters(n, alpha))
    assert c.beta_binomial_band(n, m, alpha) == pytest.approx((law.ppf(0.025) / m, law.ppf(0.975) / m))
    assert c.beta_binomial(m, *c.beta_parameters(n, alpha)).sum() == pytest.approx(1)
    assert c.guarantee_p_value(int(0.88 * m), n, m, alpha) == pytest.approx(law.cdf(int(0.88 * m)))


def test_a_tail_reached_exactly_at_a_count_is_reached():
    # One calibration question, alpha ½: every count of 39 is as likely, 1/40 each, so 0 reaches 2.5% and 38 97.5%.
    assert c.beta_binomial_band(1, 39, 500) == (0.0, 38 / 39)


@pytest.mark.parametrize(
    ("tested", "alpha"),
    [
        *(({"a": 12, "b": 30, "c": 40, "d": 0}, alpha) for alpha in (20, 100, 500)),
        ({"a": 40, "b": 40}, 100),  # 81 counts are an odd length of the transform
        ({"a": 30, "b": 34}, 100),  # 65 are no length that is fast
    ],
)
def test_the_law_of_strata_is_the_sum_of_theirs(tested: dict[str, int], alpha: int):
    calibrated, m = {"a": 30, "b": 7, "c": 100, "d": 20}, sum(tested.values())
    slow = np.ones(1)
    for name, count in tested.items():
        a, b = c.beta_parameters(calibrated[name], alpha)
        slow = np.convolve(slow, stats.betabinom(count, a, b).pmf(np.arange(count + 1)) if b else np.eye(count + 1)[-1])
    assert c.strata_law(calibrated, tested, alpha) == pytest.approx(slow, abs=1e-13)
    assert (c.strata_law(calibrated, tested, alpha) >= 0).all()
    low, high = np.searchsorted(slow.cumsum(), [0.025, 0.975])
    assert c.strata_band(calibrated, tested, alpha) == pytest.approx((low / m, high / m))
    assert c.strata_p_value(m - 12, calibrated, tested, alpha) == pytest.approx(slow[: m - 11].sum())
    assert c.strata_p_value(m, calibrated, tested, alpha) <= 1


def test_the_law_of_one_stratum_is_the_plain_one():
    assert c.strata_band({"all": 60}, {"all": 90}, 100) == c.beta_binomial_band(60, 90, 100)
    assert c.strata_p_value(77, {"all": 60}, {"all": 90}, 100) == c.guarantee_p_value(77, 60, 90, 100)


def test_where_every_set_is_full_coverage_is_one():
    assert beta_band(5, 100) == c.beta_binomial_band(5, 10, 100) == (1.0, 1.0)
    assert c.guarantee_p_value(10, 5, 10, 100) == 1.0


def test_exact_interval_of_a_share():
    assert c.share_interval(0, 10)[0] == 0
    assert c.share_interval(10, 10)[1] == 1
    assert c.share_interval(9, 10) == pytest.approx(stats.binomtest(9, 10).proportion_ci(method="exact"))


def test_a_band_needs_a_test_question():
    with pytest.raises(InputError, match="at least one test question"):
        c.beta_binomial_band(10, 0, 100)


def test_another_mass_and_a_single_test_question():
    law = stats.betabinom(300, *c.beta_parameters(100, 100))
    assert c.beta_binomial_band(100, 300, 100, mass=0.5) == pytest.approx((law.ppf(0.25) / 300, law.ppf(0.75) / 300))
    assert beta_band(100, 100, mass=0.5) == pytest.approx(stats.beta(91, 10).interval(0.5))
    assert c.share_interval(3, 10, mass=0.5) == pytest.approx(stats.binomtest(3, 10).proportion_ci(0.5, method="exact"))
    assert c.beta_binomial_band(50, 1, 100) == (0.0, 1.0)
    # ⌊9 · .1⌋ = 0: eight calibration questions give full sets, nine do not.
    assert (c.beta_parameters(8, 100), c.beta_parameters(9, 100)) == ((9, 0), (9, 1))


def test_a_law_that_rounding_keeps_below_its_tail_ends_at_its_last_count():
    assert c.central_counts(np.array([0.5, 0.4])) == (0, 1)
    assert c.central_counts(np.array([0.02, 0.02, 0.92, 0.04])) == (1, 3)
    assert c.central_counts(np.array([0.02, 0.02, 0.92, 0.04]), mass=0.9) == (2, 2)


@pytest.mark.parametrize(("m", "a", "b"), [(10**6, 901, 100), (5000, 91, 10), (200, 3, 1)])
def test_only_counts_within_40_standard_deviations_are_summed(m: int, a: int, b: int):
    law = stats.betabinom(m, a, b)
    reach = 40 * law.std() + 50
    assert c._likely_counts(m, a, b) == (max(0, int(law.mean() - reach)), min(m, int(law.mean() + reach) + 1))


@pytest.mark.parametrize(
    ("scores", "n", "alpha"),
    [
        ([1, 1, 2, 2, 2, 3, 3, 4, 5, 5, 5, 6], 6, 300),
        ([1, 1, 1, 1, 1, 1, 1, 2], 4, 300),
        ([1, 2, 2, 2, 2, 2, 2, 2, 3, 3, 4, 4], 5, 200),
        ([1, 2, 3, 4, 5, 6, 7, 8, 9], 4, 400),
    ],
)
def test_with_ties_the_law_counts_every_choice_of_calibration_questions(scores, n, alpha):
    values = np.array(scores, dtype=np.float64)
    m = len(values) - n
    counts = np.zeros(m + 1)
    for rows in itertools.combinations(range(len(values)), n):
        own = np.isin(np.arange(len(values)), rows)
        counts[(values[~own] <= exact(values[own], alpha)).sum()] += 1
    ties = c.Ties.of(values[:n], values[n:])
    first, law = c.coverage_law(n, m, alpha, ties)
    assert np.append(np.zeros(first), law) == pytest.approx((counts / counts.sum())[: first + len(law)])
    for covered in range(m + 1):  # ties raise coverage, so the p-value without them is never too small
        assert c.guarantee_p_value(covered, n, m, alpha) >= counts[: covered + 1].sum() / counts.sum() - 1e-12


def test_scores_without_ties_keep_the_band_to_the_bit():
    scores = np.random.default_rng(0).random(400)
    assert c.Ties.of(scores[:200], scores[200:]) is None
    far = c.Ties.of(np.append(scores[:199], 2.0), np.append(scores[200:399], 2.0))  # far above the threshold's rank
    assert far is not None
    assert c.beta_binomial_band(200, 200, 500, ties=far) == c.beta_binomial_band(200, 200, 500)


def test_the_band_of_votes_lies_where_their_coverage_does():
    scores = np.random.default_rng(1).binomial(10, 0.7, 2000) / 10
    own, tested = scores[:1000], scores[1000:]
    low, high = c.beta_binomial_band(1000, 1000, 100, ties=c.Ties.of(own, tested))
    assert low <= (tested <= exact(own, 100)).mean() <= high
    assert low > c.beta_binomial_band(1000, 1000, 100)[1]


def test_strata_with_ties_are_one_stratum_where_there_is_one():
    scores = np.random.default_rng(2).binomial(5, 0.5, 300) / 5
    ties = c.Ties.of(scores[:150], scores[150:])
    law = c.strata_law({"a": 150}, {"a": 150}, 100, ties={"a": ties})
    first, alone = c.coverage_law(150, 150, 100, ties)
    assert law == pytest.approx(np.append(np.zeros(first), alone), abs=1e-12)


def test_a_share_of_rows_is_rounded_up_to_whole_questions():
    assert c.covered_questions(0.86, 50) == 43
    assert c.covered_questions(0.861, 50) == 44
