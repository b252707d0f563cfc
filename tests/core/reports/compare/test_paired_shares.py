"""Whole clusters are turned: the exact law against all signs, and what a cluster is worth."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.conformal.set_sizes.pairwise import together
from core.reports.compare.paired_shares import difference_of_shares, mcnemar, paired_share_interval, turned_p_value

pytestmark = pytest.mark.quick

Z = together(1)


@given(st.lists(st.lists(st.sampled_from([-1.0, 0.0, 1.0]), min_size=1, max_size=4), min_size=1, max_size=8))
def test_the_p_value_is_the_share_of_signs_that_lie_as_far_from_nothing(groups):
    changes, clusters = np.concatenate(groups), np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    totals = np.array([sum(group) for group in groups])
    signs = np.array(list(itertools.product((-1, 1), repeat=len(groups))))
    expected = float((np.abs(signs @ totals) >= abs(totals.sum()) - 1e-9).mean())
    assert turned_p_value(changes, clusters) == pytest.approx(expected)


def test_without_clusters_it_is_mcnemars_test_to_the_bit():
    changes = np.array([1.0] * 8 + [-1.0] * 3 + [0.0] * 20)
    assert turned_p_value(changes, None) == turned_p_value(changes, np.arange(31)) == mcnemar(3, 8)
    # Five rows of each question that agree are turned at once.
    assert turned_p_value(changes.repeat(5), np.arange(31).repeat(5)) == pytest.approx(mcnemar(3, 8))


def test_an_interval_of_clusters_is_that_of_fewer_rows():
    changes = np.array([1.0] * 12 + [-1.0] * 8 + [0.0] * 80)
    alone = difference_of_shares(changes, None, z=Z)
    assert alone == paired_share_interval(8, 12, 100, z=Z)
    repeated = difference_of_shares(changes.repeat(5), np.arange(100).repeat(5), z=Z)
    assert repeated.value == pytest.approx(alone.value)
    assert 1 <= (repeated.high - repeated.low) / (alone.high - alone.low) <= 1.04
    # Clusters whose rows have nothing to do with each other cost nearly nothing.
    mixed = np.random.default_rng(0).permutation(changes.repeat(5))
    apart = difference_of_shares(mixed, np.arange(100).repeat(5), z=Z)
    assert apart.high - apart.low < 0.6 * (repeated.high - repeated.low)


def test_no_interval_of_clusters_is_a_point():
    for changes in (np.zeros(60), np.ones(60)):
        result = difference_of_shares(changes, np.arange(12).repeat(5), z=Z)
        assert -1 <= result.low < result.high <= 1
        assert result.high - result.low > 0.2


@pytest.mark.parametrize("sizes", [[30, 30, *[1] * 40], [100] * 6 + [1] * 50, [60, *[1] * 200]])
def test_a_difference_holds_where_a_few_clusters_have_most_rows(sizes: list[int]):
    clusters = np.repeat(np.arange(len(sizes)), sizes)
    rng = np.random.default_rng(1)
    held = 0
    for _ in range(200):
        changes = rng.choice([-1.0, 0.0, 1.0], p=[0.2, 0.6, 0.2], size=len(sizes))[clusters]
        difference = difference_of_shares(changes, clusters, z=1.96)
        held += difference.low <= 0 <= difference.high
    assert held >= 0.93 * 200
