"""RAPS: APS plus a cost for every rank beyond the first few."""

import numpy as np

from core.conformal.scores.aps import mass_up_to
from core.conformal.scores.bounds import raps_bounds
from core.conformal.scores.ranking import costed, ranks_in, rising_order
from core.conformal.scores.recipe_lines import GRID, MASS, ORDER, RANKS
from core.conformal.scores.record import UNTUNED, WEIGHTS, Parameters, Score
from core.records import FloatArray, IntArray


def raps_scores(
    probabilities: FloatArray, *, u: FloatArray | None = None, parameters: Parameters = UNTUNED
) -> FloatArray:
    """APS plus ``weight`` for every rank beyond the first ``free_ranks``.

    >>> raps_scores(np.array([[0.25, 0.5, 0.25]]), parameters=Parameters(weight=0.5, free_ranks=1))
    array([[2.  , 0.5 , 1.25]])
    """
    return costed(*raps_parts(probabilities), parameters)


def raps_parts(probabilities: FloatArray) -> tuple[FloatArray, IntArray]:
    """APS and the ranks, (n, k) each."""
    p = np.asarray(probabilities, dtype=np.float64)
    order = rising_order(p)
    return mass_up_to(p, order), ranks_in(order)


def _numpy_lines(parameters: Parameters) -> tuple[str, ...]:
    cost = f"{parameters.weight!r} * np.maximum(ranks - {parameters.free_ranks}, 0)"
    return ORDER, MASS, GRID, RANKS, f"scores = on_grid(scores + {cost}, scores)"


SCORE = Score(
    name="raps",
    title="RAPS",
    formula="APS + λ · max(0, rank − free ranks)",
    gloss="APS with a penalty for large sets",
    sentence="APS with a penalty for every further rank, which limits its largest sets.",
    source="Angelopoulos, Bates, Malik & Jordan 2021, arXiv 2009.14193",
    function=raps_scores,
    parts=raps_parts,
    range=lambda k, parameters: (0, 1 + parameters.weight * max(k - parameters.free_ranks, 0)),
    numpy_lines=_numpy_lines,
    parameters=("weight", "free_ranks"),
    grid=tuple(Parameters(weight, free_ranks) for weight in WEIGHTS for free_ranks in (0, 1, 2, 3)),
    saturates=True,
    bounds=raps_bounds,
)
