"""Upper ends by inverted tests: limits that are known."""

import numpy as np
import pytest
from scipy import stats

from core.calibration.inversion import MEDIAN, PRECISION, TAIL, correlated, multiple, normal_draws

pytestmark = pytest.mark.quick


def test_draws_are_even_seeded_and_independent():
    drawn = normal_draws(15)
    assert drawn is normal_draws(15)
    assert drawn.mean(axis=0) == pytest.approx(np.zeros(15), abs=1e-12)
    assert drawn.std(axis=0) == pytest.approx(np.ones(15), abs=2e-3)
    assert np.abs(np.corrcoef(drawn.T) - np.eye(15)).max() < 0.09  # 4 standard errors of 2,000 draws
    assert stats.kstest(drawn[:, 3], "norm").pvalue > 0.99


def test_a_covariance_is_that_of_its_draws():
    wanted = np.array([[2.0, -1.0], [-1.0, 1.0]])
    assert np.cov(correlated(wanted, 20_000).T) == pytest.approx(wanted, abs=0.05)


def test_the_largest_shift_that_shows_so_little_is_the_normal_laws():
    """|t + z| is at most 0.1 with probability 0.025 where t is 1.52, from the normal law."""
    draws = normal_draws(1, 20_000)
    result = multiple(lambda t: np.abs(draws[:, 0] + t), 0.1, share=TAIL)
    assert stats.norm.cdf(0.1 - result) - stats.norm.cdf(-0.1 - result) == pytest.approx(TAIL, abs=5e-4)


def test_a_large_gaps_end_is_that_of_its_noise():
    draws = normal_draws(1)
    assert multiple(lambda t: np.abs(draws[:, 0] + t), 30.0, share=TAIL) == pytest.approx(31.96, abs=0.02)
    assert multiple(lambda t: np.abs(draws[:, 0] + t), 30.0, share=MEDIAN) == pytest.approx(30, abs=0.01)


def test_a_shift_is_0_where_chance_shows_as_much():
    draws = normal_draws(15)
    assert multiple(lambda t: np.abs(draws + t).sum(axis=1), 5.0, share=MEDIAN) == 0


def test_without_noise_nothing_is_tried_and_nothing_found():
    assert multiple(lambda t: np.zeros(40), 1.0, share=TAIL) == 0


def test_a_shift_is_found_to_the_precision_that_is_said():
    result = multiple(lambda t: np.full(40, t**3), 2.0, share=MEDIAN)
    assert result == pytest.approx(2 ** (1 / 3), abs=PRECISION)


def test_a_covariance_of_one_direction_has_draws_along_it():
    """Rounding makes some of its eigenvalues negative."""
    direction = np.random.default_rng(0).normal(size=8)
    covariance = np.outer(direction, direction)
    assert np.linalg.eigvalsh(covariance)[0] < 0
    result = correlated(covariance) / direction
    assert result == pytest.approx(np.tile(result[:, :1], 8), abs=1e-5)


def test_draws_are_the_normals_quantiles_in_the_same_order_in_every_version():
    # At ⅛, ⅜, ⅝ and ⅞; figures on a page do not change because a seed did.
    low, high = stats.norm.ppf([7 / 8, 5 / 8])
    assert normal_draws(2, 4) == pytest.approx(np.array([[-low, low], [-high, -high], [high, -low], [low, high]]))
    with pytest.raises(ValueError, match="read-only"):
        normal_draws(2, 4)[0, 0] = 1


def test_the_share_of_samples_that_show_no_more():
    """Of samples t + 0, t + 1, … t + 40 the twentieth part is the third smallest, t + 2."""
    steps = np.arange(41.0)
    assert multiple(lambda t: t + steps, 7.0, share=0.05) == pytest.approx(5, abs=PRECISION)
    assert multiple(lambda t: t + steps, 2.0, share=0.05) == 0  # at t = 0 exactly as many
    assert multiple(lambda t: t + steps, 2.5, share=0.05) == pytest.approx(0.5, abs=PRECISION)
    assert multiple(lambda t: t + steps, 5000.0, share=0.05) == pytest.approx(4998, abs=PRECISION)


def test_the_middle_of_an_odd_and_an_even_number_of_samples():
    """Of 41 samples the 21st is in the middle; of 40, place 19.5 from 0 is rounded to 20."""
    assert multiple(lambda t: t + np.arange(41.0), 30.0, share=MEDIAN) == pytest.approx(10, abs=PRECISION)
    assert multiple(lambda t: t + np.arange(40.0), 30.0, share=MEDIAN) == pytest.approx(10, abs=PRECISION)


def test_a_little_more_than_seen_at_no_gap_is_0_too():
    assert multiple(lambda t: t + np.arange(41.0), 1.5, share=0.05) == 0


def test_a_jump_that_no_line_meets_is_found_within_the_last_bracket():
    """The false position creeps along a jump this high, and the middle of what is left is returned."""
    jump = 12_345.678
    result = multiple(lambda t: np.full(40, 0.0 if t < jump else 1e30), 1.0, share=MEDIAN)
    assert result == pytest.approx(jump, rel=0.01)


def test_as_many_draws_as_are_asked_for():
    assert correlated(np.eye(3), 50).shape == (50, 3)


@pytest.mark.parametrize(
    ("law", "seen", "tries"),
    [
        (np.sqrt, 1.7, [0.0, 4.0, 3.4, 3.134645, 2.894589, 2.885429, 2.890002]),
        (np.expm1, 20.0, [0.0, 4.0, 1.492589, 2.320137, 2.978346, 3.119336, 3.042052, 3.044431]),
        (lambda t: t**3, 900.0, [0.0, 4.0, 8.0, 16.0, 8.866071, 9.292258, 9.678548, 9.653984, 9.654892]),
        (lambda t: 3 * np.log1p(t), 1.0, [0.0, 4.0, 0.828447, 0.457604, 0.362958, 0.396335, 0.395621]),
    ],
)
def test_every_try_is_the_illinois_variants(law, seen, tries):
    """The places that the method visits: an end that is kept twice in a row has its value halved."""
    tried = []

    def samples(t):
        tried.append(t)
        return np.full(40, float(law(t)))

    multiple(samples, seen, share=MEDIAN)
    assert tried == pytest.approx(tries, abs=1e-6)
