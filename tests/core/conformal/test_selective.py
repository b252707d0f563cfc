"""Answer or pass: exact laws, the walk worked out by hand, MAPIE's risk control, and what is refused."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import beta, binom

from core.conformal.selective import (
    GRID,
    MOST_DELTA,
    SelectiveAnswers,
    at_most,
    critical_errors,
    error_bound,
    fewest_answers,
    least_passed,
    selective,
    steps,
)
from core.errors import InputError

pytestmark = pytest.mark.quick


def answers(confidence: list[float], wrong: list[float]) -> SelectiveAnswers:
    return SelectiveAnswers(np.array(confidence)[:, None], np.array(wrong, dtype=np.float64)[:, None])


@pytest.mark.parametrize("alpha", [0.001, 0.01, 0.1, 0.15, 0.5, 0.9, 0.999])
@pytest.mark.parametrize("delta", [0.001, 0.0333, 0.1, 0.5, 0.999])
def test_critical_errors_are_those_of_the_binomial_law(alpha: float, delta: float):
    n = np.arange(2001)
    critical = critical_errors(2000, alpha, delta)
    passing = critical >= 0
    assert (binom.cdf(critical[passing], n[passing], alpha) <= delta * (1 + 1e-9)).all()
    assert (binom.cdf(critical[1:] + 1, n[1:], alpha) > delta * (1 - 1e-9)).all()
    fewest = fewest_answers(alpha, delta)
    assert fewest == (int(passing.argmax()) if passing.any() else fewest)
    assert (1 - alpha) ** fewest <= delta < (1 - alpha) ** (fewest - 1)


@pytest.mark.parametrize(("errors", "n"), [(0, 1), (0, 50), (3, 50), (49, 50), (50, 50), (700, 10_000), (0, 100_000)])
@pytest.mark.parametrize("delta", [0.01, 0.1, 0.5])
def test_a_bound_is_clopper_and_pearsons_rounded_up(errors: int, n: int, delta: float):
    exact = 1.0 if errors == n else float(beta.ppf(1 - delta, errors + 1, n - errors))
    assert exact <= error_bound(errors, n, delta) + 1e-12 < exact + 1e-3 + 1e-11


def test_the_law_holds_far_out_in_its_tails():
    for errors, n, r in ((0, 5000, 0.3), (4999, 5000, 0.5), (1500, 5000, 0.3), (9999, 10_000, 0.9999)):
        assert at_most(errors, n, r) == pytest.approx(binom.cdf(errors, n, r), rel=1e-9, abs=1e-18)
    assert math.isnan(error_bound(0, 0, 0.1))


def test_the_walk_by_hand():
    # At alpha .5 and delta .25 a threshold needs 2 right answers: .5² = .25. Half of the 4 calibration answers are 2,
    # so the first step answers half of the 5 judged ones, rounded up: .65, where the first 3 are right (.125). At .6,
    # with an error among 4, P(Bin(4, .5) ≤ 1) = .3125 is too much.
    calibration = answers([0.9, 0.8, 0.7, 0.6], [0, 0, 0, 1])
    judged = answers([0.95, 0.7, 0.65, 0.6, 0.5], [0, 1, 0, 0, 0])
    assert steps(judged.confidence[:, 0], 4, 2).tolist() == [0.65, 0.6, 0.5]
    result = selective(calibration, judged, 500, 250)
    (stage,) = result.stages
    assert (stage.threshold, stage.first, stage.first_answered, stage.first_wrong) == (0.65, 0.65, 3, 0)
    assert (stage.answered, stage.wrong, stage.base_error, stage.levels) == (3, 1, 0.2, 4)
    assert result.error_high == error_bound(1, 3, 0.25)
    assert (result.share, result.error) == (0.6, 1 / 3)
    wrong_at_first = answers([0.9, 0.8, 0.7, 0.6], [0, 1, 0, 0])
    (stage,) = selective(wrong_at_first, judged, 500, 250).stages
    assert (stage.threshold, stage.first_answered, stage.first_wrong, stage.answered) == (None, 3, 1, 0)


def test_the_next_judge_gets_what_the_first_one_passes_and_a_part_of_delta():
    n = 400
    rng = np.random.default_rng(3)
    sure = np.column_stack([np.where(np.arange(n) % 2, 0.9, 0.6), np.full(n, 0.8)])
    wrong = np.column_stack([np.where(np.arange(n) % 2, 0, 1), rng.random(n) < 0.02]).astype(np.float64)
    half = SelectiveAnswers(sure, wrong)
    result = selective(half, half, 100, 100)
    first, second = result.stages
    assert (first.threshold, first.answered, first.wrong) == (0.9, 200, 0)
    assert (second.n_calibration, second.reached, second.answered) == (200, 200, 200)
    assert first.fewest == fewest_answers(0.1, 0.05)
    assert (result.answered, result.wrong) == (400, second.wrong)
    assert second.wrong == wrong[::2, 1].sum()


def test_with_all_labels_the_thresholds_are_fixed_and_no_bound_is_given():
    half = answers([0.9999] * 60, [0] * 60)
    result = selective(half, half, 100, 100, in_sample=True)
    assert (result.stages[0].threshold, result.share) == (0.5, 1.0)
    assert math.isnan(result.error_high)
    assert (GRID[0], GRID[-1], len(GRID)) == (0.9998, 0.5, 2500)
    # Nobody is as sure as the first step, so nothing can be tested there, although every answer is right
    less = answers([0.99] * 60, [0] * 60)
    (stage,) = selective(less, less, 100, 100, in_sample=True).stages
    assert (stage.threshold, stage.first_answered) == (None, 0)
    assert selective(less, less, 100, 100).stages[0].threshold == 0.99


def test_a_tie_is_never_answered():
    half = SelectiveAnswers(np.array([[0.9]] * 50 + [[0.0]] * 10), np.array([[0.0]] * 50 + [[0.5]] * 10))
    result = selective(half, half, 100, 100)
    assert (result.answered, result.stages[0].threshold, result.stages[0].base_error) == (50, 0.9, 5 / 60)


def test_steps_are_quantiles_of_others_and_begin_where_a_threshold_can_pass():
    others = np.linspace(0.5, 1, 1000)
    found = steps(others, 500, 22)  # 88 of 500 are 17.6%, so the first step answers 18% of the others
    assert (found[0], found[-1], len(found)) == (np.sort(others)[-180], 0.5, 83)
    assert steps(others, 50, 22)[0] == np.sort(others)[-500]  # half of 50 are more than 22
    assert steps(others, 30, 22)[0] == np.sort(others)[-740]  # 22 of 30 are 73.3%
    assert steps(others, 0, 22).size == steps(np.zeros(0), 5, 22).size == steps(np.zeros(9), 500, 22).size == 0
    assert steps(np.array([0.0, 0.0, 0.7]), 100, 40).tolist() == [0.7]


def test_no_bound_of_a_delta_that_is_allowed_is_below_the_share_that_was_seen():
    for n in (1, 2, 3, 10, 22, 101):
        assert all(error_bound(errors, n, MOST_DELTA / 1000) >= errors / n for errors in range(n + 1))


@pytest.mark.parametrize(("alpha", "delta"), [(0, 100), (1000, 100), (100, 0), (100, 501)])
def test_alpha_and_delta_are_thousandths(alpha: int, delta: int):
    half = answers([0.9], [0])
    with pytest.raises(InputError, match=r"must be a whole number from 1 to (999|500), got"):
        selective(half, half, alpha, delta)


@pytest.mark.parametrize(
    ("confidence", "wrong", "says"),
    [
        ([0.9, math.nan], [0, 1], "must be 0 or more"),
        ([0.9, -0.1], [0, 1], "must be 0 or more"),
        ([0.9, 0.5], [0, 0.5], "right .0. or wrong .1."),
        ([0.9], [0, 1], "differ; both must be"),
    ],
)
def test_answers_are_checked(confidence: list[float], wrong: list[float], says: str):
    with pytest.raises(InputError, match=says):
        answers(confidence, wrong)
    half = answers([0.9], [0])
    with pytest.raises(InputError, match="both sides need at least one question, got 1 to calibrate and 0 to judge"):
        selective(half, half.rows(np.zeros(0, dtype=np.int64)), 100, 100)


def test_what_is_passed_is_counted_so_that_it_is_written_alike_everywhere():
    half = answers(np.full(80, 0.9), np.zeros(80))
    result = replace(selective(half, half, 100, 100), answered=49)
    assert f"{result.passed:.1%}" == f"{31 / 80:.1%}" == "38.8%"  # 1 − 49/80 is a little less: 38.7%


def test_the_smallest_share_that_must_be_passed():
    # Of 100 questions 28 would be wrong. With the 20 passed among them, 8 of 80 answers are: 10%
    assert least_passed(0.28, 0.1) == pytest.approx(0.2)
    assert least_passed(0.1, 0.1) == 0


@pytest.mark.filterwarnings("ignore::UserWarning:mapie")  # each says what was found
@pytest.mark.parametrize(("alpha", "delta", "seed"), [(100, 100, 0), (150, 100, 1), (50, 50, 2), (200, 10, 3)])
def test_mapies_risk_control_finds_the_same_thresholds(alpha: int, delta: int, seed: int):
    from mapie.risk_control import BinaryClassificationController

    rng = np.random.default_rng(seed)
    sure = np.round(1 - rng.random(900) ** 2 / 2, 3)
    right = rng.random(900) < 1 - 0.6 * (1 - sure)
    calibration, judged = (
        SelectiveAnswers(sure[side, None], 1 - right[side, None].astype(np.float64))
        for side in (slice(450), slice(450, None))
    )
    (stage,) = selective(calibration, judged, alpha, delta).stages
    sequence = steps(judged.confidence[:, 0], 450, stage.fewest)
    controller = BinaryClassificationController(
        lambda c: np.column_stack([1 - c, c]),  # an answer is right where its confidence says so: its precision
        "precision",
        1 - alpha / 1000,
        1 - delta / 1000,
        list_predict_params=sequence,
        fwer_method="fixed_sequence",
    )
    controller.calibrate(calibration.confidence[:, 0], right[:450].astype(int))
    valid = controller.valid_predict_params
    assert stage.threshold == (valid[-1] if len(valid) else None)
    assert len(valid) == (sequence.tolist().index(stage.threshold) + 1 if stage.threshold is not None else 0)
