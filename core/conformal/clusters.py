"""Rows that belong together: repeats of one question, or questions about one passage, count as one unit.

Rows of one cluster are right or wrong together, so n rows of g clusters say less than n independent ones. A variance is
computed from the clusters' sums (Miller 2024, arXiv 2411.00640). A share keeps its exact interval, with the number of
independent rows that would have this variance (Korn & Graubard 1998).

``clusters`` (n,) numbers each row's cluster. None means that every row is a cluster of its own.
"""

from collections.abc import Hashable, Sequence

import numpy as np

from core.records import FloatArray, IntArray

TAIL = 0.025
NORMAL = 1.959963984540054
"""The normal quantile of a 95% interval."""


def numbered(names: Sequence[Hashable]) -> IntArray | None:
    """The number of each row's name, counted up as they first occur, (n,); None if all names differ.

    >>> numbered(["a", "b", "a"]).tolist(), numbered(["a", "b"])
    ([0, 1, 0], None)
    """
    numbers: dict[Hashable, int] = {}
    rows = [numbers.setdefault(name, len(numbers)) for name in names]
    return np.array(rows, dtype=np.int64) if len(numbers) < len(rows) else None


def joined(*namings: Sequence[Hashable | None]) -> IntArray | None:
    """The number of each row's cluster, (n,): rows that share a name in any of the ``namings`` (n,) are in one cluster,
    and so are rows that others connect. A row named None shares nothing. None if every row is alone.

    >>> joined(["a", None, "a", None], ["x", "x", "y", "z"]).tolist()
    [0, 0, 0, 1]
    """
    parents = list(range(len(namings[0])))
    for names in namings:
        first: dict[Hashable, int] = {}
        for row, name in enumerate(names):
            if name is not None:
                join(parents, first.setdefault(name, row), row)
    return numbered([root(parents, row) for row in range(len(parents))])


def root(parents: list[int], row: int) -> int:
    """The first row of a row's cluster, where ``parents`` lead from each row to an earlier one, or to itself."""
    while parents[row] != row:
        parents[row] = parents[parents[row]]
        row = parents[row]
    return row


def join(parents: list[int], row: int, other: int) -> None:
    """Put the clusters of two rows together (:func:`root`)."""
    low, high = sorted((root(parents, row), root(parents, other)))
    parents[high] = low


def within(clusters: IntArray | None, rows: IntArray) -> IntArray | None:
    """The clusters of some rows, numbered from 0 without gaps; None if each of them is in another cluster."""
    if clusters is None:
        return None
    different, numbers = np.unique(clusters[rows], return_inverse=True)
    return np.asarray(numbers, dtype=np.int64) if len(different) < len(rows) else None


def count(clusters: IntArray | None, n: int) -> int:
    """The number of clusters among n rows, whose clusters are numbered without gaps."""
    return n if clusters is None else int(clusters.max()) + 1


def kish_number(clusters: IntArray | None, n: int) -> int:
    """The number of independent rows that n rows are worth if the rows of a cluster are all alike: ``(Σ b)² / Σ b²``
    with b the clusters' sizes (Kish 1965), rounded down. It is the number of clusters if all have the same size.

    >>> kish_number(np.array([0, 0, 1, 1]), 4), kish_number(None, 4)
    (2, 4)
    """
    if clusters is None or n == 0:
        return n
    sizes = np.bincount(clusters)
    return int(n * n // (sizes * sizes).sum())


def sums(values: FloatArray, clusters: IntArray | None) -> FloatArray:
    """The sum of the values (n, …) within each cluster, (g, …)."""
    if clusters is None:
        return values
    total = np.zeros((count(clusters, len(values)), *values.shape[1:]))
    np.add.at(total, clusters, values)
    return total


def covariance_of_mean(values: FloatArray, clusters: IntArray | None) -> FloatArray:
    """The covariance (f, f) of the mean of values (n, f): ``g/(g − 1) · Σ_clusters S Sᵀ / n²``, with S a cluster's
    summed deviations from the mean. It is NaN for a single cluster."""
    deviations = sums(values - values.mean(axis=0), clusters)
    g = len(deviations)
    scale = g / (g - 1) if g > 1 else np.nan
    return np.asarray(scale * (deviations.T @ deviations) / len(values) ** 2, dtype=np.float64)


def few_clusters(g: int) -> float:
    """By how much an interval is widened because its variance was estimated from g clusters: the quantile of Student's
    t with g − 1 degrees of freedom over the normal one; infinite for one cluster."""
    from scipy.special import stdtrit  # imported here because workers don't need SciPy

    return float(stdtrit(g - 1, 1 - TAIL) / NORMAL) if g > 1 else float("inf")


def effective_number(values: FloatArray, clusters: IntArray | None) -> float:
    """The number of independent rows whose share has the variance that the share of ``values`` (n,), each 0 or 1, has.

    It is n without clusters, and otherwise at most n and at least 1. It takes account of how uncertain a variance from
    few clusters is, and clusters of unequal size are as few as :func:`kish_number` says. If that is fewer than half of
    them, some large ones decide the share, and the small ones do not show how these vary: then the rows of a cluster
    count as alike. So they do for a share of 0 or 1, which has no variance.

    >>> effective_number(np.array([1.0, 1.0, 0.0, 0.0]), None)
    4.0
    """
    n = len(values)
    if clusters is None:
        return float(n)
    g, alike, share = count(clusters, n), kish_number(clusters, n), float(values.mean())
    if g < 2 or share in (0.0, 1.0):
        return float(alike)
    variance = float(covariance_of_mean(values[:, None], clusters)[0, 0])
    worth = share * (1 - share) / variance / few_clusters(alike) ** 2 if variance > 0 else n
    return float(min(max(worth, 1.0), alike if 2 * alike < g else n))


def crossed_number(values: FloatArray, first: IntArray, second: IntArray) -> float:
    """As :func:`effective_number`, where each row belongs to two clusters: an answer to its person and to its question.

    Variances add: ``V = V₁ + V₂ − V₀``, with those by each clustering and that of independent rows (Cameron, Gelbach &
    Miller 2011, doi:10.1198/jbes.2010.07136), so ``1/worth = 1/worth₁ + 1/worth₂ − 1/n``.

    >>> crossed_number(np.array([1.0, 0.0, 1.0]), np.array([0, 1, 2]), np.array([0, 1, 2]))
    3.0
    """
    n, rows = len(values), np.arange(len(values))
    first_number, second_number = (effective_number(values, within(clusters, rows)) for clusters in (first, second))
    return float(min(max(1 / (1 / first_number + 1 / second_number - 1 / n), 1.0), n))
