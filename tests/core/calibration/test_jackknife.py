"""The jackknife: shares and differences that are worth as many answers as their variance says."""

import numpy as np
import pytest
from scipy import stats

from core.calibration.jackknife import difference_ends, random_groups, share_ends

pytestmark = pytest.mark.quick


def test_a_difference_has_tangos_interval_and_a_width_without_a_discordant_answer():
    """Tango's ends solve |b − c − n·d| = z·√(n·(2q + d(1 − d))); of 0 and 0 they are ±z² / (n + z²)."""
    z, alike = stats.norm.ppf(0.975), np.tile([0.0, 0.18], (20, 1))
    low, high = difference_ends(np.array([0.0, 12 / 50]), np.array([0.0, 3 / 50]), alike, np.array([50, 50]))
    assert (low[0], high[0]) == pytest.approx((-(z**2) / (50 + z**2), z**2 / (50 + z**2)))
    assert (low[1], high[1]) == pytest.approx((0.031, 0.330), abs=5e-4)  # 12 and 3 of 50


def test_a_difference_has_the_interval_of_the_answers_that_its_variance_is_worth():
    rng = np.random.default_rng(3)
    left_out = 0.1 + 0.01 * rng.normal(size=(20, 1))
    variance = 19 / 20 * ((left_out - left_out.mean()) ** 2).sum()
    worth = (0.3 + 0.2 - 0.1**2) / variance * (stats.norm.ppf(0.975) / stats.t.ppf(0.975, 19)) ** 2
    few, own = (
        np.concatenate(difference_ends(np.array([0.3]), np.array([0.2]), left_out, np.array([n])))
        for n in (10**6, round(worth))
    )
    assert few == pytest.approx(own, abs=1e-3)
    assert difference_ends(np.array([1.0]), np.array([0.0]), np.ones((20, 1)), np.array([30]))[1][0] == 1


def test_a_figure_without_variance_is_worth_its_questions():
    alike = np.ones((20, 1))
    low, _ = share_ends(np.array([1.0]), alike, np.array([100]), np.array([20]))
    assert low[0] == pytest.approx(0.025 ** (1 / 20))


def test_a_share_has_the_interval_of_the_answers_that_its_variance_is_worth():
    """20 groups of 10 answers: Clopper and Pearson's of p(1 − p) / variance answers, fewer for the t quantile."""
    right = np.random.default_rng(1).random(200) < 0.7
    group = np.arange(200) % 20
    left_out = np.array([[right[group != number].mean()] for number in range(20)])
    share = right.mean()
    variance = 19 / 20 * ((left_out - left_out.mean()) ** 2).sum()
    worth = share * (1 - share) / variance * (stats.norm.ppf(0.975) / stats.t.ppf(0.975, 19)) ** 2
    result = share_ends(np.array([share]), left_out, np.array([10**6]))
    hits = share * worth
    expected = stats.beta.ppf(0.025, hits, worth - hits + 1), stats.beta.ppf(0.975, hits + 1, worth - hits)
    assert np.concatenate(result) == pytest.approx(expected)


def test_a_share_is_worth_no_more_answers_than_there_are():
    # Groups that hardly differ would be worth thousands of answers; there are 50.
    left_out = np.full((20, 1), 0.5) + np.linspace(-1e-4, 1e-4, 20)[:, None]
    result = np.concatenate(share_ends(np.array([0.5]), left_out, np.array([50])))
    assert result == pytest.approx(tuple(stats.binomtest(25, 50).proportion_ci(0.95, method="exact")))


def test_shares_of_0_and_1_and_of_nothing():
    low, high = share_ends(np.array([0.0, 1.0, np.nan]), np.tile([0.0, 1.0, np.nan], (20, 1)), np.array([40, 40, 40]))
    upper = stats.binomtest(0, 40).proportion_ci(0.95, method="exact").high
    assert (low[0], high[0], low[1], high[1]) == pytest.approx((0, upper, 1 - upper, 1))
    assert np.isnan([low[2], high[2]]).all()


def test_groups_differ_by_one_at_most():
    sizes = np.bincount(random_groups(205))
    assert (len(sizes), sizes.min(), sizes.max()) == (20, 10, 11)


def test_groups_are_the_same_at_every_call_and_in_every_version():
    """Figures on a page do not change because a seed did."""
    assert random_groups(6, groups=3).tolist() == [0, 0, 1, 2, 1, 2]
    assert np.array_equal(random_groups(50), random_groups(50))
    assert not np.array_equal(random_groups(40) % 20, random_groups(60)[:40])


def test_a_share_that_varies_much_is_worth_less_than_an_answer():
    # Shares of 0 and 1 in turn: a variance of 1/4 · 19, so ½ · ½ / variance is worth but a fraction of one answer.
    left_out = np.tile([[0.0], [1.0]], (10, 1))
    worth = 0.25 / (19 / 20 * 20 * 0.25) * (stats.norm.ppf(0.975) / stats.t.ppf(0.975, 19)) ** 2
    low, high = share_ends(np.array([0.5]), left_out, np.array([40]))
    hits = worth / 2
    expected = stats.beta.ppf(0.025, hits, worth - hits + 1), stats.beta.ppf(0.975, hits + 1, worth - hits)
    assert (low[0], high[0]) == pytest.approx(expected)
