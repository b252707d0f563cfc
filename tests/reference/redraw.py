"""Coverage over many random splits into calibration and test, for the exact procedure and for five common bugs.

If no two true options have equal scores and every question is its own cluster, the exact procedure's number of covered
test questions follows the Beta-Binomial distribution of :mod:`core.conformal.coverage` exactly, also for a finite
population. The threshold is the r-th smallest of n scores. In a random order, the number of the m other scores that
come before the r-th of the n has that distribution, whatever the scores are.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv

from core.conformal.alpha import THOUSAND, Alpha
from core.conformal.coverage import BAND_MASS, beta_parameters
from core.conformal.draws import REDRAW, first_part
from core.conformal.threshold import bluq, exact, paper, rank
from core.errors import InputError
from core.records import FloatArray, IntArray


def beta_band(n: int, alpha: Alpha, *, mass: float = BAND_MASS) -> tuple[float, float]:
    """The central band of coverage over calibration draws of size n; (1, 1) if every set is full."""
    a, b = beta_parameters(n, alpha)
    if b == 0:
        return 1.0, 1.0
    tail = (1 - mass) / 2
    return float(betaincinv(a, b, tail)), float(betaincinv(a, b, 1 - tail))


@dataclass(frozen=True, slots=True)
class Sides:
    """The scores of the true options on both sides of a split, and their probabilities on the test side."""

    calibration: FloatArray
    test: FloatArray
    test_probabilities: FloatArray


@dataclass(frozen=True, slots=True)
class Procedure:
    """A way to compute prediction sets, right or wrong.

    ``sentence`` says what it does. ``coverage`` gives the coverage on one split at alpha thousandths. ``scores`` names
    the scores that it applies to; empty means all.
    """

    sentence: str
    coverage: Callable[[Sides, int], float]
    scores: tuple[str, ...] = ()

    def fits(self, score: str) -> bool:
        """Whether the procedure applies to the score of that name."""
        return not self.scores or score in self.scores


def _covered(scores: FloatArray, threshold: float) -> float:
    return float((scores <= threshold).mean()) if len(scores) else float("nan")


def _clamped(sides: Sides, alpha: int) -> float:
    n = len(sides.calibration)
    k = min(int(rank(n, alpha)), n)
    return _covered(sides.test, float(np.partition(sides.calibration, k - 1)[k - 1]))


def _on_the_test_set(sides: Sides, alpha: int) -> float:
    m = len(sides.test)
    k = -(-m * (THOUSAND - alpha) // THOUSAND)
    return _covered(sides.test, float(np.partition(sides.test, k - 1)[k - 1])) if m else float("nan")


def _summed_again(sides: Sides, alpha: int) -> float:
    # This bug adds probabilities until they pass the threshold and keeps the option that crosses it. So an option is
    # kept if the mass ranked before it, score − p, is at most the threshold.
    return _covered(sides.test - sides.test_probabilities, exact(sides.calibration, alpha))


PROCEDURES: dict[str, Procedure] = {
    "exact": Procedure(
        "Takes the ⌈(n+1)(1−α)⌉-th smallest calibration score. This is the right procedure.",
        lambda sides, alpha: _covered(sides.test, exact(sides.calibration, alpha)),
    ),
    "higher": Procedure(
        "Takes numpy’s “higher” quantile at rank/n, which is usually one score too high. Sets are larger "
        "than necessary.",
        lambda sides, alpha: _covered(sides.test, paper(sides.calibration, alpha)),
    ),
    "clamped": Procedure(
        "Lowers a rank above n to n. With few calibration questions, this breaks the promise.", _clamped
    ),
    "linear": Procedure(
        "Interpolates between two scores at rank/n, or at 1 if that is less. With few calibration questions, "
        "this breaks the promise.",
        lambda sides, alpha: _covered(sides.test, bluq(sides.calibration, alpha)),
    ),
    "test set": Procedure(
        "Calibrates on the test questions themselves. Coverage is on target every time, but nothing is "
        "promised for any other question.",
        _on_the_test_set,
    ),
    "summed again": Procedure(
        "Adds the probabilities up again to form the set and keeps the option that crosses the threshold, "
        "which is one option too many.",
        _summed_again,
        scores=("aps",),
    ),
}
"""The correct procedure and five wrong ones that look like it, by name."""


def redraw(
    true_scores: FloatArray,
    true_probabilities: FloatArray,
    *,
    n: int,
    alpha: int,
    draws: int,
    clusters: IntArray,
    seed: int,
    procedures: tuple[str, ...] = ("exact",),
) -> dict[str, FloatArray]:
    """Coverage of each procedure over ``draws`` random splits with n calibration questions, (draws,) each.

    ``true_scores`` and ``true_probabilities`` (N,) belong to the true options of all N questions. Questions of the same
    cluster (``clusters``, (N,)) stay on the same side, so more than n questions calibrate if n would split a cluster. A
    draw that leaves no test question is NaN. Raises :class:`InputError` if n leaves either side empty.
    """
    total = len(true_scores)
    if not 1 <= n < total:
        raise InputError(f"{n} calibration questions of {total} leave a side empty; choose from 1 to {total - 1}")
    coverages = {name: np.empty(draws) for name in procedures}
    for i in range(draws):
        calibrates = first_part(clusters, n, seed=seed, purpose=REDRAW, draw=i)
        sides = Sides(true_scores[calibrates], true_scores[~calibrates], true_probabilities[~calibrates])
        for name in procedures:
            coverages[name][i] = PROCEDURES[name].coverage(sides, alpha)
    return coverages
