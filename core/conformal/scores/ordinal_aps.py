"""Ordinal APS: the total probability of an interval of levels that grows from the most probable one."""

import numpy as np

from core.conformal.probabilities import on_grid, top_options
from core.conformal.scores.aps import mass_up_to
from core.conformal.scores.bounds import ordinal_aps_bounds
from core.conformal.scores.recipe_lines import ENTRY, GRID, MASS
from core.conformal.scores.record import UNTUNED, Parameters, Score
from core.records import FloatArray, IntArray

LACKING, OUTSIDE = -1.0, -2.0
"""In place of a probability: that of an option that a question lacks, and that of a place beyond the first or last."""


def ordinal_aps_scores(
    probabilities: FloatArray, *, u: FloatArray | None = None, parameters: Parameters = UNTUNED
) -> FloatArray:
    """The total probability of the interval of levels with which this one enters, in [0, 1].

    The interval begins at the most probable level and always grows by its more probable neighbour. So the levels whose
    score is at most a threshold are an interval. Of equal levels the later enters first, as in every ranking.

    >>> ordinal_aps_scores(np.array([[0.25, 0.125, 0.5, 0.125]]))
    array([[1.   , 0.75 , 0.5  , 0.625]])
    """
    p = np.asarray(probabilities, dtype=np.float64)
    return mass_up_to(p, entry_order(p)[:, ::-1])


def entry_order(p: FloatArray) -> IntArray:
    """The levels in the order in which they enter the interval, (n, k); those that a question lacks come last."""
    n, k = p.shape
    compared = np.pad(np.where(np.isnan(p), LACKING, on_grid(p)), ((0, 0), (1, 1)), constant_values=OUTSIDE)
    rows = np.arange(n)
    low = top_options(p) + 1  # the interval's first and last level, which have a place more in front of them
    high = low.copy()
    order = np.empty((n, k), dtype=np.int64)
    order[:, 0] = low - 1
    for place in range(1, k):
        grows_up = compared[rows, high + 1] >= compared[rows, low - 1]
        high += grows_up
        low -= ~grows_up
        order[:, place] = np.where(grows_up, high, low) - 1
    return order


SCORE = Score(
    name="ordinal-aps",
    title="Ordinal APS",
    formula="Σ of p from the most probable level outwards, up to and with the level",
    gloss="keeps an interval of ordered levels, without gaps",
    sentence="Starts at the most probable level and adds the more probable neighbour until the probabilities sum high "
    "enough, so a set is an interval of levels. It is for questions whose options are in order.",
    source="Lu, Angelopoulos & Pomerantz 2022, arXiv 2207.02238",
    function=ordinal_aps_scores,
    range=lambda k, parameters: (0, 1),
    numpy_lines=lambda parameters: (ENTRY, MASS, GRID),
    saturates=True,
    bounds=ordinal_aps_bounds,
    ordered=True,
)
