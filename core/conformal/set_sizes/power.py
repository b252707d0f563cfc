"""The power of the paired permutation test of mean set size.

Let Δ be the true difference, σ₀ the standard deviation that the test sees when it swaps answers, and r that of the
ratio W of the observed difference and σ̂₀. The power is nearly ``Φ((E W − z) / r) + Φ((−E W − z) / r)``.

``σ₀² = c/n + t/m`` has a part of n calibration and of m test questions. t is the mean square of what a swap changes in
a question's set sizes, at the threshold that both runs' answers give together. A miss among the calibration questions
moves a threshold by 1/n in level, and the mean size by the slope s of size against level; c is the mean square of what
a swap changes in ``s₂·miss₂ − s₁·miss₁``. Without c, power would be far too high (:mod:`core.conformal.permutation`).

r and E W follow from the delta method: W depends on the difference and on σ̂₀, and more misses raise both. For many
questions, r is 1 and E W is Δ/σ₀. ``tests/simulation/power.py`` compares planned with simulated power.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr, ndtri

from core.conformal.alpha import Alpha
from core.conformal.clusters import count, covariance_of_mean, sums
from core.conformal.permutation import Swappable
from core.conformal.set_sizes.by_rank import sizes_at
from core.conformal.set_sizes.differences import FEW
from core.conformal.threshold import rank
from core.records import FloatArray, IntArray

OWN, BOTH = slice(1), slice(2)
"""The answers of a run's own model, and those of both models."""
LEAST_SPREAD = 0.3
"""The delta method does not hold for a ratio W that hardly varies."""


@dataclass(frozen=True, slots=True)
class SizeSpread:
    """What decides the power of the test of mean set size.

    ``calibration`` (3, 3) is the covariance of what one calibration question adds: to the difference, to c, and to the
    level of the thresholds. ``test`` (2, 2) is that of a test question: to the difference, and to t. ``swapped`` has c
    and t, and ``growth`` how much each grows with the level. ``apart`` is the difference of the two runs, and
    ``missed_by_one`` the share of calibration questions whose score is above the threshold in exactly one of them.
    """

    calibration: FloatArray
    test: FloatArray
    swapped: tuple[float, float]
    growth: tuple[float, float] = (0.0, 0.0)
    apart: float = 0.0
    missed_by_one: float = 1.0

    def power(self, n: float, m: float, difference: float, significance: float) -> float:
        """The power on n calibration and m test questions, for a difference above 0.

        σ₀² is that of these two runs for a difference as large as theirs, and that of runs which are alike for a small
        one; between them it is taken to grow with the square of the difference.
        """
        drawn = float(self.calibration[0, 0] / n + self.test[0, 0] / m)
        like = min(1.0, (difference / self.apart) ** 2) if self.apart else 1.0
        seen = drawn + like * (self.swapped[0] / n + self.swapped[1] / m - drawn)
        if not seen > 0:
            return 1.0
        # What a question adds to the difference and to σ₀²: on the calibration side directly, and by the level.
        of_calibration = np.array([[1, 0, 0], [0, 1 / n, self.growth[0] / n + self.growth[1] / m]])
        of_test = np.array([[1, 0], [0, 1 / m]])
        joint = of_calibration @ self.calibration @ of_calibration.T / n + of_test @ self.test @ of_test.T / m
        # W = Δ/σ₀: dW/dΔ = 1/σ₀ and dW/dσ₀² = −Δ/(2σ₀³); its mean has second derivatives −1/(2σ₀³) and 3Δ/(4σ₀⁵)
        slopes = np.array([1, -difference / (2 * seen)])
        r = max(math.sqrt(float(slopes @ joint @ slopes) / seen), LEAST_SPREAD)
        curved = 3 / 8 * difference * joint[1, 1] / seen**2 - joint[0, 1] / (2 * seen)
        expected, z = (difference + float(curved)) / math.sqrt(seen), -float(ndtri(significance / 2))
        return float(ndtr((expected - z) / r) + ndtr((-expected - z) / r))


@dataclass(frozen=True, slots=True)
class _Levels:
    """Sets at three levels u of a threshold, the middle one its own: ``missed`` (3, models, n), ``sizes`` (3, models,
    m), and by how much the mean size grows with the level at each, ``slopes`` (3,)."""

    u: FloatArray
    missed: FloatArray
    sizes: FloatArray
    slopes: FloatArray

    def growth(self, values: FloatArray) -> float:
        """How much the mean of values (3, …) grows with the level, in the middle.

        ``ds/du = ds/dlogit(u) / (u(1 − u))``, because sizes are nearly linear in the logit.
        """
        u, rise = self.u, float(values[2].mean() - values[0].mean())
        return rise / math.log(u[2] * (1 - u[0]) / (u[0] * (1 - u[2]))) / float(u[1] * (1 - u[1]))


def _levels(side: Swappable, models: slice, alpha: Alpha, empty: str) -> _Levels | None:
    """A run's sets at the threshold that its model's answers give, or those of both models together, and at the levels
    with half and twice the odds; None if the threshold is infinite, or the largest or smallest score."""
    calibration, tests = side.calibration[models], side.test[models]
    many, n = len(calibration), calibration.shape[1] + len(side.alone)
    k = int(rank(n, alpha))
    if not 1 < k < n:
        return None
    pool = np.sort(np.concatenate([calibration.ravel(), np.repeat(side.alone, many)]))
    low, high = (round((n + 1) * odds / (1 + odds)) for odds in (k / (n + 1 - k) / 2, 2 * k / (n + 1 - k)))
    ranks = np.array([max(min(low, k - 1), 1), k, min(max(high, k + 1), n)])
    limits = pool[many * ranks - 1]
    sizes = np.stack([sizes_at(test, limits[:, None], empty=empty) for test in tests], axis=1).astype(np.float64)
    missed = (calibration > limits[:, None, None]).astype(np.float64)
    levels = _Levels(ranks / (n + 1), missed, sizes, np.zeros(3))
    u = levels.u
    return replace(levels, slopes=levels.growth(sizes) * u[1] * (1 - u[1]) / (u * (1 - u)))


def size_spread(
    first: Swappable, second: Swappable, alpha: Alpha, clusters: IntArray | None, *, empty: str = "allow"
) -> SizeSpread | None:
    """The spread of two runs on the same questions; ``clusters`` (m,) are those of the test rows.

    Calibration questions that only one run has vary alone; a plan with questions that calibrate both then errs on the
    side of too many questions. None if a threshold is infinite or the largest or smallest score, and for runs that
    share no calibration questions.
    """
    if first.calibration.shape[1] < 2:
        return None
    own = [_levels(side, OWN, alpha, empty) for side in (first, second)]
    both = [_levels(side, BOTH, alpha, empty) for side in (first, second)]
    if own[0] is None or own[1] is None or both[0] is None or both[1] is None:
        return None
    one, two, mixed = own[0], own[1], both[0]
    m, g = first.right.shape[1], count(clusters, first.right.shape[1])
    numbers = np.array([side.calibration.shape[1] + len(side.alone) for side in (first, second)])
    n = calibrating(*numbers)
    weights = n / numbers
    # What a calibration question adds to the difference, and half of what a swap of its answers changes, (3, n)
    added = [weight * side.slopes[1] * side.missed[1, 0] for side, weight in zip((one, two), weights, strict=True)]
    turns = [
        weight * side.slopes[:, None] * (side.missed[:, 0] - side.missed[:, 1]) / 2
        for side, weight in zip((mixed, both[1]), weights, strict=True)
    ]
    calibration_turns = turns[1] - turns[0]
    # The same of a test question: the sums of its rows, (3, g)
    of_sizes = sums(two.sizes[1, 0] - one.sizes[1, 0], clusters) * g / m
    by_row = (both[1].sizes[:, 0] - both[1].sizes[:, 1] - mixed.sizes[:, 0] + mixed.sizes[:, 1]) / 2
    test_turns = sums(by_row.T, clusters).T * g / m
    shared = len(added[0]) / n
    level = (one.missed[1, 0] + two.missed[1, 0]) / 2
    sign = 1.0 if of_sizes.mean() >= 0 else -1.0  # the difference that a power is of is above 0
    calibration = np.cov([sign * (added[1] - added[0]), calibration_turns[1] ** 2, level], bias=True) * shared
    for side, weight, of_run in zip((one, two), weights, (first, second), strict=True):
        calibration[0, 0] += (weight * side.slopes[1]) ** 2 * _miss_variance(side) * len(of_run.alone) / n
    test = np.cov([sign * of_sizes, test_turns[1] ** 2], bias=True) * g / (g - 1)
    # one further question for each run where they differ on few, as in their intervals
    further = 2 / g if (of_sizes != 0).sum() < FEW else 0.0
    test[0, 0] += further
    return SizeSpread(
        calibration,
        test,
        (float((calibration_turns[1] ** 2).mean()) * shared, float((test_turns[1] ** 2).mean()) + further),
        (mixed.growth(calibration_turns**2) * shared, mixed.growth(test_turns**2)),
        abs(float(of_sizes.mean())),
        float((mixed.missed[1, 0] != mixed.missed[1, 1]).mean()) * shared,
    )


def size_spread_of_one(run: Swappable, alpha: Alpha, clusters: IntArray | None) -> SizeSpread | None:
    """The spread of a run and of an independent one whose sets vary as much. ``run`` holds the answers of one model.
    None as for two runs."""
    at = _levels(run, OWN, alpha, "allow")
    if at is None:
        return None
    sizes = at.sizes[1, 0]
    calibration = 2 * float(at.slopes[1]) ** 2 * _miss_variance(at)
    test = 2 * float(covariance_of_mean(sizes[:, None], clusters)[0, 0]) * count(clusters, len(sizes))
    apart = 2 * _miss_variance(at)
    return SizeSpread(np.diag([calibration, 0, 0]), np.diag([test, 0]), (calibration, test), missed_by_one=apart)


def calibrating(first: float, second: float) -> float:
    """The number of calibration questions of a pair: the harmonic mean of those of its runs."""
    return 2 / (1 / first + 1 / second)


def _miss_variance(at: _Levels) -> float:
    """u(1 − u): the variance of whether a calibration question's score is above the threshold."""
    return float(at.u[1] * (1 - at.u[1]))
