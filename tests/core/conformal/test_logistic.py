"""Logistic regression: by hand, against scikit-learn, and what holds at the minimum of the loss."""

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression

from core.conformal.logistic import logistic

pytestmark = pytest.mark.quick


def drawn(n: int = 200, d: int = 3, *, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Features (n, d) and targets (n,) between 0 and 1."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d)) * [1.0, 3.0, 0.2][:d]
    return x, (rng.random(n) < expit(x.sum(axis=1) - 1)).astype(float) * 0.9 + 0.05


def test_the_intercept_alone_is_the_log_odds_of_the_mean():
    targets = np.array([1.0, 1.0, 1.0, 0.0])
    assert logistic(np.empty((4, 0)), targets).tolist() == pytest.approx([np.log(3)])
    # An offset of c is taken from the intercept.
    assert logistic(np.empty((4, 0)), targets, offset=np.full(4, 0.5)).tolist() == pytest.approx([np.log(3) - 0.5])


def test_two_values_of_one_feature_are_fitted_exactly():
    # At x = 0 one of four is true, at x = 2 three of four: σ(b) = 1/4 and σ(2a + b) = 3/4.
    x, targets = np.repeat([[0.0], [2.0]], 4, axis=0), np.array([1, 0, 0, 0, 1, 1, 1, 0.0])
    assert logistic(x, targets).tolist() == pytest.approx([np.log(3), -np.log(3)])


@pytest.mark.parametrize("penalty", [0.3, 1.0, 20.0])
def test_it_is_scikit_learns_with_the_intercept_left_free(penalty):
    x, soft = drawn()
    labels = (soft > 0.5).astype(float)
    rival = LogisticRegression(C=1 / penalty, tol=1e-12, max_iter=10_000).fit(x, labels)
    np.testing.assert_allclose(
        logistic(x, labels, penalty=penalty), [*rival.coef_[0], rival.intercept_[0]], rtol=1e-4, atol=1e-4
    )


@pytest.mark.parametrize("offset", [None, np.linspace(-2, 2, 200)])
@pytest.mark.parametrize("penalty", [0.0, 2.0])
def test_the_gradient_is_0_at_the_weights(penalty, offset):
    x, targets = drawn(seed=3)
    *weights, intercept = logistic(x, targets, penalty=penalty, offset=offset)
    p = expit(x @ weights + intercept + (0 if offset is None else offset))
    np.testing.assert_allclose(x.T @ (p - targets) + penalty * np.array(weights), 0, atol=1e-9)
    assert (p - targets).sum() == pytest.approx(0, abs=1e-9)


def test_the_gradient_is_0_even_where_rounding_makes_the_last_step_look_worse():
    """Rounding does so in one of thirteen such fits, and in others with another BLAS; 8,000 of them were tried."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        n, d, penalty = int(rng.integers(20, 500)), int(rng.integers(0, 6)), float(rng.choice([0.0, 0.3, 2.0]))
        x = rng.normal(size=(n, d)) * rng.choice([0.2, 1.0, 3.0], size=d)
        targets = (rng.random(n) < expit(x.sum(axis=1) - 1)) * 0.9 + 0.05
        offset = rng.normal(size=n)
        *weights, intercept = logistic(x, targets, penalty=penalty, offset=offset)
        p = expit(x @ weights + intercept + offset)
        gradient = [*(x.T @ (p - targets) + penalty * np.array(weights)), (p - targets).sum()]
        assert np.abs(gradient).max() <= 1e-9


def test_a_step_that_goes_too_far_is_halved():
    """Where nearly all are certain the curvature is small, and a full Newton step goes far beyond the minimum."""
    targets = np.repeat([0.2, 0.4], 50)
    for offset in (np.repeat([6.0, 5.0], 50), np.repeat([-900.0, 1000.0], 50), np.repeat([40.0, -20.0], 50)):
        (intercept,) = logistic(np.empty((100, 0)), targets, offset=offset)
        assert expit(intercept + offset).mean() == pytest.approx(0.3)
    far = logistic(np.empty((100, 0)), np.full(100, 0.5), offset=np.full(100, -30.0))
    assert far.tolist() == pytest.approx([30.0])


def test_a_feature_that_never_varies_shares_the_intercept():
    weights = logistic(np.ones((4, 1)), np.array([1.0, 1.0, 1.0, 0.0]))
    assert weights.sum() == pytest.approx(logit(0.75))
