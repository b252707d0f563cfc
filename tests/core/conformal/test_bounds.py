"""Whatever the unlisted probabilities are, the bounds hold the scores, thresholds, sets, coverage and sizes."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.conformal.alpha import ALPHAS
from core.conformal.bounds import bounded_sets, exact_alphas, exact_shares, score_bounds
from core.conformal.probabilities import softmax
from core.conformal.scores import SCORES, Parameters, score, true_scores
from core.conformal.sets import prediction_sets
from core.conformal.threshold import threshold
from core.errors import InputError

pytestmark = pytest.mark.quick

BOUNDED = [name for name in SCORES if SCORES[name].bounds]


def listed(seed, *, n, k, others, most, ties=False):
    """Log-probabilities of k letters among other tokens, and what a server tells that lists the ``most`` probable.

    Returns the truth (n, k), what is known (n, k), and which of it is a bound (n, k).
    """
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(n, k + others)) * rng.choice([0.5, 2.0, 6.0])
    if ties:
        logits = np.round(logits)
    truth = np.log(softmax(logits))
    floor = np.sort(truth, axis=1)[:, -most][:, None]
    bounded = truth[:, :k] < floor
    if ties:  # of several equal ones at the end of the list, some are left out
        bounded |= (truth[:, :k] == floor) & (rng.random((n, k)) < 0.5)
    return truth[:, :k], np.where(bounded, floor, truth[:, :k]), bounded


CASES = {
    "seed": st.integers(0, 2**32 - 1),
    "k": st.integers(2, 7),
    "others": st.integers(0, 6),
    "most": st.integers(1, 8),
    "ties": st.booleans(),
    "name": st.sampled_from(BOUNDED),
}


@given(**CASES)
@settings(max_examples=300)
def test_bounds_hold_every_score(seed, k, others, most, ties, name):
    truth, known, bounded = listed(seed, n=20, k=k, others=others, most=min(most, k + others), ties=ties)
    bounds, exact = score_bounds(name, known, bounded), score(name, softmax(truth))
    assert (bounds.lower <= exact + 1e-11).all()
    assert (exact <= bounds.upper + 1e-11).all()
    whole = ~bounded.any(axis=1)
    assert np.array_equal(bounds.lower[whole], score(name, softmax(known))[whole])
    assert np.array_equal(bounds.lower[whole], bounds.upper[whole])


@given(**CASES, alpha=st.integers(1, 999))
@settings(max_examples=150)
def test_sets_hold_the_exact_sets(seed, k, others, most, ties, name, alpha):
    truth, known, bounded = listed(seed, n=60, k=k, others=others, most=min(most, k + others), ties=ties)
    labels = np.random.default_rng(seed).integers(0, k, 60)
    bounds, exact = score_bounds(name, known, bounded), score(name, softmax(truth))
    first, rest = np.arange(30), np.arange(30, 60)
    q = threshold(true_scores(exact[first], labels[first]), alpha)
    members = prediction_sets(exact[rest], q).members
    calibration = bounds.rows(first).of(labels[first])
    sets = bounded_sets(calibration, bounds.rows(rest), alpha)
    low, high = sets.thresholds
    assert low - 1e-11 <= q <= high + 1e-11
    assert not (sets.inside & ~members).any()
    assert not (members & ~sets.cautious).any()
    assert np.array_equal(sets.inside[sets.exact], members[sets.exact])
    covered = members[np.arange(30), labels[rest]].mean()
    assert sets.coverage(labels[rest])[0] <= covered <= sets.coverage(labels[rest])[1]
    assert sets.mean_set_size()[0] <= members.sum(axis=1).mean() <= sets.mean_set_size()[1]
    shares = exact_shares(calibration, bounds.rows(rest))
    assert shares[alpha - 1] == pytest.approx(sets.exact_share)
    assert np.array_equal(exact_alphas(calibration, bounds.rows(rest)), shares == 1)


@pytest.mark.parametrize("name", SCORES)
def test_without_bounds_the_sets_are_the_ordinary_ones(name):
    truth, _, _ = listed(1, n=200, k=6, others=3, most=1)
    labels = np.random.default_rng(1).integers(0, 6, 200)
    result = score_bounds(name, truth, np.zeros(truth.shape, bool))
    sets = bounded_sets(result.rows(np.arange(100)).of(labels[:100]), result.rows(np.arange(100, 200)), 100)
    scores = score(name, softmax(truth))
    q = threshold(true_scores(scores[:100], labels[:100]), 100)
    assert sets.thresholds == (q, q)
    assert np.array_equal(sets.inside, prediction_sets(scores[100:], q).members)
    assert sets.exact_share == 1


def test_bounds_by_hand():
    """Weights 0.6 and 0.2 are known, the third is at most 0.1: T lies from 0 to 0.1, S is 0.8."""
    logits, bounded = np.log([[0.6, 0.2, 0.1]]), np.array([[False, False, True]])
    lac, aps = score_bounds("lac", logits, bounded), score_bounds("aps", logits, bounded)
    assert lac.lower[0] == pytest.approx([1 - 0.6 / 0.8, 1 - 0.2 / 0.8, 1 - 0.1 / 0.9])
    assert lac.upper[0] == pytest.approx([1 - 0.6 / 0.9, 1 - 0.2 / 0.9, 1])
    assert aps.lower[0] == pytest.approx([0.6 / 0.9, 0.8 / 0.9, 1])
    assert aps.upper[0] == pytest.approx([0.6 / 0.8, 1, 1])


def test_two_letters_of_which_nothing_is_listed_share_the_bound():
    """S = 0.8; the two others have at most 0.1 each, so what ranks after either is at most 0.1 of 1."""
    aps = score_bounds("aps", np.log([[0.8, 0.1, 0.1]]), np.array([[False, True, True]]))
    assert aps.lower[0] == pytest.approx([0.8, 0.9, 0.9])
    assert aps.upper[0] == pytest.approx([1, 1, 1])


def test_options_that_a_question_lacks_are_in_no_set():
    logits = np.array([[-0.5, -1.2, -3.0, -np.inf], [-0.1, -2.0, -4.0, -5.0]])
    bounded = np.array([[False, False, True, False], [False, False, False, False]])
    for name in BOUNDED:
        result = score_bounds(name, logits, bounded)
        assert np.isnan(result.lower[0, 3])
        assert np.isnan(result.upper[0, 3])
        assert not np.isnan(result.lower[0, :3]).any()
        sets = bounded_sets(result.of(np.array([0, 0])), result, 1)
        assert not sets.cautious[0, 3]
        assert exact_shares(result.of(np.array([0, 0])), result).shape == ALPHAS.shape


@pytest.mark.parametrize("name", SCORES)
def test_a_score_without_bounds_of_its_own_has_its_range(monkeypatch, name):
    """A new score needs no bounds of its own to be shown for a model on a server."""
    monkeypatch.setitem(SCORES, name, replace(SCORES[name], bounds=None))
    truth, known, bounded = listed(1, n=60, k=5, others=3, most=3)
    known[40:], bounded[40:] = truth[40:], False  # and of some questions every letter is listed
    known[0], bounded[0] = np.array([-0.5, -1.5, -2.0, -9.0, -np.inf]), np.array([False, False, False, True, False])
    bounds, exact = score_bounds(name, known, bounded), score(name, softmax(truth))
    partly = bounded.any(axis=1)
    assert 20 < partly.sum() < 60
    assert (bounds.lower[1:] <= exact[1:] + 1e-11).all()
    assert (exact[1:] <= bounds.upper[1:] + 1e-11).all()
    np.testing.assert_array_equal(bounds.lower[~partly], bounds.upper[~partly])
    assert len(np.unique(bounds.lower[partly][:, :4])) == len(np.unique(bounds.upper[partly][:, :4])) == 1
    assert np.isnan(bounds.lower[0, 4])
    assert np.isnan(bounds.upper[0, 4])


def test_bounds_by_hand_of_scores_that_rank():
    """0.5 and 0.2 are known, 0.3 and 0.1 are upper bounds: 0.3 may rank before 0.2, and 0.1 may not."""
    logits, bounded = np.log([[0.5, 0.2, 0.3, 0.1]]), np.array([[False, False, True, True]])
    top = score_bounds("top-k", logits, bounded)
    assert top.lower[0].round(6).tolist() == [1, 2, 2, 3]
    assert top.upper[0].round(6).tolist() == [1, 3, 4, 4]
    saps = score_bounds("saps", logits, bounded, parameters=Parameters(weight=0.5))
    assert saps.lower[0] == pytest.approx(0.5 / 1.1 + np.array([0, 0.5, 0.5, 1.0]))
    assert saps.upper[0] == pytest.approx(0.5 / 0.7 + np.array([0, 1.0, 1.5, 1.5]))
    margin = score_bounds("margin", logits, bounded)
    assert margin.lower[0] == pytest.approx(
        [0.2 / 1.1 - 0.5 / 0.7, 0.5 / 1.1 - 0.2 / 0.7, 0.5 / 1.1 - 0.3, 0.5 / 1.1 - 0.125]
    )
    assert margin.upper[0] == pytest.approx([0.3 - 0.5 / 1.1, 0.5 / 0.7 - 0.2 / 1.1, 0.5 / 0.7, 0.5 / 0.7])


def test_shapes_that_differ_are_refused():
    with pytest.raises(InputError, match="do not fit"):
        score_bounds("lac", np.zeros((2, 2)), np.zeros((1, 2), bool))
