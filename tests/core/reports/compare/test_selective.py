"""Answering some questions alone: against a slow count, and against hand-made curves."""

import numpy as np
import pytest

from core.conformal.scores import SCORE_NAMES
from core.errors import InputError
from core.reports.compare.selective import abstention, risk_coverage, surest_first
from core.reports.evaluation import load
from core.reports.scored_sets import form
from tests.conftest import synthetic_run

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("score", SCORE_NAMES)
@pytest.mark.parametrize("alpha", [20, 100, 300, 700])
def test_answered_and_right_are_counted_from_the_sets(home, score, alpha):
    run = load(synthetic_run(300))
    result = abstention(run, score)
    members = form(run, score, alpha).members
    single = members.sum(axis=1) == 1
    right = members[np.arange(len(members)), run.labels[run.test]]
    assert result.answered[alpha - 1] == pytest.approx(single.mean())
    assert result.wrong[alpha - 1] == pytest.approx((single & ~right).mean())
    if single.any():
        assert result.accuracy[alpha - 1] == pytest.approx(right[single].mean())


def test_cost_weighs_silence_against_error(home):
    result = abstention(load(synthetic_run(300)))
    assert result.cost(0.0) == pytest.approx(result.wrong)
    assert result.cost(1.0) == pytest.approx(1 - result.answered * np.nan_to_num(result.accuracy))
    with pytest.raises(InputError, match=r"must lie in \[0, 1\]"):
        result.cost(1.5)


def test_the_curve_ends_at_the_error(home):
    run = load(synthetic_run(300))
    result = risk_coverage(run)
    wrong = run.probabilities[run.test].argmax(axis=1) != run.labels[run.test]
    assert result.risk[-1] == pytest.approx(wrong.mean())
    surest = np.argsort(-run.probabilities[run.test].max(axis=1), kind="stable")[:30]
    assert result.risk[29] == pytest.approx(wrong[surest].mean())


def test_equally_confident_answers_count_as_the_mean_over_their_orders():
    """(1, 0) and (0, 1) wrong at 0.8: 1/2, then 1/2 on average, and not 1, 1/2 or 0, 1/2. Then one right at 0.6."""
    for wrong in ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]):
        result = surest_first(np.array([0.8, 1 - 0.2, 0.6]), np.array(wrong))
        assert result.risk.tolist() == [0.5, 0.5, 1 / 3]


def test_the_curve_is_the_mean_of_all_orders_of_the_file():
    rng = np.random.default_rng(8)
    confidence, wrong = rng.integers(5, 10, 200) / 10, (rng.random(200) < 0.3).astype(float)
    result = surest_first(confidence, wrong)
    drawn = []
    for _ in range(4000):
        order = rng.permutation(200)
        surest = order[np.argsort(-confidence[order], kind="stable")]
        drawn.append(np.cumsum(wrong[surest]) / np.arange(1, 201))
    assert result.risk == pytest.approx(np.mean(drawn, axis=0), abs=0.03)
    shuffled = rng.permutation(200)
    assert np.array_equal(surest_first(confidence[shuffled], wrong[shuffled]).risk, result.risk)
