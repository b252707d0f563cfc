"""Confidences: the published map by hand, the fits against scikit-learn."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.calibration.binary import Isotonic, Sigmoid
from core.errors import InputError
from core.jury.confidence import CONFIDENCES, confidence, log_odds
from tests.core.jury.verdicts import jury, seeded_jury

pytestmark = pytest.mark.quick


def test_the_published_map_by_hand() -> None:
    # S = .5, .6, .7, .8. numpy's "higher" at level ceil((1 - e) 5) / 4: nothing for e < .2; .8 from .2 on,
    # .7 from .6, .6 from .8, and never .5. The quantile must lie below the verdict's probability, strictly.
    calibration = jury(np.array([[0.5] * 2, [0.4] * 2, [0.7] * 2, [0.8] * 2]), np.array([True, True, False, False]))
    judged = jury(np.array([[0.85, 0.25], [0.35, 0.4], [0.8, 0.2], [0.7, 0.5]]), np.ones(4))
    result = confidence("published", calibration, judged)
    np.testing.assert_allclose(result, [[0.8, 0.4], [0.2, 0.0], [0.4, 0.4], [0.2, 0.0]])


def test_a_probability_below_every_quantile_has_no_confidence() -> None:
    # Every calibration row gave what was true p = 0.1, so S = 0.9 throughout, and no quantile is below a top of 0.6;
    # with 60 rows nothing is below e = .02, where the level is 61 / 60.
    calibration = jury(np.array([[0.1, 0.1]] * 30 + [[0.9, 0.9]] * 30), np.array([True] * 30 + [False] * 30))
    judged = jury(np.array([[0.6, 0.95]]), np.array([True]))
    assert confidence("published", calibration, judged)[0].tolist() == [0.0, 0.98]


def test_the_p_value_by_hand() -> None:
    # S of juror 0: 0.2, 0.4, 0.6. The verdict True with p = 0.7 has an opposite of score 1 - 0.3 = 0.7, which no S
    # reaches, so its p-value is 1/4; with p = 0.5001 the opposite's 0.5001 is reached by one: 2/4.
    calibration = jury(np.array([[0.8, 0.8], [0.6, 0.6], [0.6, 0.6]]), np.array([True, True, False]))
    judged = jury(np.array([[0.7, 0.5001]]), np.array([True]))
    assert confidence("p-value", calibration, judged)[0].tolist() == pytest.approx([0.75, 0.5])


def test_what_can_be_told_apart_by_a_line_still_has_a_fit() -> None:
    odds, labels = np.array([-2.0, -1.0, 1.0, 2.0]), np.array([False, False, True, True])
    result = Sigmoid.fit(odds, labels)(np.array([-3.0, 0.0, 3.0]))
    assert 0 < result[0] < 0.5 < result[2] < 1


@settings(max_examples=40)
@given(seed=st.integers(0, 1000), name=st.sampled_from(list(CONFIDENCES)))
def test_confidences_lie_between_0_and_1_whatever_the_rows_order(seed: int, name: str) -> None:
    judged = seeded_jury(60, seed=seed)
    calibration, tested = judged.rows(np.arange(40)), judged.rows(np.arange(40, 60))
    result = confidence(name, calibration, tested)
    assert ((result >= 0) & (result <= 1)).all()
    shuffled = calibration.rows(np.random.default_rng(seed).permutation(40))
    np.testing.assert_allclose(confidence(name, shuffled, tested), result, atol=1e-7)


def test_an_unknown_one_and_calibration_rows_of_one_kind() -> None:
    judged = seeded_jury(20)
    with pytest.raises(InputError, match="choose from published"):
        confidence("trust", judged, judged)
    right = judged.rows(judged.labels)
    with pytest.raises(InputError, match="are right, so nothing can be learned"):
        confidence("platt", right, judged)


def test_a_verdict_that_is_mostly_wrong_has_a_confidence_below_half() -> None:
    p = np.random.default_rng(2).random((200, 2))
    calibration = jury(p, p[:, 0] < 0.5)  # the first juror is always wrong
    result = confidence("platt", calibration, jury(np.array([[0.95, 0.5], [0.05, 0.5]]), np.ones(2)))
    assert (result[:, 0] < 0.1).all()


def test_log_odds_by_hand() -> None:
    result = log_odds(np.array([0.8, 0.0, 1.0]), np.array([0.2, 1.0, 0.0]))
    assert result.tolist() == pytest.approx([np.log(4), np.log(1e-8), -np.log(1e-8)])


def test_fitted_confidences_are_of_the_verdict() -> None:
    """Of a verdict False it is the probability of False, by the juror's own fit."""
    judged = seeded_jury(80, 2, seed=6)
    calibration, tested = judged.rows(np.arange(50)), judged.rows(np.arange(50, 80))
    assert not tested.verdicts.all(axis=0).any()
    for juror in range(2):
        odds = [log_odds(rows.p_true[:, juror], rows.p_false[:, juror]) for rows in (calibration, tested)]
        fits = {
            "platt": Sigmoid.fit(odds[0], calibration.labels)(odds[1]),
            "isotonic": Isotonic.fit(calibration.p_true[:, juror], calibration.labels)(tested.p_true[:, juror]),
            "raw": tested.p_true[:, juror],
        }
        for name, true in fits.items():
            expected = np.where(tested.verdicts[:, juror], true, 1 - true)
            assert confidence(name, calibration, tested)[:, juror] == pytest.approx(expected), name


def test_a_probability_at_a_quantile_is_not_above_it() -> None:
    # 98 scores of .3 and one of .7. At ε = .01 the level is ⌈100 · .99⌉ / 99 = 1, the largest; numpy's place is
    # 98 · 98/99 = 97.01 at ε = .02, still the largest, and 98 · 97/99 = 96.02 at ε = .03, the next.
    calibration = jury(np.full((99, 2), 0.7), np.arange(99) < 98)
    result = confidence("published", calibration, jury(np.array([[0.7, 0.5], [0.71, 0.29]]), np.ones(2)))
    assert result == pytest.approx(np.array([[0.97, 0.97], [0.99, 0.99]]))


def test_the_p_value_of_a_verdict_is_that_of_its_opposite() -> None:
    # S is .2, .4 and .6. A verdict False with p = .45 has an opposite of score .55, reached by one of three: 1 − 2/4.
    calibration = jury(np.array([[0.8, 0.8], [0.6, 0.6], [0.6, 0.6]]), np.array([True, True, False]))
    result = confidence("p-value", calibration, jury(np.array([[0.45, 0.3], [0.95, 0.7]]), np.ones(2)))
    assert result == pytest.approx(np.array([[0.5, 0.75], [0.75, 0.75]]))
