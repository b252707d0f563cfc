"""Two runs' shares of right answers on the same questions: the interval and the test of their difference.

The interval is Tango's (:mod:`core.calibration.tango`), and the test McNemar's, exact.

Rows of a cluster (:mod:`core.conformal.clusters`) are right or wrong together. The interval is then that of the number
of independent rows whose difference has the variance of the clusters' sums, and the test turns whole clusters: under
its hypothesis, either run could have given either run's answers to a cluster.
"""

import numpy as np
from scipy.special import bdtr, ndtr, stdtrit

from core.calibration.tango import tango_ends
from core.conformal.clusters import count, covariance_of_mean, kish_number, sums
from core.estimates import Estimate
from core.records import FloatArray, IntArray


def difference_of_shares(changes: FloatArray, clusters: IntArray | None, *, z: float) -> Estimate:
    """The share right in the second run minus that in the first, with its interval.

    ``changes`` (n,) are 1 where only the second run is right, −1 where only the first is, and otherwise 0. ``z`` is the
    normal quantile of the interval's level, 1.96 for 95%.
    """
    n, only_first, only_second = len(changes), int((changes < 0).sum()), int((changes > 0).sum())
    if clusters is None:
        return paired_share_interval(only_first, only_second, n, z=z)
    worth = _worth(changes, clusters, z) / n
    ends = paired_share_interval(only_first * worth, only_second * worth, n * worth, z=z).ends
    return Estimate((only_second - only_first) / n, *ends)


def design_effect(changes: FloatArray, clusters: IntArray | None) -> float:
    """How many times larger the variance of the mean change is than if the rows were independent (Kish 1965).

    Two further clusters, in which every row changes, stand for what few changes can't show.

    >>> design_effect(np.array([1.0, 0.0, -1.0, 0.0]), None)
    1.0
    """
    n, g, alike = len(changes), count(clusters, len(changes)), kish_number(clusters, len(changes))
    if clusters is None:
        return 1.0
    if g < 2:
        return float(n)
    alone = float(changes.var()) / n + 2 / (n * alike)
    together = float(covariance_of_mean(changes[:, None], clusters)[0, 0]) + 2 / alike**2
    return together / alone


def _worth(changes: FloatArray, clusters: IntArray, z: float) -> float:
    """The number of independent rows whose mean change has the variance that the mean of ``changes`` (n,) has: at most
    n, and about the number of clusters where few or no rows change.

    Student's quantile stands for how uncertain a variance from this many clusters is. Clusters of unequal size are as
    few as Kish's number says. If that is fewer than half of them, rows of a cluster count as alike
    (:func:`core.conformal.clusters.effective_number`)."""
    n, g, alike = len(changes), count(clusters, len(changes)), kish_number(clusters, len(changes))
    if g < 2:
        return 1.0
    worth = n / design_effect(changes, clusters) * (z / float(stdtrit(max(alike - 1, 1), ndtr(z)))) ** 2
    return min(max(worth, 1.0), alike if 2 * alike < g else n)


def paired_share_interval(only_first: float, only_second: float, n: float, *, z: float) -> Estimate:
    """The share right in the second run minus that in the first, of n shared questions, with its interval
    (:func:`core.calibration.tango.tango_ends`)."""
    return Estimate((only_second - only_first) / n, *tango_ends(only_first, only_second, n, z=z))


def mcnemar(only_first: int, only_second: int) -> float:
    """The exact two-sided p-value that as many questions are right in the first run alone as in the second alone.

    >>> round(mcnemar(1, 5), 5)
    0.21875
    """
    n = only_first + only_second
    return min(1.0, 2 * float(bdtr(min(only_first, only_second), n, 0.5))) if n else 1.0


def turned_p_value(changes: FloatArray, clusters: IntArray | None) -> float:
    """The exact two-sided p-value that both runs are right equally often, where each cluster's answers may be turned.

    S, the sum of a cluster's ``changes`` (:func:`difference_of_shares`), has either sign with probability ½. The value
    is the probability that Σ ±S lies at least as far from 0 as Σ S. Where every S is −1, 0 or 1, this is McNemar's
    test.

    >>> turned_p_value(np.ones(6), None), turned_p_value(np.ones(6), np.arange(6) // 2)
    (0.03125, 0.25)
    """
    turned = np.rint(sums(changes, clusters)).astype(np.int64)
    sizes, counts = np.unique(np.abs(turned[turned != 0]), return_counts=True)
    if sizes.max(initial=1) == 1:
        return mcnemar(int((turned < 0).sum()), int((turned > 0).sum()))
    # law[i]: the probability that the sum, plus all sizes, halved, is i; clusters of one size s add s·Binomial(c, ½)
    law = np.ones(1)
    for size, many in zip(sizes.tolist(), counts.tolist(), strict=True):
        steps = np.zeros(size * many + 1)
        below = bdtr(np.arange(many + 1), many, 0.5)
        steps[::size] = np.diff(below, prepend=0.0)
        law = np.convolve(law, steps)
    total, apart = int((sizes * counts).sum()), abs(int(turned.sum()))
    return min(1.0, 2 * float(law[: (total - apart) // 2 + 1].sum())) if apart else 1.0
