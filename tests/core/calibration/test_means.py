import numpy as np
import pytest
from scipy import stats

from core.calibration.means import skewed_mean_interval

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
