r"""Prediction sets where some options' probabilities are known only up to an upper bound.

A server lists its most probable next tokens. A letter that is not among them has at most the probability of the last
one listed. So for each question the unnormalised probabilities :math:`w_j` of the listed options are known,
:math:`S = \sum w_j` over these, and for each other option u only :math:`0 \le w_u \le c_u`. The option probabilities
are :math:`p_j = w_j / (S + T)` with :math:`T = \sum_u w_u`.

Bounds of each score follow from these (:mod:`core.conformal.scores.bounds`).

**Bounds of the threshold.** The k-th smallest of n numbers rises with each of them. So the threshold lies between the
k-th smallest lower bound and the k-th smallest upper bound of the calibration scores.

**Sets.** With threshold in [q₋, q₊] and an option's score in [s₋, s₊]: it is *in* the set if s₊ ≤ q₋, *out* if s₋ > q₊,
and *undecided* otherwise. Whatever the unlisted probabilities are, the exact set contains all options that are in, and
none that is out. So the options that are in or undecided form a set that contains the exact one and covers at least as
often.

Bounds of bounded rows are widened by :data:`WIDENED`, which is more than float64 loses in these sums. Rows without
bounds get the score itself twice, so that a run without bounds has exactly the sets of :mod:`core.conformal.sets`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.conformal.alpha import ALPHAS
from core.conformal.curve import thresholds
from core.conformal.draws import uniforms
from core.conformal.probabilities import softmax
from core.conformal.scores import UNTUNED, Parameters, score, score_named
from core.errors import InputError
from core.records import BoolArray, FloatArray, IntArray

WIDENED = 1e-12


@dataclass(frozen=True, slots=True)
class ScoreBounds:
    """The least and the largest value that each score may have, both (n, k)."""

    lower: FloatArray
    upper: FloatArray

    def __post_init__(self) -> None:
        if self.lower.shape != self.upper.shape or (self.lower > self.upper).any():
            raise InputError(
                f"lower bounds of shape {self.lower.shape} and upper bounds of shape {self.upper.shape} do not belong "
                "together; every lower bound must be at most its upper bound"
            )

    def rows(self, chosen: IntArray) -> ScoreBounds:
        """The bounds of some rows."""
        return ScoreBounds(self.lower[chosen], self.upper[chosen])

    def of(self, labels: IntArray) -> ScoreBounds:
        """The bounds of one option of each row, both (n,)."""
        rows = np.arange(len(labels))
        return ScoreBounds(self.lower[rows, labels], self.upper[rows, labels])


@dataclass(frozen=True, slots=True)
class BoundedSets:
    """For each option whether it is ``inside`` the set, or ``undecided``, (n, k); if neither, it is out. The threshold
    lies between ``thresholds``."""

    inside: BoolArray
    undecided: BoolArray
    thresholds: tuple[float, float]

    @property
    def exact(self) -> BoolArray:
        """Which questions' sets are known exactly, (n,)."""
        return np.asarray(~self.undecided.any(axis=1))

    @property
    def exact_share(self) -> float:
        """The share of questions whose set is known exactly."""
        return float(self.exact.mean())

    @property
    def cautious(self) -> BoolArray:
        """Members (n, k) of sets that surely contain the exact ones: all options that may be in."""
        return self.inside | self.undecided

    def coverage(self, labels: IntArray) -> tuple[float, float]:
        """The least and the largest coverage that the exact sets may have."""
        rows = np.arange(len(labels))
        return float(self.inside[rows, labels].mean()), float(self.cautious[rows, labels].mean())

    def mean_set_size(self) -> tuple[float, float]:
        """The least and the largest mean size that the exact sets may have."""
        return float(self.inside.sum(axis=1).mean()), float(self.cautious.sum(axis=1).mean())


def score_bounds(
    name: str, logits: FloatArray, bounded: BoolArray, *, seed: int = 0, parameters: Parameters = UNTUNED
) -> ScoreBounds:
    """Bounds of the named score of every option, from logits (n, k); the ``bounded`` ones are upper bounds.

    ``seed`` and ``parameters`` are as in :func:`core.conformal.scores.score`. A logit of -inf that is not bounded is an
    option that the question lacks; its bounds are NaN. Raises :class:`InputError` for an unknown score and for shapes
    that differ.

    >>> logits = np.log([[0.6, 0.2, 0.1]])
    >>> found = score_bounds("lac", logits, np.array([[False, False, True]]))
    >>> found.lower.round(3).tolist(), found.upper.round(3).tolist()
    ([[0.25, 0.75, 0.889]], [[0.333, 0.778, 1.0]])
    """
    values = np.asarray(logits, dtype=np.float64)
    if bounded.shape != values.shape:
        raise InputError(f"bounds of shape {bounded.shape} do not fit logits of shape {values.shape}")
    lacking = np.isneginf(values) & ~bounded
    p = np.where(lacking, np.nan, softmax(values))
    lower = score(name, p, seed=seed, parameters=parameters)
    upper = lower.copy()
    rows = np.flatnonzero(bounded.any(axis=1))
    if len(rows):
        weights = np.exp(values[rows] - values[rows].max(axis=1, keepdims=True))
        u = uniforms(np.arange(len(values)), seed=seed)[rows] if score_named(name).randomised else None
        own = np.where(lacking[rows], np.nan, weights)
        if (bounds := score_named(name).bounds) is None:
            low, high = (
                np.where(lacking[rows], np.nan, end) for end in score_named(name).range(p.shape[1], parameters)
            )
        else:
            low, high = bounds(own, bounded[rows], u=u, parameters=parameters)
        lower[rows], upper[rows] = low - WIDENED, high + WIDENED
    return ScoreBounds(lower, upper)


def bounded_sets(calibration: ScoreBounds, test: ScoreBounds, alpha: int) -> BoundedSets:
    """The sets of test questions (m, k), from the bounds of the true options' calibration scores (n,), at alpha in
    thousandths.

    Raises :class:`InputError` if there are no calibration scores.
    """
    low, high = (
        float(thresholds(scores, alphas=np.array([alpha]))[0]) for scores in (calibration.lower, calibration.upper)
    )
    inside = test.upper <= low
    return BoundedSets(inside, (test.lower <= high) & ~inside, (low, high))


def exact_alphas(calibration: ScoreBounds, test: ScoreBounds) -> BoolArray:
    """For each of :data:`~core.conformal.alpha.ALPHAS`, whether every test question's set is known exactly, (999,)."""
    low, high = thresholds(calibration.lower), thresholds(calibration.upper)
    # An option that is in has s₋ ≤ s₊ ≤ q₋ ≤ q₊, so the undecided ones are those not out, minus those in.
    possible = np.searchsorted(_known(test.lower), high, side="right")
    inside = np.searchsorted(_known(test.upper), low, side="right")
    return np.asarray(possible == inside)


def exact_shares(calibration: ScoreBounds, test: ScoreBounds, *, alphas: IntArray = ALPHAS) -> FloatArray:
    """The share of test questions whose set is known exactly, at each alpha, (a,)."""
    low = thresholds(calibration.lower, alphas=alphas)
    high = thresholds(calibration.upper, alphas=alphas)
    vague = np.zeros((len(alphas), len(test.lower)), dtype=np.bool_)
    for j in range(test.lower.shape[1]):
        vague |= (test.lower[:, j] <= high[:, None]) & ~(test.upper[:, j] <= low[:, None])
    return np.asarray(1 - vague.mean(axis=1), dtype=np.float64)


def _known(scores: FloatArray) -> FloatArray:
    return np.sort(scores[~np.isnan(scores)])
