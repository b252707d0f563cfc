"""The jackknife: a mean's known variance, equal groups counted as often as they come, and shares."""

import numpy as np
import pytest
from scipy import stats

from core.calibration.jackknife import ends, random_groups, share_ends

pytestmark = pytest.mark.quick


def without_each(values):
    return np.array([[np.delete(values, i).mean()] for i in range(len(values))])


def test_of_a_mean_it_is_students_interval():
    values = np.random.default_rng(0).normal(size=25)
    low, high = ends(values.mean(keepdims=True), without_each(values))
    found = stats.t.interval(0.95, 24, loc=values.mean(), scale=values.std(ddof=1) / 5)
    assert (low[0], high[0]) == pytest.approx(found)


def test_equal_groups_count_as_often_as_they_come():
    values = np.repeat([1.0, 2.0, 5.0], [7, 4, 2])
    kinds = without_each(values)[[0, 7, 11]]
    once = ends(values.mean(keepdims=True), kinds, times=np.array([7, 4, 2]))
    assert np.concatenate(once) == pytest.approx(np.concatenate(ends(values.mean(keepdims=True), without_each(values))))


def test_no_end_goes_beyond_what_can_be():
    low, high = ends(np.array([0.5]), np.array([[0.0], [1.0]]), least=0.0, most=1.0)
    assert (low[0], high[0]) == (0, 1)


def test_a_share_has_the_interval_of_the_answers_that_its_variance_is_worth():
    """20 groups of 10 answers: Clopper and Pearson's of p(1 − p) / variance answers, fewer for the t quantile."""
    right = np.random.default_rng(1).random(200) < 0.7
    group = np.arange(200) % 20
    left_out = np.array([[right[group != one].mean()] for one in range(20)])
    share = right.mean()
    variance = 19 / 20 * ((left_out - left_out.mean()) ** 2).sum()
    worth = share * (1 - share) / variance * (stats.norm.ppf(0.975) / stats.t.ppf(0.975, 19)) ** 2
    found = share_ends(np.array([share]), left_out, np.array([10**6]))
    hits = share * worth
    expected = stats.beta.ppf(0.025, hits, worth - hits + 1), stats.beta.ppf(0.975, hits + 1, worth - hits)
    assert np.concatenate(found) == pytest.approx(expected)


def test_a_share_is_worth_no_more_answers_than_there_are():
    # Groups that hardly differ would be worth thousands of answers; there are 50.
    left_out = np.full((20, 1), 0.5) + np.linspace(-1e-4, 1e-4, 20)[:, None]
    found = np.concatenate(share_ends(np.array([0.5]), left_out, np.array([50])))
    assert found == pytest.approx(tuple(stats.binomtest(25, 50).proportion_ci(0.95, method="exact")))


def test_shares_of_0_and_1_and_of_nothing():
    low, high = share_ends(np.array([0.0, 1.0, np.nan]), np.tile([0.0, 1.0, np.nan], (20, 1)), np.array([40, 40, 40]))
    one = stats.binomtest(0, 40).proportion_ci(0.95, method="exact").high
    assert (low[0], high[0], low[1], high[1]) == pytest.approx((0, one, 1 - one, 1))
    assert np.isnan([low[2], high[2]]).all()


def test_groups_differ_by_one_at_most():
    sizes = np.bincount(random_groups(205))
    assert (len(sizes), sizes.min(), sizes.max()) == (20, 10, 11)


def test_groups_are_the_same_at_every_call_and_in_every_version():
    """Figures on a page do not change because a seed did."""
    assert random_groups(6, groups=3).tolist() == [0, 0, 1, 2, 1, 2]
    assert np.array_equal(random_groups(50), random_groups(50))
    assert not np.array_equal(random_groups(40) % 20, random_groups(60)[:40])


def test_both_ends_are_kept_within_what_can_be():
    low, high = ends(np.array([0.9, -0.9]), np.array([[0.2, -0.1], [1.6, -1.7]]), least=-0.5, most=0.5)
    assert low.tolist() == [-0.5, -0.5]
    assert high.tolist() == [0.5, 0.5]
    close = ends(np.array([3.0, -3.0]), np.array([[3.0, -3.0], [3.0, -3.0]]), least=-1.0, most=1.0)
    assert [of.tolist() for of in close] == [[1.0, -1.0], [1.0, -1.0]]


def test_a_share_that_varies_much_is_worth_less_than_an_answer():
    # Shares of 0 and 1 in turn: a variance of 1/4 · 19, so ½ · ½ / variance is worth but a fraction of one answer.
    left_out = np.tile([[0.0], [1.0]], (10, 1))
    worth = 0.25 / (19 / 20 * 20 * 0.25) * (stats.norm.ppf(0.975) / stats.t.ppf(0.975, 19)) ** 2
    low, high = share_ends(np.array([0.5]), left_out, np.array([40]))
    hits = worth / 2
    expected = stats.beta.ppf(0.025, hits, worth - hits + 1), stats.beta.ppf(0.975, hits + 1, worth - hits)
    assert (low[0], high[0]) == pytest.approx(expected)
