"""Option probabilities and labels: by hand, and what is refused with which words."""

import numpy as np
import pytest

from core.conformal.probabilities import (
    check_labels,
    check_probabilities,
    in_double,
    log,
    log_softmax,
    softmax,
    sum_within,
    top_options,
    top_shares,
)
from core.errors import InputError

pytestmark = pytest.mark.quick


def test_softmax_row_by_row():
    result = softmax(np.array([[0.0, np.log(3.0)], [1000.0, 1000.0], [-np.inf, -5.0]], dtype=np.float32))
    assert result.dtype == np.float64
    assert result == pytest.approx(np.array([[0.25, 0.75], [0.5, 0.5], [0.0, 1.0]]))


def test_logarithms_of_probabilities_too_small_for_a_number():
    result = log_softmax(np.array([[0.0, -2000.0], [np.log(3.0), 0.0], [0.0, -np.inf]], dtype=np.float32))
    assert result.dtype == np.float64
    assert result[0].tolist() == [0.0, -2000.0]
    assert result[1] == pytest.approx(np.log([0.75, 0.25]))
    assert result[2].tolist() == [0.0, -np.inf]
    assert log(np.array([[1.0, 0.0]])).tolist() == [[0.0, -np.inf]]


@pytest.mark.parametrize(
    ("p", "says"),
    [
        ([0.5, 0.5], r"have shape \(2,\); expected \(n, k\) with at least 2"),
        ([[1.0], [1.0]], r"have shape \(2, 1\)"),
        ([[0.5, 0.5], [np.inf, 0.0]], r"row 1 of the probabilities holds \[inf, 0.0\]"),
        ([[0.5, 0.5], [np.nan, 0.5]], "row 1 of the probabilities holds"),
        ([[0.5, 0.5], [0.5, 0.5], [-0.1, 1.1]], r"row 2 of the probabilities is \[-0.1, 1.1\], with sum 1;"),
        ([[0.5, 0.49]], "with sum 0.99; probabilities lie"),
        ([[0.5, 0.500002]], "with sum 1;"),
        ([[-1e-9, 1.0]], "row 0"),
    ],
)
def test_what_is_no_probability(p, says):
    with pytest.raises(InputError, match=says):
        check_probabilities(np.array(p))


def test_a_sum_may_miss_1_by_a_millionth():
    p = check_probabilities(np.array([[0.5, 0.5 + 9e-7], [0.0, 1.0], [0.0, 1 + 9e-7]]))
    assert p.dtype == np.float64
    assert check_probabilities(np.array([[0, 1]])).dtype == np.float64


@pytest.mark.parametrize(
    ("labels", "says"),
    [
        ([0, 1], r"have shape \(2,\) and type int64; expected \(3,\) whole numbers"),
        ([0.0, 1.0, 2.0], "type float64"),
        ([0, 3, 4], "label 3 of row 1 is outside the 3 options; labels count from 0 to 2"),
        ([0, 1, -1], "label -1 of row 2"),
    ],
)
def test_what_is_no_label(labels, says):
    with pytest.raises(InputError, match=says):
        check_labels(np.array(labels), n=3, k=3)


def test_labels_are_whole_numbers_of_64_bits():
    result = check_labels(np.array([0, 2, 1], dtype=np.uint8), n=3, k=3)
    assert (result.dtype, result.tolist()) == (np.int64, [0, 2, 1])


def test_options_by_falling_probability():
    p = np.array([[0.1, 0.3, 0.3, 0.3], [0.4, 0.1, 0.2, 0.3]])
    assert top_options(p).tolist() == [3, 0]
    assert top_options(p, ties="first").tolist() == [1, 0]
    assert top_options(np.array([np.nan, 0.2, 0.8, np.nan])) == 2
    assert top_options(np.array([[np.nan, 0.5, 0.5]]), ties="first").tolist() == [1]
    assert top_shares(p) == pytest.approx(np.array([[0, 1 / 3, 1 / 3, 1 / 3], [1, 0, 0, 0]]))
    assert top_shares(np.array([np.nan, 0.5, 0.5])) == pytest.approx([0, 0.5, 0.5])
    with pytest.raises(InputError, match="unknown order of equal options 'last'; choose from later, first"):
        top_options(p, ties="last")


@pytest.mark.parametrize("digits", [6, 8, 10, 12])
def test_votes_get_back_the_digits_that_a_file_cut(digits):
    votes = np.random.default_rng(0).multinomial(30, [0.4, 0.3, 0.2, 0.1], size=200) / 30
    assert in_double(votes.round(digits)).tolist() == votes.tolist()


@pytest.mark.parametrize("digits", [3, 5, 7, 10, 15])
def test_other_figures_stay_as_they_are(digits):
    for seed, size in ((0, 200), (1, 1), (2, 1), (3, 2)):
        given = np.random.default_rng(seed).dirichlet(np.ones(4), size=size).round(digits)
        assert in_double(given).tolist() == given.tolist()


def test_figures_near_the_largest_number_overflow_in_no_step():
    assert in_double(np.array([[1e308, 0.3], [-1e308, 0.7]])).tolist() == [[1e308, 0.3], [-1e308, 0.7]]
    assert sum_within(np.array([[1e308, 0.5]])) < 0.02
