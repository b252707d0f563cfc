"""Intervals by inverted tests: limits that are known, and shapes that are no help."""

import numpy as np
import pytest

from core.calibration.inversion import HALVINGS, interval, smoothed


def mean_size(sums):
    return np.abs(sums).sum(axis=1) / 100


def test_without_noise_an_error_is_what_was_seen():
    sums = np.array([3.0, -5.0, 0.0])
    found = interval(mean_size, sums, np.zeros((40, 3)), sums)
    assert found == pytest.approx((0.08, 0.08), abs=0.08 / 2**HALVINGS)


def test_a_large_gaps_interval_is_that_of_its_noise():
    noise = np.random.default_rng(0).normal(size=(20_000, 1))
    low, high = interval(mean_size, np.array([30.0]), noise, np.array([30.0]))
    assert (low, high) == pytest.approx((0.30 - 0.0196, 0.30 + 0.0196), abs=0.001)


def test_a_gap_far_below_its_noise_may_be_as_large_as_that():
    """|s + z| is at most 0.1 with probability 0.025 where s is 1.52, from the normal law."""
    noise = np.random.default_rng(0).normal(size=(20_000, 1))
    low, high = interval(mean_size, np.array([0.1]), noise, np.array([0.1]))
    assert low == 0
    assert high == pytest.approx(0.0152, abs=0.0008)


def test_what_noise_brings_is_taken_off():
    """Of fifteen bins that are off by as much as their noise the sum is too large; the interval lies lower."""
    rng = np.random.default_rng(1)
    truth, noise = np.ones(15), rng.normal(size=(4000, 15))
    held = 0
    for _ in range(200):
        sums = truth + rng.normal(size=15)
        low, high = interval(mean_size, sums, noise, smoothed(sums, np.full(15, 10.0)))
        held += low <= 0.15 <= high
        assert low < mean_size(sums[None])[0]
    assert held >= 176  # fewer of 200 has probability 1e-5 at 95 %


def test_a_shape_without_the_error_gives_way_to_what_was_seen():
    noise = np.random.default_rng(2).normal(size=(400, 3)) / 10
    sums = np.array([3.0, -1.0, 3.0])

    def over(rows):
        return np.maximum(-rows, 0).sum(axis=1)

    found = interval(over, sums, noise, np.array([3.0, 1.0, 3.0]))
    assert found == interval(over, sums, noise, sums)
    assert found[0] < 1 < found[1]
    assert interval(over, np.array([3.0, 0.0, 3.0]), noise, sums) == (0, 0)


def test_smoothing_averages_mean_gaps_by_their_questions():
    counts = np.array([[10.0, 20.0, 0.0, 40.0, 10.0], [5.0, 5.0, 5.0, 5.0, 5.0]])
    assert smoothed(0.2 * counts, counts) == pytest.approx(0.2 * counts)
    lonely = np.array([0.0, 0.0, 6.0, 0.0, 0.0])
    assert smoothed(lonely, np.array([0.0, 0.0, 6.0, 0.0, 0.0])) == pytest.approx(lonely)
    assert smoothed(lonely, np.full(5, 10.0)) == pytest.approx(
        6 * np.array([0.1 / 0.7, 0.2 / 0.9, 0.4, 0.2 / 0.9, 0.1 / 0.7])
    )
