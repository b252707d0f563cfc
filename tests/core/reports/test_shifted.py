"""A shift's coverage by hand, and what can't be compared."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.conformal.threshold import exact
from core.errors import InputError
from core.reports import evaluation, shifted
from tests.conftest import synthetic_run


def test_coverage_is_that_of_thresholds_from_the_other_side(home: Path):
    run = evaluation.load(synthetic_run(400))
    source, target = (shifted.side(run, name, by="aps") for name in ("colours", "sums"))
    found = shifted.shifted(source, target)
    assert (found.n, found.m) == (200, 200)
    for alpha in (1, 50, 100, 500, 999):
        q = exact(source.true, alpha)
        assert found.coverage[alpha - 1] == (target.true <= q).mean()
        assert found.mean_set_size[alpha - 1] == (target.scores <= q).sum() / 200
    assert found.p_value > 0.001
    assert found.effective <= 200 + 1e-9


def test_a_changed_mix_is_noticed_and_repaired(home: Path):
    run = evaluation.load(synthetic_run(2000, seed=5))
    sure = run.probabilities.max(axis=1) > np.quantile(run.probabilities.max(axis=1), 0.5)
    rng = np.random.default_rng(0)
    groups = np.where(sure ^ (rng.random(2000) < 0.2), "easy", "hard")
    mixed = replace(run, groups=groups)
    sides = {name: shifted.side(mixed, name, by="lac") for name in ("easy", "hard")}
    pair = shifted.widest_pair(tuple(sides.values()))
    assert pair is not None
    found, back = (shifted.shifted(sides[a], sides[b]) for a, b in (pair, pair[::-1]))
    assert found.coverage[99] < 0.88 < back.coverage[99]
    assert found.p_value == back.p_value == 0.001
    assert abs(found.weighted_coverage[99] - 0.9) < abs(found.coverage[99] - 0.9)


def test_sides_that_can_not_be_compared(home: Path):
    run = evaluation.load(synthetic_run())
    with pytest.raises(InputError, match="'magic' has 0 questions; comparing two sides needs at least 20"):
        shifted.side(run, "magic", by="lac")
    other = evaluation.load(synthetic_run(60, k=4, model="four"))
    with pytest.raises(InputError, match="6 options a question and 'qa' 4"):
        shifted.shifted(shifted.side(run, None, by="lac"), shifted.side(other, None, by="lac"))
    assert shifted.widest_pair([shifted.side(run, None, by="lac")]) is None
    assert shifted.subjects(run) == ("colours", "sums")
