"""The power of the tests of a pair of runs: how large a difference has to be for a number of questions to show it.

Accuracy has McNemar's exact test. Of n questions, D ~ Binomial(n, q) are right in exactly one run, and the second run
is the right one on X ~ Binomial(D, ½ + δ/(2q)) of these, for a difference δ. The test's power is a sum over D and X,
so it is exact. Rows of a cluster count as the independent rows that they are worth: rows over the design effect (Kish
1965; Miller 2024, arXiv 2411.00640). The test turns whole clusters. Their sums have finer steps than single rows unless
all are multiples of one number, so the test's level is nearer to the nominal one; and few sums vary as Student's t.

The power of the test of mean set size is that of :mod:`core.conformal.set_sizes.power`.

``tests/simulation/power.py`` compares planned with simulated power, for independent questions and for clusters.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import bdtr, ndtri, stdtrit

from core.conformal.alpha import Alpha
from core.conformal.clusters import count, effective_number, kish_number, sums
from core.conformal.permutation import Swappable
from core.conformal.set_sizes.power import SizeSpread, calibrating, size_spread, size_spread_of_one
from core.records import FloatArray, IntArray
from core.reports.compare.paired_shares import design_effect

SIGNIFICANT = 0.05
"""The level at which a difference is called more than chance."""
POWER = 0.8
"""The usual power: a true difference of the planned size is found in 80% of draws."""
BISECTIONS = 24
MOST_OPTIONS = 1000.0
"""No difference in mean set size is larger."""
ROUGH_BELOW = 50
"""With fewer calibration questions that are missed in exactly one run, a power of mean set size is rough."""
ROUGH = (
    f"The figure of set size is rough, because on fewer than {ROUGH_BELOW} calibration questions only one of the two "
    "runs misses the true option: its power may be 10 points off."
)


@dataclass(frozen=True, slots=True)
class SpreadOfPair:
    """What decides how large a difference between two runs must be: how their answers differ from question to question.

    ``differing`` is the share of test rows that exactly one run gets right; it grows by ``growth`` for each unit of the
    difference where it is a guess. A test question has ``rows`` rows, which are ``worth`` independent ones. ``step`` is
    that of the test's sum, in standard deviations, over the step with independent rows. ``even`` is Kish's number of
    clusters of one size, over the number of clusters. ``sizes`` is None if it is not known how set sizes vary, or if a
    threshold is infinite.
    """

    differing: float
    growth: float = 0.0
    rows: float = 1.0
    worth: float = 1.0
    step: float = 1.0
    even: float = 1.0
    sizes: SizeSpread | None = None

    def accuracy_power(self, tests: int, difference: float, significance: float = SIGNIFICANT) -> float:
        """The power of the test of accuracy on this many test questions, for a difference above 0."""
        differing = min(1.0, max(self.differing + self.growth * difference, difference))
        worth = tests * self.worth
        if self.worth != 1:
            tail = significance / 2
            worth *= float(ndtri(tail) / stdtrit(max(tests * self.even - 1, 1), tail)) ** 2
        return mcnemar_power(round(worth), differing, difference, significance, step=self.step)

    def size_power(
        self, calibration: float, tests: float, difference: float, significance: float = SIGNIFICANT
    ) -> float:
        """The power of the test of mean set size, for a difference above 0; NaN if the variances are not known.

        It is 0 for a difference that is smaller than that of sets which differ by one option on as few questions as an
        exact test of signs can find.
        """
        if self.sizes is None:
            return math.nan
        if difference < math.ceil(1 - math.log2(significance)) / tests:
            return 0.0
        return self.sizes.power(calibration, tests, difference, significance)

    def is_rough(self, calibration: float) -> bool:
        """Whether the power of mean set size is rough, because too few calibration questions tell the runs apart."""
        return self.sizes is not None and bool(calibration * self.sizes.missed_by_one < ROUGH_BELOW)

    def detectable_accuracy(self, tests: int, *, significance: float = SIGNIFICANT, power: float = POWER) -> float:
        """The smallest difference in accuracy that is found with this power; NaN if none is."""
        return _smallest(lambda difference: self.accuracy_power(tests, difference, significance), power, most=1.0)

    def detectable_size(
        self, calibration: float, tests: float, *, significance: float = SIGNIFICANT, power: float = POWER
    ) -> float:
        """The smallest difference in mean set size that is found with this power; NaN if it is not known."""
        return _smallest(
            lambda difference: self.size_power(calibration, tests, difference, significance), power, most=MOST_OPTIONS
        )


def spread_of_pair(
    first: Swappable, second: Swappable, alpha: Alpha, clusters: IntArray | None, *, empty: str = "allow"
) -> SpreadOfPair:
    """The spread of two runs on the same questions. ``clusters`` (m,) are those of the test rows.

    Calibration questions that only one run has vary alone; a plan with questions that calibrate both then errs on the
    side of too many questions.
    """
    change = second.right[0] - first.right[0]
    m, g = len(change), count(clusters, len(change))
    worth = min(max(m / design_effect(change, clusters), 1.0), m) / g
    sizes = size_spread(first, second, alpha, clusters, empty=empty)
    divisor = int(np.gcd.reduce(np.rint(sums(change, clusters)).astype(np.int64)))
    step = min(1.0, divisor * worth * g / m) if divisor else 1.0
    return SpreadOfPair(
        float(np.abs(change).mean()), rows=m / g, worth=worth, step=step, even=kish_number(clusters, m) / g, sizes=sizes
    )


@dataclass(frozen=True, slots=True)
class SmallestDifferences:
    """The smallest true differences in accuracy and mean set size that a pair's tests find in 80% of draws; NaN where
    there is none. ``rough`` says that the one in set size is (:meth:`SpreadOfPair.is_rough`)."""

    accuracy: float
    set_size: float
    rough: bool


def smallest_differences(
    first: Swappable,
    second: Swappable,
    alpha: Alpha,
    clusters: IntArray | None,
    *,
    significance: float,
    empty: str = "allow",
) -> SmallestDifferences:
    """The smallest differences that the questions of two runs show, at this level. ``clusters`` (m,) are those of the
    test rows."""
    spread = spread_of_pair(first, second, alpha, clusters, empty=empty)
    tests = count(clusters, first.right.shape[1])
    n = calibrating(*(side.calibration.shape[1] + len(side.alone) for side in (first, second)))
    accuracy = spread.detectable_accuracy(tests, significance=significance)
    size = spread.detectable_size(n, tests, significance=significance)
    return SmallestDifferences(accuracy, size, not math.isnan(size) and spread.is_rough(n))


def spread_with_another(run: Swappable, alpha: Alpha, clusters: IntArray | None) -> SpreadOfPair:
    """The spread of a run and another one that is not there yet: as right up to the difference, with sets that vary as
    much, and with answers that are independent of the first one's. Real models agree more often, so this asks for too
    many questions rather than too few. ``run`` holds the answers of one model."""
    right = run.right[0]
    m, g = len(right), count(clusters, len(right))
    p = float(right.mean())
    worth, sizes = effective_number(right, clusters) / g, size_spread_of_one(run, alpha, clusters)
    return SpreadOfPair(2 * p * (1 - p), abs(1 - 2 * p), m / g, worth, sizes=sizes)


def mcnemar_power(
    n: int, differing: float, difference: float, significance: float = SIGNIFICANT, *, step: float = 1.0
) -> float:
    """The power of McNemar's exact test on n independent questions. A share ``differing`` of them is right in exactly
    one run: ``Σ_d P(D = d)·P(X ≤ c_d or X ≥ d − c_d)``, with c_d the largest count whose p-value is significant.

    With a ``step`` below 1, the test's level lies between that of these whole counts, at 1, and the nominal one, at 0.

    >>> round(mcnemar_power(6, 1.0, 1.0), 3), mcnemar_power(5, 1.0, 1.0)
    (1.0, 0.0)
    """
    if not n:
        return 0.0
    mean, reach = n * differing, 8 * math.sqrt(n * differing * (1 - differing)) + 8
    d = np.arange(max(0, math.floor(mean - reach)), min(n, math.ceil(mean + reach)) + 1)
    likely = _at_most(d, n, differing) - _at_most(d - 1, n, differing)
    critical = _critical(d, significance)
    second = 0.5 + difference / (2 * differing) if differing else 0.5
    # P(X ≥ d − c) of the second run is P(d − X ≤ c) of the first one
    tails = min(second, 1.0), max(1 - second, 0.0)
    rejected = sum(_at_most(critical, d, p) for p in tails)
    if step < 1:  # the next count, with the probability that makes the level the nominal one
        level = 2 * _at_most(critical, d, 0.5)
        further = (significance - level) / (2 * _at_most(critical + 1, d, 0.5) - level)
        rejected += (1 - step) * further * sum(_at_most(critical + 1, d, p) - _at_most(critical, d, p) for p in tails)
    return float(likely @ rejected)


def _critical(d: IntArray, significance: float) -> IntArray:
    """The largest c with ``2·P(Binomial(d, ½) ≤ c) ≤ significance``, −1 if there is none; the normal quantile comes
    first, and is at most one or two off."""
    c = np.floor(d / 2 + float(ndtri(significance / 2)) * np.sqrt(d) / 2).astype(np.int64)
    while (more := (2 * _at_most(c + 1, d, 0.5) <= significance) & (c + 1 < d)).any():
        c = c + more
    while (less := (2 * _at_most(c, d, 0.5) > significance) & (c >= 0)).any():
        c = c - less
    return np.maximum(c, -1)


def _at_most(most: IntArray, n: int | IntArray, p: float) -> FloatArray:
    """P(Binomial(n, p) ≤ count); 0 below 0."""
    return np.asarray(np.where(most < 0, 0.0, bdtr(np.maximum(most, 0), n, p)), dtype=np.float64)


def _smallest(power_at: Callable[[float], float], power: float, *, most: float) -> float:
    """The smallest difference up to ``most`` with at least this power, which grows with it; NaN if there is none."""
    low, high = 0.0, most
    if not power_at(high) >= power:
        return math.nan
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (low, middle) if power_at(middle) >= power else (middle, high)
    return high
