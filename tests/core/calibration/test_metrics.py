import numpy as np
import pytest
from sklearn.metrics import brier_score_loss, log_loss

from core.calibration import metrics
from core.conformal.probabilities import log, log_softmax

pytestmark = pytest.mark.quick


@pytest.fixture
def problem():
    rng = np.random.default_rng(3)
    return rng.dirichlet(np.ones(6), size=400), rng.integers(0, 6, 400)


def test_by_hand():
    p, y = np.array([[0.8, 0.2], [0.6, 0.4], [0.3, 0.7]]), np.array([0, 1, 1])
    assert metrics.accuracy(p, y) == pytest.approx(2 / 3)
    assert metrics.log_losses(np.log(p), y).mean() == pytest.approx(-np.log([0.8, 0.4, 0.7]).mean())
    # (.04 + .04 + .36 + .36 + .09 + .09) / 3
    assert metrics.brier(p, y) == pytest.approx(0.98 / 3)
    # Three bins of one: |1 − .8|, |0 − .6|, |1 − .7|, a third each.
    assert metrics.expected_calibration_error(p, y) == pytest.approx((0.2 + 0.6 + 0.3) / 3)


def test_scikit_learn_agrees(problem):
    p, y = problem
    assert metrics.log_losses(np.log(p), y).mean() == pytest.approx(log_loss(y, p, labels=range(6)))
    assert metrics.brier(p, y) == pytest.approx(brier_score_loss(y, p, labels=range(6), scale_by_half=False))


def test_the_later_of_equal_options_is_the_answer():
    assert metrics.accuracy(np.array([[0.5, 0.5]]), np.array([1])) == 1
    assert metrics.accuracy(np.array([[0.5, 0.5]]), np.array([0])) == 0
    assert metrics.accuracy(np.array([[0.5, 0.5]]), np.array([0]), ties="first") == 1


def test_ties_at_the_top_are_counted_with_what_accuracy_could_be():
    p = np.array([[0.4, 0.4, 0.2], [0.4, 0.4, 0.2], [0.4, 0.4, 0.2], [0.2, 0.3, 0.5], [0.2, 0.2, 0.6]])
    result = metrics.top_ties(p, np.array([0, 1, 2, 2, 0]))
    # Rows 0 to 2 are tied, two of their truths among the tied; row 3 is right, row 4 wrong whatever the order.
    assert result == metrics.TopTies(3, 1 / 5, 3 / 5)
    assert result.lost <= metrics.accuracy(p, np.array([0, 1, 2, 2, 0])) <= result.won


def test_a_loss_has_no_floor():
    logs = log_softmax(np.array([[0.0, -1000.0], [0.0, -20.0]]))
    assert metrics.log_losses(logs, np.array([1, 1])).tolist() == [1000.0, pytest.approx(20 + np.log1p(np.exp(-20)))]


def test_a_truth_of_probability_0_makes_the_mean_infinite():
    assert metrics.log_losses(log(np.array([[1.0, 0.0], [0.5, 0.5]])), np.array([1, 1])).mean() == np.inf


def test_the_calibration_error_passes_on_its_bins_and_ties():
    # Two bins, [0, ½] and (½, 1]: |(1 − .45) + (0 − .4)| and |0 − .9|, a third each.
    p, y = np.array([[0.45, 0.3, 0.25], [0.4, 0.35, 0.25], [0.05, 0.9, 0.05]]), np.array([0, 1, 0])
    assert metrics.expected_calibration_error(p, y, bins=2) == pytest.approx((0.15 + 0.9) / 3)
    # Three bins of equal width part them in the same way; of equal mass each has one question.
    assert metrics.expected_calibration_error(p, y, bins=3, by="mass") == pytest.approx((0.55 + 0.4 + 0.9) / 3)
    tied = np.array([[0.4, 0.4, 0.2]])
    assert metrics.expected_calibration_error(tied, np.array([0])) == pytest.approx(0.4)
    assert metrics.expected_calibration_error(tied, np.array([0]), ties="first") == pytest.approx(0.6)
    assert metrics.correct(tied, np.array([1])).tolist() == [1.0]
    assert metrics.correct(tied, np.array([0])).tolist() == [0.0]
