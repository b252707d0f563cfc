"""Rows that belong together count as one unit."""

import numpy as np
import pytest

from core.conformal.clusters import covariance_of_mean, effective_number, numbered, within
from core.conformal.coverage import clustered_share_interval, share_interval

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("right", [0, 1, 31, 40])
def test_rows_repeated_five_times_count_once(right: int):
    hits = (np.arange(40) < right).astype(np.float64)
    low, high = clustered_share_interval(np.repeat(hits, 5), np.repeat(np.arange(40), 5))
    assert (low, high) == pytest.approx(share_interval(right, 40), abs=0.01)


def test_clusters_whose_rows_differ_at_random_count_nearly_as_many_rows():
    rng = np.random.default_rng(0)
    worth = [effective_number((rng.random(1000) < 0.7) * 1.0, np.repeat(np.arange(200), 5)) for _ in range(50)]
    assert 850 < np.mean(worth) <= 1000


def test_the_variance_of_a_mean_is_that_of_its_clusters_means():
    values = np.random.default_rng(1).random((30, 2))
    variance = covariance_of_mean(np.repeat(values, 4, axis=0), np.repeat(np.arange(30), 4))
    assert variance == pytest.approx(np.cov(values.T) / 30)


def test_a_single_cluster_has_no_variance():
    assert np.isnan(covariance_of_mean(np.array([[0.0], [1.0]]), np.array([0, 0]))).all()


def test_clusters_of_some_rows_are_numbered_anew():
    clusters = numbered(["a", "b", "a", "c", "c"])
    assert clusters is not None
    assert within(clusters, np.array([0, 1, 3])) is None
    assert within(clusters, np.array([1, 3, 4])).tolist() == [0, 1, 1]


@pytest.mark.parametrize("sizes", [[30, 30, *[1] * 40], [100] * 6 + [1] * 50, [20, 15, 10, 5, *[1] * 10]])
@pytest.mark.parametrize("share", [0.5, 0.95])
def test_an_interval_holds_where_a_few_clusters_have_most_rows(sizes: list[int], share: float):
    """The rows of a cluster are right or wrong together."""
    clusters = np.repeat(np.arange(len(sizes)), sizes)
    rng = np.random.default_rng(3)
    held = 0
    for _ in range(300):
        low, high = clustered_share_interval(((rng.random(len(sizes)) < share) * 1.0)[clusters], clusters)
        held += low <= share <= high
    assert held >= 0.93 * 300
