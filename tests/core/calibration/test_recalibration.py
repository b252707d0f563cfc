import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.calibration import recalibration
from core.calibration.binary import Isotonic, Sigmoid
from core.calibration.metrics import accuracy, log_losses
from core.calibration.recalibration import METHODS, fit, tempered
from core.conformal.probabilities import check_probabilities, log, log_softmax, softmax, top_options
from core.errors import InputError

pytestmark = pytest.mark.quick


def planted(n, temperature, *, k=5, seed=0):
    """Labels drawn with softmax(z), probabilities said as softmax(z · temperature): T recalibrates them."""
    rng = np.random.default_rng(seed)
    z = rng.normal(0, 2, (n, k))
    y = (softmax(z).cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)
    return softmax(z * temperature), y


@pytest.mark.parametrize("temperature", [0.4, 1.0, 2.5])
def test_a_planted_temperature_is_found(temperature):
    p, y = planted(20_000, temperature)
    assert fit("temperature", log(p), y).temperature == pytest.approx(temperature, rel=0.03)


def test_the_temperature_is_where_the_loss_is_flat():
    p, y = planted(300, 1.7)
    t = fit("temperature", log(p), y).temperature
    losses = [log_losses(log_softmax(tempered(log(p), t * scale)), y).mean() for scale in (0.99, 1.0, 1.01)]
    assert losses[1] == min(losses)
    assert abs(losses[2] - losses[0]) < 1e-5


@given(st.integers(0, 2**32 - 1), st.floats(0.05, 20))
def test_a_temperature_keeps_the_ranking_and_the_sum(seed, temperature):
    p = np.random.default_rng(seed).dirichlet(np.ones(5), size=20)
    hot = check_probabilities(softmax(tempered(log(p), temperature)))
    assert (top_options(hot) == top_options(p)).all()


def test_temperature_1_changes_nothing():
    p, _ = planted(50, 1.0)
    assert softmax(tempered(log(p), 1.0)) == pytest.approx(p, abs=1e-15)


@pytest.mark.parametrize("method", METHODS)
def test_each_lessens_the_loss_of_new_questions(method):
    p, y = planted(4000, 3.0)
    logs = log(p)
    logits = fit(method, logs[:2000], y[:2000]).logits(logs[2000:])
    after, loss = check_probabilities(softmax(logits)), log_losses(log_softmax(logits), y[2000:])
    assert np.isfinite(loss).all() == (method != "isotonic")  # which says 0 of some truths
    assert loss[np.isfinite(loss)].mean() < log_losses(logs[2000:], y[2000:]).mean() - 0.1
    assert accuracy(after, y[2000:]) == pytest.approx(accuracy(p[2000:], y[2000:]), abs=0.02)


@pytest.mark.parametrize("method", METHODS)
def test_an_option_that_is_not_there_stays_away(method):
    p, y = planted(200, 2.0)
    p[:100, 4] = 0
    y[:100] %= 4
    p /= p.sum(axis=1, keepdims=True)
    after = check_probabilities(softmax(fit(method, log(p), y).logits(log(p))))
    assert after[:100, 4].max() < 1e-6


@pytest.mark.parametrize("method", METHODS)
def test_a_truth_of_probability_0_stays_infinitely_costly(method):
    """No map brings an option back that the model rules out; the fit itself is no trouble."""
    p = np.eye(3)[np.arange(60) % 3]
    y = np.where(np.arange(60) % 5 == 0, (np.arange(60) + 1) % 3, np.arange(60) % 3)
    logits = fit(method, log(p), y).logits(log(p))
    check_probabilities(softmax(logits))
    assert np.isinf(log_losses(log_softmax(logits), y)).tolist() == (p[np.arange(60), y] == 0).tolist()


def test_a_row_of_zeros_keeps_its_probabilities():
    nothing = recalibration.IsotonicScaling((Isotonic(np.array([0.0, 1.0]), np.zeros(2)),) * 2)
    assert softmax(nothing.logits(np.log([[0.3, 0.7]]))) == pytest.approx(np.array([[0.3, 0.7]]), abs=1e-15)


@pytest.mark.parametrize("method", METHODS)
def test_probabilities_too_small_for_a_number_still_count(method):
    """Logits 2,000 nats apart, as of long texts: exp underflows, but a temperature brings them back."""
    z = np.array([[0.0, -2000.0], [-2000.0, 0.0]] * 20)
    y = np.array([0, 1] * 18 + [1, 0] * 2)
    result = fit(method, log_softmax(z), y)
    if method in ("temperature", "vector"):
        assert np.isfinite(log_losses(log_softmax(result.logits(log_softmax(z))), y)).all()
    if method == "temperature":
        # Right in 36 of 40 by a margin of 2,000: the loss is least where softmax says 0.9, at 2,000 / T = log 9;
        # the temperature goes up to 100 and there makes 20 of it.
        assert result.temperature == pytest.approx(100, rel=1e-3)


def test_what_is_refused():
    p, y = planted(20, 1.0)
    with pytest.raises(InputError, match="choose from temperature, vector, platt, isotonic"):
        fit("magic", log(p), y)
    with pytest.raises(InputError, match="at least 10 questions"):
        fit("temperature", log(p[:9]), y[:9])
    with pytest.raises(InputError, match="above 0"):
        tempered(log(p), 0.0)


def test_vector_scaling_is_where_the_loss_is_flat_and_its_biases_sum_to_0():
    p, y = planted(400, 1.7, k=3, seed=2)
    logs = log_softmax(log(p) + np.array([0.5, 0.0, -0.5]))
    result = fit("vector", logs, y)
    # ∂/∂w_j = mean (q_j − y_j) log p_j and ∂/∂b_j = mean (q_j − y_j), both 0 at the minimum.
    off = softmax(result.logits(logs)) - np.eye(3)[y]
    assert np.abs((off * logs).mean(axis=0)).max() < 1e-4
    assert np.abs(off.mean(axis=0)).max() < 1e-4
    assert result.biases.sum() == pytest.approx(0, abs=1e-12)
    assert np.abs(result.biases).max() > 0.2
    assert (result.logits(logs) == logs * result.weights + result.biases).all()


def test_platt_and_isotonic_map_each_option_by_itself_and_scale_afterwards():
    p, y = planted(300, 2.0, k=3, seed=4)
    odds = np.log(p) - np.log1p(-p)
    each = np.stack([Sigmoid.fit(x, y == j)(x) for j, x in enumerate(odds.T)], axis=1)
    assert softmax(fit("platt", log(p), y).logits(log(p))) == pytest.approx(each / each.sum(axis=1, keepdims=True))
    each = np.stack([Isotonic.fit(x, y == j)(x) for j, x in enumerate(p.T)], axis=1)
    assert softmax(fit("isotonic", log(p), y).logits(log(p))) == pytest.approx(each / each.sum(axis=1, keepdims=True))


def test_an_option_that_is_rarer_the_likelier_it_is_called_gets_one_probability():
    """Platt's slope is kept at 0 or above: the map never turns an option's probabilities round."""
    p = np.tile([[0.9, 0.1], [0.1, 0.9]], (20, 1))
    result = fit("platt", log(p), np.tile([1, 0], 20))
    assert [sigmoid.slope for sigmoid in result.sigmoids] == [0, 0]
    assert softmax(result.logits(log(p))) == pytest.approx(np.full((40, 2), 0.5))


def test_what_a_person_may_want_to_see_of_a_map():
    p, y = planted(50, 1.0)
    shown = {method: fit(method, log(p), y).words() for method in METHODS}
    assert shown.pop("temperature") == {"temperature": fit("temperature", log(p), y).temperature}
    assert shown == {"vector": {}, "platt": {}, "isotonic": {}}


def test_ten_questions_are_enough_and_a_temperature_is_finite():
    p, y = planted(10, 1.0)
    assert 0.01 <= fit("temperature", log(p), y).temperature <= 100
    with pytest.raises(InputError, match="above 0 and finite, got inf"):
        tempered(log(p), np.inf)
    assert tempered(np.array([[-3.0]]), 1.5).tolist() == [[-2.0]]


def test_only_a_row_of_zeros_keeps_its_own_probabilities():
    step = Isotonic(np.array([0.45, 0.55]), np.array([0.0, 1.0]))  # 0 below .45, 1 above .55
    result = softmax(recalibration.IsotonicScaling((step,) * 3).logits(np.log([[0.3, 0.3, 0.4], [0.2, 0.7, 0.1]])))
    assert result == pytest.approx(np.array([[0.3, 0.3, 0.4], [0.0, 1.0, 0.0]]))


def test_weights_and_slopes_stay_within_their_bounds():
    """Options told apart by a hair: without bounds the weights and slopes would be in the thousands."""
    p = np.tile([[0.5005, 0.4995], [0.4995, 0.5005]], (50, 1))
    y = np.tile([0, 1], 50)
    assert fit("vector", log(p), y).weights.max() <= 100
    assert [sigmoid.slope for sigmoid in fit("platt", log(p), y).sigmoids] == pytest.approx([100, 100])
    assert fit("temperature", log(p), y).temperature == pytest.approx(0.01, rel=1e-3)
