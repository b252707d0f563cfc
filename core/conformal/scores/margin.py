"""Margin: how far the option is behind the best other one."""

import numpy as np

from core.conformal.probabilities import on_grid, top_options
from core.conformal.scores.bounds import margin_bounds
from core.conformal.scores.recipe_lines import GRID, ORDER, RANKS
from core.conformal.scores.record import UNTUNED, Parameters, Score
from core.records import FloatArray


def margin_scores(
    probabilities: FloatArray, *, u: FloatArray | None = None, parameters: Parameters = UNTUNED
) -> FloatArray:
    """The probability of the best other option minus that of this option, in [−1, 1].

    >>> margin_scores(np.array([[0.75, 0.25]]))
    array([[-0.5,  0.5]])
    """
    p = np.asarray(probabilities, dtype=np.float64)
    others, rows, top = p.copy(), np.arange(len(p)), top_options(p)
    others[rows, top] = np.nan
    margins = p[rows, top][:, None] - p
    margins[rows, top] = p[rows, top_options(others)] - p[rows, top]
    return on_grid(margins)


SCORE = Score(
    name="margin",
    title="Margin",
    formula="best other p − p",
    gloss="keeps options that are close to the best one",
    sentence="Measures how far an option is behind the best other option.",
    source="Johansson, Linusson, Löfström & Boström 2017, IJCNN",
    function=margin_scores,
    range=lambda k, parameters: (-1, 1),
    numpy_lines=lambda parameters: (
        ORDER,
        RANKS,
        "best, second = (np.take_along_axis(p, order[:, [place]], axis=1) for place in (-1, -2))",
        "scores = np.where(ranks == 1, second, best) - p",
        GRID,
    ),
    bounds=margin_bounds,
)
