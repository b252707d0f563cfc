"""Agreement: by hand, against scikit-learn and the krippendorff package, and where it is not defined."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from core.conformal.coverage import share_interval
from core.jury.agreement import (
    agreement,
    cohen_kappa,
    effective_votes,
    error_correlation,
    fleiss_kappa,
    krippendorff_alpha,
)
from tests.core.jury.verdicts import SHAPES, jury, seeded_jury, seeded_verdicts

pytestmark = pytest.mark.quick

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "agreement.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("shape", SHAPES)
def test_cohen_is_that_of_scikit_learn(shape) -> None:
    verdicts = seeded_verdicts(*shape)
    assert cohen_kappa(verdicts[:, 0], verdicts[:, 1]) == pytest.approx(
        cohen_kappa_score(verdicts[:, 0], verdicts[:, 1]), abs=1e-12
    )


@pytest.mark.parametrize(("shape", "value"), list(zip(SHAPES, GOLDEN["krippendorff"], strict=True)))
def test_krippendorff_is_that_of_the_package(shape, value) -> None:
    assert krippendorff_alpha(seeded_verdicts(*shape)) == pytest.approx(value, abs=1e-12)


def test_fleiss_by_hand() -> None:
    # Answers with 3, 2 and 0 of 3 saying True: pairs agree in 1, 1/3 and 1 of them, 7/9 on average; 5 of 9 verdicts
    # are True, so chance agrees in (25 + 16)/81 = 41/81. (63 - 41)/(81 - 41) = 22/40.
    verdicts = np.array([[1, 1, 1], [1, 1, 0], [0, 0, 0]], dtype=bool)
    assert fleiss_kappa(verdicts) == pytest.approx(22 / 40)


def test_errors_that_have_nothing_to_do_with_each_other_leave_every_vote() -> None:
    wrong = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=bool)
    assert error_correlation(wrong[:, 0], wrong[:, 1]) == 0
    assert effective_votes(wrong) == 2
    assert effective_votes(wrong[:, [0, 0, 0]]) == pytest.approx(1)


def test_what_chance_explains_wholly_is_not_defined() -> None:
    alike = np.ones((5, 3), dtype=bool)
    assert np.isnan([fleiss_kappa(alike), krippendorff_alpha(alike), cohen_kappa(alike[:, 0], alike[:, 1])]).all()
    assert np.isnan(effective_votes(~alike))
    result = agreement(jury(np.full((5, 2), 0.9), np.ones(5)))
    assert np.isnan(result.fleiss.value)
    assert (result.n_unanimous, result.unanimous_wrong.value) == (5, 0.0)


def test_of_no_unanimous_answer_nothing_is_said() -> None:
    result = agreement(jury(np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([True, False])))
    assert result.n_unanimous == 0
    assert np.isnan(result.unanimous_wrong.value)


def test_intervals_hold_their_figures() -> None:
    result = agreement(seeded_jury())
    for estimate in (
        result.fleiss,
        result.krippendorff,
        result.effective_votes,
        result.unanimous,
        result.unanimous_wrong,
    ):
        assert estimate.low <= estimate.value <= estimate.high
    assert [(pair.first, pair.second) for pair in result.pairs] == [
        ("juror0", "juror1"),
        ("juror0", "juror2"),
        ("juror1", "juror2"),
    ]


def test_errors_that_avoid_each_other_count_as_at_most_twice_the_jurors() -> None:
    apart = np.array([[0, 1], [1, 0]] * 5, dtype=bool)
    assert error_correlation(apart[:, 0], apart[:, 1]) == -1
    assert effective_votes(apart) == 4  # 2 / (1 − 1) without the cap
    # Each errs on 10 of 20, on 3 of them together: ρ = (.15 − .25) / .25 = −.4, which needs no cap.
    wrong = np.array([[1, 1]] * 3 + [[1, 0]] * 7 + [[0, 1]] * 7 + [[0, 0]] * 3, dtype=bool)
    assert error_correlation(wrong[:, 0], wrong[:, 1]) == pytest.approx(-0.4)
    assert effective_votes(wrong) == pytest.approx(2 / 0.6)


def test_a_correlation_has_the_interval_of_the_share_of_shared_errors() -> None:
    """Two jurors err 4 times each of 100, never together: Clopper and Pearson's upper end for 0 of 8 is .369, and a
    juror then errs on .08 · (1 + .369) / 2 of the answers."""
    wrong = np.zeros((100, 2), dtype=bool)
    wrong[:4, 0] = wrong[4:8, 1] = True
    p = np.where(wrong, 0.1, 0.9)
    estimate = agreement(jury(p, np.ones(100))).pairs[0].error_correlation
    assert estimate.value == pytest.approx(-0.0016 / (0.04 * 0.96))
    joint, each = 0.08 * share_interval(0, 8)[1], 0.08 * (1 + share_interval(0, 8)[1]) / 2
    assert estimate.high == pytest.approx((joint - each**2) / (each * (1 - each)))
    most = share_interval(8, 100)[1] / 2  # jurors that err more often, and never together
    assert estimate.low == pytest.approx(-(most**2) / (most * (1 - most)))


def test_accurate_jurors_have_no_interval_that_is_a_point() -> None:
    for right in (1, 2, 5):  # this many answers that one juror, and then another, gets wrong
        p = np.full((200, 3), 0.9)
        p[:right, 0], p[right : 2 * right, 1] = 0.2, 0.2
        result = agreement(jury(p, np.ones(200)))
        for estimate in (
            result.pairs[0].error_correlation,
            result.effective_votes,
            result.fleiss,
            result.krippendorff,
            result.pairs[0].kappa,
        ):
            assert estimate.low < estimate.value < estimate.high
            assert estimate.high - estimate.low > 0.01
        assert result.effective_votes.low < 3 < result.effective_votes.high  # independent jurors are still possible


def test_an_interval_of_many_answers_is_that_of_the_jackknife() -> None:
    judged = seeded_jury(4000, 3, seed=2)
    measured, wrong = agreement(judged), 1 - judged.right

    def reach(figure, values: np.ndarray) -> float:
        groups = np.arange(4000) % 400
        without = np.array([figure(values[groups != number]) for number in range(400)])
        return 1.96 * np.sqrt(399 / 400 * ((without - without.mean()) ** 2).sum())

    for estimate, figure, values in (
        (measured.fleiss, fleiss_kappa, judged.verdicts),
        (measured.pairs[0].kappa, lambda v: cohen_kappa(v[:, 0], v[:, 1]), judged.verdicts),
        (measured.pairs[0].error_correlation, lambda v: error_correlation(v[:, 0], v[:, 1]), wrong),
        (measured.effective_votes, effective_votes, wrong),
    ):
        assert (estimate.high - estimate.low) / 2 == pytest.approx(reach(figure, values), rel=0.15)


def test_answers_of_one_question_are_one_unit() -> None:
    once = seeded_jury(60, 3, seed=4)
    five = once.rows(np.repeat(np.arange(60), 5))
    single, repeated = agreement(once), agreement(five)
    assert (single.n, single.n_questions, repeated.n, repeated.n_questions) == (60, 60, 300, 60)
    for name in ("fleiss", "krippendorff", "effective_votes", "unanimous", "unanimous_wrong"):
        first, second = getattr(single, name), getattr(repeated, name)
        assert second.value == pytest.approx(first.value, abs=0.01), name
        assert second.high - second.low == pytest.approx(first.high - first.low, rel=0.1), name
    named = replace(once, cluster_names=tuple(str(i // 6) for i in range(60)))
    assert agreement(named).n_questions == 10


def test_a_tie_is_half_an_agreement() -> None:
    # Two jurors agree on the first answer, part on the second, and one is tied on the third: (1 + 0 + ½) / 3.
    judged = jury(np.array([[0.9, 0.8], [0.9, 0.2], [0.9, 0.5]]), np.ones(3))
    turned = replace(judged, p_true=judged.p_false, p_false=judged.p_true, labels=~judged.labels)
    for each in (judged, turned):
        result = agreement(each)
        assert result.pairs[0].agreement.value == pytest.approx(0.5)
        assert (result.n_unanimous, result.unanimous_wrong.value) == (1, 0)
    assert fleiss_kappa(judged.verdicts) == pytest.approx(fleiss_kappa(turned.verdicts))
    # Shares of True 1 and ½; expected agreement ½.
    assert agreement(judged).pairs[0].kappa.value == pytest.approx(0.0)


def test_unanimous_answers_and_the_wrong_ones_among_them_by_hand() -> None:
    # Both say True, True, True, False, and are right in two of four; on the fifth they part.
    p = np.array([[0.9, 0.8], [0.9, 0.7], [0.6, 0.9], [0.1, 0.2], [0.9, 0.1]])
    result = agreement(jury(p, np.array([True, False, False, False, True])))
    assert (result.n, result.n_unanimous) == (5, 4)
    assert (result.unanimous.value, *result.unanimous.ends) == pytest.approx((4 / 5, *share_interval(4, 5)))
    assert (result.unanimous_wrong.value, *result.unanimous_wrong.ends) == pytest.approx((1 / 2, *share_interval(2, 4)))


def test_a_coefficient_that_a_single_answer_holds_up_has_a_wide_interval() -> None:
    # Without the last answer every verdict is True, and chance alone explains that.
    judged = jury(np.array([[0.9, 0.9], [0.9, 0.9], [0.9, 0.9], [0.1, 0.9]]), np.ones(4))
    kappa = agreement(judged).pairs[0].kappa
    assert kappa.value == 0
    assert kappa.low < -0.1
    assert kappa.high > 0.9


def test_krippendorff_and_errors_by_hand() -> None:
    # Three of eight verdicts True, one of four pairs apart: D_o = 1/4, D_e = 2 · 3 · 5 / (8 · 7) = 30/56.
    verdicts = np.array([[1, 1], [1, 0], [0, 0], [0, 0]], dtype=bool)
    assert krippendorff_alpha(verdicts) == pytest.approx(1 - 56 / 120)
    # Shares ½ and ¼, both in ¼: (¼ − ⅛) / √(¼ · 3/16).
    assert error_correlation(verdicts[:, 0], verdicts[:, 1]) == pytest.approx((1 / 4 - 1 / 8) / np.sqrt(3 / 64))
    assert np.isnan(error_correlation(verdicts[:, 0], np.ones(4, dtype=bool)))
    # Pairs whose correlation is not defined are left out of the mean: here only 0 and 1 have one.
    three = np.column_stack([verdicts, np.zeros(4, dtype=bool)])
    rho = (1 / 8) / np.sqrt(3 / 64)
    assert effective_votes(three) == pytest.approx(3 / (1 + 2 * rho))


def test_every_coefficient_of_few_answers_stays_in_its_range() -> None:
    # Two jurors that agree on half of four answers.
    result = agreement(jury(np.array([[0.9, 0.1], [0.1, 0.9], [0.9, 0.9], [0.1, 0.1]]), np.ones(4)))
    pair = result.pairs[0]
    for estimate in (pair.kappa, pair.error_correlation, result.fleiss, result.krippendorff):
        assert -1 <= estimate.low < 0 < estimate.high <= 1
    assert result.effective_votes.value == 2
    assert 1 <= result.effective_votes.low < 2 < result.effective_votes.high <= 4
    none = agreement(jury(np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([True, False]))).unanimous_wrong
    assert np.isnan([none.value, *none.ends]).all()
