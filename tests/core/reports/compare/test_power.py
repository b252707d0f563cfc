"""Power: the sum against every outcome, simulated tests, and what pilots say."""

import itertools
import math

import numpy as np
import pytest

from core.conformal.permutation import Swappable
from core.conformal.set_sizes.power import SizeSpread
from core.reports.compare.paired_shares import mcnemar
from core.reports.compare.power import (
    POWER,
    SpreadOfPair,
    mcnemar_power,
    spread_of_pair,
    spread_with_another,
)

pytestmark = pytest.mark.quick


@pytest.mark.parametrize(
    ("n", "differing", "difference"), [(9, 0.7, 0.5), (12, 1.0, 1.0), (12, 0.9, 0.0), (5, 1.0, 1.0)]
)
@pytest.mark.parametrize("significance", [0.05, 0.2])
def test_the_power_is_the_chance_of_all_significant_outcomes(
    n: int, differing: float, difference: float, significance: float
):
    first, second = (differing - difference) / 2, (differing + difference) / 2
    expected = sum(
        math.comb(n, b) * math.comb(n - b, c) * first**b * second**c * (1 - differing) ** (n - b - c)
        for b, c in itertools.product(range(n + 1), repeat=2)
        if b + c <= n and mcnemar(b, c) <= significance
    )
    assert mcnemar_power(n, differing, difference, significance) == pytest.approx(expected)


@pytest.mark.parametrize("n", [9, 60])
def test_finer_steps_bring_the_level_to_the_nominal_one(n: int):
    whole, half, fine = (mcnemar_power(n, 0.7, 0.0, step=step) for step in (1.0, 0.5, 0.0))
    assert fine == pytest.approx(0.05)
    assert half == pytest.approx((whole + fine) / 2)


@pytest.mark.parametrize(("n", "differing"), [(30, 0.5), (150, 0.2), (1000, 0.1), (40, 0.0)])
def test_a_detectable_difference_is_found_in_eight_of_ten_draws(n: int, differing: float):
    spread = SpreadOfPair(differing)
    difference = spread.detectable_accuracy(n)
    share = max(differing, difference)
    p = [(share - difference) / 2, (share + difference) / 2, 1 - share]
    counts = np.random.default_rng(0).multinomial(n, p, size=4000)[:, :2]
    outcomes, times = np.unique(counts, axis=0, return_counts=True)
    found = sum(int(many) for (b, c), many in zip(outcomes.tolist(), times, strict=True) if mcnemar(b, c) <= 0.05)
    assert found / 4000 == pytest.approx(POWER, abs=0.03)


def test_too_few_questions_show_no_difference_however_large():
    assert math.isnan(SpreadOfPair(0.3).detectable_accuracy(5))  # 2 · ½⁵ = .0625
    assert SpreadOfPair(0.3).detectable_accuracy(6) < 1  # 2 · ½⁶ = .031
    assert math.isnan(SpreadOfPair(0.3).detectable_size(100, 100))


def test_a_difference_that_is_larger_or_better_known_needs_fewer_questions():
    usual = SpreadOfPair(0.2)
    assert usual.detectable_accuracy(400) < usual.detectable_accuracy(100)
    assert SpreadOfPair(0.1).detectable_accuracy(400) < usual.detectable_accuracy(400)
    assert usual.detectable_accuracy(400, significance=0.05 / 66) > usual.detectable_accuracy(400)


def test_without_correlation_the_power_of_set_size_is_that_of_a_z_test():
    sizes = SizeSpread(np.diag([1.0, 0, 0]), np.diag([1.0, 0]), (1.0, 1.0))
    spread = SpreadOfPair(0.2, sizes=sizes)
    # (1.96 + 0.8416) · √(1/100 + 1/400)
    assert spread.detectable_size(100, 400) == pytest.approx(2.8016 * math.sqrt(0.0125), abs=1e-4)
    assert spread.detectable_size(100, 400, power=0.9) == pytest.approx(3.2415 * math.sqrt(0.0125), abs=1e-4)
    # Sets that differ on five questions by an option can't be told from chance: 2 · ½⁵ = .0625
    assert spread.size_power(10**9, 100, 0.0501) == 0.0
    assert spread.size_power(10**9, 10**6, 0.06) > 0.99


def swappable(right: list[list[float]], sizes: list[list[int]], scores: list[list[float]]) -> Swappable:
    """A run and another model on its questions, by set sizes of 4 options at a threshold of .5."""
    test = np.array([[[0.5] * size + [0.95] * (4 - size) for size in model] for model in sizes])
    return Swappable(np.array(scores), np.zeros(0), test, np.array(right, dtype=np.float64), 4)


NINE = [i / 10 for i in range(1, 10)]


def test_equal_runs_vary_by_the_further_question_that_they_may_differ_on():
    side = swappable([[1.0, 0.0] * 10] * 2, [[1, 2] * 10] * 2, [NINE] * 2)
    spread = spread_of_pair(side, side, 500, None)
    assert spread.differing == 0.0
    assert spread.sizes.calibration[0, 0] == 0.0
    assert (spread.sizes.test[0, 0], spread.sizes.swapped) == (2 / 20, (0.0, 2 / 20))
    assert spread.detectable_size(9, 20) == pytest.approx(6 / 20, abs=1e-3)


def test_rows_that_are_alike_are_worth_one_and_others_themselves():
    rng = np.random.default_rng(0)
    clusters = np.repeat(np.arange(200), 5)
    for alike, worth in ((True, 1.0), (False, 5.0)):
        rights = [rng.integers(0, 2, 200).repeat(5) if alike else rng.integers(0, 2, 1000) for _ in range(2)]
        first, second = (swappable(order, [[1] * 1000] * 2, [NINE] * 2) for order in (rights, rights[::-1]))
        spread = spread_of_pair(first, second, 500, clusters)
        assert (spread.rows, spread.worth) == (5.0, pytest.approx(worth, rel=0.15))
        assert spread_with_another(first, 500, clusters).worth == pytest.approx(worth, rel=0.15)


def test_an_infinite_threshold_says_nothing_of_set_sizes():
    side = swappable([[1.0] * 20] * 2, [[4] * 20] * 2, [NINE] * 2)
    spread = spread_of_pair(side, side, 50, None)
    assert spread.sizes is None
    assert math.isnan(spread.detectable_size(9, 20))
    assert spread.detectable_accuracy(20) > 0
