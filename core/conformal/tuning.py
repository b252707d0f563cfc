"""Choosing a score's parameters on questions that neither calibrate nor test.

Parameters chosen on the calibration questions would fit their noise, and coverage would be too low. Therefore a seeded
part of the calibration questions is set aside and split in two halves: the first sets a threshold, the second measures
set sizes. The parameters with the smallest mean set size at alpha 0.1 are chosen, whatever alpha is shown, because sets
would not be nested if the score changed with alpha. The rest of the questions calibrates.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.conformal.draws import TUNING, first_part
from core.conformal.scores import Parameters, score, score_named, true_scores
from core.conformal.threshold import exact, rank
from core.records import FloatArray, IntArray

PARTS = 5
"""One of this many parts of the calibration questions is set aside."""
TUNING_ALPHA = 100
REDRAWN = 200
SMALLEST = 20
"""With fewer questions than this to tune on, nothing is tuned."""


@dataclass(frozen=True, slots=True)
class Tuned:
    """The parameters, the rows they were tuned on and the rows that are left to calibrate.

    If nothing was tuned, ``rows`` is empty and the parameters are the untuned defaults.
    """

    parameters: Parameters
    rows: IntArray
    calibration: IntArray


def tune(name: str, probabilities: FloatArray, labels: IntArray, calibration: IntArray, *, seed: int) -> Tuned:
    """Tune the score ``name`` on a seeded fifth of the rows ``calibration`` of ``probabilities`` (N, k).

    If the score has no parameters, or there are fewer than 20 rows to tune on, nothing is tuned or set aside. Raises
    :class:`InputError` for an unknown score.
    """
    grid = score_named(name).grid
    size = (2 * len(calibration) + PARTS) // (2 * PARTS)  # n / 5, rounded to the nearest whole number
    if not grid or size < SMALLEST:
        return Tuned(Parameters(), np.array([], dtype=np.int64), calibration)
    aside, half = (first_part(calibration, part, seed=seed, purpose=TUNING) for part in (size, size // 2))
    first, second = calibration[half], calibration[aside & ~half]
    sizes = [_total_size(name, probabilities, labels, first, second, parameters) for parameters in grid]
    return Tuned(grid[int(np.argmin(sizes))], calibration[aside], calibration[~aside])


def redrawn_choices(
    name: str, probabilities: FloatArray, labels: IntArray, tuned: Tuned, *, seed: int
) -> dict[Parameters, float]:
    """How often each of the parameters is chosen if other questions are drawn to tune on: the shares of 200 bootstrap
    draws of both halves. Empty if nothing was tuned.

    The choice is chance, and so is the part of a mean set size that depends on it.
    """
    grid, size = score_named(name).grid, len(tuned.rows)
    if size == 0:
        return {}
    half = first_part(tuned.rows, size // 2, seed=seed, purpose=TUNING)
    first, second = tuned.rows[half], tuned.rows[~half]
    rng = np.random.default_rng([seed, 0x7E4])
    drawn = rng.multinomial(len(first), np.full(len(first), 1 / len(first)), size=REDRAWN)  # (200, t)
    asked = rng.multinomial(len(second), np.full(len(second), 1 / len(second)), size=REDRAWN)
    place = int(rank(len(first), TUNING_ALPHA))
    totals = np.empty((len(grid), REDRAWN))
    for row, parameters in enumerate(grid):
        true = true_scores(score(name, probabilities[first], parameters=parameters), labels[first])
        order = np.argsort(true, kind="stable")
        limits = np.append(true[order], np.inf)
        # The place of the threshold among the sorted scores: the first whose cumulative count reaches the rank.
        at = (np.cumsum(drawn[:, order], axis=1) < place).sum(axis=1)
        rising = np.sort(score(name, probabilities[second], parameters=parameters), axis=1)
        sizes = (rising[None] <= limits[:, None, None]).sum(axis=2)  # (t + 1, t')
        totals[row] = (asked * sizes[at]).sum(axis=1)
    shares = np.bincount(totals.argmin(axis=0), minlength=len(grid)) / REDRAWN
    return {grid[row]: float(shares[row]) for row in np.flatnonzero(shares)}


def _total_size(
    name: str, probabilities: FloatArray, labels: IntArray, first: IntArray, second: IntArray, parameters: Parameters
) -> int:
    """The total number of options in the sets of the rows ``second``, with the threshold from the rows ``first``."""
    limit = exact(true_scores(score(name, probabilities[first], parameters=parameters), labels[first]), TUNING_ALPHA)
    return int((score(name, probabilities[second], parameters=parameters) <= limit).sum())
