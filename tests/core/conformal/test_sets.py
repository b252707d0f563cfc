import numpy as np
import pytest
from hypothesis import given

from core.conformal.probabilities import top_options, top_shares
from core.conformal.scores import SCORES, ranks, score, true_scores
from core.conformal.scores.lac import lac_scores
from core.conformal.sets import filled, prediction_sets
from core.conformal.threshold import threshold
from core.errors import InputError
from tests.core.conformal.strategies import alphas, tied_problems

pytestmark = pytest.mark.quick


def test_a_set_is_what_scores_at_most_the_threshold():
    result = prediction_sets(np.array([[0.1, 0.5, 0.9], [0.6, 0.7, 0.8]]), 0.5)
    assert result.members.tolist() == [[True, True, False], [False, False, False]]
    assert result.sizes.tolist() == [2, 0]


def test_top1_fills_empty_sets_alone():
    p = np.array([[0.4, 0.35, 0.25], [0.9, 0.05, 0.05]])
    result = prediction_sets(lac_scores(p), 0.2, empty="top1", probabilities=p)
    assert result.members.tolist() == [[True, False, False], [True, False, False]]


@given(tied_problems())
def test_the_top_option_is_the_one_of_rank_1(problem):
    p = problem[0]
    assert np.array_equal(top_options(p), (ranks(p) == 1).argmax(axis=1))
    assert np.array_equal(top_options(p, ties="first"), p.argmax(axis=1))
    assert top_shares(p) == pytest.approx(
        (p == p.max(axis=1, keepdims=True)) / (p == p.max(axis=1, keepdims=True)).sum(axis=1, keepdims=True)
    )


def test_an_empty_set_takes_the_option_of_rank_1():
    p = np.array([[0.4, 0.2, 0.4], [0.3, 0.4, 0.3]])
    nothing = np.zeros((2, 3), dtype=bool)
    assert np.array_equal(filled(nothing.copy(), "top1", p), ranks(p) == 1)
    assert filled(nothing.copy(), "top1", p, ties="first").tolist() == [[True, False, False], [False, True, False]]


def test_policies_are_checked():
    with pytest.raises(InputError, match="allow, top1"):
        prediction_sets(np.array([[0.5]]), 0.5, empty="fill")
    with pytest.raises(InputError, match="probabilities"):
        prediction_sets(np.array([[0.5]]), 0.5, empty="top1")


@given(tied_problems(), alphas, alphas)
def test_sets_nest_in_alpha(problem, first, other):
    p, labels = problem
    small, large = sorted((first, other))
    for name in SCORES:
        s = score(name, p)
        calibration = true_scores(s, labels)
        wide = prediction_sets(s, threshold(calibration, small)).members
        narrow = prediction_sets(s, threshold(calibration, large)).members
        assert (wide | ~narrow).all(), name


@given(tied_problems(), alphas)
def test_the_calibration_questions_themselves_are_covered(problem, alpha):
    # At least k of the n true scores are at most the k-th smallest, ties or not.
    p, labels = problem
    for name in SCORES:
        s = score(name, p)
        q = threshold(true_scores(s, labels), alpha)
        covered = prediction_sets(s, q).members[np.arange(len(labels)), labels].sum()
        assert covered >= min(-(-(len(labels) + 1) * (1000 - alpha) // 1000), len(labels))
