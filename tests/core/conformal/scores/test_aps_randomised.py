import numpy as np
import pytest

from core.conformal.scores import score
from core.conformal.scores.aps_randomised import aps_randomised_scores
from core.errors import InputError

pytestmark = pytest.mark.quick


def test_by_hand():
    # u = ½ takes half of an option's own probability off.
    s = aps_randomised_scores(np.array([[0.3, 0.5, 0.2]]), u=np.array([0.5]))
    assert s == pytest.approx(np.array([[0.65, 0.25, 0.9]]))


def test_random_numbers_are_the_same_for_the_same_seed():
    p = np.full((4, 3), 1 / 3)
    assert np.array_equal(score("aps-randomised", p, seed=3), score("aps-randomised", p, seed=3))
    assert not np.array_equal(score("aps-randomised", p, seed=3), score("aps-randomised", p, seed=4))


def test_without_numbers_it_says_so():
    with pytest.raises(InputError, match="a number u"):
        aps_randomised_scores(np.array([[0.5, 0.5]]))
