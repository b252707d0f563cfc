import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.conformal.alpha import ALPHAS
from core.conformal.coverage import coverage
from core.conformal.curve import alpha_curve, thresholds
from core.conformal.probabilities import top_options
from core.conformal.scores import SCORES, score, true_scores
from core.conformal.sets import prediction_sets
from core.conformal.threshold import THRESHOLDS, threshold
from core.errors import InputError
from tests.core.conformal.strategies import tied_problems

pytestmark = pytest.mark.quick


@settings(max_examples=40, deadline=None)
@given(tied_problems(), st.sampled_from(list(SCORES)), st.sampled_from(["allow", "top1"]))
def test_one_pass_equals_forming_every_set(problem, name, empty):
    p, labels = problem
    s = score(name, p)
    half = len(p) // 2 or 1
    calibration = true_scores(s[:half], labels[:half])
    test, y, q_top = s[half - 1 :], labels[half - 1 :], top_options(p[half - 1 :])
    curve = alpha_curve(calibration, test, y, empty=empty, test_top=q_top)
    for i in range(0, 999, 37):
        sets = prediction_sets(test, threshold(calibration, int(ALPHAS[i])), empty=empty, probabilities=p[half - 1 :])
        assert curve.thresholds[i] == sets.threshold
        assert curve.coverage[i] == coverage(sets, y)
        assert curve.mean_set_size[i] == sets.sizes.mean()
        assert curve.histogram[i].tolist() == np.bincount(sets.sizes, minlength=p.shape[1] + 1).tolist()
        assert curve.empty_rate[i] == pytest.approx((sets.sizes == 0).mean())


@pytest.mark.parametrize("method", THRESHOLDS)
def test_thresholds_at_all_alphas_are_the_single_ones(method: str):
    values = np.round(np.random.default_rng(0).random(37), 2)  # with ties
    assert thresholds(values, method=method).tolist() == [threshold(values, a, method=method) for a in range(1, 1000)]


def test_there_must_be_something_on_either_side():
    with pytest.raises(InputError, match="no calibration scores"):
        alpha_curve(np.array([]), np.zeros((1, 2)), np.array([0]))
    with pytest.raises(InputError, match="no test questions"):
        alpha_curve(np.array([0.1]), np.zeros((0, 2)), np.array([], dtype=int))
