"""APS, randomised: APS minus a random part of the option's own probability."""

import numpy as np

from core.conformal.probabilities import on_grid
from core.conformal.scores.aps import aps_scores
from core.conformal.scores.bounds import aps_randomised_bounds
from core.conformal.scores.recipe_lines import GRID, MASS, ORDER, U
from core.conformal.scores.record import UNTUNED, Parameters, Score
from core.errors import InputError
from core.records import FloatArray


def aps_randomised_scores(
    probabilities: FloatArray, *, u: FloatArray | None = None, parameters: Parameters = UNTUNED
) -> FloatArray:
    """``APS − u·p``, in [0, 1]; ``u`` (n,) holds one fixed uniform number for each question.

    Average coverage then equals 1 − alpha, instead of being at least 1 − alpha. Raises :class:`InputError` without
    ``u``.

    >>> aps_randomised_scores(np.array([[0.25, 0.5, 0.25]]), u=np.array([0.5]))
    array([[0.875, 0.25 , 0.625]])
    """
    if u is None:
        raise InputError("randomised APS needs a number u in [0, 1) for each question, and none were given")
    p = np.asarray(probabilities, dtype=np.float64)
    return on_grid(aps_scores(p) - np.asarray(u, dtype=np.float64)[:, None] * p)


SCORE = Score(
    name="aps-randomised",
    title="APS, randomised",
    formula="Σ of p ranked up to the option − u·p",
    gloss="APS with coverage that is exact on average",
    sentence="Subtracts a random part of the option's own probability, so that coverage is exactly as promised "
    "and not higher.",
    source="Romano, Sesia & Candès 2020, arXiv 2006.02544",
    function=aps_randomised_scores,
    range=lambda k, parameters: (0, 1),
    numpy_lines=lambda parameters: (ORDER, MASS, GRID, U, "scores -= u * p", GRID),
    randomised=True,
    bounds=aps_randomised_bounds,
)
