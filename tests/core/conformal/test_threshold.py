import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.conformal.threshold import THRESHOLDS, full_set_message, rank, threshold
from core.errors import InputError

pytestmark = pytest.mark.quick


def test_rank_by_hand():
    # n = 9, alpha = .1: ⌈10 · .9⌉ = 9, where floats say ⌈9.000000000000002⌉ = 10 for 1 − .1 formed as .9 · 10.
    assert rank(9, 100) == 9
    assert rank(10, 100) == 10  # ⌈9.9⌉
    assert rank(99, 50) == 95  # ⌈95⌉
    assert rank(8, 100) == 9  # beyond n


@given(st.integers(1, 20_000), st.integers(1, 999))
def test_rank_is_the_exact_ceiling(n: int, alpha: int):
    from fractions import Fraction

    assert rank(n, alpha) == math.ceil((n + 1) * (1 - Fraction(alpha, 1000)))


def test_floating_point_would_have_been_wrong():
    wrong = [a for a in range(10, 501) if math.ceil((4999 + 1) * (1 - a / 1000)) != rank(4999, a)]
    assert len(wrong) > 20


def test_exact_is_the_kth_smallest_and_endless_beyond():
    values = np.array([0.5, 0.1, 0.4, 0.2, 0.3, 0.9, 0.8, 0.7, 0.6])
    assert threshold(values, 100) == 0.9
    assert threshold(values, 500) == 0.5  # ⌈10 · .5⌉ = 5th
    assert threshold(values, 99) == math.inf  # ⌈9.01⌉ = 10 > 9: the full set, no clamp


def test_paper_is_numpys_higher_at_rank_over_n():
    values = np.random.default_rng(0).random(4997)
    level = math.ceil(4998 * 0.9) / 4997
    assert threshold(values, 100, method="paper") == np.quantile(values, level, method="higher")
    # Which is the next order statistic here, not the one the guarantee asks for.
    assert threshold(values, 100, method="paper") > threshold(values, 100)
    assert threshold(values[:5], 100, method="paper") == math.inf
    assert threshold(values[:9], 100, method="paper") == values[:9].max()  # level 9 / 9: still a quantile
    assert threshold(values[:9], 99, method="paper") == math.inf  # level 10 / 9


def test_bluq_interpolates_and_clamps():
    values = np.array([0.0, 1.0, 2.0, 3.0])
    # ⌈5 · .5⌉ / 4 = .75 of the way along 0 … 3.
    assert threshold(values, 500, method="bluq") == 2.25
    assert threshold(values, 1, method="bluq") == 3.0


@pytest.mark.parametrize("method", THRESHOLDS)
def test_nothing_to_calibrate_on(method: str):
    with pytest.raises(InputError, match="no calibration scores"):
        threshold(np.array([]), 100, method=method)
    with pytest.raises(InputError, match="not a number"):
        threshold(np.array([0.1, np.nan]), 100, method=method)


def test_unknown_method_and_alpha():
    with pytest.raises(InputError, match="exact, paper, bluq"):
        threshold(np.array([0.1]), 100, method="median")
    with pytest.raises(InputError, match="1 to 999"):
        threshold(np.array([0.1]), 1000)


def test_the_full_set_says_why():
    assert full_set_message(9, 100) == ""
    below = "alpha can't be smaller than {}; below that, every option stays in every set."
    # 1/9 = .1111, and the next thousandth up
    assert full_set_message(8, 100) == "With 8 calibration questions, " + below.format("0.112")
    assert full_set_message(1, 400) == "With 1 calibration question, " + below.format("0.500")
    assert full_set_message(2, 300) == "With 2 calibration questions, " + below.format("0.334")
    assert rank(8, 112) <= 8 < rank(8, 111)
