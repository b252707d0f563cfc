"""LAC: one minus the option's probability."""

import numpy as np

from core.conformal.probabilities import on_grid
from core.conformal.scores.bounds import lac_bounds
from core.conformal.scores.recipe_lines import GRID
from core.conformal.scores.record import UNTUNED, Parameters, Score
from core.records import FloatArray


def lac_scores(
    probabilities: FloatArray, *, u: FloatArray | None = None, parameters: Parameters = UNTUNED
) -> FloatArray:
    """``1 − p``, in [0, 1].

    >>> lac_scores(np.array([[0.75, 0.25]]))
    array([[0.25, 0.75]])
    """
    return on_grid(1.0 - np.asarray(probabilities, dtype=np.float64))


SCORE = Score(
    name="lac",
    title="LAC",
    formula="1 − p",
    gloss="keeps each option that is probable enough",
    sentence="Keeps every option that is probable enough by itself. Its sets are usually the smallest on average, "
    "and some can be empty.",
    source="Sadinle, Lei & Wasserman 2019, arXiv 1609.00451",
    function=lac_scores,
    range=lambda k, parameters: (0, 1),
    numpy_lines=lambda parameters: ("scores = 1 - p", GRID),
    bounds=lac_bounds,
)
