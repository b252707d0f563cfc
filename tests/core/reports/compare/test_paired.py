"""Two runs question by question: counts, tests and intervals against hand and scipy's own."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.conformal import permutation
from core.conformal.pvalues import holm
from core.errors import InputError
from core.reports.alpha_lab.view import SplitView, look
from core.reports.compare import paired
from core.reports.compare.paired_shares import mcnemar
from core.reports.compare.run_matrix import run_matrix
from core.reports.compare.shared_questions import shared_clusters
from core.reports.evaluation import load
from core.reports.scored_sets import form
from tests.conftest import synthetic_run

pytestmark = pytest.mark.quick


def test_counts_are_those_of_the_questions(home):
    a, b = load(synthetic_run(seed=3)), load(synthetic_run(seed=3, model="other", signal=0.5))
    (pair,) = paired.compare([(a, b)], 100)
    right = [run.probabilities[run.test].argmax(axis=1) == run.labels[run.test] for run in (a, b)]
    sizes = [form(run, "lac", 100).members.sum(axis=1) for run in (a, b)]
    assert pair.n == 100
    assert pair.only_first == int((right[0] & ~right[1]).sum())
    assert pair.both_right + pair.only_first + pair.only_second + pair.both_wrong == pair.n
    assert (pair.grew, pair.shrank) == (int((sizes[1] > sizes[0]).sum()), int((sizes[1] < sizes[0]).sum()))
    assert pair.accuracy.mean == pytest.approx(right[1].mean() - right[0].mean())
    assert pair.set_size.mean == pytest.approx(sizes[1].mean() - sizes[0].mean())
    change = sizes[1] - sizes[0]
    uaccs = [figure.mean() * 6**0.5 / size.mean() for figure, size in zip(right, sizes, strict=True)]
    assert pair.uacc.mean == pytest.approx(uaccs[1] - uaccs[0])
    for figure in (pair.accuracy, pair.set_size, pair.uacc):
        assert figure.low <= figure.mean <= figure.high
    assert pair.p_values["accuracy"] == mcnemar(pair.only_first, pair.only_second)
    assert (pair.n_calibration, pair.alone) == (100, (0, 0))
    assert pair.set_size.cohens_d == pytest.approx(change.mean() / change.std(ddof=1))
    # those of the matrix of the two runs, at the level of the three tests that were made here
    one_each = (pair.detectable.accuracy, pair.detectable.set_size)
    assert pair.tests == 3
    (of_accuracy,), (of_size,) = (run_matrix([a, b], 100).pairs[name] for name in ("accuracy", "set_size"))
    assert 0 < of_accuracy.detectable < one_each[0] < 1
    assert 0 < of_size.detectable < one_each[1]
    (single,) = paired.compare([(a, b)], 100, hypotheses=("accuracy",))
    assert (single.detectable.accuracy, single.detectable.set_size) == (of_accuracy.detectable, of_size.detectable)
    table = paired.questions(a, b, 100)
    assert table["change"].tolist() == sorted(change.tolist(), reverse=True)
    assert table["first_right"].sum() == right[0].sum()


def test_a_run_beside_itself_differs_in_nothing(home):
    run = load(synthetic_run())
    (pair,) = paired.compare([(run, run)], 100)
    assert set(pair.p_values.values()) == set(pair.holm.values()) == {1.0}
    assert (pair.set_size.mean, pair.set_size.cohens_d) == (0, 0)
    for figure in (pair.accuracy, pair.set_size, pair.uacc):  # two runs that answer new questions may still differ
        assert figure.low < 0 < figure.high


def test_each_hypothesis_has_one_test_and_holm_runs_over_hypotheses(home):
    a, b = load(synthetic_run(seed=3)), load(synthetic_run(seed=3, model="other", signal=0.5))
    (pair,) = paired.compare([(a, b)], 100)
    assert list(pair.p_values) == list(pair.holm) == list(paired.TESTS) == ["accuracy", "set_size", "uacc"]
    assert list(pair.holm.values()) == holm(list(pair.p_values.values()))
    (fewer,) = paired.compare([(a, b)], 100, hypotheses=("accuracy", "set_size"))
    assert list(fewer.holm.values()) == holm([pair.p_values[name] for name in ("accuracy", "set_size")])


def test_the_permutation_test_forms_the_sets_of_the_swapped_runs(home):
    """A swap gives the same figures as runs with the swapped rows of probabilities."""
    a, b = load(synthetic_run(400, seed=3)), load(synthetic_run(400, seed=3, model="other", signal=0.5))
    rng = np.random.default_rng(0)
    swaps = rng.integers(0, 2, len(a.labels)).astype(bool)
    for name in ("lac", "aps-randomised", "saps", "margin"):
        sides = paired._sides(a, b, 100, name)
        first, second = paired._swappable(a, b, sides, name)
        own = sides.tuned[0].calibration
        result = permutation._differences(first, second, swaps[own][None], swaps[a.test][None], 100, "allow")
        aside = np.setdiff1d(a.calibration, own)  # a score's parameters stay with the run that they were tuned for
        moved = swaps.copy()
        moved[aside] = False
        mixed = [
            replace(
                mine,
                probabilities=np.where(moved[:, None], other.probabilities, mine.probabilities),
                log_probabilities=np.where(moved[:, None], other.log_probabilities, mine.log_probabilities),
            )
            for mine, other in ((a, b), (b, a))
        ]
        sizes = [form(run, name, 100).members.sum(axis=1).mean() for run in mixed]
        assert result[0, 0] == pytest.approx(sizes[1] - sizes[0])


def test_calibration_questions_of_one_run_alone_stay_with_it(home):
    a, b = load(synthetic_run(seed=3)), load(synthetic_run(seed=3, model="other", signal=0.5))
    fewer = replace(b, calibration=b.calibration[:60])
    (pair,) = paired.compare([(a, fewer)], 100)
    assert (pair.n_calibration, pair.alone) == (60, (40, 0))
    sizes = [form(run, "lac", 100).members.sum(axis=1).mean() for run in (a, fewer)]
    assert pair.set_size.mean == pytest.approx(sizes[1] - sizes[0])
    (turned,) = paired.compare([(fewer, a)], 100)
    assert (turned.alone, turned.p_values) == ((0, 40), pair.p_values)


def test_runs_with_unlike_numbers_of_options_are_compared_on_those_that_both_have(home):
    a = load(synthetic_run(seed=3))
    b = look(load(synthetic_run(seed=3, model="other", signal=0.5)), SplitView(drop_extra=True))
    (pair,) = paired.compare([(a, b)], 100)
    alike = look(a, SplitView(drop_extra=True)), b  # as if both had offered A to D
    (on_four,) = paired.compare([alike], 100)
    assert (pair.left_out, on_four.left_out) == (("EF", "EF"), ("EF", "EF"))
    assert pair == on_four
    sizes = [form(run, "lac", 100).members.sum(axis=1).mean() for run in alike]
    assert pair.set_size.mean == pytest.approx(sizes[1] - sizes[0])
    right = [run.probabilities[run.test].argmax(axis=1) == run.labels[run.test] for run in alike]
    uaccs = [rights.mean() * 4**0.5 / size for rights, size in zip(right, sizes, strict=True)]
    assert pair.uacc.mean == pytest.approx(uaccs[1] - uaccs[0])


def test_runs_that_share_too_little_are_refused(home):
    a, b = load(synthetic_run(seed=1)), load(synthetic_run(seed=2, n=16, model="other"))
    with pytest.raises(
        InputError, match="a comparison needs at least 10; choose two runs on the same bank of questions"
    ):
        paired.compare([(a, b)], 100)


def test_mcnemar_is_the_binomial_law():
    # 2 of 10 that differ: 2 · (1 + 10 + 45) / 1024.
    assert mcnemar(2, 8) == pytest.approx(112 / 1024)
    assert mcnemar(0, 0) == 1


def test_the_interval_of_accuracy_is_that_of_the_mean():
    # Half zeros, half ones, n = 400: the mean's standard error is 0.5/20 = 0.025.
    result = paired.difference(np.tile([0.0, 1.0], 200))
    assert result.mean == 0.5
    assert result.low == pytest.approx(0.5 - 1.96 * 0.025, abs=0.006)
    assert result.high == pytest.approx(0.5 + 1.96 * 0.025, abs=0.006)


def test_without_a_discordant_question_the_interval_of_accuracy_has_a_width():
    # z²/(n + z²) on either side (Tango), of twelve questions
    result = paired.difference(np.zeros(12))
    assert (result.mean, result.low, result.high) == pytest.approx((0, -0.2425, 0.2425), abs=1e-4)


def test_repeats_of_a_question_count_once(home):
    """Each question five times: as wide as of the questions alone or wider, and whole questions are turned."""
    a, b = load(synthetic_run(seed=3)), load(synthetic_run(seed=3, model="other", signal=0.5))
    clusters = np.arange(len(a.labels))
    clusters[a.test] = np.arange(100) // 5
    once = tuple(replace(run, test=run.test[::5]) for run in (a, b))
    repeated = []
    for run in (a, b):  # rows 5i … 5i + 4 of the test questions answer as row 5i does
        rows = np.arange(len(run.labels))
        rows[run.test] = run.test[np.arange(100) // 5 * 5]
        repeated.append(
            replace(
                run,
                probabilities=run.probabilities[rows],
                log_probabilities=run.log_probabilities[rows],
                labels=run.labels[rows],
                clusters=clusters,
            )
        )
    (alone,), (together,) = paired.compare([once], 100), paired.compare([tuple(repeated)], 100)
    assert (together.n, together.units, alone.n, alone.units) == (100, 20, 20, 20)
    assert together.p_values["accuracy"] == alone.p_values["accuracy"]
    for name in ("set_size", "uacc"):
        assert together.p_values[name] == pytest.approx(alone.p_values[name], abs=0.05)
    for name in ("accuracy", "set_size", "uacc"):
        own, wide = getattr(alone, name), getattr(together, name)
        assert wide.mean == pytest.approx(own.mean)
        assert 0.97 <= (wide.high - wide.low) / (own.high - own.low) <= 1.3
    as_if_independent = tuple(replace(run, clusters=None) for run in repeated)
    (naive,) = paired.compare([as_if_independent], 100)
    assert naive.accuracy.high - naive.accuracy.low < 0.6 * (together.accuracy.high - together.accuracy.low)
    with pytest.raises(InputError, match="share 9 test questions"):
        paired.compare([tuple(replace(run, test=run.test[:45]) for run in repeated)], 100)


def test_clusters_of_either_run_link_questions(home):
    a, b = load(synthetic_run(seed=3)), load(synthetic_run(seed=3, model="other"))
    every = np.arange(len(a.labels))
    pairs_of, threes = replace(a, clusters=every // 2), replace(b, clusters=every // 3)
    rows = every[:12]
    assert shared_clusters((a, b), (rows, rows)) is None
    assert shared_clusters((pairs_of, b), (rows, rows)).tolist() == (rows // 2).tolist()
    # 0-1-2-3-4-5 | 6-…-11: pairs and threes meet again at six
    assert shared_clusters((pairs_of, threes), (rows, rows)).tolist() == (rows // 6).tolist()


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_is_the_slow_definition(p_values):
    corrected = holm(p_values)
    m = len(p_values)
    order = sorted(range(m), key=lambda i: p_values[i])
    for place, i in enumerate(order):
        steps = [min(1.0, (m - j) * p_values[order[j]]) for j in range(place + 1)]
        assert corrected[i] == max(steps)
