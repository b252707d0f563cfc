"""The figures of VLM-Uncertainty-Bench: its ECE by hand, and sets in the precision of the files."""

import numpy as np
import pytest

from core.conformal.vlm2024 import expected_calibration_error, members

pytestmark = pytest.mark.quick


def test_a_confidence_of_one_has_a_bin_of_its_own():
    """Two rows at .95, both right, and two at 1, one right. Their bins are apart: 2/4 · .05 + 2/4 · .5 = .275.

    In one bin of four they would be 3/4 right at a mean confidence of .975: .225.
    """
    p = np.array([[0.95, 0.05], [0.95, 0.05], [1.0, 0.0], [1.0, 0.0]])
    labels = np.array([0, 0, 0, 1])
    assert expected_calibration_error(p, labels) == pytest.approx(0.275, abs=1e-7)
    assert expected_calibration_error(p, labels, double=True) == pytest.approx(0.275, abs=1e-7)


def test_an_edge_belongs_to_the_bin_above_it():
    """.2 is the edge between the third and the fourth of 15 bins. .2 is wrong, and .19 is right.

    Apart: 1/2 · .2 + 1/2 · .81 = .505. In one bin, half is right at a mean confidence of .195: .305.
    """
    p = np.full((2, 10), 0.8 / 9)
    p[0, 0] = 0.2
    p[1] = 0.09
    p[1, 0] = 0.19
    assert expected_calibration_error(p, np.array([1, 0]), double=True) == pytest.approx(0.505, abs=1e-6)


def test_a_difference_below_single_precision_counts_in_double_precision_alone():
    """The threshold is .7. An option of .3 · (1 − 1e-9) is in the set in float32, and out of it in float64."""
    p = np.tile([0.6, 0.3, 0.1], (60, 1))
    p[40:] = [0.6, 0.3 * (1 - 1e-9), 0.1 + 0.3e-9]
    rows = {"calibration": np.arange(40), "test": np.arange(40, 60)}
    labels = np.ones(60, dtype=np.int64)
    assert members("lac", p, labels, alpha=100, **rows).sum(axis=1).tolist() == [2] * 20
    assert members("lac", p, labels, alpha=100, double=True, **rows).sum(axis=1).tolist() == [1] * 20


def test_an_empty_set_takes_the_top_option_in_double_precision_too():
    p = np.tile([0.6, 0.3, 0.1], (60, 1))
    p[40:] = [0.5, 0.4, 0.1]
    rows = {"calibration": np.arange(40), "test": np.arange(40, 60)}
    result = members("lac", p, np.zeros(60, dtype=np.int64), alpha=100, double=True, **rows)
    assert result.tolist() == [[True, False, False]] * 20


def test_aps_sums_in_the_precision_of_the_files():
    """Cumulative sums .6, .9 and 1 with a threshold of .9: both precisions keep two options."""
    p = np.tile([0.6, 0.3, 0.1], (60, 1))
    rows = {"calibration": np.arange(40), "test": np.arange(40, 60)}
    labels = np.ones(60, dtype=np.int64)
    for double in (False, True):
        result = members("aps", p, labels, alpha=100, double=double, **rows)
        assert result.tolist() == [[True, True, False]] * 20
