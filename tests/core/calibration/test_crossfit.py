"""The parts of a cross-fitted lower end, by hand; the whole of it against a loop is in test_binned.py."""

import numpy as np
import pytest

from core.calibration.crossfit import CrossFit, directions, folds_of, lower_end, widened

pytestmark = pytest.mark.quick


def test_a_direction_is_a_soft_sign():
    # The noise of nine tenths of the questions over 1.5: at noise 2 the scale is 1.5 · 2 · √.9.
    scale = 3 * np.sqrt(0.9)
    rest = np.array([scale / 2, -scale / 4, 2 * scale, -2 * scale, 0.3, -0.3, 0.0])
    noise = np.array([2.0, 2.0, 2.0, 2.0, 0.0, 0.0, 0.0])
    assert directions(rest, noise).tolist() == pytest.approx([0.5, -0.25, 1, -1, 1, -1, 0])


def test_a_bin_within_two_standard_deviations_is_not_clear():
    sums, noise = np.array([3.9, -3.9, 4.0, -4.1, 0.0]), np.full(5, 2.0)
    assert widened(sums, noise).tolist() == pytest.approx([np.sqrt(2), np.sqrt(2), 1, 1, np.sqrt(2)])


def test_the_lower_end_is_the_mean_less_196_standard_errors():
    terms = np.array([1.0, 2.0, 3.0])
    assert lower_end(terms, terms) == pytest.approx(2 - 1.96 / np.sqrt(3))
    assert lower_end(terms, 2 * terms) == 0  # 2 − 2 · 1.96 / √3 is below 0
    assert lower_end(np.array([4.0, 6.0]), np.array([1.0, 1.0])) == 5
    assert lower_end(np.array([4.0]), np.array([1.0])) == 0


def test_of_two_groups_it_is_the_mean_over_both():
    """A question stands in a bin of each group; against loops over questions, groups and folds."""
    rng = np.random.default_rng(4)
    index = np.stack([rng.integers(0, 3, 60), 3 + rng.integers(0, 2, 60)], axis=1)
    gaps, noise = rng.normal(0.4, 1, (60, 2)), np.array([3.0, 2.0, 4.0, 1.0, 6.0])
    folds = folds_of(index[:, 0])
    assert folds.min() == 0
    assert folds.max() == 9
    terms, spread = np.zeros(60), np.zeros(60)
    for i in range(60):
        for g in range(2):
            inside = (index == index[i, g]).any(axis=1) & (folds != folds[i])
            soft = gaps[inside, g].sum() / (1.5 * noise[index[i, g]] * np.sqrt(0.9))
            term = np.clip(soft, 0, 1) * gaps[i, g] / 2  # bins that are off upwards alone
            whole = gaps[(index == index[i, g]).any(axis=1), g].sum()
            terms[i] += term
            spread[i] += term * (np.sqrt(2) if abs(whole) < 2 * noise[index[i, g]] else 1)
    result = CrossFit(index, gaps, noise, folds).low(lambda directions: np.maximum(directions, 0))
    assert result == pytest.approx(terms.mean() - 1.96 * spread.std(ddof=1) / np.sqrt(60))
    assert result > 0


def test_folds_are_the_same_in_every_version():
    """Figures on a page do not change because a seed did."""
    expected = [8, 2, 3, 5, 1, 9, 5, 8, 7, 1, 2, 3, 0, 7, 1, 3, 9, 0, 0, 6, 6, 2, 4, 4]
    assert folds_of(np.arange(24) % 2).tolist() == expected
