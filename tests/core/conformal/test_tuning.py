import numpy as np
import pytest

from core.conformal import tuning
from core.conformal.draws import TUNING, first_part
from core.conformal.probabilities import softmax
from core.conformal.scores import SCORES, Parameters, score, true_scores
from core.conformal.threshold import exact
from core.conformal.tuning import tune
from core.errors import InputError

pytestmark = pytest.mark.quick


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(9)
    labels = rng.integers(0, 6, 3000)
    logits = rng.normal(size=(3000, 6)) * 1.5
    logits[np.arange(3000), labels] += 1.5
    return softmax(logits), labels


@pytest.mark.parametrize("name", ["raps", "saps"])
def test_tuning_takes_its_questions_from_the_calibration_side_alone(problem, name):
    p, labels = problem
    tuned = tune(name, p, labels, np.arange(1500), seed=0)
    assert len(tuned.rows) == 300
    assert sorted([*tuned.rows, *tuned.calibration]) == list(range(1500))
    again = tune(name, p, labels, np.arange(1500), seed=0)
    assert again.parameters == tuned.parameters
    assert np.array_equal(again.rows, tuned.rows)


@pytest.mark.parametrize("name", ["raps", "saps"])
def test_tuned_sets_are_smaller_and_still_cover(problem, name):
    p, labels = problem
    tuned = tune(name, p, labels, np.arange(1500), seed=0)

    def size_and_coverage(parameters, rows):
        limit = exact(true_scores(score(name, p[rows], parameters=parameters), labels[rows]), 100)
        members = score(name, p[1500:], parameters=parameters) <= limit
        return members.sum(axis=1).mean(), members[np.arange(1500), labels[1500:]].mean()

    size, coverage = size_and_coverage(tuned.parameters, tuned.calibration)
    worst, _ = size_and_coverage(Parameters(weight=0.0, free_ranks=0), tuned.calibration)
    assert size < worst
    assert coverage > 0.87


def test_too_few_questions_or_nothing_to_tune(problem):
    p, labels = problem
    for name, rows in (("raps", np.arange(50)), ("lac", np.arange(1500))):
        tuned = tune(name, p, labels, rows, seed=0)
        assert tuned.parameters == Parameters()
        assert len(tuned.rows) == 0
        assert np.array_equal(tuned.calibration, rows)
    with pytest.raises(InputError, match="unknown score"):
        tune("best", p, labels, np.arange(100), seed=0)


@pytest.mark.parametrize("change", [{"weight": -1}, {"weight": np.nan}, {"free_ranks": -1}])
def test_parameters_that_can_not_be(change):
    with pytest.raises(InputError, match="must be"):
        Parameters(**change)


@pytest.mark.parametrize("name", ["raps", "saps"])
def test_one_half_gives_the_thresholds_and_the_other_alone_the_sizes(problem, name):
    """Halves that overlap choose other parameters for some seeds."""
    p, labels = problem
    rows = np.arange(400)
    for seed in range(12):
        tuned = tune(name, p, labels, rows, seed=seed)
        half = first_part(rows, 40, seed=seed, purpose=TUNING)
        first, second = rows[half], np.setdiff1d(tuned.rows, rows[half])
        assert len(first) == len(second) == 40
        sizes = {}
        for parameters in SCORES[name].grid:
            limit = exact(true_scores(score(name, p[first], parameters=parameters), labels[first]), 100)
            sizes[parameters] = (score(name, p[second], parameters=parameters) <= limit).sum()
        assert tuned.parameters == min(sizes, key=sizes.get)  # the first of equal ones


def test_twenty_questions_are_enough_to_tune_on(problem):
    p, labels = problem
    assert len(tune("saps", p, labels, np.arange(100), seed=0).rows) == 20
    few = tune("saps", p, labels, np.arange(94), seed=0)  # a fifth is 18.8: 19
    assert len(few.rows) == 0
    assert few.rows.dtype == np.int64


def test_an_option_at_the_threshold_is_counted():
    # All questions are alike and the first option is true: its score is the threshold, the second's is larger.
    p, rows = np.tile([[0.6, 0.4]], (9, 1)), np.arange(9)
    result = tuning._total_size(
        *tuning._parts("raps", p, np.zeros(9, dtype=np.int64), rows, rows[:5]), Parameters(0.1, 0)
    )
    assert result == 5


def test_redrawn_choices_are_those_of_a_slow_bootstrap(problem):
    probabilities, labels, *_ = problem
    tuned = tune("saps", probabilities, labels, np.arange(150), seed=3)
    result = tuning.redrawn_choices("saps", probabilities, labels, tuned, seed=3)
    assert sum(result.values()) == pytest.approx(1)
    half = first_part(tuned.rows, 15, seed=3, purpose=TUNING)
    first, second = tuned.rows[half], tuned.rows[~half]
    rng = np.random.default_rng([3, 0x7E4])
    drawn, drawn_tests = (rng.multinomial(15, np.full(15, 1 / 15), size=tuning.REDRAWN) for _ in range(2))
    counts = dict.fromkeys(SCORES["saps"].grid, 0)
    for own, counted in zip(drawn, drawn_tests, strict=True):
        rows = np.repeat(first, own), np.repeat(second, counted)
        parts = tuning._parts("saps", probabilities, labels, *rows)
        sizes = [tuning._total_size(*parts, choice) for choice in counts]
        counts[list(counts)[int(np.argmin(sizes))]] += 1
    assert result == {choice: count / tuning.REDRAWN for choice, count in counts.items() if count}


def test_nothing_is_chosen_again_where_nothing_was_tuned(problem):
    probabilities, labels, *_ = problem
    tuned = tune("saps", probabilities, labels, np.arange(50), seed=3)
    assert tuning.redrawn_choices("saps", probabilities, labels, tuned, seed=3) == {}
