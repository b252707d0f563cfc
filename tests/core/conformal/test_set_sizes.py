"""Intervals of what is counted from sets: by hand, against resampling by loops, and what must always hold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.conformal.probabilities import softmax
from core.conformal.scores import score, true_scores
from core.conformal.set_sizes import by_rank, differences, intervals, resampling
from core.conformal.set_sizes.differences import PairedRun
from core.conformal.set_sizes.intervals import Strata
from core.conformal.threshold import THRESHOLDS, threshold
from core.errors import InputError
from core.estimates import Estimate


def scored(n: int, m: int, *, k: int = 4, seed: int = 0, name: str = "lac", ragged: bool = False):
    """Scores of true options (n,), of all (m, k), and which top options are right (m,)."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(n + m, k))
    labels = rng.integers(0, 2, n + m)
    logits[np.arange(n + m), labels] += 1.2
    p = softmax(logits)
    if ragged:
        p[::3, -1] = np.nan
        p /= np.nansum(p, axis=1, keepdims=True)
    scores = score(name, p)
    right = (np.nanargmax(p, axis=1) == labels).astype(float)
    return true_scores(scores[:n], labels[:n]), scores[n:], right[n:]


def curve(own, asked, right, *, alpha=100, method="exact", empty="allow"):
    limits = by_rank.thresholds_by_rank(own, alpha, method=method)
    return by_rank.size_curve(limits, asked, right, options=asked.shape[1], empty=empty)


def test_sizes_by_rank_are_those_of_the_sets():
    # Thresholds .1, .2, .4 and endless; rows with options at (.05, .3) and (.2, .5).
    limits = by_rank.thresholds_by_rank(np.array([0.4, 0.1, 0.2]), 100)
    found = by_rank.size_curve(limits, np.array([[0.05, 0.3], [0.5, 0.2]]), np.array([1.0, 0.0]), options=2)
    assert found.size.tolist() == [0.5, 1.0, 1.5, 2.0]
    assert found.square.tolist() == [0.5, 1.0, (4 + 1) / 2, 4.0]
    assert found.size_if_right.tolist() == [0.5, 0.5, 1.0, 1.0]
    assert (found.n, found.m, found.accuracy) == (3, 2, 0.5)
    filled = by_rank.size_curve(limits, np.array([[0.05, 0.3], [0.5, 0.2]]), np.zeros(2), options=2, empty="top1")
    assert filled.size.tolist() == [1.0, 1.0, 1.5, 2.0]


@pytest.mark.parametrize("empty", ["allow", "top1"])
@pytest.mark.parametrize("ragged", [False, True])
@pytest.mark.parametrize("method", THRESHOLDS)
def test_the_size_at_the_own_rank_is_that_of_the_formed_sets(method, ragged, empty):
    own, asked, right = scored(57, 40, ragged=ragged, name="aps")
    for alpha in (37, 100, 500, 903):
        sizes = (asked <= threshold(own, alpha, method=method)).sum(axis=1)
        sizes = np.maximum(sizes, 1) if empty == "top1" else sizes
        found = intervals.intervals(curve(own, asked, right, alpha=alpha, method=method, empty=empty), alpha)
        assert found.mean_set_size.value == pytest.approx(sizes.mean())
        assert found.uacc.value == pytest.approx(right.mean() * 2 / sizes.mean())


@given(
    n=st.integers(1, 60),
    m=st.integers(1, 40),
    alpha=st.integers(1, 999),
    name=st.sampled_from(["lac", "aps", "margin", "top-k"]),
    ragged=st.booleans(),
    seed=st.integers(0, 99),
)
def test_an_interval_holds_its_own_figure(n, m, alpha, name, ragged, seed):
    own, asked, right = scored(n, m, name=name, ragged=ragged, seed=seed)
    found = intervals.intervals(curve(own, asked, right), alpha)
    size = found.mean_set_size
    assert 0 <= size.low <= size.value <= size.high <= asked.shape[1]
    if size.value == 0:
        assert np.isnan([found.uacc.value, *found.uacc.ends]).all()
    else:
        assert 0 <= found.uacc.low <= found.uacc.value <= found.uacc.high


def test_full_sets_have_no_luck():
    own, asked, right = scored(8, 30)  # rank ⌈9 · .9⌉ = 9 of 8: every set is full
    assert intervals.intervals(curve(own, asked, right), 100).mean_set_size == Estimate(4.0, 4.0, 4.0)


def test_the_rank_of_a_redrawn_threshold_follows_its_beta_law():
    n, alpha = 200, 100
    found = resampling.luck(n, alpha)
    assert found is not None
    assert found.rank == 181
    # Beta(181, 20): mean 181/201, so the mean rank is 181; variance 201² · 181 · 20 / (201² · 202).
    ranks = found.first + np.arange(len(found.weights))
    assert found.weights @ ranks == pytest.approx(181, abs=1e-3)
    assert found.weights @ (ranks - 181.0) ** 2 == pytest.approx(181 * 20 / 202 + 1 / 12, rel=0.01)
    drawn = resampling.drawn_ranks(n, 181)
    assert drawn.mean() == pytest.approx(181, abs=0.01)
    assert drawn.var() == pytest.approx(181 * 20 / 202, rel=0.01)
    # c² is the variance of the weighted mean of uniform order statistics over that of one: by simulation.
    levels = np.sort(np.random.default_rng(0).uniform(size=(4000, n)), axis=1)
    levels = np.concatenate([levels, np.ones((4000, 1))], axis=1)
    weighted = levels[:, np.clip(ranks, 1, n + 1) - 1] @ found.weights
    assert found.shrink == pytest.approx(weighted.std() / levels[:, 180].std(), rel=0.03)


def test_the_interval_is_that_of_resampling_both_sides_by_loops():
    """The smoothed size of each resample: both sides redrawn, sizes weighted over the luck of the rank."""
    own, asked, right = scored(150, 200, seed=4)
    of = resampling.luck(150, 100)
    rng = np.random.default_rng(1)
    sizes, values = [], []
    for _ in range(600):
        scores = np.sort(rng.choice(own, 150))
        test = rng.integers(0, 200, 200)
        size = 0.0
        for j, weight in enumerate(of.weights):
            rank = min(max(of.first + j, 1), 151)
            q = np.inf if rank == 151 else scores[rank - 1]
            size += weight * (asked[test] <= q).sum() / 200
        sizes.append(size)
        values.append(right[test].mean() * 2 / size)
    found = intervals.intervals(curve(own, asked, right), 100)
    for estimate, resampled in ((found.mean_set_size, sizes), (found.uacc, values)):
        low, high = np.quantile(resampled, [0.025, 0.975])
        assert estimate.high - estimate.low == pytest.approx(high - low, rel=0.2)
        assert (estimate.low, estimate.high) == pytest.approx((low, high), abs=0.25 * (high - low))


def test_strata_redraw_each_threshold_on_its_own():
    own, asked, right = scored(400, 300, seed=2)
    one = Strata(np.zeros(400, dtype=np.int64), np.zeros((300, 4), dtype=np.int64))
    whole = intervals.strata_intervals(own, asked, right, one, 100, options=4)
    smooth = intervals.intervals(curve(own, asked, right), 100)
    assert whole.mean_set_size.value == pytest.approx(smooth.mean_set_size.value)
    assert whole.mean_set_size.ends == pytest.approx(smooth.mean_set_size.ends, abs=0.06)
    codes = np.arange(400) % 2, np.arange(300) % 2
    two = Strata(codes[0], np.tile(codes[1][:, None], (1, 4)))
    limits = [threshold(own[codes[0] == c], 100) for c in (0, 1)]
    sizes = (asked <= np.array(limits)[codes[1]][:, None]).sum(axis=1)
    found = intervals.strata_intervals(own, asked, right, two, 100, options=4).mean_set_size
    assert found.value == pytest.approx(sizes.mean())
    assert found.low < found.value < found.high
    # A stratum that calibrates on nothing has full sets, and the interval takes them so.
    empty = Strata(np.zeros(400, dtype=np.int64), np.ones((300, 4), dtype=np.int64))
    assert intervals.strata_intervals(own, asked, right, empty, 100, options=4).mean_set_size.ends == (4.0, 4.0)


def test_the_difference_of_a_run_and_itself_is_nothing():
    own, asked, right = scored(60, 50)
    side = PairedRun(own, np.array([]), asked, right, 4)
    found = differences.difference_intervals(side, side, 100)
    assert (found.mean_set_size.value, *found.mean_set_size.ends) == pytest.approx((0, 0, 0), abs=1e-9)
    assert (found.uacc.value, *found.uacc.ends) == pytest.approx((0, 0, 0), abs=1e-9)


def test_the_difference_of_two_runs_is_that_of_redrawing_the_same_questions_by_loops():
    own, asked, right = scored(150, 200, seed=4)
    other_own, other_asked, other_right = scored(150, 200, seed=5)
    sides = [
        PairedRun(own, np.array([]), asked, right, 4),
        PairedRun(other_own, np.array([]), other_asked, other_right, 4),
    ]
    of = resampling.luck(150, 100)
    rng = np.random.default_rng(1)
    resampled = []
    for _ in range(600):
        drawn, test = rng.integers(0, 150, 150), rng.integers(0, 200, 200)
        sizes = []
        for side in sides:
            scores = np.append(np.sort(side.calibration[drawn]), np.inf)
            near = np.clip(of.first + np.arange(len(of.weights)), 1, 151) - 1
            sizes.append(
                sum(w * (side.test[test] <= q).sum() / 200 for w, q in zip(of.weights, scores[near], strict=True))
            )
        resampled.append(sizes[1] - sizes[0])
    found = differences.difference_intervals(*sides, 100).mean_set_size
    low, high = np.quantile(resampled, [0.025, 0.975])
    assert found.low <= found.value <= found.high
    assert found.high - found.low == pytest.approx(high - low, rel=0.2)
    assert found.ends == pytest.approx((low, high), abs=0.25 * (high - low))


def test_the_difference_counts_calibration_questions_of_one_run_alone():
    own, asked, right = scored(150, 200, seed=4)
    shared = PairedRun(own, np.array([]), asked, right, 4)
    assert differences.difference_intervals(shared, shared, 100).mean_set_size.ends == pytest.approx((0, 0), abs=1e-9)
    # The same questions, a hundred of them drawn for either run on its own: their luck no longer cancels.
    parted = PairedRun(own[:50], own[50:], asked, right, 4)
    apart = differences.difference_intervals(parted, parted, 100).mean_set_size
    assert apart.value == 0
    assert apart.high - apart.low > 0.05
    # Two runs that calibrate on unlike numbers of questions.
    found = differences.difference_intervals(parted, PairedRun(own[:50], own[100:], asked, right, 4), 100).mean_set_size
    assert found.low <= found.value <= found.high


def test_no_test_questions_and_no_calibration_questions_are_refused():
    with pytest.raises(InputError, match="no test questions"):
        by_rank.size_curve(np.array([0.5, np.inf]), np.empty((0, 4)), np.empty(0), options=4)
    with pytest.raises(InputError, match="no calibration scores"):
        by_rank.thresholds_by_rank(np.array([]), 100)


@pytest.mark.parametrize("jump", [False, True])
def test_a_jump_stretches_the_luck_of_the_calibration_draw(jump):
    """Without luck of the test draw the ends are quantiles of s̃(k + c·(J − k)), c = 1.35 where one rank makes most
    of the change."""
    n, of = 200, resampling.luck(200, 100)
    ranks = np.arange(1, n + 2)
    size = np.where(ranks > 183, 4.0, 1.0) if jump else 1 + ranks / 100
    flat = by_rank.SizeCurve(n, 10**12, 4, 0.5, size, size**2, size / 2)
    c = 1.35 if jump else of.shrink
    places = np.clip(of.rank + c * (resampling.drawn_ranks(n, of.rank) - of.rank), 1, n + 1)
    ends = np.quantile(resampling.expected_sizes(size, n, 100, places), [0.025, 0.975])
    assert intervals.intervals(flat, 100).mean_set_size.ends == pytest.approx(ends, abs=1e-4)


def test_size_and_accuracy_vary_together():
    """Sets of one option where the model is right, of three where it is wrong: UAcc = 2a / (3 − 2a) follows a alone."""
    size = np.full(201, 2.0)
    curve_of = by_rank.SizeCurve(200, 400, 4, 0.5, size, np.full(201, 5.0), np.full(201, 0.5))
    a = 0.5 + np.array([-1, 1]) * 1.96 * 0.5 / np.sqrt(399)
    found = intervals.intervals(curve_of, 100)
    assert found.uacc.ends == pytest.approx(2 * a / (3 - 2 * a), rel=2e-3)
    assert found.mean_set_size.ends == pytest.approx((3 - 2 * a)[::-1], rel=1e-3)


def test_the_paper_threshold_at_level_1_is_the_largest_score():
    own = np.arange(1, 10) / 10
    assert by_rank.thresholds_by_rank(own, 100, method="paper")[8] == 0.9
    assert (by_rank.thresholds_by_rank(own, 99, method="paper") == np.inf).all()


def test_a_stratum_of_few_questions_may_draw_the_endless_threshold():
    one = Strata(np.zeros(9, dtype=np.int64), np.zeros((50, 4), dtype=np.int64))
    asked = np.tile([0.1, 0.7, 0.8, 0.9], (50, 1))
    found = intervals.strata_intervals(np.full(9, 0.5), asked, np.ones(50), one, 100, options=4)
    assert found.mean_set_size == Estimate(1.0, 1.0, 4.0)


def test_the_noise_of_each_runs_accuracy_is_its_own():
    """Sets of two of four options throughout, so UAcc is the accuracy: 1 for the first run, a for the second."""
    own, asked = np.linspace(1, 2, 400), np.tile([0.0, 0.0, 9.0, 9.0], (300, 1))
    right = (np.arange(300) % 3 > 0).astype(float)
    sides = [PairedRun(own, np.array([]), asked, of, 4) for of in (np.ones(300), right)]
    found = differences.difference_intervals(*sides, 100).uacc
    reach = 1.96 * right.std(ddof=1) / np.sqrt(300)
    assert found.ends == pytest.approx((right.mean() - 1 - reach, right.mean() - 1 + reach), abs=1e-3)


def test_paired_thresholds_lie_around_the_runs_own():
    own, asked, right = scored(150, 20)
    side = PairedRun(own, np.array([]), asked, right, 4)
    places = differences._paired_places((side, side), 100, 0)
    assert places[0].mean() == pytest.approx(136, abs=0.25)
    assert np.array_equal(*places)
