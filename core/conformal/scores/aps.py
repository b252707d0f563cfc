"""APS: the total probability of the options ranked up to and including this one."""

import numpy as np

from core.conformal.probabilities import on_grid
from core.conformal.scores.bounds import aps_bounds
from core.conformal.scores.ranking import put_back, rising_order
from core.conformal.scores.recipe_lines import GRID, MASS, ORDER
from core.conformal.scores.record import UNTUNED, Parameters, Score
from core.records import FloatArray, IntArray


def aps_scores(
    probabilities: FloatArray, *, u: FloatArray | None = None, parameters: Parameters = UNTUNED
) -> FloatArray:
    """The total probability of the options ranked up to and including this one, in [0, 1].

    >>> aps_scores(np.array([[0.25, 0.5, 0.25]]))
    array([[1.  , 0.5 , 0.75]])
    """
    p = np.asarray(probabilities, dtype=np.float64)
    return mass_up_to(p, rising_order(p))


def mass_up_to(p: FloatArray, order: IntArray) -> FloatArray:
    """The total probability of the options ranked up to and including each, (n, k), in the order of
    :func:`~core.conformal.scores.ranking.rising_order`."""
    # Options ranked after an option come before it in this order.
    after = np.nancumsum(np.take_along_axis(p, order, axis=1), axis=1)
    mass = np.ones_like(p)
    mass[:, 1:] -= after[:, :-1]  # 1 − Σ of p ranked after
    return np.where(np.isnan(p), np.nan, on_grid(put_back(mass, order)))


SCORE = Score(
    name="aps",
    title="APS",
    formula="Σ of p ranked up to and with the option",
    gloss="keeps the likeliest options until they sum high enough",
    sentence="Goes down the ranking until the probabilities sum high enough, so sets are larger if the model is "
    "unsure.",
    source="Romano, Sesia & Candès 2020, arXiv 2006.02544",
    function=aps_scores,
    range=lambda k, parameters: (0, 1),
    numpy_lines=lambda parameters: (ORDER, MASS, GRID),
    saturates=True,
    bounds=aps_bounds,
)
