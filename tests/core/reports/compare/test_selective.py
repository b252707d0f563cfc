"""Answering some questions alone: against a slow count, and against hand-made curves."""

from __future__ import annotations

import numpy as np
import pytest

from core.conformal.scores import SCORE_NAMES
from core.errors import InputError
from core.reports.compare.selective import abstention, risk_coverage
from core.reports.evaluation import load
from core.reports.scored_sets import form
from tests.conftest import synthetic_run

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("score", SCORE_NAMES)
@pytest.mark.parametrize("alpha", [20, 100, 300, 700])
def test_answered_and_right_are_counted_from_the_sets(home, score, alpha):
    run = load(synthetic_run(300))
    made = abstention(run, score)
    members = form(run, score, alpha).members
    single = members.sum(axis=1) == 1
    right = members[np.arange(len(members)), run.labels[run.test]]
    assert made.answered[alpha - 1] == pytest.approx(single.mean())
    assert made.wrong[alpha - 1] == pytest.approx((single & ~right).mean())
    if single.any():
        assert made.accuracy[alpha - 1] == pytest.approx(right[single].mean())


def test_cost_weighs_silence_against_error(home):
    made = abstention(load(synthetic_run(300)))
    assert made.cost(0.0) == pytest.approx(made.wrong)
    assert made.cost(1.0) == pytest.approx(1 - made.answered * np.nan_to_num(made.accuracy))
    with pytest.raises(InputError, match=r"must lie in \[0, 1\]"):
        made.cost(1.5)


def test_the_curve_ends_at_the_error_and_lies_above_the_best(home):
    run = load(synthetic_run(300))
    made = risk_coverage(run)
    wrong = run.probabilities[run.test].argmax(axis=1) != run.labels[run.test]
    assert made.risk[-1] == pytest.approx(wrong.mean())
    assert made.best_area <= made.area
    surest = np.argsort(-run.probabilities[run.test].max(axis=1), kind="stable")[:30]
    assert made.risk[29] == pytest.approx(wrong[surest].mean())
