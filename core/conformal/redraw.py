"""What luck does, and what bugs cost: coverage over many random splits into calibration and test.

Where no two true options score alike and every question is a cluster of its own, the exact procedure's number of
covered among the m test questions follows the Beta-Binomial law of :mod:`core.conformal.coverage` exactly, not only
for endless populations: the threshold is the r-th smallest of n scores, and how many of the m others come before the
r-th of n in a random order is what that law counts, whatever the scores are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from core.conformal.alpha import THOUSAND
from core.conformal.draws import REDRAW, first_part
from core.conformal.threshold import bluq, exact, paper, rank
from core.errors import InputError
from core.records import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Sides:
    """The true options' scores on either side of a split, and their probabilities on the test side."""

    calibration: FloatArray
    test: FloatArray
    test_probabilities: FloatArray


@dataclass(frozen=True, slots=True)
class Procedure:
    """A way to sets: what it does, the coverage of one split at alpha thousandths, and the scores that it is for
    (none named: all)."""

    sentence: str
    coverage: Callable[[Sides, int], float]
    scores: tuple[str, ...] = ()

    def fits(self, score: str) -> bool:
        """Whether the procedure is for the score of that name."""
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
    # The set is rebuilt by adding probabilities until they pass the threshold, and keeps the option that does.
    return _covered(sides.test - sides.test_probabilities, exact(sides.calibration, alpha))


PROCEDURES: dict[str, Procedure] = {
    "exact": Procedure(
        "Takes the ⌈(n+1)(1−α)⌉-th smallest calibration score: the right one.",
        lambda sides, alpha: _covered(sides.test, exact(sides.calibration, alpha)),
    ),
    "higher": Procedure(
        "Takes numpy’s “higher” quantile at rank/n, which is mostly one score too high: sets larger than need be.",
        lambda sides, alpha: _covered(sides.test, paper(sides.calibration, alpha)),
    ),
    "clamped": Procedure(
        "Cuts a rank beyond n down to n: with few calibration questions the promise breaks.",
        _clamped,
    ),
    "linear": Procedure(
        "Interpolates between two scores at rank/n, cut off at 1: no score’s own value, and broken where n is small.",
        lambda sides, alpha: _covered(sides.test, bluq(sides.calibration, alpha)),
    ),
    "test set": Procedure(
        "Calibrates on the test questions themselves: coverage on target every time, and a promise for no other "
        "question.",
        _on_the_test_set,
    ),
    "summed again": Procedure(
        "Adds probabilities up again for the set and keeps the option that crosses the threshold: one option too many.",
        _summed_again,
        scores=("aps",),
    ),
}
"""The right procedure and five that look like it, by name."""


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

    ``true_scores`` and ``true_probabilities`` (N,) are of the true options of all N questions; questions of one of the
    ``clusters`` (N,) stay on one side, so that more than n calibrate where the last one would fall apart. A draw that
    leaves nothing to test on is NaN. Raises :class:`InputError` where n leaves either side empty.
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
