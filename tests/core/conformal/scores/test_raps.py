import numpy as np
import pytest

from core.conformal.scores import Parameters
from core.conformal.scores.raps import raps_scores

pytestmark = pytest.mark.quick


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        # Ranks B 1, A 2, C 3, and APS .8, .5, 1.
        (Parameters(weight=0.25, free_ranks=1), [0.8 + 0.25, 0.5, 1 + 0.5]),
        (Parameters(weight=0.25, free_ranks=0), [0.8 + 0.5, 0.5 + 0.25, 1 + 0.75]),
        (Parameters(weight=0.25, free_ranks=3), [0.8, 0.5, 1]),
    ],
)
def test_by_hand(parameters, expected):
    assert raps_scores(np.array([[0.3, 0.5, 0.2]]), parameters=parameters) == pytest.approx(np.array([expected]))
