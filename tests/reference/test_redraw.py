import numpy as np
import pytest
from scipy import stats

from core.conformal.coverage import beta_binomial, beta_parameters
from core.errors import InputError
from tests.reference.redraw import PROCEDURES, redraw

pytestmark = pytest.mark.quick


def singles(n):
    return np.arange(n)


@pytest.fixture(scope="module")
def coverages():
    """Every procedure over 600 redraws of 30 calibration questions from 4,000 without ties, alpha .1."""
    rng = np.random.default_rng(2)
    scores = rng.random(4000)
    probabilities = rng.random(4000) * scores / 4
    return redraw(
        scores, probabilities, n=30, alpha=100, draws=600, clusters=singles(4000), seed=2, procedures=tuple(PROCEDURES)
    )


@pytest.mark.simulation
def test_the_exact_one_follows_the_beta_law(coverages):
    # 4,000 questions are nearly endless beside 30: the spread is that of the calibration draw.
    assert stats.kstest(coverages["exact"], stats.beta(*beta_parameters(30, 100)).cdf).pvalue > 0.01


@pytest.mark.simulation
@pytest.mark.parametrize(("n", "m", "alpha"), [(12, 18, 100), (9, 4, 300), (40, 25, 37)])
def test_a_fixed_pool_without_ties_follows_the_beta_binomial_law_exactly(n, m, alpha):
    """Not only in the limit: 50 questions in all are far from endless."""
    draws = 4000
    scores = np.random.default_rng(8).permutation(n + m) ** 2.0
    result = redraw(scores, scores, n=n, alpha=alpha, draws=draws, clusters=singles(n + m), seed=5)["exact"]
    counts = np.bincount(np.rint(result * m).astype(int), minlength=m + 1)
    expected = beta_binomial(m, *beta_parameters(n, alpha)) * draws
    likely = expected >= 5
    pooled = [np.append(values[likely], values[~likely].sum()) for values in (counts, expected)]
    large = pooled[1] > 0
    assert stats.chisquare(pooled[0][large], pooled[1][large]).pvalue > 0.001


@pytest.mark.simulation
def test_every_bug_shows(coverages):
    means = {name: values.mean() for name, values in coverages.items()}
    assert means["exact"] == pytest.approx(28 / 31, abs=0.01)  # rank 28 of 30
    assert means["higher"] > means["exact"] + 0.01  # the next order statistic
    assert means["linear"] > means["exact"]
    assert coverages["test set"].std() < coverages["exact"].std() / 10  # no chance left: it has seen the answers
    assert means["summed again"] > means["exact"] + 0.01


def test_clamping_breaks_the_promise_where_there_is_too_little_to_calibrate_on():
    scores = np.random.default_rng(3).random(2000)
    result = redraw(
        scores,
        scores,
        n=5,
        alpha=50,
        draws=400,
        clusters=singles(2000),
        seed=3,
        procedures=("exact", "clamped", "linear"),
    )
    assert (result["exact"] == 1).all()  # rank 6 of 5: the full set
    assert result["clamped"].mean() == pytest.approx(5 / 6, abs=0.03)
    assert np.array_equal(result["linear"], result["clamped"])  # a level cut off at 1 is the largest score


def test_one_split_by_hand():
    # 1 … 9 and 10: two of three calibrate at alpha .5, rank ⌈3 · ½⌉ = 2, the larger of them.
    result = redraw(
        np.array([1.0, 2.0, 3.0]),
        np.array([0.5, 0.5, 2.5]),
        n=2,
        alpha=500,
        draws=40,
        clusters=singles(3),
        seed=0,
        procedures=tuple(PROCEDURES),
    )
    # The third question tests: 1 if it is 1 or 2, 0 if it is 3, which is the largest.
    assert set(result["exact"]) == {0.0, 1.0}
    assert (result["test set"] == 1).all()
    # Its own probability of 2.5 less, even the 3 is within the 2.
    assert (result["summed again"] == 1).all()


def test_questions_alike_stay_together():
    # Two clusters of scores: whichever calibrates, none of it tests, so all of 0 cover 1 never and 1 covers 0 always.
    scores = np.repeat([0.0, 1.0], 50)
    result = redraw(scores, scores, n=20, alpha=100, draws=60, clusters=np.repeat([4, 9], 50), seed=1)["exact"]
    assert set(result) == {0.0, 1.0}


def test_a_draw_that_leaves_nothing_to_test_on_is_not_a_number():
    result = redraw(
        np.ones(10),
        np.ones(10),
        n=5,
        alpha=100,
        draws=3,
        clusters=np.zeros(10, dtype=int),
        seed=0,
        procedures=tuple(PROCEDURES),
    )
    assert all(np.isnan(values).all() for values in result.values())


@pytest.mark.parametrize("n", [0, 10])
def test_either_side_needs_questions(n):
    with pytest.raises(InputError, match="leave a side empty"):
        redraw(np.ones(10), np.ones(10), n=n, alpha=100, draws=1, clusters=singles(10), seed=0)


def test_the_same_seed_draws_the_same_and_more_draws_begin_alike():
    scores = np.random.default_rng(0).random(100)
    first, other = (
        redraw(scores, scores, n=50, alpha=100, draws=draws, clusters=singles(100), seed=1)["exact"] for draws in (5, 9)
    )
    assert np.array_equal(first, other[:5])


def test_a_procedure_says_for_which_scores_it_is():
    assert PROCEDURES["exact"].fits("margin")
    assert PROCEDURES["summed again"].fits("aps")
    assert not PROCEDURES["summed again"].fits("lac")
