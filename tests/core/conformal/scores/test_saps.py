import numpy as np
import pytest

from core.conformal.scores import Parameters
from core.conformal.scores.saps import saps_scores

pytestmark = pytest.mark.quick


def test_by_hand():
    # The largest is .5; A has rank 2 and C rank 3.
    s = saps_scores(np.array([[0.3, 0.5, 0.2]]), parameters=Parameters(weight=0.25))
    assert s == pytest.approx(np.array([[0.75, 0.5, 1.0]]))
