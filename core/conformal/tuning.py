"""Choosing a score's parameters on questions that neither calibrate nor test.

Parameters chosen on the calibration questions would fit their noise, and coverage would be too low. Therefore a seeded
part of the calibration questions is set aside and split in two halves: the first sets a threshold, the second measures
set sizes. The parameters with the smallest mean set size at alpha 0.1 are chosen, whatever alpha is shown, because sets
would not be nested if the score changed with alpha. The rest of the questions calibrates.
"""

from dataclasses import dataclass

import numpy as np

from core.conformal.draws import TUNING, first_part
from core.conformal.scores import Parameters, score_named, score_parts
from core.conformal.scores.ranking import costed
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

    If nothing was tuned, ``rows`` is empty and the parameters are the untuned defaults, or those ``given`` by a person.
    """

    parameters: Parameters
    rows: IntArray
    calibration: IntArray
    given: bool = False


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
    true, second = _parts(name, probabilities, labels, calibration[half], calibration[aside & ~half])
    sizes = [_total_size(true, second, parameters) for parameters in grid]
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
    t, asked_rows = int(half.sum()), int((~half).sum())
    parts_of_true, parts = _parts(name, probabilities, labels, tuned.rows[half], tuned.rows[~half])
    rng = np.random.default_rng([seed, 0x7E4])
    drawn = rng.multinomial(t, np.full(t, 1 / t), size=REDRAWN)  # (200, t)
    drawn_counts = rng.multinomial(asked_rows, np.full(asked_rows, 1 / asked_rows), size=REDRAWN)
    place = int(rank(t, TUNING_ALPHA))
    totals = np.empty((len(grid), REDRAWN))
    for row, parameters in enumerate(grid):
        true = costed(*parts_of_true, parameters)
        order = np.argsort(true, kind="stable")
        limits = np.append(true[order], np.inf)
        # The place of the threshold among the sorted scores: the first whose cumulative count reaches the rank.
        at, which = np.unique((np.cumsum(drawn[:, order], axis=1) < place).sum(axis=1), return_inverse=True)
        reached = limits[at]
        sizes = _sizes(reached, costed(*parts, parameters, between=(reached[0], reached[-1])))
        totals[row] = (drawn_counts * sizes[which]).sum(axis=1)
    shares = np.bincount(totals.argmin(axis=0), minlength=len(grid)) / REDRAWN
    return {grid[row]: float(shares[row]) for row in np.flatnonzero(shares)}


def _total_size(true: tuple[FloatArray, IntArray], second: tuple[FloatArray, IntArray], parameters: Parameters) -> int:
    """The total number of options in the sets of some rows, with the threshold from others (:func:`_parts`)."""
    limit = exact(costed(*true, parameters), TUNING_ALPHA)
    return int((costed(*second, parameters, between=(limit, limit)) <= limit).sum())


def _parts(
    name: str, probabilities: FloatArray, labels: IntArray, first: IntArray, second: IntArray
) -> tuple[tuple[FloatArray, IntArray], tuple[FloatArray, IntArray]]:
    """The parts of the score (:class:`~core.conformal.scores.Score`): of the true options of the rows ``first``, (t,),
    and of all options of the rows ``second``, (t', k)."""
    base, ranks = score_parts(name, probabilities[first])
    rows = np.arange(len(first)), labels[first]
    return (base[rows], ranks[rows]), score_parts(name, probabilities[second])


def _sizes(limits: FloatArray, scores: FloatArray) -> IntArray:
    """The size of each of m sets at each of r rising limits, (r, m), from scores (m, k)."""
    r, m = len(limits), len(scores)
    row, option = np.nonzero((scores > limits[0]) & (scores <= limits[-1]))
    first = np.searchsorted(limits, scores[row, option])
    counts = np.bincount(row * r + first, minlength=m * r).reshape(m, r)
    counts[:, 0] += (scores <= limits[0]).sum(axis=1)
    return np.cumsum(counts, axis=1).T
