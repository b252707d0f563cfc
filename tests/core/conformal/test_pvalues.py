from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from core.conformal.pvalues import p_values
from core.conformal.scores import SCORES, score, true_scores
from core.conformal.threshold import exact
from core.errors import InputError
from tests.core.conformal.strategies import alphas, tied_problems

pytestmark = pytest.mark.quick


def test_by_hand():
    # Calibration .1 .2 .3: a score of .2 has two that are no better, and itself: 3/4.
    assert p_values(np.array([0.3, 0.1, 0.2]), np.array([0.05, 0.2, 0.9])).tolist() == [1.0, 0.75, 0.25]


@given(tied_problems(), alphas)
def test_an_option_is_in_the_set_while_alpha_is_smaller_than_its_p_value(problem, alpha):
    p, labels = problem
    for name in SCORES:
        s = score(name, p)
        calibration = true_scores(s, labels)
        inside = s <= exact(calibration, alpha)
        better = (calibration[None, None, :] < s[:, :, None]).sum(axis=2)
        n = len(labels)
        expected = [[Fraction(alpha, 1000) < Fraction(int(n + 1 - b), n + 1) for b in row] for row in better]
        assert inside.tolist() == expected
        assert np.allclose(p_values(calibration, s), (n + 1 - better) / (n + 1))


def test_nothing_to_compare_with():
    with pytest.raises(InputError, match="at least one calibration question"):
        p_values(np.array([]), np.array([0.5]))
