import numpy as np
import pytest
from hypothesis import given

from core.conformal import probabilities, scores
from core.errors import InputError
from tests.core.conformal.strategies import tied_problems


def test_lac_by_hand():
    # 1 − p
    assert scores.lac_scores(np.array([[0.5, 0.3, 0.2]])).tolist() == [[0.5, 0.7, 0.8]]


def test_aps_by_hand():
    # Ranks B .5, A .3, C .2: B scores .5, A .5 + .3, C the rest of 1.
    assert scores.aps_scores(np.array([[0.3, 0.5, 0.2]])) == pytest.approx(np.array([[0.8, 0.5, 1.0]]))


def test_randomised_aps_by_hand():
    # u = ½ takes half of an option's own probability off.
    s = scores.aps_scores(np.array([[0.3, 0.5, 0.2]]), u=np.array([0.5]))
    assert s == pytest.approx(np.array([[0.65, 0.25, 0.9]]))


def test_of_two_equal_options_the_later_comes_first():
    assert probabilities.ranking(np.array([[0.4, 0.2, 0.4]])).tolist() == [[2, 0, 1]]
    assert scores.aps_scores(np.array([[0.25, 0.5, 0.25]])).tolist() == [[1.0, 0.5, 0.75]]


def test_the_last_ranked_option_scores_exactly_one():
    # A running sum from the top misses 1 by rounding for many of these rows.
    p = np.random.default_rng(0).dirichlet(np.ones(6), size=5000)
    s = scores.aps_scores(p)
    assert (s[np.arange(len(p)), probabilities.ranking(p)[:, -1]] == 1.0).all()
    assert (np.cumsum(np.sort(p, axis=1)[:, ::-1], axis=1)[:, -1] != 1.0).any()


def test_aps_equals_a_loop():
    rng = np.random.default_rng(1)
    p = rng.dirichlet(np.ones(5), size=50)
    for row, got in zip(p, scores.aps_scores(p), strict=True):
        order = sorted(range(5), key=lambda j: (-row[j], -j))
        for place, j in enumerate(order):
            assert got[j] == pytest.approx(sum(row[order[: place + 1]]), abs=1e-12)


@given(tied_problems())
def test_options_that_a_question_lacks_change_no_other_score(problem):
    """Not even where a real option has the probability 0, as the one that is lacking would have."""
    p, _ = problem
    wider = np.hstack([p, np.full((len(p), 2), np.nan)])
    for name in scores.SCORE_NAMES:
        alone, beside = scores.score(name, p), scores.score(name, wider)
        assert np.array_equal(beside[:, :-2], alone), name
        assert np.isnan(beside[:, -2:]).all(), name


@given(tied_problems())
def test_permuting_untied_options_permutes_scores(problem):
    p, _ = problem
    p = p + np.arange(p.size).reshape(p.shape) * 1e-4  # no two equal
    p /= p.sum(axis=1, keepdims=True)
    order = np.random.default_rng(0).permutation(p.shape[1])
    for name in scores.SCORE_NAMES:
        assert np.array_equal(scores.score(name, p)[:, order], scores.score(name, p[:, order])), name


@given(tied_problems())
def test_scores_lie_in_the_unit_interval_and_rise_with_rank(problem):
    p, _ = problem
    order = probabilities.ranking(p)
    for name in ("lac", "aps"):
        s = scores.score(name, p)
        assert ((s >= -1e-12) & (s <= 1)).all()
        assert (np.diff(np.take_along_axis(s, order, axis=1), axis=1) >= 0).all(), name


def test_random_numbers_are_the_same_for_the_same_seed():
    p = np.full((4, 3), 1 / 3)
    assert np.array_equal(scores.score("aps-randomised", p, seed=3), scores.score("aps-randomised", p, seed=3))
    assert not np.array_equal(scores.score("aps-randomised", p, seed=3), scores.score("aps-randomised", p, seed=4))


def test_softmax_takes_minus_infinity_for_never():
    assert probabilities.softmax(np.array([[0.0, -np.inf, 0.0]])).tolist() == [[0.5, 0.0, 0.5]]


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([[0.5, np.nan]], "must be a number"),
        ([[0.5, 0.6]], "sum to 1"),
        ([[1.5, -0.5]], "lie in"),
        ([0.5, 0.5], "shape"),
        ([[1.0]], "at least 2 options"),
    ],
)
def test_what_is_no_probability_is_refused(rows, says):
    with pytest.raises(InputError, match=says):
        probabilities.check_probabilities(np.array(rows))


@pytest.mark.parametrize("labels", [[0, 3], [-1, 0], [0], [0.0, 1.0]])
def test_labels_outside_the_options_are_refused(labels):
    with pytest.raises(InputError, match="label"):
        probabilities.check_labels(np.array(labels), n=2, k=3)


def test_an_unknown_score_names_the_known_ones():
    with pytest.raises(InputError, match="lac, aps"):
        scores.score("nonesuch", np.array([[0.5, 0.5]]))
