import numpy as np
import pytest

from core.conformal.scores.aps import aps_scores
from core.conformal.scores.ranking import ranks

pytestmark = pytest.mark.quick


def test_by_hand():
    # Ranks B .5, A .3, C .2: B scores .5, A .5 + .3, C the rest of 1.
    assert aps_scores(np.array([[0.3, 0.5, 0.2]])) == pytest.approx(np.array([[0.8, 0.5, 1.0]]))


def test_of_two_equal_options_the_later_comes_first():
    assert aps_scores(np.array([[0.25, 0.5, 0.25]])).tolist() == [[1.0, 0.5, 0.75]]


def test_the_last_ranked_option_scores_exactly_one():
    # A running sum from the top misses 1 by rounding for many of these rows.
    p = np.random.default_rng(0).dirichlet(np.ones(6), size=5000)
    s = aps_scores(p)
    assert (s[ranks(p) == 6] == 1.0).all()
    assert (np.cumsum(np.sort(p, axis=1)[:, ::-1], axis=1)[:, -1] != 1.0).any()


def test_it_equals_a_loop():
    rng = np.random.default_rng(1)
    p = rng.dirichlet(np.ones(5), size=50)
    for row, got in zip(p, aps_scores(p), strict=True):
        order = sorted(range(5), key=lambda j: (-row[j], -j))
        for place, j in enumerate(order):
            assert got[j] == pytest.approx(sum(row[order[: place + 1]]), abs=1e-12)
