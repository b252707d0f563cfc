"""Nonconformity scores: how badly each option fits its question, according to the model's probabilities.

A score is computed for all options of all questions, (n, k) from (n, k). The calibration scores are those of the true
options, selected from it (:func:`true_scores`), so calibration and test share one definition. A low score is good: a
set contains the options whose score is at most the threshold. :data:`SCORES` names every score. Each score has its own
file with everything about it. ``CONTRIBUTING.md`` explains how to add one.

**Arithmetic.** A score uses only + − × ÷ √, in rank order. The browser computes it too, and both must agree to the last
bit; ``log`` and ``exp`` differ in the last bit between NumPy and V8.

**Ties.** Options are ranked by decreasing probability; of two equal ones the *later* comes first. That is a stable
ascending sort read backwards, and the published figures of Ye et al. 2024 were computed in the same way. Python and
JavaScript use the same order. The option of rank 1 is the top option, which determines accuracy, filled empty sets and
counts by letter (:func:`core.conformal.probabilities.top_options`).

**Options that a question lacks**, because other questions have more, have the probability NaN. They rank after all
others and add nothing to sums, and their score is NaN, which no threshold admits.

**Rounding.** The mass ranked up to an option is computed as one minus the mass ranked after it, summed from the
smallest up. So the last-ranked option scores exactly 1 for every question. A cumulative sum from the top would end a
few units in the last place away from 1, and a threshold of 1 would then keep or drop options by chance. Every score is
rounded to 12 decimals (:func:`core.conformal.probabilities.on_grid`), so that scores that differ only by rounding are
tied.
"""

import numpy as np

from core.conformal.draws import uniforms
from core.conformal.probabilities import row_blocks
from core.conformal.scores import aps, aps_randomised, lac, margin, ordinal_aps, raps, saps, top_k
from core.conformal.scores.ranking import ranks
from core.conformal.scores.record import UNTUNED, Parameters, Score
from core.errors import InputError, shown_value
from core.records import FloatArray, IntArray

__all__ = [
    "SCORES",
    "SCORE_NAMES",
    "UNTUNED",
    "Parameters",
    "Score",
    "offered_scores",
    "ranks",
    "score",
    "score_named",
    "score_parts",
    "true_scores",
]

SCORES: dict[str, Score] = {
    "lac": lac.SCORE,
    "aps": aps.SCORE,
    "aps-randomised": aps_randomised.SCORE,
    "raps": raps.SCORE,
    "saps": saps.SCORE,
    "margin": margin.SCORE,
    "top-k": top_k.SCORE,
    "ordinal-aps": ordinal_aps.SCORE,
}
"""Every score by name, in the order in which pages list them."""

SCORE_NAMES = tuple(name for name, entry in SCORES.items() if not entry.ordered)
"""The scores of questions whose options have no order."""


def offered_scores(*, ordered: bool) -> tuple[str, ...]:
    """The names of the scores for questions whose options are ordered levels, or are not."""
    return tuple(SCORES) if ordered else SCORE_NAMES


def score_named(name: str) -> Score:
    """The score of that name. Raises :class:`InputError`, listing the known names, if there is none."""
    if not isinstance(name, str) or name not in SCORES:
        raise InputError(f"unknown score {shown_value(name)}; choose from {', '.join(SCORES)}")
    return SCORES[name]


def score(
    name: str,
    probabilities: FloatArray,
    *,
    seed: int = 0,
    parameters: Parameters = UNTUNED,
    places: IntArray | None = None,
) -> FloatArray:
    """The named score of every option, (n, k).

    A randomised score uses one fixed random number per row, drawn with ``seed`` (:mod:`core.conformal.draws`), so that
    sets are nested in alpha. Score all rows of a run at once, so that a row keeps its number whatever the split is.
    Rows with the same value in ``places`` (n,) share their number; without ``places`` each row has its own.

    Raises :class:`InputError` for an unknown name.
    """
    chosen = score_named(name)
    if places is None:
        places = np.arange(len(probabilities))
    u = uniforms(places, seed=seed) if chosen.randomised else None
    scores = np.empty(np.shape(probabilities))
    n, k = probabilities.shape
    for rows in row_blocks(n, k):
        own = None if u is None else u[rows]
        scores[rows] = chosen.function(probabilities[rows], u=own, parameters=parameters)
    return scores


def score_parts(name: str, probabilities: FloatArray) -> tuple[FloatArray, IntArray]:
    """The parts of a tuned score (:class:`Score`), (n, k) each. Raises :class:`InputError` for another score."""
    parts = score_named(name).parts
    if parts is None:
        raise InputError(f"the score {name} has no parameters")
    n, k = probabilities.shape
    base, ranked = np.empty((n, k)), np.empty((n, k), dtype=np.int64)
    for rows in row_blocks(n, k):
        base[rows], ranked[rows] = parts(probabilities[rows])
    return base, ranked


def true_scores(scores: FloatArray, labels: IntArray) -> FloatArray:
    """The scores of the true options, (n,), selected from (n, k)."""
    return scores[np.arange(len(labels)), labels]
