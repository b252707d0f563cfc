import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from core.calibration.bins import EDGES, TopLabel, edges, place, top_label
from core.calibration.decomposition import brier_parts
from core.calibration.errors import binned_error, class_columns, top_errors
from core.calibration.metrics import brier
from core.errors import InputError
from tests.reference.calibration import classwise_error

pytestmark = pytest.mark.quick


@st.composite
def tops(draw):
    n = draw(st.integers(1, 40))
    shares = st.one_of(st.sampled_from([0.0, 0.2, 1 / 3, 0.6, 1.0]), st.floats(0, 1))
    c = draw(arrays.arrays(np.float64, n, elements=shares))
    return TopLabel(c, draw(arrays.arrays(np.float64, n, elements=st.sampled_from([0.0, 1.0]))))


@given(tops(), st.integers(1, 20), st.sampled_from(EDGES))
def test_against_a_slow_reference(top, bins, by):
    ends = edges(top.confidence, bins=bins, by=by)
    ece, gaps, placed = 0.0, [], top.confidence.round(12)
    for b, (low, high) in enumerate(itertools.pairwise(ends)):
        inside = (low < placed) & (placed <= high)
        if b == 0:
            inside |= placed == 0
        if inside.any():
            gap = top.correct[inside].mean() - top.confidence[inside].mean()
            gaps.append(gap)
            ece += inside.mean() * abs(gap)
    result = top_errors(top, bins=bins, by=by)
    assert result.ece == pytest.approx(ece, abs=1e-12)
    assert result.mce == pytest.approx(max(map(abs, gaps)), abs=1e-12)
    assert result.over + result.under == pytest.approx(result.ece, abs=1e-12)


@given(tops(), st.integers(1, 20), st.sampled_from(EDGES))
def test_every_question_is_in_one_bin_and_equal_confidences_share_it(top, bins, by):
    ends = edges(top.confidence, bins=bins, by=by)
    index = place(top.confidence, ends)
    placed = top.confidence.round(12)
    assert ((ends[index] < placed) | (placed == 0)).all()
    assert (placed <= ends[index + 1]).all()


def test_bins_of_equal_mass_hold_as_many():
    c = np.random.default_rng(0).random(1000)
    assert np.bincount(place(c, edges(c, bins=8, by="mass"))).tolist() == [125] * 8


def test_classwise_error_by_hand():
    p = np.array([[0.9, 0.1], [0.6, 0.4]])
    # Option A: |1 − .9| and |0 − .6| in bins of their own, a half each; option B the same: .1 and .6 again.
    assert classwise_error(p, np.array([0, 1])) == pytest.approx((0.1 + 0.6) / 2)


@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.integers(1, 20))
def test_the_briers_parts_add_up(seed, k, bins):
    rng = np.random.default_rng(seed)
    p, y = rng.dirichlet(np.ones(k), size=30), rng.integers(0, k, 30)
    parts = brier_parts(p, y, bins=bins)
    assert parts.reliability - parts.resolution + parts.uncertainty + parts.within == pytest.approx(brier(p, y))
    assert min(parts.reliability, parts.resolution, parts.uncertainty) >= 0


def test_one_forecast_for_all_has_no_resolution():
    # ȳ = (.75, .25) where (.5, .5) was said: Σ (.25)² twice, and .75 · .25 twice.
    parts = brier_parts(np.full((4, 2), 0.5), np.array([0, 0, 0, 1]))
    assert (parts.reliability, parts.resolution, parts.uncertainty) == pytest.approx((0.125, 0, 0.375))


@pytest.mark.parametrize(
    ("probabilities", "labels", "says"),
    [
        ([[0.5, 0.6]], [0], "sum 1.1; probabilities lie in"),
        ([[0.5, 0.5]], [2], "outside the 2 options"),
        (np.empty((0, 3)), np.array([], dtype=int), "there are no questions"),
    ],
)
def test_what_can_not_be_is_said(probabilities, labels, says):
    with pytest.raises(InputError, match=says):
        top_label(np.array(probabilities), np.array(labels))


def test_unknown_bins_are_refused():
    for bins in (0, 101, -3, 2.5):
        with pytest.raises(InputError, match=f"1 to 100 bins, got {bins}"):
            edges(np.array([0.5]), bins=bins)
    with pytest.raises(InputError, match="choose from width, mass"):
        edges(np.array([0.5]), by="luck")


def test_sure_of_everything():
    top = top_label(np.eye(2)[[0, 1, 1]], np.array([0, 1, 0]))
    assert top_errors(top).ece == pytest.approx(1 / 3)
    assert top_errors(TopLabel(np.array([0.0, 0.0]), np.array([0.0, 1.0]))).ece == 0.5


def test_an_edge_of_equal_mass_is_the_confidence_of_the_rank_rounded_up():
    c = np.array([0.1, 0.2, 0.3, 0.4, 0.5])
    assert edges(c, bins=2, by="mass").tolist() == [0.0, 0.3, 1.0]  # ⌈5/2⌉ = 3rd
    assert edges(c, bins=3, by="mass").tolist() == [0.0, 0.2, 0.4, 1.0]  # ⌈5/3⌉ = 2nd, ⌈10/3⌉ = 4th
    assert edges(c[:1], bins=2, by="mass").tolist() == [0.0, 0.1, 1.0]


def test_a_confidence_on_an_edge_is_in_the_bin_that_it_ends():
    def ece(confidence, correct):
        return top_errors(TopLabel(np.array(confidence), np.array(correct))).ece

    # .6 = 9/15 ends the bin of .55: |(0 − .55) + (1 − .6)| / 2; in a bin with .65 it would be .475 and more.
    assert ece([0.55, 0.6], [0.0, 1.0]) == pytest.approx(0.075)
    assert ece([0.6, 0.65], [1.0, 0.0]) == pytest.approx((0.4 + 0.65) / 2)
    assert ece([0.0, 0.05], [0.0, 1.0]) == pytest.approx(0.95 / 2)


def test_errors_of_many_samples_are_row_by_row():
    sums = np.array([[1.0, -2.0], [0.5, 0.0]])
    assert binned_error(sums, 4).tolist() == [0.75, 0.125]
    assert binned_error(sums, 4, "over").tolist() == [0.5, 0.0]
    assert binned_error(sums, 4, "under").tolist() == [0.25, 0.125]


def test_each_option_has_bins_of_its_own():
    p, y = np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]]), np.array([0, 1, 1])
    index, gaps = class_columns(p, y, bins=2)
    assert index.tolist() == [[1, 2], [1, 2], [0, 3]]
    assert gaps == pytest.approx(np.array([[0.1, -0.1], [-0.6, 0.6], [-0.2, 0.2]]))
    # By mass, two bins: A's edge is .6 and B's .4, the second smallest.
    index, _ = class_columns(p, y, bins=2, by="mass")
    assert index.tolist() == [[1, 2], [0, 2], [0, 3]]
    assert class_columns(p, y)[0].max() < 30
    assert classwise_error(p, y, bins=2) == pytest.approx((abs(0.1 - 0.6) + 0.2) / 3)
    assert classwise_error(p, y, bins=2, by="mass") == pytest.approx(((0.1 + 0.8) + (0.5 + 0.2)) / 6)


def test_confidences_lie_between_0_and_1_and_are_as_many_as_their_truths():
    for c, y in ((np.ones((2, 1)), np.ones((2, 1))), (np.ones(2), np.ones(3))):
        with pytest.raises(InputError, match=r"confidences have shape .* expected \(n,\) for both"):
            TopLabel(c, y)
    for bad in (-0.1, 1.1, 1.00001, np.nan):
        with pytest.raises(InputError, match=f"confidence {bad} of row 1 is not in"):
            TopLabel(np.array([0.5, bad, 0.5]), np.ones(3))
    slightly = TopLabel(np.array([0.0, 1 + 5e-7]), np.ones(2))
    assert place(slightly.confidence, edges(slightly.confidence)).tolist() == [0, 14]


def test_edges_of_equal_width_by_hand():
    assert edges(np.array([0.5]), bins=4).tolist() == [0, 0.25, 0.5, 0.75, 1]
    assert len(edges(np.array([0.5]))) == 16
    assert len(edges(np.array([0.5]), bins=100)) == 101
