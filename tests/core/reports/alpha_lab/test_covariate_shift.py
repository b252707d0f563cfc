"""A shift's coverage by hand, and what can't be compared."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.conformal.threshold import exact
from core.errors import InputError
from core.reports import evaluation
from core.reports.alpha_lab import covariate_shift
from tests.conftest import synthetic_run


def test_coverage_is_that_of_thresholds_from_the_other_side(home: Path):
    run = evaluation.load(synthetic_run(400))
    source, target = (covariate_shift.side(run, name, by="aps") for name in ("colours", "sums"))
    result = covariate_shift.shifted(source, target)
    assert (result.n, result.m) == (200, 200)
    for alpha in (1, 50, 100, 500, 999):
        q = exact(source.true, alpha)
        assert result.coverage[alpha - 1] == (target.true <= q).mean()
        assert result.mean_set_size[alpha - 1] == (target.scores <= q).sum() / 200
    assert result.p_value > 0.001
    assert result.effective <= 200 + 1e-9


def test_a_changed_mix_is_noticed_and_repaired(home: Path):
    run = evaluation.load(synthetic_run(2000, seed=5))
    sure = run.probabilities.max(axis=1) > np.quantile(run.probabilities.max(axis=1), 0.5)
    rng = np.random.default_rng(0)
    groups = np.where(sure ^ (rng.random(2000) < 0.2), "easy", "hard")
    mixed = replace(run, groups=groups)
    sides = {name: covariate_shift.side(mixed, name, by="lac") for name in ("easy", "hard")}
    pair = covariate_shift.search(tuple(sides.values()))
    assert pair is not None
    assert pair.pairs == 2
    assert pair.p_value < 0.1
    directions = ((pair.source, pair.target), (pair.target, pair.source))
    there, back = (covariate_shift.shifted(sides[a], sides[b]) for a, b in directions)
    assert pair.coverage == there.coverage[99]
    assert there.coverage[99] < 0.88 < back.coverage[99]
    assert there.p_value == back.p_value == 0.001
    assert abs(there.weighted_coverage[99] - 0.9) < abs(there.coverage[99] - 0.9)


def made(name: str, scores: list[float]) -> covariate_shift.ScoredQuestions:
    """A side with these scores of its true options."""
    true = np.array(scores)
    options = np.stack([true, np.ones(len(true))], axis=1)
    return covariate_shift.ScoredQuestions(name, 1 - options, np.zeros(len(true), dtype=np.int64), options, true)


@pytest.mark.parametrize("alpha", [1, 40, 100, 333, 700, 999])
def test_the_worst_pair_is_the_worst_of_all_pairs(alpha: int):
    rng = np.random.default_rng(alpha)
    for draw in range(12):
        # Tied scores, and sides too small for a threshold at a small alpha.
        sides = [made(f"s{i}", (rng.integers(0, 30, rng.integers(5, 60)) / 30).tolist()) for i in range(draw % 5 + 2)]
        slow = {(a.name, b.name): (b.true <= exact(a.true, alpha)).mean() for a in sides for b in sides if a is not b}
        result = covariate_shift.search(sides, alpha=alpha)
        assert result is not None
        assert result.coverage == min(slow.values()) == slow[result.source, result.target]
        assert result.pairs == len(slow)


def test_the_corrected_p_value_by_hand():
    # Calibrated on {1, 2} at alpha .5 (rank 2) and tested on {3, 4}: nothing is covered. Of the 6 ways to deal four
    # scores to two sides, 2 have a pair that covers nothing.
    result = covariate_shift.search([made("low", [1.0, 2.0]), made("high", [3.0, 4.0])], alpha=500)
    assert result is not None
    assert (result.source, result.target, result.coverage, result.shuffles) == ("low", "high", 0.0, 999)
    assert result.p_value == pytest.approx(1 / 3, abs=0.05)
    # Equal scores can't be told apart: every shuffle is as bad.
    tied = covariate_shift.search([made("one", [1.0] * 9), made("other", [1.0] * 9)])
    assert tied is not None
    assert (tied.coverage, tied.p_value) == (1.0, 1.0)


def test_many_questions_are_shuffled_less_often():
    rng = np.random.default_rng(0)
    sides = [made(f"s{i}", rng.random(2000).tolist()) for i in range(30)]
    result = covariate_shift.search(sides)
    assert result is not None
    assert result.shuffles == 20_000_000 // 60_000
    assert result == covariate_shift.search(sides)


def test_sides_that_can_not_be_compared(home: Path):
    run = evaluation.load(synthetic_run())
    with pytest.raises(InputError, match="'magic' has 0 questions; comparing two sides needs at least 20"):
        covariate_shift.side(run, "magic", by="lac")
    other = evaluation.load(synthetic_run(60, k=4, model="four"))
    with pytest.raises(InputError, match="6 options a question and 'qa' 4"):
        covariate_shift.shifted(covariate_shift.side(run, None, by="lac"), covariate_shift.side(other, None, by="lac"))
    assert covariate_shift.search([covariate_shift.side(run, None, by="lac")]) is None
    assert covariate_shift.subjects(run) == ("colours", "sums")
