"""Intervals of binned errors: by hand, against slow references, and in order."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from core.calibration.binned import binned_estimates, binned_gaps, ece_estimate, expected_by_chance, l2_estimate
from core.calibration.bins import TopLabel, edges, place
from core.calibration.crossfit import CrossFit, folds_of
from core.calibration.errors import top_errors

pytestmark = pytest.mark.quick


def law(n, seed=0, power=1.0):
    rng = np.random.default_rng(seed)
    c = rng.beta(2, 3, n)
    return TopLabel(c, (rng.random(n) < c**power).astype(float))


def test_chance_is_the_mean_over_all_that_may_come_out():
    c = np.array([0.05, 0.31, 0.32, 0.33, 0.98])
    expected = 0.0
    for right in itertools.product((0.0, 1.0), repeat=5):
        truths = np.array(right)
        expected += top_errors(TopLabel(c, truths)).ece * float(np.where(truths == 1, c, 1 - c).prod())
    assert expected_by_chance(binned_gaps(TopLabel(c, np.zeros(5)))) == pytest.approx(expected, rel=1e-3)


def test_chance_of_many_questions_is_that_of_drawn_answers():
    top = law(3000)
    rng = np.random.default_rng(1)
    drawn = [
        top_errors(TopLabel(top.confidence, (rng.random(3000) < top.confidence).astype(float))).ece for _ in range(400)
    ]
    assert expected_by_chance(binned_gaps(top)) == pytest.approx(np.mean(drawn), rel=0.03)


def test_the_certain_have_no_chance():
    assert expected_by_chance(binned_gaps(TopLabel(np.ones(5), np.ones(5)))) == 0


@given(
    st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=10, max_size=60),
    st.sampled_from(("width", "mass")),
    st.integers(1, 20),
)
def test_figures_lie_within_their_intervals(rows, by, bins):
    top = TopLabel(np.array([c for c, _ in rows]), np.array([float(right) for _, right in rows]))
    errors = top_errors(top, bins=bins, by=by)
    result = binned_estimates(top, bins=bins, by=by)
    for name, estimate in result.items():
        assert 0 <= estimate.low < estimate.high <= 1
        shown = estimate.value if estimate.excess is None else estimate.excess
        assert estimate.low - 1e-9 <= shown <= estimate.high + 1e-9, name
    for name in ("ece", "over", "under", "mce"):
        assert result[name].value == pytest.approx(getattr(errors, name))
    assert result["ece"] == ece_estimate(top, bins=bins, by=by)


def test_what_an_error_is_depends_on_no_seed():
    top = law(500, power=1.5)
    assert ece_estimate(top) == ece_estimate(TopLabel(top.confidence.copy(), top.correct.copy()))


def test_what_is_far_off_has_its_noise_for_an_interval():
    rng = np.random.default_rng(2)
    c = np.full(4000, 0.9)
    top = TopLabel(c, (rng.random(4000) < 0.5).astype(float))
    estimate = ece_estimate(top)
    reach = 1.96 * 0.5 / np.sqrt(4000)
    assert (estimate.low, estimate.excess, estimate.high) == pytest.approx(
        (estimate.value - reach, estimate.value, estimate.value + reach), abs=1e-3
    )


def test_cross_fitted_gaps_are_those_of_a_loop():
    top = law(200, power=1.3)
    gaps = binned_gaps(top)
    folds, noise = folds_of(gaps.index), np.sqrt(gaps.variance)
    terms, spread = [], []
    for i in range(200):
        b, k = gaps.index[i], folds[i]
        others = (gaps.index == b) & (folds != k)
        direction = top.gap[others].sum() / (1.5 * noise[b] * np.sqrt(0.9))
        terms.append(max(-1, min(1, direction)) * top.gap[i])
        clear = abs(top.gap[gaps.index == b].sum()) >= 2 * noise[b]
        spread.append(terms[-1] * (1 if clear else np.sqrt(2)))
    expected = np.mean(terms) - 1.96 * np.std(spread, ddof=1) / np.sqrt(200)
    result = CrossFit(gaps.index[:, None], top.gap[:, None], noise, folds).low(lambda directions: directions)
    assert result == pytest.approx(max(expected, 0))


def test_folds_are_even_within_every_bin():
    index = place(law(333).confidence, edges(np.zeros(1)))
    folds = folds_of(index)
    for b in np.unique(index):
        counts = np.bincount(folds[index == b], minlength=10)
        assert counts.max() - counts.min() <= 1


def test_the_largest_gap_by_hand():
    # One bin: 30 of 40 right at .5; Clopper–Pearson at 95% (one bin shares the 5% with none).
    top = TopLabel(np.full(40, 0.5), np.r_[np.ones(30), np.zeros(10)])
    estimate = binned_estimates(top)["mce"]
    result = stats.binomtest(30, 40).proportion_ci(0.95, method="exact")
    assert (estimate.value, estimate.low, estimate.high) == pytest.approx((0.25, result.low - 0.5, result.high - 0.5))


def test_the_l2_error_by_hand():
    # Two bins of 4: gaps mean +.25 and −.5, unbiased variances 1/4 and 1/3.
    top = TopLabel(np.r_[np.full(4, 0.5), np.full(4, 0.75)], np.array([1.0, 1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0]))
    estimate = l2_estimate(binned_gaps(top))
    assert estimate.value == pytest.approx(np.sqrt((0.25**2 + 0.5**2) / 2))
    assert estimate.excess == pytest.approx(np.sqrt((0.25**2 - 0.25 / 4 + 0.5**2 - 0.25 / 4) / 2))
    assert estimate.bias == pytest.approx(np.sqrt((0.25 / 4 + 0.1875 / 4) / 2))


def test_a_bin_that_is_always_right_still_has_noise():
    # Laplace's 4/5 of 3 right answers: a variance of 3 · 4/5 · 1/5, where equal gaps show none.
    gaps = binned_gaps(TopLabel(np.full(3, 0.9), np.ones(3)), bins=1)
    assert gaps.noise == pytest.approx([np.sqrt(0.48)])


def test_the_largest_gap_shares_its_error_rate_among_filled_bins():
    top = TopLabel(
        np.r_[np.full(40, 0.3), np.full(40, 0.8)], np.r_[np.ones(30), np.zeros(10), np.ones(32), np.zeros(8)]
    )
    estimate = binned_estimates(top)["mce"]
    result = stats.binomtest(30, 40).proportion_ci(0.975, method="exact")
    assert (estimate.low, estimate.high) == pytest.approx((result.low - 0.3, result.high - 0.3))


def test_each_direction_has_half_of_the_chance():
    result = binned_estimates(law(300))
    assert result["over"].bias == result["under"].bias == pytest.approx(result["ece"].bias / 2)


def test_the_l2_interval_of_what_is_far_off_is_the_normal_laws():
    """One bin, .4 off: 2% beyond each end, 2.054 standard errors away."""
    top = TopLabel(np.full(4000, 0.9), np.r_[np.ones(2000), np.zeros(2000)])
    estimate = binned_estimates(top, bins=1)["l2"]
    reach = stats.norm.ppf(0.98) * 0.5 / np.sqrt(4000)
    assert (estimate.low, estimate.high) == pytest.approx((0.4 - reach, 0.4 + reach), abs=3e-4)


@pytest.mark.parametrize("wrong", [9, 10])
def test_below_ten_wrong_answers_the_upper_end_is_the_whole_gaps(wrong):
    """Of 400 questions at .999: the accuracy may be as low as Clopper and Pearson's lower end."""
    top = TopLabel(np.full(400, 0.999), np.r_[np.ones(400 - wrong), np.zeros(wrong)])
    least = stats.binomtest(400 - wrong, 400).proportion_ci(0.95, method="exact").low
    estimate = binned_estimates(top)["over"]
    assert (estimate.high == pytest.approx(0.999 - least, abs=1e-9)) == (wrong == 9)


def test_gaps_by_bin_by_hand():
    top = TopLabel(np.array([0.1, 0.2, 0.9]), np.array([0.0, 1.0, 1.0]))
    gaps = binned_gaps(top, bins=2)
    assert (gaps.n, gaps.index.tolist(), gaps.counts.tolist(), gaps.hits.tolist()) == (3, [0, 0, 1], [2, 1], [1, 1])
    assert gaps.sums.tolist() == pytest.approx([0.7, 0.1])
    assert gaps.squares.tolist() == pytest.approx([0.65, 0.01])
    assert gaps.confidence.tolist() == pytest.approx([0.3, 0.9])
    assert gaps.variance.tolist() == pytest.approx([0.09 + 0.16, 0.09])
    # Squares about the mean of all: .65 − .49/3; where it is larger that of Laplace's accuracy, 1 · ⅔ · ⅓.
    assert gaps.noise.tolist() == pytest.approx([np.sqrt(0.5), np.sqrt(2 / 9)])
    many = TopLabel(np.full(40, 0.5), np.tile([0.0, 1.0], 20))
    assert binned_gaps(many, bins=1).noise == pytest.approx([np.sqrt(10)])


@pytest.mark.parametrize("n", [1, 2, 7])
@pytest.mark.parametrize("c", [0.2, 0.5, 0.93])
def test_chance_of_one_bin_is_the_binomials_mean_deviation(n, c):
    counts = np.arange(n + 1)
    expected = (stats.binom(n, c).pmf(counts) * np.abs(counts - n * c)).sum() / n
    assert expected_by_chance(binned_gaps(TopLabel(np.full(n, c), np.zeros(n)))) == pytest.approx(expected)


def test_chance_counts_uncertain_questions_alone():
    # Four that are certain and one of .4 in another bin: a mean deviation of 2 · .4 · .6 among five questions.
    top = TopLabel(np.array([1.0, 1.0, 1.0, 1.0, 0.4]), np.ones(5))
    assert expected_by_chance(binned_gaps(top)) == pytest.approx(0.48 / 5)


@pytest.mark.parametrize(("confidence", "right", "name"), [(0.999, 1.0, "over"), (0.001, 0.0, "under")])
def test_of_one_kind_of_answer_each_upper_end_is_the_whole_gaps(confidence, right, name):
    """Of 60 right, or wrong, answers the accuracy may be as far off as Clopper and Pearson say."""
    result = binned_estimates(TopLabel(np.full(60, confidence), np.full(60, right)))
    ends = stats.binomtest(int(60 * right), 60).proportion_ci(0.95, method="exact")
    gap = confidence - ends.low if name == "over" else ends.high - confidence
    assert result[name].high == pytest.approx(gap, abs=1e-9)
    assert result["ece"].high >= gap - 1e-9


def test_an_error_within_chance_begins_at_0_and_one_beyond_it_above():
    """One bin of 400 at ½: chance gives at most 1.96 · ½ / √400 = .049 in 95 of 100 samples."""
    within = ece_estimate(TopLabel(np.full(400, 0.5), (np.arange(400) < 219).astype(float)))
    beyond = ece_estimate(TopLabel(np.full(400, 0.5), (np.arange(400) < 240).astype(float)))
    assert within.value == pytest.approx(0.0475)
    assert within.low == 0
    assert beyond.value == pytest.approx(0.1)
    assert 0.1 - 2 * 1.96 * 0.49 / 20 < beyond.low < 0.1 - 0.8 * 1.96 * 0.49 / 20


def test_over_and_underconfidence_have_intervals_of_their_own():
    """Two bins of 1,000, one .2 too sure and one .1 too unsure: each part is the gap of one bin over two."""
    right = np.concatenate([np.arange(1000) < 700, np.arange(1000) < 400]).astype(float)
    result = binned_estimates(TopLabel(np.repeat([0.9, 0.3], 1000), right))
    for name, gap, share in (("over", 0.1, 0.7), ("under", 0.05, 0.4)):
        reach = 1.96 * np.sqrt(share * (1 - share) / 1000) / 2
        estimate = result[name]
        assert (estimate.value, estimate.excess) == pytest.approx((gap, gap), abs=0.004), name
        assert estimate.high == pytest.approx(gap + reach, abs=0.003), name
        assert gap - 2 * reach < estimate.low < gap - reach / 2, name
    assert result["ece"].value == pytest.approx(0.15)


def test_bins_of_one_question_say_nothing_of_the_l2_error():
    estimate = l2_estimate(binned_gaps(TopLabel(np.array([0.1, 0.5, 0.9]), np.array([0.0, 1.0, 1.0]))))
    assert estimate.value == pytest.approx(np.sqrt((0.01 + 0.25 + 0.01) / 3))
    assert (estimate.low, estimate.high, estimate.excess, estimate.bias) == (0.0, 1.0, 0.0, None)


def test_the_l2_error_leaves_bins_of_one_question_out_of_its_square():
    # A bin of 4 as in the test above, and one question alone: shares 4/5 of what the four say.
    top = TopLabel(np.r_[np.full(4, 0.5), 0.9], np.array([1.0, 1.0, 1.0, 0.0, 1.0]))
    estimate = l2_estimate(binned_gaps(top))
    assert estimate.excess == pytest.approx(np.sqrt(4 / 5 * (0.25**2 - 0.25 / 4)), abs=1e-9)
    assert estimate.value == pytest.approx(np.sqrt((4 * 0.25**2 + 0.1**2) / 5))
    assert estimate.bias == pytest.approx(np.sqrt((1 / 4 + 0.09) / 5))
    assert estimate.low == 0 < estimate.high


@pytest.mark.parametrize(("confidence", "right", "none"), [(0.6, 1.0, "over"), (0.4, 0.0, "under")])
def test_a_model_that_errs_one_way_alone_has_none_of_the_other(confidence, right, none):
    result = binned_estimates(TopLabel(np.full(60, confidence), np.full(60, right)))
    # Of a kind of question that 60 questions have none of, there may be 1 − .025^(1/60).
    assert (result[none].value, result[none].low) == (0, 0)
    assert result[none].high == pytest.approx(1 - 0.025 ** (1 / 60))
    assert result["ece"].high >= 0.4 - 1e-9


@pytest.mark.parametrize("hits", [0, 1, 59, 60])
@pytest.mark.parametrize("confidence", [0.4, 0.6])
def test_the_largest_gap_of_hardly_any_and_nearly_all_right_answers(hits, confidence):
    estimate = binned_estimates(TopLabel(np.full(60, confidence), (np.arange(60) < hits).astype(float)))["mce"]
    ends = stats.binomtest(hits, 60).proportion_ci(0.95, method="exact")
    outside = max(ends.low - confidence, confidence - ends.high, 0)
    furthest = max(abs(ends.low - confidence), abs(ends.high - confidence))
    assert (estimate.value, estimate.low, estimate.high) == pytest.approx(
        (abs(hits / 60 - confidence), outside, furthest)
    )
    assert estimate.n == 60


def test_bins_by_mass_are_those_of_their_edges():
    top = TopLabel(np.array([0.5, 0.6, 0.7, 0.8]), np.array([0.0, 1.0, 1.0, 0.0]))
    assert binned_gaps(top, bins=2, by="mass").index.tolist() == [0, 0, 1, 1]
    assert binned_gaps(top, bins=3).index.tolist() == [1, 1, 2, 2]
    assert ece_estimate(top, bins=4, by="mass").value == pytest.approx((0.5 + 0.4 + 0.3 + 0.8) / 4)
    assert len(binned_gaps(TopLabel(np.array([0.1]), np.ones(1))).counts) == 15


def test_questions_of_a_single_cluster_have_an_error_and_no_interval():
    rng = np.random.default_rng(0)
    top = TopLabel(0.5 + rng.random(60) / 2, (rng.random(60) < 0.7).astype(float))
    estimates = binned_estimates(top, clusters=np.zeros(60, dtype=np.int64))
    assert estimates["ece"].value == binned_estimates(top)["ece"].value
    assert np.isnan([estimates["ece"].low, estimates["ece"].high]).all()
