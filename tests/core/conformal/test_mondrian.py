import numpy as np
import pytest

from core.conformal.mondrian import class_members, coverage_by_stratum, group_members, least_covered_p_value
from core.conformal.scores import true_scores
from core.conformal.scores.lac import lac_scores
from core.conformal.threshold import exact
from core.errors import InputError


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


def test_the_least_covered_stratum_is_judged_by_all_of_them():
    rng = np.random.default_rng(0)
    # Two strata of one question each, one of two covered: one of them always covers nothing.
    assert least_covered_p_value(np.array([1, 0]), np.array([1, 1]), rng=rng) == 1.0
    # 2 and 2, two covered: a stratum covers nothing in 2 of the 6 ways to deal them.
    p_value = least_covered_p_value(np.array([2, 0]), np.array([2, 2]), rng=rng)
    assert p_value == pytest.approx(1 / 3, abs=0.03)
    assert least_covered_p_value(np.array([90, 10]), np.array([100, 100]), rng=rng) == 1 / 10_000
    with pytest.raises(InputError, match="at least one test question in each"):
        least_covered_p_value(np.array([1, 0]), np.array([1, 0]), rng=rng)
