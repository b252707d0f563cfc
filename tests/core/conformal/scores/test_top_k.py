import numpy as np
import pytest

from core.conformal.scores.top_k import top_k_scores

pytestmark = pytest.mark.quick


def test_by_hand():
    # B is first, A second, C third.
    assert top_k_scores(np.array([[0.3, 0.5, 0.2]])).tolist() == [[2.0, 1.0, 3.0]]
