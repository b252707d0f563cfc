r"""Prediction sets where some options' probabilities are known only up to an upper bound.

A server lists its most probable next tokens. A letter that is not among them has at most the probability of the last
one listed. So of each question the unnormalised probabilities :math:`w_j` are known for the listed options,
:math:`S = \sum w_j` over these, and for each other option u only :math:`0 \le w_u \le c_u`. The option probabilities
are :math:`p_j = w_j / (S + T)` with :math:`T = \sum_u w_u`.

**Bounds of probabilities.** Of a listed option :math:`p_j` falls in T, so
:math:`w_j / (S + \sum c_u) \le p_j \le w_j / S`. Of another, :math:`p_u = w_u / (S + w_u + \sum_{v \ne u} w_v)` rises
in :math:`w_u` and falls in the rest, so :math:`0 \le p_u \le c_u / (S + c_u)`.

**Bounds of LAC.** :math:`s = 1 - p` falls in p, so its bounds are those of p, turned.

**Bounds of APS.** :math:`s_j = 1 - \sum p` of the options ranked after j. Of a listed option let :math:`A_j` be the sum
of the listed ones ranked after it. An option that is not listed has :math:`w_u \le c_u \le w_j` and so ranks after j,
unless both are equal; let :math:`X_j` be the sum of the :math:`c_u \ge w_j`, which may rank before. With those that do
rank before summing to :math:`x \le X_j`, and all to T, :math:`s_j = (S - A_j + x) / (S + T)`. It falls in T for a
given x, so it is least at x = 0, :math:`T = \sum c_u`; and with T = x, its least value for a given x, it rises in x
(the derivative has the sign of :math:`A_j \ge 0`), so :math:`s_j \le (S - A_j + X_j) / (S + X_j)`. Of an option u that
is not listed, what ranks after it is not listed either, or equal to it: it sums to at most
:math:`B(w) = \sum_{v \ne u} \min(c_v, w) + \sum_{w_j \le c_u} \min(w_j, w)` for :math:`w_u = w`, where listed options
j of :math:`w_j \le c_u` are counted although they rank after u only at equality. So
:math:`1 - \max_w B(w) / (S' + B(w) + w) \le s_u \le 1`, S' being the sum of the other listed options. Between two
neighbours of the values c and w_j, B is linear in w and the ratio monotone, so the largest is found at one of these.

**Bounds of the threshold.** The k-th smallest of n numbers rises with each of them. So the threshold lies between the
k-th smallest lower bound and the k-th smallest upper bound of the calibration scores.

**Sets.** With threshold in [q₋, q₊] and an option's score in [s₋, s₊]: it is *in* the set if s₊ ≤ q₋, *out* if s₋ > q₊,
and else it *can't be told*. Whatever the unlisted probabilities are, the exact set holds all that is in, and nothing
that is out. So the options that are in or can't be told form a set that contains the exact one, and covers at least as
often.

Bounds of bounded rows are widened by :data:`WIDENED`, which is more than float64 loses in these sums. Rows without
bounds get the score itself twice, so that a run without bounds has the very sets of :mod:`core.conformal.sets`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from core.conformal.alpha import ALPHAS
from core.conformal.curve import thresholds
from core.conformal.probabilities import softmax
from core.conformal.scores import score
from core.conformal.scores.ranking import put_back, rising_order
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
    """For each option whether it is ``inside`` the set, or ``undecided``, (n, k); else it is out. The threshold lies
    between ``thresholds``."""

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


def score_bounds(name: str, logits: FloatArray, bounded: BoolArray) -> ScoreBounds:
    """Bounds of the named score of every option, from logits (n, k) of which the ``bounded`` ones are upper bounds.

    A logit of -inf that is not bounded is an option that the question lacks; its bounds are NaN. Raises
    :class:`InputError` for a score without such bounds (all but LAC and APS), unless nothing is bounded.

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
    rows = np.flatnonzero(bounded.any(axis=1))
    if len(rows) and name not in BOUNDS:
        raise InputError(
            f"{len(rows)} questions have letters of which only an upper bound is known, and the score {name} has no "
            f"bounds then; choose from {', '.join(BOUNDS)}"
        )
    lower = score(name, p)
    upper = lower.copy()
    if len(rows):
        weights = np.exp(values[rows] - values[rows].max(axis=1, keepdims=True))
        low, high = BOUNDS[name](np.where(lacking[rows], np.nan, weights), bounded[rows])
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
    """At which of all :data:`~core.conformal.alpha.ALPHAS` every test question's set is known exactly, (999,)."""
    low, high = thresholds(calibration.lower), thresholds(calibration.upper)
    # Whatever is in has s₋ ≤ s₊ ≤ q₋ ≤ q₊, so what can't be told is what is not out less what is in.
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


def _lac(weights: FloatArray, bounded: BoolArray) -> tuple[FloatArray, FloatArray]:
    listed, caps = _listed(weights, bounded), _caps(weights, bounded)
    total = listed.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        most = np.where(bounded, caps / (total + caps), weights / total)
        least = np.where(bounded, 0.0, weights / (total + caps.sum(axis=1, keepdims=True)))
    return 1 - _unless_lacking(most, weights, 1.0), 1 - _unless_lacking(least, weights, 0.0)


def _aps(weights: FloatArray, bounded: BoolArray) -> tuple[FloatArray, FloatArray]:
    listed, caps = _listed(weights, bounded), _caps(weights, bounded)
    total, loose = listed.sum(axis=1, keepdims=True), caps.sum(axis=1, keepdims=True)
    order = rising_order(listed)
    sums = np.cumsum(np.take_along_axis(listed, order, axis=1), axis=1)
    after = put_back(np.concatenate([np.zeros_like(sums[:, :1]), sums[:, :-1]], axis=1), order)  # A (n, k)
    before = np.where(caps[:, None, :] >= weights[:, :, None], caps[:, None, :], 0).sum(axis=2)  # X (n, k)
    with np.errstate(invalid="ignore", divide="ignore"):
        lower = (total - after) / (total + loose)
        upper = (total - after + before) / (total + before)
    low = np.where(bounded, 1 - _largest_share_after(listed, caps, bounded), lower)
    return _unless_lacking(low, weights, 0.0), _unless_lacking(np.where(bounded, 1.0, upper), weights, 1.0)


def _largest_share_after(listed: FloatArray, caps: FloatArray, bounded: BoolArray) -> FloatArray:
    """The largest share of an unlisted option's question that may rank after it, (n, k)."""
    k = listed.shape[1]
    values = listed + caps  # (n, k): each option's weight or cap; an option has but one of the two
    best = np.zeros_like(values)
    for u in range(k):
        others = np.arange(k) != u
        tied = (listed <= caps[:, [u]]) & ~bounded
        movable = np.where(bounded | tied, values, 0) * others
        fixed = np.where(bounded | tied, 0, listed).sum(axis=1)
        for b in range(k):
            w = np.minimum(values[:, b], caps[:, u])
            after = np.minimum(movable, w[:, None]).sum(axis=1)
            with np.errstate(invalid="ignore", divide="ignore"):
                share = after / (fixed + after + w)
            best[:, u] = np.fmax(best[:, u], np.where(np.isnan(share), 1.0, share))
    return best


def _listed(weights: FloatArray, bounded: BoolArray) -> FloatArray:
    return np.where(bounded | np.isnan(weights), 0.0, weights)


def _caps(weights: FloatArray, bounded: BoolArray) -> FloatArray:
    return np.where(bounded, weights, 0.0)


def _unless_lacking(bounds: FloatArray, weights: FloatArray, unknown: float) -> FloatArray:
    """The bounds, ``unknown`` where nothing is listed that they could be computed from, NaN for a lacking option."""
    return np.where(np.isnan(weights), np.nan, np.where(np.isnan(bounds), unknown, bounds))


BOUNDS: dict[str, Callable[[FloatArray, BoolArray], tuple[FloatArray, FloatArray]]] = {"lac": _lac, "aps": _aps}
"""The scores that have bounds, by name, from the weights (n, k), of which the bounded ones are upper bounds."""
