import numpy as np
import pytest

from core.conformal.coverage import share_interval
from core.conformal.mondrian import check_by, class_members, coverage_by_stratum, group_members, least_covered_p_values
from core.conformal.scores import true_scores
from core.conformal.scores.lac import lac_scores
from core.conformal.threshold import exact
from core.errors import InputError

pytestmark = pytest.mark.quick


@pytest.fixture
def problem():
    """Two subjects, one of them much harder: (scores, labels, groups), 400 questions of four options."""
    rng = np.random.default_rng(5)
    labels = rng.integers(0, 4, 400)
    groups = np.array(["easy", "hard"])[rng.integers(0, 2, 400)]
    logits = rng.normal(size=(400, 4))
    logits[np.arange(400), labels] += np.where(groups == "easy", 3.0, 0.2)
    p = np.exp(logits)
    return lac_scores(p / p.sum(axis=1, keepdims=True)), labels, groups


def test_each_group_is_as_if_it_were_alone(problem):
    s, labels, groups = problem
    true = true_scores(s, labels)
    members, thresholds = group_members(true[:200], groups[:200], s[200:], groups[200:], 100)
    for g in ("easy", "hard"):
        alone = exact(true[:200][groups[:200] == g], 100)
        assert thresholds[g] == alone
        assert np.array_equal(members[groups[200:] == g], s[200:][groups[200:] == g] <= alone)
    assert thresholds["easy"] < thresholds["hard"]


def test_a_group_without_calibration_gets_full_sets(problem):
    s, labels, groups = problem
    members, thresholds = group_members(true_scores(s, labels)[:200], groups[:200], s[200:], np.full(200, "new"), 100)
    assert members.all()
    assert thresholds["new"] == np.inf


def test_each_class_has_its_own_threshold_and_the_never_true_one_stays(problem):
    s, labels, _ = problem
    s = np.concatenate([s, np.full((400, 1), 0.99)], axis=1)
    members, limits = class_members(true_scores(s, labels)[:200], labels[:200], s[200:], 100)
    assert limits[4] == np.inf
    assert members[:, 4].all()
    for j in range(4):
        assert limits[j] == exact(true_scores(s, labels)[:200][labels[:200] == j], 100)


def test_coverage_by_stratum_counts(problem):
    s, labels, groups = problem
    members, thresholds = group_members(true_scores(s, labels)[:200], groups[:200], s[200:], groups[200:], 100)
    rows = coverage_by_stratum(members, labels[200:], groups[200:], groups[:200], thresholds)
    assert [row.stratum for row in rows] == ["easy", "hard"]
    assert sum(row.m for row in rows) == sum(row.n for row in rows) == 200
    for row in rows:
        inside = groups[200:] == row.stratum
        assert row.coverage == members[inside, labels[200:][inside]].mean()
        assert row.low <= row.coverage <= row.high


def least_covered(hits: list[int], tested: list[int], *, seed: int, draws: int = 9999) -> float:
    """The p-value of one policy."""
    rng = np.random.default_rng(seed)
    return float(least_covered_p_values(np.array([hits]), np.array(tested), rng=rng, draws=draws)[0])


def test_the_least_covered_stratum_is_judged_by_all_of_them():
    # Two strata of one question each, one of two covered: one of them always covers nothing.
    assert least_covered([1, 0], [1, 1], seed=0) == 1.0
    # 2 and 2, two covered: a stratum covers nothing in 2 of the 6 ways to deal them.
    assert least_covered([2, 0], [2, 2], seed=0) == pytest.approx(1 / 3, abs=0.03)
    assert least_covered([90, 10], [100, 100], seed=0, draws=999) == 1 / 1000
    with pytest.raises(InputError, match="at least one test question in each"):
        least_covered([1, 0], [1, 0], seed=0)


def test_several_policies_share_the_permutations():
    hits, tested = np.array([[9, 4], [5, 5], [9, 4], [10, 10], [0, 0]]), np.array([10, 10])
    together = least_covered_p_values(hits, tested, rng=np.random.default_rng(3), draws=500)
    for row, p_value in zip(hits.tolist(), together.tolist(), strict=True):
        assert p_value == least_covered(row, [10, 10], seed=3, draws=500)
    assert together[3] == together[4] == 1  # nothing or everything is covered, so no stratum is covered less


def test_which_questions_may_share_a_threshold():
    assert [check_by(by) for by in ("all", "group", "class")] == ["all", "group", "class"]
    with pytest.raises(InputError, match="unknown strata 'letter'; choose from all, group, class"):
        check_by("letter")


def test_a_score_at_its_threshold_is_in_the_set():
    groups, own = np.array(["a"] * 9 + ["b"] * 9), np.tile(np.arange(1, 10) / 10, 2)
    members, thresholds = group_members(own, groups, np.array([[0.5, 0.6], [0.7, 0.3]]), np.array(["a", "b"]), 500)
    assert thresholds == {"a": 0.5, "b": 0.5}
    assert members.tolist() == [[True, False], [False, True]]
    members, limits = class_members(own, np.repeat([0, 1], 9), np.array([[0.5, 0.6], [0.6, 0.5]]), 500)
    assert limits.tolist() == [0.5, 0.5]
    assert members.tolist() == [[True, False], [False, True]]


def test_coverage_by_stratum_by_hand():
    members = np.array([[True, True, False], [True, False, False], [False, False, False], [True, True, True]])
    labels, strata = np.array([1, 1, 0, 2]), np.array(["a", "a", "b", "a"])
    rows = coverage_by_stratum(members, labels, strata, np.array(["a", "a", "a", "c"]), {"a": 0.7})
    a, b = rows
    assert (a.stratum, a.n, a.m, a.threshold) == ("a", 3, 3, 0.7)
    assert (a.coverage, a.mean_set_size) == pytest.approx((2 / 3, 6 / 3))
    assert (a.low, a.high) == share_interval(2, 3)
    assert (b.stratum, b.n, b.m, b.coverage, b.mean_set_size) == ("b", 0, 1, 0.0, 0.0)
    assert np.isnan(b.threshold)


def test_strata_of_unlike_sizes_are_compared_by_their_shares():
    # Five of 12 questions are covered: 2 of 2 and 3 of 10, the least .3. Dealt again, of C(12, 5) = 792 ways the pair
    # gets none in 252, then its share is 0; both in 120, then the others have 3 of 10 again; one in 420, at least .4.
    assert least_covered([2, 3], [2, 10], seed=1) == pytest.approx((252 + 120) / 792, abs=0.015)
    assert least_covered([1], [2], seed=1, draws=9) == 1
    with pytest.raises(InputError, match="at least one test question"):
        least_covered([], [], seed=1)
