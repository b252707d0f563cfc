import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.conformal.probabilities import softmax
from core.conformal.scores import SCORE_NAMES, SCORES, offered_scores, score, true_scores
from core.conformal.scores.ordinal_aps import ordinal_aps_scores
from core.conformal.threshold import threshold
from tests.core.conformal.strategies import tied_problems

pytestmark = pytest.mark.quick


def test_by_hand():
    # C (.4), then D (.3) beside it. B (.06) is larger than E (.04), and A (.2) behind it is, too.
    scores = ordinal_aps_scores(np.array([[0.2, 0.06, 0.4, 0.3, 0.04]]))
    assert scores.tolist() == [[0.96, 0.76, 0.4, 0.7, 1.0]]


def test_of_equal_levels_the_later_enters_first():
    assert ordinal_aps_scores(np.array([[0.25, 0.25, 0.25, 0.25]])).tolist() == [[1.0, 0.75, 0.5, 0.25]]
    assert ordinal_aps_scores(np.array([[0.25, 0.5, 0.25]])).tolist() == [[1.0, 0.5, 0.75]]


def test_levels_without_probability_enter_with_the_last_one_that_has_some():
    assert ordinal_aps_scores(np.array([[0.0, 1.0, 0.0, 0.0]])).tolist() == [[1.0, 1.0, 1.0, 1.0]]
    assert ordinal_aps_scores(np.array([[0.5, 0.0, 0.5]])).tolist() == [[1.0, 0.5, 0.5]]


def grown(row: list[float], wanted: int) -> tuple[int, int]:
    """The first and the last level of the interval with which a level enters, found by growing it step by step."""
    low = high = max(range(len(row)), key=lambda level: (row[level], level))
    while not low <= wanted <= high:
        before = row[low - 1] if low else -1.0
        after = row[high + 1] if high + 1 < len(row) else -1.0
        low, high = (low, high + 1) if after >= before else (low - 1, high)
    return low, high


@given(tied_problems())
def test_a_score_is_the_mass_of_the_interval_with_which_its_level_enters(problem):
    p, _ = problem
    p = np.round(p, 6)
    for row, scores in zip(p, ordinal_aps_scores(p), strict=True):
        for level, value in enumerate(scores):
            low, high = grown(row.tolist(), level)
            outside = row[:low].sum() + row[high + 1 :].sum()
            assert value == pytest.approx(1 - outside, abs=1e-9)


@given(
    seed=st.integers(0, 2**32 - 1),
    k=st.integers(2, 12),
    sharpness=st.sampled_from([0.3, 3.0, 30.0]),
    decimals=st.sampled_from([1, 2, 17]),
)
def test_every_set_is_an_interval_of_levels(seed, k, sharpness, decimals):
    rng = np.random.default_rng(seed)
    p = softmax(sharpness * rng.normal(size=(40, k))).round(decimals)
    p[rng.random(40) < 0.3, -1] = np.nan if k > 2 else 0.0
    scores = ordinal_aps_scores(p)
    for q in [*scores[~np.isnan(scores)].tolist(), 0.0, 0.5, 1.0]:
        inside = np.pad(scores <= q, ((0, 0), (1, 1))).astype(int)
        assert (np.abs(np.diff(inside, axis=1)).sum(axis=1) <= 2).all(), q


@pytest.mark.parametrize("alpha", [50, 100, 300])
def test_sets_of_ordered_labels_cover_as_promised_even_with_ties(alpha):
    """Probabilities are those of a rounded bump around a level that is often wrong: many are equal, and many are 0."""
    rng = np.random.default_rng(alpha)
    shares, n, m, k = [], 59, 200, 5
    for _ in range(300):
        labels = rng.integers(0, k, n + m)
        middle = np.clip(labels + rng.integers(-1, 2, n + m), 0, k - 1)
        p = np.exp(-np.abs(np.arange(k) - middle[:, None])).round(1)
        p /= p.sum(axis=1, keepdims=True)
        values = true_scores(ordinal_aps_scores(p), labels)
        shares.append((values[n:] <= threshold(values[:n], alpha)).mean())
    error = np.std(shares) / np.sqrt(len(shares))
    assert np.mean(shares) >= 1 - alpha / 1000 - 3 * error


def test_it_is_offered_for_ordered_options_alone():
    assert [name for name, entry in SCORES.items() if entry.ordered] == ["ordinal-aps"]
    assert offered_scores(ordered=False) == SCORE_NAMES == tuple(SCORES)[:-1]
    assert offered_scores(ordered=True) == tuple(SCORES)


def test_the_top_level_has_the_score_of_aps_and_the_other_end_has_1():
    p = softmax(np.random.default_rng(1).normal(size=(50, 6)))
    aps, ordinal = score("aps", p), score("ordinal-aps", p)
    rows, top = np.arange(50), p.argmax(axis=1)
    assert np.array_equal(aps[rows, top], ordinal[rows, top])
    assert (ordinal.max(axis=1) == 1).all()
