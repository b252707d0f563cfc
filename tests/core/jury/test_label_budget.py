"""A share from a few human labels and a judge's verdicts: by hand, beside the authors' package, and at the edges."""

import numpy as np
import pytest

from core.errors import InputError
from core.jury.label_budget import FEWEST, agresti_coull, label_estimates, sizes, variance_saved

ROW = np.arange(60)
TRUE = ((ROW * 7) % 10 < 4).astype(float)
LABELS = TRUE[:24]
GRADED = np.round(((ROW * 13) % 20) / 20 * 0.5 + 0.4 * TRUE, 4)
WRONG_IN_A_FIFTH = np.where(ROW % 5 == 0, 1 - TRUE, TRUE)


def drawn(n: int, m: int, seed: int, *, rate: float = 0.4, errs: float = 0.2) -> tuple[np.ndarray, np.ndarray]:
    """The labels of n of m answers, and the verdicts of a judge that errs at random."""
    rng = np.random.default_rng(seed)
    y = (rng.random(m) < rate).astype(float)
    return y[:n], np.where(rng.random(m) < errs, 1 - y, y)


@pytest.mark.quick
def test_the_estimate_is_that_of_the_authors_package():
    """ppi_mean_pointestimate of ppi-python 0.2.3, with 24 labels and the verdicts of 36 further answers."""
    for verdicts, value in ((GRADED, 0.4065616162010344), (WRONG_IN_A_FIFTH, 0.43053747106481477)):
        (estimate,) = label_estimates(LABELS, verdicts, [24])
        assert estimate.judged.value == pytest.approx(value, abs=1e-14)


@pytest.mark.quick
def test_an_estimate_by_hand():
    """n = 24 of M = 60 with 10 ones: Σ(y − ȳ)² = 24·(10/24)·(14/24) = 35/6. The judge errs in every fifth answer: among
    the labels it misses three ones and calls two others True, so it calls 9 True, 7 of them ones, and
    Σ(y − ȳ)(f − f̄) = 7 − 10·9/24 = 13/4. Of all 60 it calls 24 True.
    """
    n, m, total, cross = 24, 60, 35 / 6, 13 / 4
    own, rest = 9 / 24, 15 / 36
    weight = cross / n / ((1 + n / 36) * (24 / 60 * 36 / 60 * 60 / 59))
    residual = total - 2 * weight * cross + weight**2 * n * own * (1 - own)
    unseen = 2 * (1 - residual / total)
    variance = (residual * 23 / 22 + unseen) / n**2 + weight**2 * rest * (1 - rest) / (m - n)
    (estimate,) = label_estimates(LABELS, WRONG_IN_A_FIFTH, [24])
    assert estimate.weight == pytest.approx(weight)
    assert estimate.worth == pytest.approx(n * (total + unseen) / n**2 / variance)
    assert estimate.judged.value == pytest.approx(10 / 24 + weight * (rest - own))
    assert estimate.judged == agresti_coull(estimate.judged.value, estimate.worth)
    assert estimate.alone == agresti_coull(10 / 24, 24)


@pytest.mark.quick
def test_swapping_the_answers_of_every_pair_mirrors_the_estimate():
    half = np.where(ROW[:24] % 11 == 0, 0.5, LABELS)  # ties
    (there,), (back,) = (
        label_estimates(y, f, [24]) for y, f in ((half, WRONG_IN_A_FIFTH), (1 - half, 1 - WRONG_IN_A_FIFTH))
    )
    assert back.worth == pytest.approx(there.worth)
    for one, other in ((there.judged, back.judged), (there.alone, back.alone)):
        assert [1 - other.value, 1 - other.high, 1 - other.low] == pytest.approx([one.value, *one.ends])


@pytest.mark.quick
@pytest.mark.parametrize("verdicts", [np.full(60, 0.7), 1 - TRUE], ids=["constant", "always wrong"])
def test_a_worthless_judge_costs_nothing(verdicts: np.ndarray):
    (estimate,) = label_estimates(LABELS, verdicts, [24])
    assert (estimate.weight, estimate.worth) == (0, 24)
    assert estimate.judged == estimate.alone


@pytest.mark.quick
def test_few_labels_and_all_labels_stand_alone():
    labels, verdicts = drawn(60, 60, 0)
    few, whole = label_estimates(labels, verdicts, [FEWEST - 1, 60])
    assert few.judged == few.alone
    assert whole.judged == whole.alone
    (ten,) = label_estimates(np.zeros(10), np.zeros(10), [10])
    assert ten.judged.low == 0
    assert 0.25 < ten.judged.high < 0.35


@pytest.mark.quick
def test_a_judge_that_agrees_with_every_label_may_still_err_elsewhere():
    """With no error among 30 labels, up to one verdict in ten may be wrong; the published interval has 1.5 points."""
    labels, verdicts = drawn(30, 10_000, 3, errs=0)
    (estimate,) = label_estimates(labels, verdicts, [30])
    assert 0.15 < estimate.judged.high - estimate.judged.low < 0.25
    assert estimate.worth < 150


@pytest.mark.quick
def test_answers_of_one_question_count_as_one():
    labels, verdicts = drawn(40, 200, 1)
    (once,) = label_estimates(labels, verdicts, [40])
    (twice,) = label_estimates(labels.repeat(2), verdicts.repeat(2), [80], clusters=np.arange(200).repeat(2))
    assert twice.judged.value == pytest.approx(once.judged.value, abs=0.005)
    assert 0.85 * once.worth < twice.worth / 2 < 1.05 * once.worth  # worth counts labels such as those given
    (useless,) = label_estimates(labels.repeat(2), np.zeros(400), [80], clusters=np.arange(200).repeat(2))
    assert useless.worth == 80


@pytest.mark.quick
def test_the_slider_has_each_number_up_to_200_and_the_last():
    assert sizes(3) == (3,)
    assert sizes(200) == tuple(range(10, 201))
    many = sizes(10_000)
    assert many[:191] == tuple(range(10, 201))
    assert many[-1] == 10_000
    assert {500, 1000, 2000, 5000} < set(many)
    assert len(many) < 410


@pytest.mark.quick
def test_numbers_of_labels_that_are_not_there_are_refused():
    for n in (0, 25):
        with pytest.raises(InputError, match=f"must be from 1 to 24, got {n}"):
            label_estimates(LABELS, GRADED, [n])


def test_the_variance_that_a_judge_saves_is_the_share_that_it_explains():
    labels, verdicts = drawn(600, 600, 2)
    correlation = np.corrcoef(labels, verdicts)[0, 1]
    saved = variance_saved(labels, np.stack([verdicts, np.full(600, 0.5)], axis=1), 100)
    # λ costs a degree of freedom of 100: (1 − ρ²)·(1 + 1/97)
    assert saved[0] == pytest.approx(1 - (1 - correlation**2) * (1 + 1 / 97), abs=0.02)
    assert saved[1] == pytest.approx(0, abs=1e-9)
    assert np.isnan(variance_saved(labels, verdicts[:, None], 600)).all()
    assert np.isnan(variance_saved(np.ones(600), verdicts[:, None], 100)).all()
