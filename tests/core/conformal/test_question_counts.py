"""Planned questions: counts worked out by hand, and a search that tries every number."""

import math
from fractions import Fraction

import pytest

from core.conformal.alpha import Alpha
from core.conformal.coverage import beta_binomial_band
from core.conformal.question_counts import (
    MOST,
    band_width,
    calibration_needed,
    fewest,
    questions_for_threshold,
    questions_for_width,
    sides,
)
from core.conformal.threshold import rank

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("alpha", [1, 3, 100, 333, 500, 900, 999, Fraction(25, 2), Fraction(1000, 3)])
def test_the_threshold_exists_from_the_needed_questions_on(alpha: Alpha):
    needed = calibration_needed(alpha)
    assert rank(needed, alpha) <= needed
    assert needed == 1 or rank(needed - 1, alpha) > needed - 1


def test_a_small_alpha_needs_one_over_alpha_less_one():
    # ⌈1/0.001⌉ − 1 = 999. round(998.5) is the even 998, and with a share of .1 round(998.5) at 9,985 is, too.
    assert questions_for_threshold(1, 0.5) == 1998
    assert questions_for_threshold(1, 0.1) == 9986
    assert questions_for_threshold(1, 0.0005) is None


def test_the_fewest_is_the_first_that_is_enough():
    assert [fewest(lambda n, first=first: n >= first, 2) for first in (1, 2, 3, 977, MOST)] == [2, 2, 3, 977, MOST]
    assert fewest(lambda n: False, 2) is None


@pytest.mark.parametrize(
    ("width", "alpha", "share"),
    [
        (0.2, 100, 0.5),
        (0.1, 100, 0.5),
        (0.05, 100, 0.5),
        (0.1, 10, 0.3),
        (0.15, 700, 0.5),
        (0.3, 500, 0.8),
        (0.6, 999, 0.5),
    ],
)
def test_the_width_is_kept_from_that_number_on_and_not_before(width: float, alpha: int, share: float):
    found = questions_for_width(width, alpha, share)
    tried = [number for number in range(2, 3 * found) if not band_width(*sides(number, share), alpha) <= width]
    assert found == max(tried, default=1) + 1


def test_a_width_is_that_of_the_band_on_the_pages():
    low, high = beta_binomial_band(250, 250, 100)
    assert band_width(250, 250, 100) == high - low
    assert math.isnan(band_width(8, 250, 100))
    assert math.isnan(band_width(9, 0, 100))
    assert questions_for_width(0.0005, 100, 0.5) is None
