"""Plans of questions: what pilots and guesses say, what is refused, and a curve that falls."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.conformal.clusters import numbered
from core.conformal.set_sizes.power import SizeSpread
from core.errors import InputError
from core.reports import question_plan
from core.reports.compare.power import ROUGH_BELOW, SpreadOfPair
from core.reports.evaluation import load
from core.reports.question_plan import Pilot, guess
from tests.conftest import synthetic_run

pytestmark = pytest.mark.quick

SIZES = SizeSpread(np.diag([2.0, 0, 0]), np.diag([1.5, 0]), (2.0, 1.5))
PILOT = Pilot(SpreadOfPair(0.2, sizes=SIZES), "")


@pytest.mark.parametrize(
    ("accuracies", "agreement", "differing", "growth"),
    [
        ((), None, 0.5, 0.0),
        ((0.8,), None, 0.32, 0.6),  # 2 · .8 · .2, and one unit of difference further |1 − 2 · .8|
        ((0.7, 0.8), None, 0.38, 0.0),  # .7 · .2 + .3 · .8
        ((0.7, 0.8), 0.9, 0.1, 0.0),
        ((), 0.75, 0.25, 0.0),
    ],
)
def test_guesses_become_a_share_of_differing_questions(
    accuracies: tuple[float, ...], agreement: float | None, differing: float, growth: float
):
    pilot = guess(accuracies, agreement)
    assert (pilot.spread.differing, pilot.spread.growth) == (pytest.approx(differing), pytest.approx(growth))
    assert pilot.apart == (pytest.approx(0.1) if len(accuracies) == 2 else None)


@pytest.mark.parametrize(
    ("act", "says"),
    [
        (lambda: guess((0.7, 1.2)), "an accuracy must be a share from 0 to 1, got 1.2"),
        (lambda: guess((float("nan"),)), "got nan"),
        (lambda: guess((), 85), "the agreement must be a share from 0 to 1, got 85"),
        (lambda: guess((0.7, 0.8), 0.95), "agree on 0.5 to 0.9 of them, got 0.95"),
        (lambda: guess((0.1, 0.2, 0.3)), "got 3 accuracies"),
        (lambda: question_plan.pilot_of([], 100), "one pilot run or two, got 0"),
        (lambda: question_plan.for_width(5, 100, 0.5), "between 0 and 1, got 5"),
        (lambda: question_plan.for_width(0.0001, 100, 0.5), "needs more than 1,000,000 questions"),
        (lambda: question_plan.for_threshold(1, 0.0005), "999 calibration questions"),
        (lambda: question_plan.for_accuracy(guess(), 0, 0.5), "above 0 and at most 1, got 0"),
        (lambda: question_plan.for_accuracy(guess(), 0.0001, 0.5), "needs more than 1,000,000 questions"),
        (lambda: question_plan.for_set_size(guess(), 0.2, 0.5), "can't be guessed"),
        (lambda: question_plan.for_set_size(PILOT, -1, 0.5), "got -1"),
    ],
)
def test_what_can_t_be_planned_is_refused_with_the_way_out(act: object, says: str):
    with pytest.raises(InputError) as error:
        act()
    assert says in str(error.value)
    assert ";" in str(error.value)


def test_a_plan_reaches_its_power_with_no_question_to_spare():
    accuracy = question_plan.for_accuracy(PILOT, 0.05, 0.4)
    assert (accuracy.calibration, accuracy.test) == (
        round(0.4 * accuracy.questions),
        accuracy.questions - accuracy.calibration,
    )
    assert 0.8 <= accuracy.reached < 0.802
    size = question_plan.for_set_size(PILOT, 0.3, 0.4)
    assert 0.8 <= size.reached < 0.81
    assert PILOT.spread.size_power(size.calibration - 1, size.test - 1, 0.3) < 0.8
    # Rows of a passage that are worth 2 of 4 need half as many passages, and a little more, as Student's t does.
    rows = question_plan.for_accuracy(Pilot(SpreadOfPair(0.2, rows=4, worth=2), ""), 0.05, 0.4)
    assert accuracy.test / 2 < rows.test < 1.02 * accuracy.test / 2 + 1
    assert rows.rows == 4 * rows.test


def test_pilots_are_two_runs_one_run_or_neither(home: Path):
    runs = [load(synthetic_run(model=f"m-{i}", signal=2 + i, seed=4)) for i in range(2)]
    both, one = question_plan.pilot_of(runs, 100), question_plan.pilot_of(runs[:1], 100)
    right = [run.probabilities[run.test].argmax(axis=1) == run.labels[run.test] for run in runs]
    assert both.spread.differing == pytest.approx(np.mean(right[0] != right[1]))
    assert one.spread.differing == pytest.approx(2 * right[0].mean() * (1 - right[0].mean()))
    assert (both.tests, one.tests) == (len(runs[0].test),) * 2
    assert runs[0].run_id in one.says
    assert "independently" in one.says
    few = load(synthetic_run(n=12, model="m-2", seed=4))
    with pytest.raises(InputError, match="test questions, and a comparison needs at least 10"):
        question_plan.pilot_of([runs[0], few], 100)
    with pytest.raises(InputError, match="has 6 test questions, and a pilot needs at least 10"):
        question_plan.pilot_of([few], 100)
    with pytest.raises(InputError, match="says nothing of a second model; name it once"):
        question_plan.pilot_of([runs[0], runs[0]], 100)


def test_a_curve_falls_and_holds_the_chosen_number():
    frame = question_plan.curve(PILOT, 100, 0.5, chosen=777)
    assert 777 in frame["questions"].tolist()
    for name in ("accuracy", "set_size"):
        assert frame[name].is_monotonic_decreasing
    assert frame["width"].iloc[-1] < frame["width"].iloc[3] / 5
    rough = frame["questions"] * 0.5 * SIZES.missed_by_one < ROUGH_BELOW
    assert 0 < rough.sum() < len(frame)
    assert frame["rough"].tolist() == rough.tolist()
    few = question_plan.curve(PILOT, 1, 0.5, chosen=20)  # no threshold at alpha = .001 on so few
    assert few["width"].isna().iloc[0]
    assert question_plan.curve(PILOT, 100, 0.5, chosen=50_000)["questions"].iloc[-1] == 100_000


def test_a_pilot_with_clusters_of_very_unequal_size_says_that_its_power_may_be_too_low(home: Path):
    """In simulations with runs that agree on 95%, planned power was up to 8 points below the true one."""
    first, second = (
        load(synthetic_run(n=400, model=model, signal=signal)) for model, signal in (("a", 1.5), ("b", 2.0))
    )
    even, uneven = np.arange(400) // 4, np.minimum(np.arange(400), 240 + np.arange(400) // 40)
    for clusters, says in ((even, False), (uneven, True)):
        runs = [replace(run, clusters=numbered(clusters.tolist())) for run in (first, second)]
        assert (question_plan.UNEVEN in question_plan.pilot_of(runs, 100).says) is says
