"""Nonconformity scores: how badly each option fits its question, by the model's probabilities.

A score is computed for all options of all questions, (n, k) from (n, k); the calibration scores are those of
the true options, picked out of it (:func:`true_scores`), so calibration and test share one definition. Low is
good; a set holds the options whose score is at most the threshold. :data:`SCORES` names every one; each stands in a
file of its own with all that is said of it. ``CONTRIBUTING.md`` tells how to add one.

**Ties.** Options are ranked by falling probability; of two equal ones the *later* comes first. That is a stable
ascending sort read backwards, which is also how the published figures of Ye et al. 2024 were made. Python and
JavaScript use the same order, and the option of rank 1 is the top option that accuracy, filled sets and letters are
counted by (:func:`core.conformal.probabilities.top_options`).

**Options that a question lacks**, where others have more, have the probability NaN: they rank after all others, weigh
nothing, and their score is NaN, which no threshold admits.

**Rounding.** The mass ranked up to an option is computed as one minus the mass ranked after it, summed from the
smallest up. The last-ranked option therefore scores exactly 1 for every question, where a running sum from the top
ends a few units in the last place beside 1 and lets a threshold of 1 keep or drop options by chance.
"""

from __future__ import annotations

import numpy as np

from core.conformal.draws import uniforms
from core.conformal.scores import aps, aps_randomised, lac, margin, raps, saps, top_k
from core.conformal.scores.ranking import ranks
from core.conformal.scores.record import UNTUNED, Parameters, Score
from core.errors import InputError
from core.records import FloatArray, IntArray

__all__ = ["SCORES", "SCORE_NAMES", "UNTUNED", "Parameters", "Score", "ranks", "score", "score_named", "true_scores"]

SCORES: dict[str, Score] = {
    "lac": lac.SCORE,
    "aps": aps.SCORE,
    "aps-randomised": aps_randomised.SCORE,
    "raps": raps.SCORE,
    "saps": saps.SCORE,
    "margin": margin.SCORE,
    "top-k": top_k.SCORE,
}
"""Every score by name, in the order in which pages list them."""

SCORE_NAMES = tuple(SCORES)


def score_named(name: str) -> Score:
    """The score of that name; :class:`InputError` names those that there are."""
    if name not in SCORES:
        raise InputError(f"unknown score {name!r}; choose from {', '.join(SCORE_NAMES)}")
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

    A randomised one takes a frozen number for each row, drawn with ``seed`` (:mod:`core.conformal.draws`), so that
    sets nest in alpha; score all rows of a run at once, so that a row keeps its number whatever the split. Rows with
    the same number in ``places`` (n,) share theirs; without ``places`` each row has its own.

    Raises :class:`InputError` for an unknown name.
    """
    chosen = score_named(name)
    if places is None:
        places = np.arange(len(probabilities))
    u = uniforms(places, seed=seed) if chosen.randomised else None
    return chosen.function(probabilities, u=u, parameters=parameters)


def true_scores(scores: FloatArray, labels: IntArray) -> FloatArray:
    """The scores of the true options, (n,), picked out of (n, k)."""
    return scores[np.arange(len(labels)), labels]
