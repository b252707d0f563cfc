import numpy as np
import pytest

from core.conformal.scores.margin import margin_scores

pytestmark = pytest.mark.quick


def test_by_hand():
    # B, the best, is ahead of A by .2; A and C are behind B by .2 and .3.
    assert margin_scores(np.array([[0.3, 0.5, 0.2]])) == pytest.approx(np.array([[0.2, -0.2, 0.3]]))


def test_two_equally_best_options_are_level():
    assert margin_scores(np.array([[0.4, 0.2, 0.4]])).tolist() == [[0.0, 0.2, 0.0]]
