"""Intervals of what is counted from sets: by hand, against resampling by loops, and what must always hold."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from core.conformal.coverage import share_interval
from core.conformal.probabilities import softmax
from core.conformal.scores import score, true_scores
from core.conformal.set_sizes import by_rank, differences, intervals, resampling
from core.conformal.set_sizes.differences import PairedRun
from core.conformal.set_sizes.intervals import Strata
from core.conformal.threshold import THRESHOLDS, threshold
from core.errors import InputError
from core.estimates import Estimate

pytestmark = pytest.mark.quick


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


def curve(own, test_scores, right, *, alpha=100, method="exact", empty="allow"):
    limits = by_rank.thresholds_by_rank(own, alpha, method=method)
    return by_rank.size_curve(limits, test_scores, right, options=test_scores.shape[1], empty=empty)


def test_sizes_by_rank_are_those_of_the_sets():
    # Thresholds .1, .2, .4 and endless; rows with options at (.05, .3) and (.2, .5).
    limits = by_rank.thresholds_by_rank(np.array([0.4, 0.1, 0.2]), 100)
    result = by_rank.size_curve(limits, np.array([[0.05, 0.3], [0.5, 0.2]]), np.array([1.0, 0.0]), options=2)
    assert result.size.tolist() == [0.5, 1.0, 1.5, 2.0]
    assert result.square.tolist() == [0.5, 1.0, (4 + 1) / 2, 4.0]
    assert result.size_if_right.tolist() == [0.5, 0.5, 1.0, 1.0]
    assert (result.n, result.m, result.accuracy) == (3, 2, 0.5)
    filled = by_rank.size_curve(limits, np.array([[0.05, 0.3], [0.5, 0.2]]), np.zeros(2), options=2, empty="top1")
    assert filled.size.tolist() == [1.0, 1.0, 1.5, 2.0]


@pytest.mark.parametrize("empty", ["allow", "top1"])
@pytest.mark.parametrize("ragged", [False, True])
@pytest.mark.parametrize("method", THRESHOLDS)
def test_the_size_at_the_own_rank_is_that_of_the_formed_sets(method, ragged, empty):
    own, test_scores, right = scored(57, 40, ragged=ragged, name="aps")
    for alpha in (37, 100, 500, 903):
        sizes = (test_scores <= threshold(own, alpha, method=method)).sum(axis=1)
        sizes = np.maximum(sizes, 1) if empty == "top1" else sizes
        result = intervals.intervals(curve(own, test_scores, right, alpha=alpha, method=method, empty=empty), alpha)
        assert result.mean_set_size.value == pytest.approx(sizes.mean())
        assert result.uacc.value == pytest.approx(right.mean() * 2 / sizes.mean())


@example(n=8, m=1, alpha=112, name="lac", ragged=False, seed=8)  # a wrong answer, and sets that may be empty
@given(
    n=st.integers(1, 60),
    m=st.integers(1, 40),
    alpha=st.integers(1, 999),
    name=st.sampled_from(["lac", "aps", "margin", "top-k"]),
    ragged=st.booleans(),
    seed=st.integers(0, 99),
)
def test_an_interval_holds_its_own_figure(n, m, alpha, name, ragged, seed):
    own, test_scores, right = scored(n, m, name=name, ragged=ragged, seed=seed)
    result = intervals.intervals(curve(own, test_scores, right), alpha)
    size = result.mean_set_size
    if np.isnan(size.low):  # too few questions calibrate: all sets are full
        assert resampling.rank_law(n, alpha) is None
    else:
        assert 0 <= size.low <= size.value <= size.high <= test_scores.shape[1]
        assert size.low < size.high
    if size.value == 0:
        assert np.isnan([result.uacc.value, *result.uacc.ends]).all()
    elif np.isnan(result.uacc.low):
        assert m == 1
        assert np.isnan(result.uacc.high)
    else:
        assert 0 <= result.uacc.low <= result.uacc.value <= result.uacc.high


def test_full_sets_have_no_variation():
    own, test_scores, right = scored(8, 30)  # rank ⌈9 · .9⌉ = 9 of 8: every set is full
    result = intervals.intervals(curve(own, test_scores, right), 100).mean_set_size
    assert result.value == 4.0
    assert np.isnan(result.ends).all()  # no other size can be seen


def test_the_rank_of_a_redrawn_threshold_follows_its_beta_law():
    n, alpha = 200, 100
    result = resampling.rank_law(n, alpha)
    assert result is not None
    assert result.rank == 181
    # Beta(181, 20): mean 181/201, so the mean rank is 181; variance 201² · 181 · 20 / (201² · 202).
    ranks = result.first + np.arange(len(result.weights))
    assert result.weights @ ranks == pytest.approx(181, abs=1e-3)
    assert result.weights @ (ranks - 181.0) ** 2 == pytest.approx(181 * 20 / 202 + 1 / 12, rel=0.01)
    drawn = resampling.drawn_ranks(n, 181)
    assert drawn.mean() == pytest.approx(181, abs=0.01)
    assert drawn.var() == pytest.approx(181 * 20 / 202, rel=0.01)
    # c² is the variance of the weighted mean of uniform order statistics over that of one: by simulation.
    levels = np.sort(np.random.default_rng(0).uniform(size=(4000, n)), axis=1)
    levels = np.concatenate([levels, np.ones((4000, 1))], axis=1)
    weighted = levels[:, np.clip(ranks, 1, n + 1) - 1] @ result.weights
    assert result.shrink == pytest.approx(weighted.std() / levels[:, 180].std(), rel=0.03)


def test_the_interval_is_that_of_resampling_both_sides_by_loops():
    """The smoothed size of each resample: both sides redrawn, sizes weighted over the distribution of the rank."""
    own, test_scores, right = scored(150, 200, seed=4)
    law = resampling.rank_law(150, 100)
    rng = np.random.default_rng(1)
    sizes, values = [], []
    for _ in range(600):
        scores = np.sort(rng.choice(own, 150))
        test = rng.integers(0, 200, 200)
        size = 0.0
        for j, weight in enumerate(law.weights):
            rank = min(max(law.first + j, 1), 151)
            q = np.inf if rank == 151 else scores[rank - 1]
            size += weight * (test_scores[test] <= q).sum() / 200
        sizes.append(size)
        values.append(right[test].mean() * 2 / size)
    result = intervals.intervals(curve(own, test_scores, right), 100)
    for estimate, resampled in ((result.mean_set_size, sizes), (result.uacc, values)):
        low, high = np.quantile(resampled, [0.025, 0.975])
        assert estimate.high - estimate.low == pytest.approx(high - low, rel=0.2)
        assert (estimate.low, estimate.high) == pytest.approx((low, high), abs=0.25 * (high - low))


def test_strata_redraw_each_threshold_on_its_own():
    own, test_scores, right = scored(400, 300, seed=2)
    single = Strata(np.zeros(400, dtype=np.int64), np.zeros((300, 4), dtype=np.int64))
    whole = intervals.strata_intervals(own, test_scores, right, single, 100, options=4)
    smooth = intervals.intervals(curve(own, test_scores, right), 100)
    assert whole.mean_set_size.value == pytest.approx(smooth.mean_set_size.value)
    assert whole.mean_set_size.ends == pytest.approx(smooth.mean_set_size.ends, abs=0.06)
    codes = np.arange(400) % 2, np.arange(300) % 2
    two = Strata(codes[0], np.tile(codes[1][:, None], (1, 4)))
    limits = [threshold(own[codes[0] == c], 100) for c in (0, 1)]
    sizes = (test_scores <= np.array(limits)[codes[1]][:, None]).sum(axis=1)
    result = intervals.strata_intervals(own, test_scores, right, two, 100, options=4).mean_set_size
    assert result.value == pytest.approx(sizes.mean())
    assert result.low < result.value < result.high
    # A stratum that calibrates on nothing has full sets, whose size says nothing about those of more questions.
    empty = Strata(np.zeros(400, dtype=np.int64), np.ones((300, 4), dtype=np.int64))
    full = intervals.strata_intervals(own, test_scores, right, empty, 100, options=4).mean_set_size
    assert full.value == 4
    assert np.isnan(full.ends).all()


def test_the_difference_of_runs_that_answer_alike_is_no_point():
    """Neither run's sets nor its answers differ: one further question of 50 for each run has the variance 2/50²."""
    own, test_scores, right = scored(60, 50)
    side = PairedRun(own, np.array([]), test_scores, right, 4)
    result = differences.difference_intervals(side, side, 100)
    reach = 1.96 * 2**0.5 / 50
    assert result.mean_set_size.ends == pytest.approx((-reach, reach), rel=0.02)
    assert result.uacc.value == 0
    assert result.uacc.low < -0.01 < 0.01 < result.uacc.high


def test_the_difference_of_two_runs_is_that_of_redrawing_the_same_questions_by_loops():
    own, test_scores, right = scored(150, 200, seed=4)
    other_own, other_asked, other_right = scored(150, 200, seed=5)
    sides = [
        PairedRun(own, np.array([]), test_scores, right, 4),
        PairedRun(other_own, np.array([]), other_asked, other_right, 4),
    ]
    law = resampling.rank_law(150, 100)
    rng = np.random.default_rng(1)
    resampled = []
    for _ in range(600):
        drawn, test = rng.integers(0, 150, 150), rng.integers(0, 200, 200)
        sizes = []
        for side in sides:
            scores = np.append(np.sort(side.calibration[drawn]), np.inf)
            near = np.clip(law.first + np.arange(len(law.weights)), 1, 151) - 1
            sizes.append(
                sum(w * (side.test[test] <= q).sum() / 200 for w, q in zip(law.weights, scores[near], strict=True))
            )
        resampled.append(sizes[1] - sizes[0])
    result = differences.difference_intervals(*sides, 100).mean_set_size
    low, high = np.quantile(resampled, [0.025, 0.975])
    assert result.low <= result.value <= result.high
    assert result.high - result.low == pytest.approx(high - low, rel=0.2)
    assert result.ends == pytest.approx((low, high), abs=0.25 * (high - low))


def test_the_difference_counts_calibration_questions_of_one_run_alone():
    own, test_scores, right = scored(150, 200, seed=4)
    shared = PairedRun(own, np.array([]), test_scores, right, 4)
    together = differences.difference_intervals(shared, shared, 100).mean_set_size
    assert together.ends == pytest.approx((-0.0139, 0.0139), rel=0.02)  # ±1.96·√2/200, without variation of the draw
    # The same questions, a hundred of them drawn for either run on its own: their variation no longer cancels.
    parted = PairedRun(own[:50], own[50:], test_scores, right, 4)
    apart = differences.difference_intervals(parted, parted, 100).mean_set_size
    assert apart.value == 0
    assert apart.high - apart.low > 0.05
    # Two runs that calibrate on unlike numbers of questions.
    result = differences.difference_intervals(
        parted, PairedRun(own[:50], own[100:], test_scores, right, 4), 100
    ).mean_set_size
    assert result.low <= result.value <= result.high


def test_no_test_questions_and_no_calibration_questions_are_refused():
    with pytest.raises(InputError, match="no test questions"):
        by_rank.size_curve(np.array([0.5, np.inf]), np.empty((0, 4)), np.empty(0), options=4)
    with pytest.raises(InputError, match="no calibration scores"):
        by_rank.thresholds_by_rank(np.array([]), 100)


@pytest.mark.parametrize("jump", [False, True])
def test_a_jump_stretches_the_variation_of_the_calibration_draw(jump):
    """Without variation of the test draw the ends are quantiles of s̃(k + c·(J − k)), c = 1.35 where one rank makes most
    of the change."""
    n, law = 200, resampling.rank_law(200, 100)
    ranks = np.arange(1, n + 2)
    size = np.where(ranks > 183, 4.0, 1.0) if jump else 1 + ranks / 100
    flat = by_rank.SizeCurve(n, 10**12, 4, 0.5, size, size**2, size / 2)
    c = 1.35 if jump else law.shrink
    places = np.clip(law.rank + c * (resampling.drawn_ranks(n, law.rank) - law.rank), 1, n + 1)
    ends = np.quantile(resampling.expected_sizes(size, n, 100, places), [0.025, 0.975])
    assert intervals.intervals(flat, 100).mean_set_size.ends == pytest.approx(ends, abs=1e-4)


def test_size_and_accuracy_vary_together():
    """Sets of one option where the model is right, of three where it is wrong: UAcc = 2a / (3 − 2a) follows a alone."""
    size = np.full(201, 2.0)
    curve_of = by_rank.SizeCurve(200, 400, 4, 0.5, size, np.full(201, 5.0), np.full(201, 0.5))
    a = 0.5 + np.array([-1, 1]) * 1.96 * 0.5 / np.sqrt(399)
    result = intervals.intervals(curve_of, 100)
    assert result.uacc.ends == pytest.approx(2 * a / (3 - 2 * a), rel=2e-3)
    assert result.mean_set_size.ends == pytest.approx((3 - 2 * a)[::-1], rel=1e-3)


def test_the_paper_threshold_at_level_1_is_the_largest_score():
    own = np.arange(1, 10) / 10
    assert by_rank.thresholds_by_rank(own, 100, method="paper")[8] == 0.9
    assert (by_rank.thresholds_by_rank(own, 99, method="paper") == np.inf).all()


def test_a_stratum_of_few_questions_may_draw_the_endless_threshold():
    single = Strata(np.zeros(9, dtype=np.int64), np.zeros((50, 4), dtype=np.int64))
    test_scores = np.tile([0.1, 0.7, 0.8, 0.9], (50, 1))
    result = intervals.strata_intervals(np.full(9, 0.5), test_scores, np.ones(50), single, 100, options=4)
    assert result.mean_set_size == Estimate(1.0, 1.0, 4.0)


def test_the_noise_of_each_runs_accuracy_is_its_own():
    """Sets of two of four options throughout, so UAcc is the accuracy: 1 for the first run, a for the second."""
    own, test_scores = np.linspace(1, 2, 400), np.tile([0.0, 0.0, 9.0, 9.0], (300, 1))
    right = (np.arange(300) % 3 > 0).astype(float)
    sides = [PairedRun(own, np.array([]), test_scores, rights, 4) for rights in (np.ones(300), right)]
    result = differences.difference_intervals(*sides, 100).uacc
    reach = 1.96 * right.std(ddof=1) / np.sqrt(300)
    assert result.ends == pytest.approx((right.mean() - 1 - reach, right.mean() - 1 + reach), abs=1e-3)


def test_paired_thresholds_lie_around_the_runs_own():
    own, test_scores, right = scored(150, 20)
    side = PairedRun(own, np.array([]), test_scores, right, 4)
    places = differences._paired_places((side, side), 100, 0)
    assert places[0].mean() == pytest.approx(136, abs=0.25)
    assert np.array_equal(*places)


# ---------------------------------------------------------------- the parts, by hand or against loops over questions


def test_published_thresholds_lie_as_far_from_every_rank_as_from_their_own():
    own = np.arange(1, 10) / 10  # rank 5 of 9 at alpha .5: level 5/9, numpy's place 8 · 5/9 = 4.444
    bluq = by_rank.thresholds_by_rank(own[::-1], 500, method="bluq")
    assert bluq == pytest.approx([0.1 + 0.1 * min(8, 4 / 9 + j) for j in range(10)])
    paper = by_rank.thresholds_by_rank(own, 500, method="paper")  # the next whole place, 5
    assert paper == pytest.approx([0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.9, 0.9])
    # Beyond n the level is cut off at 1: the largest score at the last rank, one place less at each before.
    assert by_rank.thresholds_by_rank(own, 50, method="bluq") == pytest.approx([*own, 0.9])
    assert by_rank.thresholds_by_rank(own, 500).tolist() == [*own, np.inf]


def test_uacc_by_hand():
    assert by_rank.uacc(0.6, 1.5, 4) == pytest.approx(0.8)  # .6 · 2 / 1.5
    result = by_rank.uacc(np.array([1.3, -0.2, 0.5]), np.array([1.0, 1.0, 0.0]), 9)
    assert result[:2].tolist() == [3.0, 0.0]  # an accuracy beyond 0 or 1 is none
    assert np.isnan(result[2])


def test_sizes_at_thresholds_by_hand():
    scores = np.array([[0.1, 0.4, 0.9], [0.7, 0.8, 0.9]])
    assert by_rank.sizes_at(scores, np.array([[0.4], [0.8], [0.05]])).tolist() == [[2, 0], [2, 2], [0, 0]]
    assert by_rank.sizes_at(scores, np.array([[0.4], [0.05]]), empty="top1").tolist() == [[2, 1], [1, 1]]
    # The last option has a threshold of its own, the second of two.
    strata = np.array([[0, 0, 1], [0, 0, 1]])
    assert by_rank.sizes_at(scores, np.array([[0.05, 0.9], [0.7, 0.1]]), strata).tolist() == [[1, 1], [2, 1]]
    with pytest.raises(InputError, match="allow, top1"):
        by_rank.sizes_at(scores, np.array([[0.4]]), empty="fill")


def test_the_weights_of_ranks_are_the_beta_laws():
    """At n = 4 and alpha .4 the rank is 3: U ~ Beta(3, 2), and J is the whole number nearest to 5U, 1 to 5."""
    ranks = resampling.rank_law(4, 400)
    assert ranks.rank == 3
    law = stats.beta(3, 2)
    weights = dict(zip((ranks.first + np.arange(len(ranks.weights))).tolist(), ranks.weights, strict=True))
    for j in range(6):
        assert weights[j] == pytest.approx(law.cdf((j + 0.5) / 5) - law.cdf((j - 0.5) / 5)), j
    assert sum(weights.values()) == pytest.approx(1)
    assert ranks.first < 0
    assert max(weights) > 6  # the weights reach six standard deviations, cut off at 1 and n + 1 by those who use them
    with pytest.raises(ValueError, match="read-only"):
        ranks.weights[0] = 1
    assert resampling.rank_law(4, 199) is None  # ⌈5 · .801⌉ = 5 of 4
    assert resampling.rank_law(4, 200).rank == 4
    with pytest.raises(InputError, match="1 to 999"):
        resampling.rank_law(4, 1000)


def test_redrawn_ranks_are_the_beta_laws_quantiles():
    levels = (np.arange(2000) + 0.5) / 2000
    assert resampling.drawn_ranks(19, 18) == pytest.approx(20 * stats.beta.ppf(levels, 18, 2))
    law = resampling.rank_law(19, 100)
    assert law.rank == 18
    places = resampling.redrawn_places(19, 100, 0.5)
    assert places == pytest.approx(np.clip(18 + 0.5 * (20 * stats.beta.ppf(levels, 18, 2) - 18), 1, 20))
    assert resampling.redrawn_places(19, 100, 3.0).max() == 20  # no threshold beyond the endless one
    assert resampling.redrawn_places(3, 990, 9.0).min() == 1  # nor below the smallest score
    assert resampling.redrawn_places(19, 49, 0.5).tolist() == [20.0] * 2000
    for cached in (places, resampling.drawn_ranks(19, 18), resampling.shuffle(0)):
        with pytest.raises(ValueError, match="read-only"):
            cached[0] = 1


def test_noise_has_its_covariance_and_stays_the_same_in_every_version():
    wanted = np.array([[4.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    result = resampling.normal_noise(wanted)
    assert result.mean(axis=0) == pytest.approx([0, 0, 0], abs=1e-9)
    assert np.cov(result.T) == pytest.approx(wanted, abs=0.1)
    assert result[:, 2] == pytest.approx(np.zeros(2000), abs=1e-12)
    # Two columns that are one: rounding makes a variance of their difference, which counts as none.
    same = resampling.normal_noise(np.ones((2, 2)))
    assert np.array_equal(same[:, 0], same[:, 1]) or same[:, 0] == pytest.approx(same[:, 1], abs=1e-12)
    assert resampling.shuffle(0)[:5].tolist() == [1311, 1369, 1252, 1216, 1150]
    assert resampling.shuffle(3)[:5].tolist() == [71, 1709, 814, 1452, 1139]
    assert sorted(resampling.shuffle(3)) == list(range(2000))
    assert resampling._normals(1)[:, 0] == pytest.approx(stats.norm.ppf((resampling.shuffle(0) + 0.5) / 2000))


def test_the_expected_size_is_the_weighted_mean_between_whole_places():
    """s̃ at a place between two ranks lies on the line between theirs; beyond n + 1 all ranks are n + 1."""
    n, law = 30, resampling.rank_law(30, 200)
    assert law.rank == 25
    sizes = np.sqrt(np.arange(1, n + 2))

    def at(k: int) -> float:
        ranks = k + law.first - law.rank + np.arange(len(law.weights))
        return sum(w * sizes[min(max(j, 1), n + 1) - 1] for w, j in zip(law.weights, ranks.tolist(), strict=True))

    result = resampling.expected_sizes(sizes, n, 200, np.array([20.25, 25.0, 30.5]))
    assert result == pytest.approx([0.75 * at(20) + 0.25 * at(21), at(25), (at(30) + at(31)) / 2])
    assert resampling.expected_sizes(sizes, n, 10, np.array([3.0, 4.0])).tolist() == [sizes[-1]] * 2


def test_a_jump_is_more_than_half_of_the_change_over_the_variation():
    n, law = 200, resampling.rank_law(200, 100)
    ranks = np.arange(1, n + 2)[None, :]
    inside = resampling.drawn_ranks(n, law.rank)[[50, 1949]]
    low, high = int(np.floor(inside[0])), int(np.ceil(inside[1]))

    def of_one_step(at: int, share: float) -> float:
        """A size that changes by ``share`` of its change at one rank, and by the rest between two others."""
        steps = np.array([[at], [low + 3], [low + 5]])
        return resampling.shrinkage([share, (1 - share) / 2, (1 - share) / 2] @ (ranks > steps), n, law)

    assert of_one_step(181, 0.52) == 1.35
    assert of_one_step(181, 0.49) == law.shrink
    # A jump outside of the middle 95% of redrawn thresholds is no part of the variation; at its ends it is.
    assert of_one_step(low, 0.9) == of_one_step(high - 1, 0.9) == 1.35
    assert of_one_step(high + 1, 0.9) == law.shrink
    assert resampling.shrinkage(np.ones(n + 1), n, None) == 1
    assert resampling.shrinkage(np.ones(n + 1), n, law) == law.shrink


def ends(resampled) -> tuple[float, float]:
    return tuple(np.quantile(resampled, [0.025, 0.975]).tolist())


@pytest.mark.parametrize("empty", ["allow", "top1"])
def test_the_noise_of_the_test_draw_is_that_of_the_sets_and_answers(empty):
    """The covariance of size and rightness from the formed sets themselves, question by question."""
    own, test_scores, right = scored(120, 80, seed=7, name="lac")
    alpha = 450  # where some sets are empty
    sizes = (test_scores <= threshold(own, alpha)).sum(axis=1)
    assert (sizes == 0).any()
    sizes = np.maximum(sizes, 1) if empty == "top1" else sizes
    noise = resampling.normal_noise(np.cov(np.stack([sizes, right])) / 80)
    sizes_by_rank = curve(own, test_scores, right, alpha=alpha, empty=empty)
    places = resampling.redrawn_places(
        120, alpha, resampling.shrinkage(sizes_by_rank.size, 120, resampling.rank_law(120, alpha))
    )
    drawn = np.clip(resampling.expected_sizes(sizes_by_rank.size, 120, alpha, places) + noise[:, 0], 0, 4)
    result = intervals.intervals(sizes_by_rank, alpha)
    assert result.mean_set_size.ends == pytest.approx(ends(drawn))
    assert result.uacc.ends == pytest.approx(ends(np.clip(right.mean() + noise[:, 1], 0, 1) * 2 / drawn))


def test_each_stratum_redraws_its_threshold_among_its_own_scores():
    own, test_scores, right = scored(90, 60, seed=8)
    codes, of_options = np.arange(90) % 3, np.tile([0, 1, 2, 2], (60, 1))
    own[codes == 2] = own[codes == 2][:1]  # ties, and only 30 questions each
    result = intervals.strata_intervals(own, test_scores, right, Strata(codes, of_options), 100, options=4)
    law = resampling.rank_law(30, 100)
    limits = []
    for code in range(3):
        mine = np.sort(own[codes == code])
        places = resampling.redrawn_places(30, 100, law.shrink)[resampling.shuffle(16 + code)]
        limits.append([np.inf if place >= 30.5 else np.interp(place, np.arange(1, 31), mine) for place in places])
    limits = np.array(limits)
    drawn = np.array([(test_scores <= limits[of_options[0], r]).sum(axis=1).mean() for r in range(2000)])
    shown = np.array([threshold(own[codes == code], 100) for code in range(3)])[of_options[0]]
    sizes = (test_scores <= shown).sum(axis=1)
    noise = resampling.normal_noise(np.cov(np.stack([sizes, right])) / 60)
    expected = np.clip(drawn + noise[:, 0], 0, 4)
    assert result.mean_set_size.value == pytest.approx(sizes.mean())
    assert result.mean_set_size.ends == pytest.approx(ends(expected))
    assert result.uacc.ends == pytest.approx(ends(np.clip(right.mean() + noise[:, 1], 0, 1) * 2 / expected))
    filled = intervals.strata_intervals(
        own, test_scores + 2, right, Strata(codes, of_options), 300, options=4, empty="top1"
    )
    assert filled.mean_set_size.value == 1


def test_one_test_question_has_no_noise_of_its_own():
    own, test_scores, right = scored(90, 1, seed=8)
    single = Strata(np.zeros(90, dtype=np.int64), np.zeros((1, 4), dtype=np.int64))
    for estimates in (
        intervals.strata_intervals(own, test_scores, right, single, 100, options=4),
        intervals.intervals(curve(own, test_scores, right), 100),
        differences.difference_intervals(*[PairedRun(own, np.array([]), test_scores, right, 4)] * 2, 100),
    ):
        assert np.isfinite([estimates.mean_set_size.value, *estimates.mean_set_size.ends]).all()


def test_an_interval_that_would_leave_its_figure_out_ends_at_it():
    resampled = np.linspace(1.0, 2.0, 2000)
    assert intervals.quantile_interval(1.5, resampled) == Estimate(1.5, 1.025, 1.975)
    assert intervals.quantile_interval(3.0, resampled) == Estimate(3.0, 1.025, 3.0)
    assert intervals.quantile_interval(0.5, resampled) == Estimate(0.5, 0.5, 1.975)
    half_empty = np.where(np.arange(2000) < 1000, np.nan, resampled)  # where every set of a resample is empty
    assert intervals.quantile_interval(1.9, half_empty).ends == pytest.approx((1.5 + 0.0125, 2 - 0.0125), abs=1e-3)
    nothing = intervals.quantile_interval(np.nan, resampled)
    assert np.isnan([nothing.value, *nothing.ends]).all()


@pytest.mark.parametrize("alone", [0, 25])
def test_paired_thresholds_are_those_of_redrawing_questions_by_loops(alone):
    """The same questions are drawn for both runs, and n + 1 of them with one whose score is endless."""
    rng, n = np.random.default_rng([5, 0xB007]), 40 + alone
    scores = [np.random.default_rng(i).random(n) for i in (1, 2)]
    sides = tuple(PairedRun(s[:40], s[40:], np.zeros((1, 2)), np.ones(1), 2) for s in scores)
    places = differences._paired_places(sides, 100, 5)
    law = resampling.rank_law(n, 100)
    drawn = rng.integers(0, 41, (2000, 41), dtype=np.int32)
    near = np.clip(law.first + np.arange(len(law.weights)), 1, n + 1)
    for side, (drawn_places, values) in enumerate(zip(places, scores, strict=True)):
        ranks = np.append(stats.rankdata(values[:40]) if not alone else stats.rankdata(values)[:40], n + 1)
        others = stats.rankdata(values)[40:][rng.integers(0, max(alone, 1), (2000, alone), dtype=np.int32)]
        for r in range(0, 2000, 97):
            rising = np.sort(np.concatenate([ranks[drawn[r]], others[r]]))
            at = law.rank + law.weights @ (rising[near - 1] - (near * (n + 1) / (n + 2) + 0.5))
            assert drawn_places[r] == pytest.approx(min(max(at, 1), n + 1)), (side, r)


def test_a_run_of_too_few_questions_has_full_sets_in_every_resample():
    own, test_scores, right = scored(40, 30)
    few = PairedRun(own[:5], np.array([]), test_scores, right, 4)  # rank ⌈6 · .9⌉ = 6 of 5
    assert differences._paired_places((few, few), 100, 0)[0].tolist() == [6.0] * 2000
    many = PairedRun(own[:5], own[5:], test_scores, right, 4)
    result = differences.difference_intervals(many, few, 100)
    assert result.mean_set_size.value == pytest.approx(4 - (test_scores <= threshold(own, 100)).sum() / 30)
    assert result.uacc.value == pytest.approx(
        right.mean() / 2 - right.mean() * 2 / (test_scores <= threshold(own, 100)).sum() * 30
    )
    with pytest.raises(InputError, match="1 to 999"):
        differences.difference_intervals(many, few, 0)


def test_a_threshold_that_keeps_every_option_may_fall_in_other_draws():
    """8 of 30 scores are 1, so all sets are full. Fewer than 3 of 30 are in one of four draws if the share is 0.12."""
    scores = np.append(np.linspace(0.1, 0.9, 22), np.ones(8))
    sizes = np.tile([0.2, 0.4, 0.6, 1.0], (30, 1))
    curve = by_rank.size_curve(by_rank.thresholds_by_rank(scores, 100), sizes, np.ones(30), options=4)
    result = intervals.intervals(curve, 100)
    assert result.mean_set_size.value == 4
    assert result.mean_set_size.low == pytest.approx(4 - 0.28, abs=0.03)
    assert result.uacc.high == pytest.approx(2 / result.mean_set_size.low)


def test_uacc_is_no_point_where_every_set_is_full():
    """Too few questions calibrate: the size is certain, and the accuracy of two right answers of two is not."""
    result = intervals.intervals(curve(np.full(2, 0.5), np.tile([0.1, 0.7, 0.8, 0.9], (2, 1)), np.ones(2)), 100)
    assert result.mean_set_size.value == 4.0
    assert np.isnan(result.mean_set_size.ends).all()
    assert result.uacc.low == pytest.approx(0.5 * share_interval(2, 2)[0])
    assert result.uacc.high == 0.5


def test_strata_whose_sets_are_all_alike_have_no_point():
    codes = Strata(np.zeros(30, dtype=np.int64), np.zeros((60, 4), dtype=np.int64))
    test_scores = np.tile([0.0, 1.0, 1.0, 1.0], (60, 1))
    result = intervals.strata_intervals(np.zeros(30), test_scores, np.ones(60), codes, 100, options=4)
    _, rare = share_interval(0, 60)
    assert result.mean_set_size == Estimate(1.0, 1 - rare, 1 + 3 * rare)
    assert result.uacc.low < result.uacc.value == 2.0


def test_a_stratum_of_coarse_scores_may_leave_its_step_more_often_than_resamples_do():
    """Of 19 scores, 12 are 0. The threshold is the 18th, .8, and would be 0 if 18 of 19 were: by the upper end of the
    share 12/19, with a probability of 16%. Resamples of the ranks keep .8."""
    own = np.array([0.0] * 12 + [0.8] * 7)
    test_scores = np.tile([0.0, 0.8, 0.8, 0.8], (40, 1))
    right = np.arange(40) % 2.0
    leaves = stats.binom.sf(17, 19, share_interval(12, 19)[1])
    single = Strata(np.zeros(19, np.int64), np.zeros((40, 4), np.int64))
    fine, coarse = (
        intervals.strata_intervals(own, test_scores, right, single, 100, options=4, coarse=which)
        for which in (False, True)
    )
    assert fine.mean_set_size.low > 4 - 3 * leaves + 0.1
    assert coarse.mean_set_size.low == pytest.approx(4 - 3 * leaves)
    # Two strata leave their steps independently, and each changes half of the sets.
    two = Strata(np.repeat([0, 1], 19), np.tile((np.arange(40) % 2)[:, None], (1, 4)))
    result = intervals.strata_intervals(np.tile(own, 2), test_scores, right, two, 100, options=4, coarse=True)
    assert result.mean_set_size.low == pytest.approx(4 - np.sqrt(2) * 1.5 * leaves)
