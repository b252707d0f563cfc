import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from core.conformal import shift
from core.conformal.alpha import THOUSAND
from core.conformal.probabilities import softmax
from core.conformal.scores import true_scores
from core.conformal.scores.lac import lac_scores
from core.conformal.threshold import exact
from core.errors import InputError
from core.records import FloatArray


def weighted_thresholds(
    calibration_scores: FloatArray, calibration_weights: FloatArray, test_weights: FloatArray, alpha: int
) -> FloatArray:
    """The thresholds (m,) that :func:`core.conformal.shift.weighted_curve` does not compute."""
    order = np.argsort(calibration_scores, kind="stable")
    weights, own = shift._whole(calibration_weights, test_weights)
    gathered = np.cumsum(weights[order]) * THOUSAND
    wanted = (THOUSAND - alpha) * (weights.sum() + own)
    place = np.searchsorted(gathered, wanted, side="left")
    return np.asarray(np.append(calibration_scores[order], np.inf)[place], dtype=np.float64)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=40), st.integers(1, 999))
def test_equal_weights_give_the_exact_threshold(values, alpha):
    scores = np.array(values, dtype=float)
    result = weighted_thresholds(scores, np.ones(len(scores)), np.ones(3), alpha)
    assert result.tolist() == [exact(scores, alpha)] * 3


def test_weights_by_hand():
    # Weights 1, 3 and the test question's 1: (1 − .5) · 5 = 2.5 is reached with the second.
    result = weighted_thresholds(np.array([0.9, 0.2]), np.array([3.0, 1.0]), np.array([1.0]), 500)
    assert result.tolist() == [0.9]
    # A test question heavier than all of calibration: never reached.
    assert weighted_thresholds(np.array([0.2]), np.array([1.0]), np.array([99.0]), 500).tolist() == [np.inf]


def test_another_level_of_scores_is_noticed():
    rng = np.random.default_rng(0)
    assert shift.exchangeability_p_value(rng.random(200), rng.random(200) + 0.3, rng=rng) == pytest.approx(0.001)


def sides(rng, *, same_meaning):
    """Calibration mostly of questions that the model is sure of, test mostly of the others; 2,000 on each side."""
    labels = rng.integers(0, 4, 8000)
    logits = rng.normal(size=(8000, 4))
    logits[np.arange(8000), labels] += rng.choice([0.5, 3.0], 8000)
    p = softmax(logits)
    sure = (p.max(axis=1) > np.median(p.max(axis=1))).astype(float)
    calibrates = rng.random(8000) < np.where(sure, 0.8, 0.2)
    if not same_meaning:  # the test side's labels are drawn again: it looks the same and is another matter
        labels = np.where(calibrates, labels, rng.integers(0, 4, 8000))
    return (p[calibrates], labels[calibrates]), (p[~calibrates], labels[~calibrates])


def coverages(*, same_meaning, draws=40):
    rng = np.random.default_rng(4)
    plain, weighted = [], []
    for _ in range(draws):
        (p, y), (q, z) = sides(rng, same_meaning=same_meaning)
        calibration, test = true_scores(lac_scores(p), y), true_scores(lac_scores(q), z)
        plain.append((test <= exact(calibration, 100)).mean())
        w, v = shift.odds(shift.looks(p), shift.looks(q))
        weighted.append((test <= weighted_thresholds(calibration, w, v, 100)).mean())
    return np.mean(plain), np.mean(weighted)


@pytest.mark.simulation
def test_weighting_repairs_a_changed_mix_of_questions():
    plain, weighted = coverages(same_meaning=True)
    assert plain < 0.87
    assert weighted == pytest.approx(0.9, abs=0.015)


@pytest.mark.simulation
def test_weighting_does_not_repair_a_changed_meaning():
    plain, weighted = coverages(same_meaning=False, draws=10)
    assert plain < 0.8
    assert weighted < 0.87


def test_odds_of_two_sides_alike_are_even():
    rng = np.random.default_rng(6)
    w, v = shift.odds(rng.normal(size=(2000, 6)), rng.normal(size=(3000, 6)))
    assert w.mean() == pytest.approx(1, abs=0.05)
    assert v.mean() == pytest.approx(1, abs=0.05)


def test_a_column_that_never_changes_tells_nothing():
    w, _ = shift.odds(np.ones((10, 2)), np.ones((10, 2)))
    assert w == pytest.approx(np.ones(10))


def test_an_empty_side_is_refused():
    with pytest.raises(InputError, match="at least one question on each"):
        shift.exchangeability_p_value(np.array([]), np.ones(3), rng=np.random.default_rng(0))


def test_equal_weights_of_any_size_give_the_exact_threshold():
    alphas = (1, 10, 50, 100, 125, 200, 250, 300, 333, 400, 500, 600, 700, 750, 800, 900, 999)
    for n in range(1, 401):
        scores = np.random.default_rng(n).permutation(n) / n
        for weight in (1.0, 1 / 3, 0.1, 7.7):
            w, v = np.full(n, weight), np.full(2, weight)
            for alpha in alphas[n % 3 :: 3]:
                assert weighted_thresholds(scores, w, v, alpha).tolist() == [exact(scores, alpha)] * 2, (n, alpha)


def test_the_weighted_curve_is_that_of_the_weighted_thresholds():
    rng = np.random.default_rng(9)
    calibration = rng.integers(0, 12, 60) / 12  # full of ties
    test = rng.integers(0, 14, (40, 4)) / 12
    w, v, y = rng.random(60) * 3, rng.random(40) * 3, rng.integers(0, 4, 40)
    coverage, size = shift.weighted_curve(calibration, w, test, v, y)
    for alpha in range(1, 1000):
        members = test <= weighted_thresholds(calibration, w, v, alpha)[:, None]
        assert coverage[alpha - 1] == members[np.arange(40), y].mean()
        assert size[alpha - 1] == members.sum() / 40


def test_another_spread_of_scores_is_noticed_where_their_level_is_the_same():
    rng = np.random.default_rng(2)
    narrow, wide = 0.5 + 0.02 * rng.normal(size=150), rng.random(150)
    assert shift.exchangeability_p_value(narrow, wide, rng=rng) == pytest.approx(0.001)


def test_a_p_value_by_hand():
    # Of the 6 ways to call two of 1 2 3 4 calibrated, 2 part them as far as {1, 2} and {3, 4}; all tied parts nothing.
    rng = np.random.default_rng(3)
    assert shift.exchangeability_p_value(np.array([1.0, 2]), np.array([3.0, 4]), rng=rng, draws=5999) == pytest.approx(
        1 / 3, abs=0.02
    )
    assert shift.exchangeability_p_value(np.ones(5), np.ones(7), rng=rng, draws=99) == 1.0


def test_odds_are_cut_off_at_20_and_a_twentieth():
    # The two sides are two points of one look, far apart: the regression's odds go beyond any cap.
    w, v = shift.odds(np.zeros((500, 1)), np.ones((500, 1)))
    assert w.tolist() == [1 / 20] * 500
    assert v.tolist() == [20.0] * 500


def test_what_a_question_looks_like_by_hand():
    result = shift.looks(np.array([[0.2, 0.5, 0.3], [0.0, 1.0, 0.0]]))
    entropy = -(0.2 * np.log(0.2) + 0.5 * np.log(0.5) + 0.3 * np.log(0.3))
    assert result[0].tolist() == pytest.approx([0.5, 0.2, entropy, 0.25, 0.04, entropy**2])
    assert result[1].tolist() == pytest.approx([1, 1, 0, 1, 1, 0])


def test_odds_are_those_of_scikit_learns_ridge_on_standardised_looks():
    rng = np.random.default_rng(7)
    p = rng.dirichlet(np.ones(4), 300)
    calibration, test = shift.looks(p[:200]), shift.looks(p[200:] ** 1.5 / (p[200:] ** 1.5).sum(axis=1, keepdims=True))
    looks = np.concatenate([calibration, test])
    standard = (looks - looks.mean(axis=0)) / looks.std(axis=0)
    rival = LogisticRegression(C=1.0, tol=1e-12, max_iter=10_000).fit(standard, np.repeat([0, 1], [200, 100]))
    expected = np.clip(np.exp(rival.decision_function(standard)) * 200 / 100, 1 / 20, 20)
    w, v = shift.odds(calibration, test)
    assert np.concatenate([w, v]) == pytest.approx(expected, rel=1e-4)
    assert expected.std() > 0.2
    # Neither a look's unit nor its zero matters, nor one that never varies.
    again = shift.odds(*(np.column_stack([7 - 0.01 * side, np.full(len(side), 3.0)]) for side in (calibration, test)))
    assert np.concatenate(again) == pytest.approx(np.concatenate([w, v]))


def test_one_question_on_a_side_can_be_the_least_or_the_largest():
    rng = np.random.default_rng(3)
    result = shift.exchangeability_p_value(np.array([1.0, 2, 3]), np.array([4.0]), rng=rng, draws=5999)
    assert result == pytest.approx(1 / 2, abs=0.02)
    assert shift.exchangeability_p_value(np.array([1.0]), np.array([2.0]), rng=rng, draws=9) == 1
    assert shift.exchangeability_p_value(np.ones(7), np.ones(5), rng=rng, draws=99) == 1


@given(st.integers(1, 30), st.integers(0, 9))
def test_the_curve_of_equal_weights_is_that_of_the_exact_threshold(n, seed):
    """Where (n + 1)(1 − alpha) is a whole number the weights reach the share exactly."""
    rng = np.random.default_rng(seed)
    calibration, test, y = rng.random(n), rng.random((20, 3)), rng.integers(0, 3, 20)
    coverage, size = shift.weighted_curve(calibration, np.ones(n), test, np.ones(20), y)
    for alpha in (1, 100, 250, 500, 750, 900, 999):
        members = test <= exact(calibration, alpha)
        assert coverage[alpha - 1] == pytest.approx(members[np.arange(20), y].mean())
        assert size[alpha - 1] == pytest.approx(members.sum() / 20)


def test_weights_may_be_small():
    # One calibration question of weight .0003 and a test question of .0001: its share of all is ¾.
    sides = np.array([0.5]), np.array([3e-4]), np.array([[0.4, 0.6]]), np.array([1e-4]), np.array([0])
    coverage, size = shift.weighted_curve(*sides)
    assert coverage.tolist() == [1.0] * 999
    assert size.tolist() == [2.0] * 249 + [size[249]] + [1.0] * 749
