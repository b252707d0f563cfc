import numpy as np
import pytest

from core.conformal.scores.lac import lac_scores

pytestmark = pytest.mark.quick


def test_by_hand():
    # 1 − p
    assert lac_scores(np.array([[0.5, 0.3, 0.2]])).tolist() == [[0.5, 0.7, 0.8]]
