"""Nonconformity scores: how badly each option fits its question, by the model's probabilities.

A score is computed for all options of all questions, (n, k) from (n, k); the calibration scores are those of
the true options, picked out of it (:func:`true_scores`), so calibration and test share one definition. Low is
good; a set holds the options whose score is at most the threshold. :data:`SCORES` names every one with its
paper.

**Ties.** Options are ranked by falling probability; of two equal ones the *later* comes first. That is a stable
ascending sort read backwards, which is also how the published figures of Ye et al. 2024 were made. Python and
JavaScript use the same order, and the option of rank 1 is the top option that accuracy, filled sets and letters are
counted by (:func:`core.conformal.probabilities.top_options`).

**Options that a question lacks**, where others have more, have the probability NaN: they rank after all others, weigh
nothing, and their score is NaN, which no threshold admits.

**Rounding.** The mass ranked up to an option is computed as one minus the mass ranked after it, summed from the
smallest up. The last-ranked option so scores exactly 1 for every question, where a running sum from the top
ends a few units in the last place beside 1 and lets a threshold of 1 keep or drop options by chance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from core.conformal.draws import uniforms
from core.errors import InputError
from core.records import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Parameters:
    """What some scores have to be told.

    ``weight`` λ ≥ 0 is what each further rank costs (RAPS, SAPS); ``free_ranks`` is how many ranks cost nothing
    (RAPS). The defaults are no one's recommendation: they are tuned on questions of their own
    (:mod:`core.conformal.tuning`), and a page says so where they are not.
    """

    weight: float = 0.1
    free_ranks: int = 1

    def __post_init__(self) -> None:
        if not (np.isfinite(self.weight) and self.weight >= 0):
            raise InputError(f"the weight of a rank must be a number from 0 up, got {self.weight}")
        if self.free_ranks < 0:
            raise InputError(f"the number of free ranks must be 0 or more, got {self.free_ranks}")


UNTUNED = Parameters()


def lac_scores(
    probabilities: FloatArray, *, u: FloatArray | None = None, parameters: Parameters = UNTUNED
) -> FloatArray:
    """``1 − p``, in [0, 1].

    >>> lac_scores(np.array([[0.75, 0.25]]))
    array([[0.25, 0.75]])
    """
    return 1.0 - np.asarray(probabilities, dtype=np.float64)


def aps_scores(
    probabilities: FloatArray, *, u: FloatArray | None = None, parameters: Parameters = UNTUNED
) -> FloatArray:
    """The mass of the options ranked up to and with this one, in [0, 1].

    With ``u`` (n,), one frozen uniform number a question, ``u·p`` is taken off: the randomised form, whose
    coverage is exact rather than at least exact.

    >>> aps_scores(np.array([[0.25, 0.5, 0.25]]))
    array([[1.  , 0.5 , 0.75]])
    """
    p = np.asarray(probabilities, dtype=np.float64)
    order = _rising(p)  # the mass ranked after an option lies before it here
    rising = np.take_along_axis(p, order, axis=1)
    after = np.nancumsum(rising, axis=1)
    mass = np.ones_like(rising)
    mass[:, 1:] -= after[:, :-1]
    if u is not None:
        mass -= np.asarray(u, dtype=np.float64)[:, None] * rising
    return np.where(np.isnan(p), np.nan, _back(mass, order))


def raps_scores(
    probabilities: FloatArray, *, u: FloatArray | None = None, parameters: Parameters = UNTUNED
) -> FloatArray:
    """APS, and ``weight`` for every rank beyond the first ``free_ranks``.

    >>> raps_scores(np.array([[0.25, 0.5, 0.25]]), parameters=Parameters(weight=0.5, free_ranks=1))
    array([[2.  , 0.5 , 1.25]])
    """
    beyond = np.maximum(ranks(probabilities) - parameters.free_ranks, 0)
    return aps_scores(probabilities, u=u) + parameters.weight * beyond


def saps_scores(
    probabilities: FloatArray, *, u: FloatArray | None = None, parameters: Parameters = UNTUNED
) -> FloatArray:
    """The largest probability, and ``weight`` for every rank after the first: all other probabilities are ignored.

    >>> saps_scores(np.array([[0.25, 0.5, 0.25]]), parameters=Parameters(weight=0.25))
    array([[1.  , 0.5 , 0.75]])
    """
    p = np.asarray(probabilities, dtype=np.float64)
    scores = np.nanmax(p, axis=1, keepdims=True) + parameters.weight * (ranks(p) - 1)
    return np.where(np.isnan(p), np.nan, scores)


def margin_scores(
    probabilities: FloatArray, *, u: FloatArray | None = None, parameters: Parameters = UNTUNED
) -> FloatArray:
    """The best other option's probability less this one's, in [−1, 1].

    >>> margin_scores(np.array([[0.75, 0.25]]))
    array([[-0.5,  0.5]])
    """
    p = np.asarray(probabilities, dtype=np.float64)
    rising = np.take_along_axis(p, _rising(p), axis=1)
    best, second = rising[:, -1:], rising[:, -2:-1]
    is_best = ranks(p) == 1
    return np.where(is_best, second, best) - p


def top_k_scores(
    probabilities: FloatArray, *, u: FloatArray | None = None, parameters: Parameters = UNTUNED
) -> FloatArray:
    """The option's rank, 1 … k: every question gets a set of one size.

    >>> top_k_scores(np.array([[0.25, 0.5, 0.25]]))
    array([[3., 1., 2.]])
    """
    return np.where(np.isnan(probabilities), np.nan, ranks(probabilities))


ScoreFunction = Callable[..., FloatArray]


@dataclass(frozen=True, slots=True)
class Score:
    """A score with what a person is told about it: formula, source, one sentence, and ``gloss``, a few words
    beside its name.

    ``randomised`` scores take one frozen uniform number a question, ``tuned`` ones take :class:`Parameters`.
    """

    function: ScoreFunction
    title: str
    formula: str
    source: str
    sentence: str
    gloss: str
    randomised: bool = False
    tuned: bool = False


SCORES: dict[str, Score] = {
    "lac": Score(
        lac_scores,
        "LAC",
        "1 − p",
        "Sadinle, Lei & Wasserman 2019, arXiv 1609.00451",
        "Keeps every option that is probable enough by itself: the smallest sets on average, empty ones among them.",
        "keeps each option that is probable enough",
    ),
    "aps": Score(
        aps_scores,
        "APS",
        "Σ of p ranked up to and with the option",
        "Romano, Sesia & Candès 2020, arXiv 2006.02544",
        "Goes down the ranking until enough mass is gathered: larger sets where the model hesitates.",
        "keeps the likeliest options until they sum high enough",
    ),
    "aps-randomised": Score(
        aps_scores,
        "APS, randomised",
        "Σ of p ranked up to the option − u·p",
        "Romano, Sesia & Candès 2020, arXiv 2006.02544",
        "Takes off a random part of the option's own mass, so that coverage is exact and not only at least so.",
        "APS with coverage that is exact on average",
        randomised=True,
    ),
    "raps": Score(
        raps_scores,
        "RAPS",
        "APS + λ · max(0, rank − free ranks)",
        "Angelopoulos, Bates, Malik & Jordan 2021, arXiv 2009.14193",
        "APS that pays for every further rank, which keeps its largest sets in bounds.",
        "APS that pays for every further rank",
        tuned=True,
    ),
    "saps": Score(
        saps_scores,
        "SAPS",
        "largest p + λ · (rank − 1)",
        "Huang et al. 2024, arXiv 2310.06430",
        "Trusts the largest probability and the order of the rest, and ignores the rest of the numbers.",
        "trusts the largest probability and the ranking",
        tuned=True,
    ),
    "margin": Score(
        margin_scores,
        "Margin",
        "best other p − p",
        "Johansson, Linusson, Löfström & Boström 2017, IJCNN",
        "Asks how far an option is behind the best other one.",
        "keeps options that are close to the best one",
    ),
    "top-k": Score(
        top_k_scores,
        "Top-k",
        "rank",
        "Angelopoulos et al. 2021, arXiv 2009.14193",
        "Gives every question the same number of options, however sure the model is.",
        "keeps the same number of options everywhere",
    ),
}
"""Every score by name."""

SCORE_NAMES = tuple(SCORES)


def ranks(probabilities: FloatArray) -> IntArray:
    """The rank of each option by falling probability, 1 … k, (n, k); of equal ones the later comes first.

    >>> ranks(np.array([[0.4, 0.2, 0.4]]))
    array([[2, 3, 1]])
    """
    order = _rising(probabilities)
    n, k = order.shape
    return _back(np.broadcast_to(np.arange(k, 0, -1, dtype=np.int64), (n, k)), order)


def score(name: str, probabilities: FloatArray, *, seed: int = 0, parameters: Parameters = UNTUNED) -> FloatArray:
    """The named score of every option, (n, k).

    A randomised one takes a frozen number for each row, drawn with ``seed`` (:mod:`core.conformal.draws`), so that
    sets nest in alpha; score all rows of a run at once, so that a row keeps its number whatever the split.

    Raises :class:`InputError` for an unknown name.
    """
    if name not in SCORES:
        raise InputError(f"unknown score {name!r}; choose from {', '.join(SCORE_NAMES)}")
    chosen = SCORES[name]
    u = uniforms(np.arange(len(probabilities)), seed=seed) if chosen.randomised else None
    return chosen.function(probabilities, u=u, parameters=parameters)


def true_scores(scores: FloatArray, labels: IntArray) -> FloatArray:
    """The scores of the true options, (n,), picked out of (n, k)."""
    return scores[np.arange(len(labels)), labels]


Number = TypeVar("Number", np.float64, np.int64)


def _rising(probabilities: FloatArray) -> IntArray:
    """Each row's options by rising probability, equal ones in their order, those that are lacking before all."""
    p = np.asarray(probabilities, dtype=np.float64)
    return np.argsort(np.where(np.isnan(p), -np.inf, p), axis=1, kind="stable")


def _back(values: npt.NDArray[Number], order: IntArray) -> npt.NDArray[Number]:
    """Values in ranking order, put back at their options."""
    placed = np.empty_like(values)
    np.put_along_axis(placed, order, values, axis=1)
    return placed
