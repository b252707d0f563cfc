"""Agreement: by hand, against scikit-learn and the krippendorff package, and where it is not defined."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from core.conformal.coverage import share_interval
from core.jury.agreement import (
    agreement,
    cohen_kappa,
    effective_votes,
    error_correlation,
    fleiss_kappa,
    jackknifed,
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
    found = agreement(jury(np.full((5, 2), 0.9), np.ones(5)))
    assert np.isnan(found.fleiss.value)
    assert (found.n_unanimous, found.unanimous_wrong.value) == (5, 0.0)


def test_of_no_unanimous_answer_nothing_is_said() -> None:
    found = agreement(jury(np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([True, False])))
    assert found.n_unanimous == 0
    assert np.isnan(found.unanimous_wrong.value)


def test_intervals_hold_their_figures() -> None:
    found = agreement(seeded_jury())
    for of in (found.fleiss, found.krippendorff, found.effective_votes, found.unanimous, found.unanimous_wrong):
        assert of.low <= of.value <= of.high
    assert [(pair.first, pair.second) for pair in found.pairs] == [
        ("juror0", "juror1"),
        ("juror0", "juror2"),
        ("juror1", "juror2"),
    ]


def test_errors_that_avoid_each_other_count_as_at_most_twice_the_jurors() -> None:
    apart = np.array([[0, 1], [1, 0]] * 5, dtype=bool)
    assert error_correlation(apart[:, 0], apart[:, 1]) == -1
    assert effective_votes(apart) == 4  # 2 / (1 − 1) without the cap
    # Each errs on 10 of 20, on 3 of them together: ρ = (.15 − .25) / .25 = −.4, which needs no cap.
    some = np.array([[1, 1]] * 3 + [[1, 0]] * 7 + [[0, 1]] * 7 + [[0, 0]] * 3, dtype=bool)
    assert error_correlation(some[:, 0], some[:, 1]) == pytest.approx(-0.4)
    assert effective_votes(some) == pytest.approx(2 / 0.6)


def left_out_by_hand(figure, values: np.ndarray, least: float, most: float) -> tuple[float, float, float]:
    """A figure and its jackknifed interval: every row left out in turn, those that are alike too."""
    n, value = len(values), figure(values)
    without = np.array([figure(np.delete(values, i, axis=0)) for i in range(n)])
    reach = stats.t.ppf(0.975, n - 1) * np.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum())
    return value, max(value - reach, least), min(value + reach, most)


def test_every_coefficient_has_the_interval_of_leaving_one_answer_out() -> None:
    judged = seeded_jury(60, 4, seed=2)
    found, wrong = agreement(judged), ~judged.right
    for name, figure, values, least, most in (
        ("fleiss", fleiss_kappa, judged.verdicts, -1, 1),
        ("krippendorff", krippendorff_alpha, judged.verdicts, -1, 1),
        ("effective_votes", effective_votes, wrong, 0, 8),
    ):
        of = getattr(found, name)
        assert (of.value, *of.ends) == pytest.approx(left_out_by_hand(figure, values, least, most)), name
    assert found.n == 60
    assert len(found.pairs) == 6
    pair = next(one for one in found.pairs if (one.first, one.second) == ("juror1", "juror3"))
    two, errors = judged.verdicts[:, [1, 3]], wrong[:, [1, 3]]
    kappa = left_out_by_hand(lambda v: cohen_kappa(v[:, 0], v[:, 1]), two, -1, 1)
    together = left_out_by_hand(lambda v: error_correlation(v[:, 0], v[:, 1]), errors, -1, 1)
    assert (pair.kappa.value, *pair.kappa.ends) == pytest.approx(kappa)
    assert (pair.error_correlation.value, *pair.error_correlation.ends) == pytest.approx(together)
    same = int((two[:, 0] == two[:, 1]).sum())
    assert (pair.agreement.value, *pair.agreement.ends) == pytest.approx((same / 60, *share_interval(same, 60)))


def test_unanimous_answers_and_the_wrong_ones_among_them_by_hand() -> None:
    # Both say True, True, True, False, and are right in two of four; on the fifth they part.
    p = np.array([[0.9, 0.8], [0.9, 0.7], [0.6, 0.9], [0.1, 0.2], [0.9, 0.1]])
    found = agreement(jury(p, np.array([True, False, False, False, True])))
    assert (found.n, found.n_unanimous) == (5, 4)
    assert (found.unanimous.value, *found.unanimous.ends) == pytest.approx((4 / 5, *share_interval(4, 5)))
    assert (found.unanimous_wrong.value, *found.unanimous_wrong.ends) == pytest.approx((1 / 2, *share_interval(2, 4)))


def test_no_interval_goes_beyond_what_a_coefficient_can_be() -> None:
    verdicts = np.array([[1, 0], [0, 1]] * 2 + [[1, 1]], dtype=bool)
    found = jackknifed(lambda v: cohen_kappa(v[:, 0], v[:, 1]), verdicts, least=-1.0, most=1.0)
    assert found.low == -1
    assert found.value < found.high < 1
    assert jackknifed(lambda v: float(v.mean()), verdicts[:2], least=0.0, most=0.6).high == 0.5
    one = jackknifed(lambda v: float(v.mean()), verdicts[:1], least=0.0, most=1.0)
    assert np.isnan([one.value, *one.ends]).all()


def test_a_coefficient_that_a_single_answer_holds_up_is_not_defined() -> None:
    # Without the last answer every verdict is True, and chance alone explains that.
    verdicts = np.array([[1, 1], [1, 1], [1, 1], [0, 1]], dtype=bool)
    assert cohen_kappa(verdicts[:, 0], verdicts[:, 1]) == 0
    found = jackknifed(lambda v: cohen_kappa(v[:, 0], v[:, 1]), verdicts, least=-1.0, most=1.0)
    assert np.isnan([found.value, *found.ends]).all()


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


def test_every_coefficient_of_few_answers_ends_at_what_it_can_be() -> None:
    # Two jurors that agree on half of four answers: leaving one out changes every coefficient by so much that the
    # intervals would go beyond −1 and 1, and beyond 0 and 4 votes.
    found = agreement(jury(np.array([[0.9, 0.1], [0.1, 0.9], [0.9, 0.9], [0.1, 0.1]]), np.ones(4)))
    pair = found.pairs[0]
    for of in (pair.kappa, pair.error_correlation, found.fleiss, found.krippendorff):
        assert of.ends == (-1, 1)
    assert (found.effective_votes.value, *found.effective_votes.ends) == (2, 0, 4)
    none = agreement(jury(np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([True, False]))).unanimous_wrong
    assert np.isnan([none.value, *none.ends]).all()
