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
from core.conformal.threshold import exact
from core.records import FloatArray, IntArray

PARTS = 5
"""One of this many parts of the calibration questions is set aside."""
TUNING_ALPHA = 100
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


def _total_size(
    name: str, probabilities: FloatArray, labels: IntArray, first: IntArray, second: IntArray, parameters: Parameters
) -> int:
    """The total number of options in the sets of the rows ``second``, with the threshold from the rows ``first``."""
    limit = exact(true_scores(score(name, probabilities[first], parameters=parameters), labels[first]), TUNING_ALPHA)
    return int((score(name, probabilities[second], parameters=parameters) <= limit).sum())
