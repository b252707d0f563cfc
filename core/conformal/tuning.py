"""Choosing a score's parameters on questions that neither calibrate nor test.

Parameters chosen on the calibration questions would fit their luck, and coverage would fall short. A seeded part
of the calibration questions is therefore set aside, split in two, and the parameters are taken that give the
smallest mean set there at alpha 0.1, whatever alpha is shown: a score that changed under a moving alpha would not give
nested sets. The rest calibrates.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.conformal.draws import TUNING, first_part
from core.conformal.scores import Parameters, score, score_named, true_scores
from core.conformal.threshold import exact
from core.records import FloatArray, IntArray

PARTS = 5
"""One of so many parts of the calibration questions is set aside."""
TUNING_ALPHA = 100
SMALLEST = 20
"""Questions below which there is nothing to tune on."""


@dataclass(frozen=True, slots=True)
class Tuned:
    """The parameters, the rows they were tuned on and those that are left to calibrate.

    ``rows`` is empty where nothing was tuned: the parameters are then the untuned defaults.
    """

    parameters: Parameters
    rows: IntArray
    calibration: IntArray


def tune(name: str, probabilities: FloatArray, labels: IntArray, calibration: IntArray, *, seed: int) -> Tuned:
    """Tune the score ``name`` on a seeded fifth of the rows ``calibration`` of ``probabilities`` (N, k).

    A score without parameters, or fewer than 20 rows to tune on, tunes nothing and sets nothing aside. Raises
    :class:`InputError` for an unknown score.
    """
    grid = score_named(name).grid
    size = (2 * len(calibration) + PARTS) // (2 * PARTS)
    if not grid or size < SMALLEST:
        return Tuned(Parameters(), np.array([], dtype=np.int64), calibration)
    aside, half = (first_part(calibration, part, seed=seed, purpose=TUNING) for part in (size, size // 2))
    first, second = calibration[half], calibration[aside & ~half]
    sizes = [_total_size(name, probabilities, labels, first, second, parameters) for parameters in grid]
    return Tuned(grid[int(np.argmin(sizes))], calibration[aside], calibration[~aside])


def _total_size(
    name: str, probabilities: FloatArray, labels: IntArray, first: IntArray, second: IntArray, parameters: Parameters
) -> int:
    """Options in all sets of the rows ``second`` together, with the threshold of the rows ``first``."""
    limit = exact(true_scores(score(name, probabilities[first], parameters=parameters), labels[first]), TUNING_ALPHA)
    return int((score(name, probabilities[second], parameters=parameters) <= limit).sum())
