import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.calibration import recalibration
from core.calibration.metrics import accuracy, negative_log_likelihood
from core.calibration.recalibration import METHODS, fit, tempered
from core.conformal.probabilities import check_probabilities, softmax
from core.errors import InputError


def planted(n, temperature, *, k=5, seed=0):
    """Labels drawn with softmax(z), probabilities said as softmax(z · temperature): T recalibrates them."""
    rng = np.random.default_rng(seed)
    z = rng.normal(0, 2, (n, k))
    y = (softmax(z).cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)
    return softmax(z * temperature), y


@pytest.mark.parametrize("temperature", [0.4, 1.0, 2.5])
def test_a_planted_temperature_is_found(temperature):
    p, y = planted(20_000, temperature)
    assert fit("temperature", p, y).temperature == pytest.approx(temperature, rel=0.03)


def test_the_temperature_is_where_the_loss_is_flat():
    p, y = planted(300, 1.7)
    t = fit("temperature", p, y).temperature
    losses = [negative_log_likelihood(tempered(p, t * scale), y) for scale in (0.99, 1.0, 1.01)]
    assert losses[1] == min(losses)
    assert abs(losses[2] - losses[0]) < 1e-5


@given(st.integers(0, 2**32 - 1), st.floats(0.05, 20))
def test_a_temperature_keeps_the_ranking_and_the_sum(seed, temperature):
    p = np.random.default_rng(seed).dirichlet(np.ones(5), size=20)
    hot = check_probabilities(tempered(p, temperature))
    assert (hot.argmax(axis=1) == p.argmax(axis=1)).all()


def test_temperature_1_changes_nothing():
    p, _ = planted(50, 1.0)
    assert tempered(p, 1.0) == pytest.approx(p, abs=1e-15)


@pytest.mark.parametrize("method", METHODS)
def test_each_lessens_the_loss_of_new_questions(method):
    p, y = planted(4000, 3.0)
    after = fit(method, p[:2000], y[:2000]).apply(p[2000:])
    check_probabilities(after)
    assert negative_log_likelihood(after, y[2000:]) < negative_log_likelihood(p[2000:], y[2000:]) - 0.1
    assert accuracy(after, y[2000:]) == pytest.approx(accuracy(p[2000:], y[2000:]), abs=0.02)


@pytest.mark.parametrize("method", METHODS)
def test_an_option_that_is_not_there_stays_away(method):
    p, y = planted(200, 2.0)
    p[:100, 4] = 0
    y[:100] %= 4
    p /= p.sum(axis=1, keepdims=True)
    after = check_probabilities(fit(method, p, y).apply(p))
    assert after[:100, 4].max() < 1e-6


@pytest.mark.parametrize("method", METHODS)
def test_certain_and_wrong_is_no_trouble(method):
    p = np.eye(3)[np.arange(60) % 3]
    y = np.where(np.arange(60) % 5 == 0, (np.arange(60) + 1) % 3, np.arange(60) % 3)
    after = check_probabilities(fit(method, p, y).apply(p))
    assert np.isfinite(negative_log_likelihood(after, y))


def test_a_row_of_zeros_keeps_its_probabilities():
    nothing = recalibration.Isotonic(((np.array([0.0, 1.0]), np.zeros(2)),) * 2)
    assert nothing.apply(np.array([[0.3, 0.7]])).tolist() == [[0.3, 0.7]]


def test_what_is_refused():
    p, y = planted(20, 1.0)
    with pytest.raises(InputError, match="choose from temperature, vector, platt, isotonic"):
        fit("magic", p, y)
    with pytest.raises(InputError, match="at least 10 questions"):
        fit("temperature", p[:9], y[:9])
    with pytest.raises(InputError, match="above 0"):
        tempered(p, 0.0)
