"""Top-k: the option's rank."""

import numpy as np

from core.conformal.scores.bounds import top_k_bounds
from core.conformal.scores.ranking import ranks
from core.conformal.scores.recipe_lines import ORDER, RANKS
from core.conformal.scores.record import UNTUNED, Parameters, Score
from core.records import FloatArray


def top_k_scores(
    probabilities: FloatArray, *, u: FloatArray | None = None, parameters: Parameters = UNTUNED
) -> FloatArray:
    """The option's rank, 1 … k, so every question gets a set of the same size.

    >>> top_k_scores(np.array([[0.25, 0.5, 0.25]]))
    array([[3., 1., 2.]])
    """
    return np.where(np.isnan(probabilities), np.nan, ranks(probabilities))


SCORE = Score(
    name="top-k",
    title="Top-k",
    formula="rank",
    gloss="keeps the same number of options for every question",
    sentence="Gives every question the same number of options, however sure the model is.",
    source="Angelopoulos et al. 2021, arXiv 2009.14193",
    function=top_k_scores,
    range=lambda k, parameters: (0, k),
    numpy_lines=lambda parameters: (ORDER, RANKS, "scores = ranks.astype(float)"),
    bounds=top_k_bounds,
)
