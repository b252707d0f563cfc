"""SAPS: the largest probability plus a cost for every further rank."""

import numpy as np

from core.conformal.scores.bounds import saps_bounds
from core.conformal.scores.ranking import costed, ranks
from core.conformal.scores.recipe_lines import ORDER, RANKS
from core.conformal.scores.record import UNTUNED, WEIGHTS, Parameters, Score
from core.records import FloatArray, IntArray


def saps_scores(
    probabilities: FloatArray, *, u: FloatArray | None = None, parameters: Parameters = UNTUNED
) -> FloatArray:
    """The largest probability plus ``weight`` for every rank after the first; all other probabilities are ignored.

    >>> saps_scores(np.array([[0.25, 0.5, 0.25]]), parameters=Parameters(weight=0.25))
    array([[1.  , 0.5 , 0.75]])
    """
    return costed(*saps_parts(probabilities), Parameters(parameters.weight, free_ranks=1))


def saps_parts(probabilities: FloatArray) -> tuple[FloatArray, IntArray]:
    """The largest probability of each question, NaN for an option that it lacks, and the ranks, (n, k) each."""
    p = np.asarray(probabilities, dtype=np.float64)
    return np.where(np.isnan(p), np.nan, np.nanmax(p, axis=1, keepdims=True)), ranks(p)


def _numpy_lines(parameters: Parameters) -> tuple[str, ...]:
    cost = f"{parameters.weight!r} * (ranks - 1)"
    return ORDER, RANKS, "largest = p.max(axis=1, keepdims=True)", f"scores = on_grid(largest + {cost}, largest)"


SCORE = Score(
    name="saps",
    title="SAPS",
    formula="largest p + λ · (rank − 1)",
    gloss="uses the largest probability and the ranking",
    sentence="Uses only the largest probability and the ranking of the other options, and ignores their probabilities.",
    source="Huang et al. 2024, arXiv 2310.06430",
    function=saps_scores,
    parts=saps_parts,
    range=lambda k, parameters: (0, 1 + parameters.weight * (k - 1)),
    numpy_lines=_numpy_lines,
    parameters=("weight",),
    grid=tuple(Parameters(weight) for weight in WEIGHTS),
    bounds=saps_bounds,
)
