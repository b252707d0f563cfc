"""Adaptive conformal inference: its levels, its sets at the ends, its bound, and the paper's recursion in fractions."""

from fractions import Fraction
from math import ceil, inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.conformal.threshold import exact
from core.errors import InputError
from tests.reference.adaptive import MILLION, adaptive_sets, check_gamma, promised_band, rank_at

pytestmark = pytest.mark.quick

SCORES = st.lists(st.integers(0, 6).map(lambda tenths: tenths / 10), min_size=1, max_size=30).map(np.array)
"""Scores with many ties."""


def test_the_level_falls_after_a_miss_and_rises_after_a_hit():
    # n = 9, alpha 0.1: rank 9, threshold 0.9. A miss: 0.1 + 0.02 · (0.1 − 1) = 0.082. Rank ⌈10 · 0.918⌉ = 10: full.
    # A hit: 0.082 + 0.02 · 0.1 = 0.084, full again.
    result = adaptive_sets(np.arange(1, 10) / 10, np.array([0.95, 5.0, 0.1]), alpha=100, gamma=20)
    assert result.levels.tolist() == [100_000, 82_000, 84_000]
    assert result.thresholds.tolist() == [0.9, inf, inf]
    assert result.missed.tolist() == [True, False, False]


def test_a_level_of_one_or_more_is_an_empty_set_that_misses_even_the_lowest_score():
    # alpha 0.999 and gamma 0.2 after a hit: 0.999 + 0.2 · 0.999 > 1.
    result = adaptive_sets(np.array([0.5]), np.array([0.1, -1e300, 0.1]), alpha=999, gamma=200)
    assert result.levels.tolist() == [999_000, 1_198_800, 1_198_600]
    assert result.thresholds.tolist() == [0.5, -inf, -inf]
    assert result.missed.tolist() == [False, True, True]


def test_a_score_that_equals_the_threshold_is_in_the_set():
    result = adaptive_sets(np.array([0.3, 0.3, 0.3]), np.array([0.3, np.nextafter(0.3, 1)]), alpha=500, gamma=0)
    assert result.missed.tolist() == [False, True]


@given(calibration=SCORES, truth=SCORES, alpha=st.integers(1, 999), gamma=st.integers(0, 200))
def test_it_is_the_papers_recursion(calibration, truth, alpha: int, gamma: int):
    """A slow reference in fractions: the level is a fraction, and the threshold is searched among all scores."""
    result = adaptive_sets(calibration, truth, alpha=alpha, gamma=gamma)
    level, n = Fraction(alpha, 1000), len(calibration)
    for t, score in enumerate(truth):
        assert Fraction(int(result.levels[t]), MILLION) == level
        needed = ceil((n + 1) * (1 - level))
        fits = [q for q in (-inf, *calibration, inf) if q == inf or (calibration <= q).sum() >= needed]
        threshold = -inf if needed < 1 else min(fits) if needed <= n else inf
        assert result.thresholds[t] == threshold
        assert result.missed[t] == (score > threshold)
        level += Fraction(gamma, 1000) * (Fraction(alpha, 1000) - int(score > threshold))


@given(calibration=SCORES, truth=SCORES, alpha=st.integers(1, 999), gamma=st.integers(1, 200))
def test_no_stream_leaves_what_is_promised(calibration, truth, alpha: int, gamma: int):
    result = adaptive_sets(calibration, truth, alpha=alpha, gamma=gamma)
    low, high = promised_band(len(truth), alpha=alpha, gamma=gamma)
    assert low - 1e-12 <= 1 - result.missed.mean() <= high + 1e-12
    assert result.levels.min() >= -1000 * gamma
    assert result.levels.max() <= MILLION + 1000 * gamma


def test_without_a_step_it_is_the_exact_threshold():
    rng = np.random.default_rng(3)
    own, tested = rng.random(57), rng.random(200)
    for alpha in (1, 10, 100, 500, 999):
        result = adaptive_sets(own, tested, alpha=alpha, gamma=0)
        assert set(result.thresholds.tolist()) == {exact(own, alpha)}
    assert promised_band(200, alpha=100, gamma=0) == (0, 1)


def test_the_worst_streams_come_close_to_what_is_promised():
    """All truths score lowest, so that the only misses are empty sets."""
    result = adaptive_sets(np.array([0.5]), np.full(400, 0.0), alpha=100, gamma=5)
    low, high = promised_band(400, alpha=100, gamma=5)
    coverage = 1 - result.missed.mean()
    assert low <= coverage <= high
    assert high - coverage < 0.02 or coverage == 1.0


def test_ranks_are_exact_where_floats_are_not():
    # (9 + 1) · (1 − 0.1) is 9.000000000000002 in floats, whose ceiling is 10.
    assert rank_at(9, 100_000) == 9
    assert [rank_at(4, level) for level in (-200_000, 0, 1, MILLION - 1, MILLION, 1_200_000)] == [6, 5, 5, 1, 0, -1]


@pytest.mark.parametrize("gamma", [-1, 201, 0.5])
def test_a_step_out_of_range_is_named(gamma):
    with pytest.raises(InputError, match=rf"from 0 to 200, got {gamma}"):
        check_gamma(gamma)


def test_it_needs_a_calibration_question():
    with pytest.raises(InputError, match="at least one calibration question"):
        adaptive_sets(np.array([]), np.array([0.5]), alpha=100, gamma=5)
