"""The smooth error's interval: its figures on seeded samples, and what holds for each."""

import numpy as np
import pytest

from core.calibration.bins import TopLabel
from core.calibration.smooth import smooth_error
from core.calibration.smooth_interval import smooth_estimate

pytestmark = pytest.mark.quick

LUCK = np.linspace(0.005, 0.045, 41)  # the 97.5% quantile is 0.044


def sample(n: int, power: float, seed: int) -> TopLabel:
    """n questions whose truth is drawn with probability cᵖ at confidence c."""
    rng = np.random.default_rng(seed)
    c = rng.uniform(0.25, 1.0, n)
    return TopLabel(c, (rng.random(n) < c**power).astype(float))


CASES = [(300, 1.0, 1), (300, 2.0, 2), (80, 6.0, 3), (1200, 0.5, 4)]
EXPECTED = [
    (0.038668, 0.000000, 0.057397, 0.000000),
    (0.207573, 0.160156, 0.257812, 0.207031),
    (0.484643, 0.416992, 0.613281, 0.481445),
    (0.149038, 0.125977, 0.171875, 0.148438),
]


@pytest.mark.parametrize(("case", "expected"), list(zip(CASES, EXPECTED, strict=True)))
def test_figures_of_seeded_samples(case, expected):
    """Value, low end, high end and the error beyond chance; the simulations show that they mean what they say."""
    result = smooth_estimate(sample(*case), LUCK)
    assert (result.value, result.low, result.high, result.excess) == pytest.approx(expected, abs=2e-6)


@pytest.mark.parametrize("case", CASES)
def test_the_ends_surround_the_error_beyond_chance(case):
    top = sample(*case)
    result = smooth_estimate(top, LUCK)
    assert result.value == smooth_error(top)
    assert 0 <= result.low <= result.excess <= result.high <= 1
    assert (result.n, result.bias) == (len(top), pytest.approx(0.025))


def test_an_error_that_chance_explains_has_the_low_end_0():
    top = sample(300, 2.0, 2)
    value = smooth_error(top)
    assert smooth_estimate(top, LUCK).low > 0
    assert smooth_estimate(top, np.full(10, value)).low == 0
    assert smooth_estimate(top, np.full(10, 1.01 * value)).low == 0


def test_the_end_of_the_range_of_confidence_is_on_the_grid():
    """Confidences of exactly 0 and 1 belong to the first and the last cell."""
    c = np.array([0.0, 1.0] * 40 + [0.5] * 40)
    result = smooth_estimate(TopLabel(c, np.array([0.0, 0.0] * 40 + [1.0] * 40)), LUCK)
    assert result.low > 0.1
