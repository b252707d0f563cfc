"""All pairs at once give what each pair gives alone."""

from dataclasses import replace

import numpy as np
import pytest

from core.conformal import pairwise
from core.conformal.pairwise import SharedRuns, swap_tests
from core.conformal.permutation import Swappable, swap_test
from core.conformal.set_sizes.differences import PairedRun, difference_intervals
from core.conformal.set_sizes.pairwise import difference_intervals_of_pairs, together
from core.errors import InputError
from tests.simulation.run_matrix import drawn_runs
from tests.simulation.set_sizes import SATURATED, TIED, TWINS, USUAL, Law

pytestmark = pytest.mark.quick

SWAPS = 200


def shared(law: Law, name: str, *, n: int = 80, alone: int = 0, settings: int = 1) -> SharedRuns:
    """Three runs; each has further calibration questions, and settings differ in how all scores are shifted."""
    runs = drawn_runs(3, n, law, models=3, name=name, lead=0.5)
    rng = np.random.default_rng(1)
    shifts = 0.05 * np.arange(settings)
    return replace(
        runs,
        setting=tuple(i % settings for i in range(3)),
        calibration=runs.calibration + shifts[:, None, None],
        test=runs.test + shifts[:, None, None, None],
        alone=tuple(rng.choice(true, alone) for true in runs.calibration[0]),
        options=(law.k, law.k, law.k + 1),
    )


def one_by_one(runs: SharedRuns, alpha: int, empty: str) -> list[list[float]]:
    """The p-values of the pairs, each tested alone."""

    def side(own: int, other: int) -> Swappable:
        s = runs.setting[own]
        return Swappable(
            runs.calibration[s, [own, other]],
            runs.alone[own],
            runs.test[s][[own, other]],
            runs.right[[own, other]],
            runs.options[own],
        )

    p_values = [swap_test(side(i, j), side(j, i), alpha, empty=empty, resamples=SWAPS, seed=3) for i, j in runs.pairs]
    return [[pair.mean_set_size for pair in p_values], [pair.uacc for pair in p_values]]


@pytest.mark.parametrize(
    ("law", "name", "alpha", "empty", "alone", "settings"),
    [
        (USUAL, "lac", 100, "allow", 0, 1),
        (USUAL, "lac", 700, "top1", 0, 1),
        (USUAL, "lac", 700, "allow", 0, 3),
        (TIED, "aps", 100, "allow", 20, 2),
        (SATURATED, "aps", 100, "allow", 0, 1),
        (TWINS, "lac", 4, "allow", 0, 1),
        (TWINS, "lac", 4, "top1", 7, 3),
        (USUAL, "lac", 999, "allow", 0, 1),
    ],
)
def test_each_p_value_is_that_of_the_pair_alone(law, name, alpha, empty, alone, settings):
    runs = shared(law, name, alone=alone, settings=settings)
    assert swap_tests(runs, alpha, empty=empty, resamples=SWAPS, seed=3).tolist() == one_by_one(runs, alpha, empty)


def test_parts_of_the_resamples_and_a_threshold_far_away_change_nothing(monkeypatch: pytest.MonkeyPatch):
    runs = shared(USUAL, "lac", alone=5)
    whole = one_by_one(runs, 100, "allow")
    monkeypatch.setattr(pairwise, "MOST_FLIPS", 3000)
    assert swap_tests(runs, 100, resamples=SWAPS, seed=3).tolist() == whole
    monkeypatch.setattr(pairwise, "REACH", 0)  # most thresholds then lie outside, and all are looked for
    assert swap_tests(runs, 100, resamples=SWAPS, seed=3).tolist() == whole


def test_an_option_that_a_question_lacks_is_in_no_set():
    runs = shared(USUAL, "lac")
    runs.test[:, :, ::3, 2] = np.nan
    assert swap_tests(runs, 100, resamples=SWAPS, seed=3).tolist() == one_by_one(runs, 100, "allow")


def test_uacc_that_is_not_defined_has_no_small_p_value():
    runs = shared(USUAL, "lac")
    result = swap_tests(replace(runs, test=runs.test + 10), 100, resamples=SWAPS)
    assert (result[1] == 1).all()


def test_one_run_can_not_be_tested():
    runs = shared(USUAL, "lac")
    with pytest.raises(InputError, match="at least two runs"):
        swap_tests(replace(runs, setting=(0,)), 100)


@pytest.mark.parametrize(("law", "name"), [(USUAL, "lac"), (SATURATED, "aps"), (TWINS, "lac")])
def test_the_interval_of_a_single_pair_is_its_own(law, name):
    runs = drawn_runs(2, 120, law, models=2, name=name)
    sides = [PairedRun(runs.calibration[0, i], runs.alone[i], runs.test[0, i], runs.right[i], law.k) for i in (0, 1)]
    alone = difference_intervals(sides[0], sides[1], 100)
    sizes, uaccs = difference_intervals_of_pairs(runs, 100)
    for estimate, expected in ((sizes[0], alone.mean_set_size), (uaccs[0], alone.uacc)):
        assert [estimate.value, *estimate.ends] == pytest.approx([expected.value, *expected.ends], abs=1e-9)


def test_intervals_of_more_pairs_are_wider_by_the_ratio_of_the_quantiles():
    three = drawn_runs(2, 120, USUAL, models=3, name="lac")
    first = replace(
        three,
        setting=(0, 0),
        calibration=three.calibration[:, :2],
        test=three.test[:, :2],
        right=three.right[:2],
        alone=three.alone[:2],
        options=three.options[:2],
    )
    (alone,), _ = difference_intervals_of_pairs(first, 100)
    together_with_others = difference_intervals_of_pairs(three, 100)[0][0]
    ratio = together(3) / together(1)
    assert together_with_others.value == alone.value
    # The noise of the test questions is drawn for all runs at once, so the quantiles differ a little.
    width = together_with_others.high - together_with_others.low
    assert width == pytest.approx(ratio * (alone.high - alone.low), rel=0.08)


def test_questions_that_only_one_run_calibrates_on_are_redrawn_too():
    runs = shared(USUAL, "lac", alone=40)
    alone, without = (difference_intervals_of_pairs(estimate, 100)[0] for estimate in (runs, shared(USUAL, "lac")))
    assert all(estimate.low <= estimate.value <= estimate.high for estimate in (*alone, *without))
    assert [estimate.high - estimate.low for estimate in alone] != [
        estimate.high - estimate.low for estimate in without
    ]
