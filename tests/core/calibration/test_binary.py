"""Platt's sigmoid and the isotonic function, by hand; rivals are in test_rivals.py."""

import numpy as np
import pytest
from scipy.special import expit, logit

from core.calibration.binary import Isotonic, Sigmoid

pytestmark = pytest.mark.quick


def test_platts_targets_by_hand():
    # One of four is true at 0 and three of four at 2: targets are 5/6 and 1/6, their means 1/3 and 2/3.
    x, is_true = np.repeat([0.0, 2.0], 4), np.array([1, 0, 0, 0, 1, 1, 1, 0], dtype=bool)
    result = Sigmoid.fit(x, is_true)
    assert (result.slope, result.intercept) == pytest.approx((np.log(2), -np.log(2)))
    assert result(np.array([0.0, 1.0, 2.0])).tolist() == pytest.approx([1 / 3, 1 / 2, 2 / 3])
    # The same turned round falls.
    assert Sigmoid.fit(x, ~is_true).slope == pytest.approx(-np.log(2))


def test_a_slope_that_is_not_allowed_is_the_nearest_that_is():
    # Three true ones at 0 and a false one at 1: targets 4/5 and 1/3. No rising sigmoid is better than a level one.
    x, is_true = np.array([0.0, 0.0, 0.0, 1.0]), np.array([True, True, True, False])
    level = Sigmoid.fit(x, is_true, least_slope=0.0)
    assert level.slope == 0
    assert level.intercept == pytest.approx(logit((3 * 4 / 5 + 1 / 3) / 4))
    # Told apart within a thousandth, the best slope is in the thousands; at 100 the mean is still that of the targets.
    near = np.array([0.5, 0.5, 0.501, 0.501])
    steep = Sigmoid.fit(near, np.array([False, False, True, True]), most_slope=100.0)
    assert steep.slope == 100
    assert expit(100 * near + steep.intercept).mean() == pytest.approx(0.5)
    assert Sigmoid.fit(near, np.array([False, False, True, True])).slope == pytest.approx(2 * logit(0.75) / 0.001)


def test_the_isotonic_function_by_hand():
    x = np.array([0.4, 0.2, 0.2, 0.3, 0.1])
    # Of the two at .2 one is true, the one at .3 is not: three pooled to 1/3.
    result = Isotonic.fit(x, np.array([True, True, False, False, False]))
    assert result.places.tolist() == [0.1, 0.2, 0.3, 0.4]
    assert result.heights.tolist() == pytest.approx([0, 1 / 3, 1 / 3, 1])
    points = np.array([0.0, 0.1, 0.15, 0.25, 0.35, 0.4, 2.0])
    assert result(points).tolist() == pytest.approx([0, 0, 1 / 6, 1 / 3, 2 / 3, 1, 1])


def test_a_level_stretch_keeps_its_ends_alone():
    labels = np.array([False, True, True, True, False, True])
    result = Isotonic.fit(np.arange(6.0), labels)
    assert result.places.tolist() == [0, 1, 4, 5]
    assert result.heights.tolist() == pytest.approx([0, 3 / 4, 3 / 4, 1])
    assert Isotonic.fit(np.arange(3.0), np.ones(3, dtype=bool)).places.tolist() == [0, 2]
