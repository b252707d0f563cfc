r"""Bounds of scores where some options' probabilities are known only up to an upper bound.

As in :mod:`core.conformal.bounds`, :math:`w_j` are the weights of listed options, :math:`S` is their sum,
:math:`0 \le w_u \le c_u` holds for the others, and :math:`p_j = w_j / (S + T)` with :math:`T = \sum_u w_u`.

**Bounds of probabilities.** For a listed option, :math:`p_j` falls as T grows, so
:math:`w_j / (S + \sum c_u) \le p_j \le w_j / S`. For any other option,
:math:`p_u = w_u / (S + w_u + \sum_{v \ne u} w_v)` rises in :math:`w_u` and falls in the rest, so
:math:`0 \le p_u \le c_u / (S + c_u)`.

**Bounds of LAC.** :math:`s = 1 - p`, so its lower bound is one minus the upper bound of p, and the other way round.

**Bounds of APS.** :math:`s_j = 1 - \sum p` over the options ranked after j. For a listed option, let :math:`A_j` be the
sum over the listed options ranked after it. An option that is not listed has :math:`w_u \le c_u \le w_j` and so ranks
after j, unless both are equal. Let :math:`X_j` be the sum of all :math:`c_u \ge w_j`: these options may rank before j.
If those that do rank before j sum to :math:`x \le X_j`, and all unlisted ones to T, then
:math:`s_j = (S - A_j + x) / (S + T)`. It falls in T for a given x, so it is least at x = 0, :math:`T = \sum c_u`; and
with T = x, its least value for a given x, it rises in x (the derivative has the sign of :math:`A_j \ge 0`), so
:math:`s_j \le (S - A_j + X_j) / (S + X_j)`. For an option u that is not listed, the options ranked after it are
unlisted too, or equal to it. They sum to at most
:math:`B(w) = \sum_{v \ne u} \min(c_v, w) + \sum_{w_j \le c_u} \min(w_j, w)` for :math:`w_u = w`, where the listed
options j with :math:`w_j \le c_u` are counted, although they rank after u only if both are equal. So
:math:`1 - \max_w B(w) / (S' + B(w) + w) \le s_u \le 1`, where S' is the sum over the other listed options. Between two
neighbours of the values c and w_j, B is linear in w and the ratio monotone, so the largest is found at one of these.

**Bounds of the rank.** The options before a listed option j are the listed ones that the ranking puts there, and at
most also the u with :math:`c_u \ge w_j`. Those before an unlisted option u are at least the listed ones with
:math:`w_j > c_u`, and at most all. These are the bounds of top-k. RAPS adds a cost to APS that rises with the rank, so
its bounds are those of APS plus this cost at the bounds of the rank.

**Bounds of SAPS.** The largest probability is at least :math:`\max_j w_j / (S + \sum c_u)` and at least 1 / k, and at
most the largest of the upper bounds of the probabilities; the cost of the rank is added.

**Bounds of margin and of randomised APS.** Both are differences: :math:`\max_{i \ne j} p_i - p_j` and
:math:`s_j - u\,p_j`. The lower bound takes the smallest minuend and the largest subtrahend, and the upper bound the
other way round. The two need not occur together, so these bounds hold but may be wider than necessary.

**Bounds of ordinal APS.** Levels on one side of the most probable one enter outwards. Of levels on two sides, that one
enters first for which the least weight from the most probable level to it is larger: the interval does not grow beyond
a small level before all larger ones on the other side are in it. This least weight rises with each weight, so its
bounds say which levels surely enter before level j, and which may. If I is the interval with which j enters,
:math:`s_j = (\sum_I w) / (S + T)`. It is least if only the sure ones are in I, their unlisted ones are 0 and all others
are largest, and most if all that may be in I are, their unlisted ones are largest and all others are 0. If an unlisted
level may be the most probable one, nothing is known.

Each function takes weights (n, k), NaN for an option that the question lacks, and which of them are ``bounded``.
"""

import numpy as np

from core.conformal.scores.ranking import put_back, ranks, rising_order
from core.conformal.scores.record import UNTUNED, Bounds, Parameters
from core.errors import InputError
from core.records import BoolArray, FloatArray, IntArray

APART = 1e-9
"""Weights that differ by less than this may be equal once they are rounded to the grid of 12 decimals."""


def lac_bounds(
    weights: FloatArray, bounded: BoolArray, *, u: FloatArray | None = None, parameters: Parameters = UNTUNED
) -> Bounds:
    low, high = _probabilities(weights, bounded)
    return 1 - high, 1 - low


def aps_bounds(
    weights: FloatArray, bounded: BoolArray, *, u: FloatArray | None = None, parameters: Parameters = UNTUNED
) -> Bounds:
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


def aps_randomised_bounds(
    weights: FloatArray, bounded: BoolArray, *, u: FloatArray | None = None, parameters: Parameters = UNTUNED
) -> Bounds:
    if u is None:
        raise InputError("randomised APS needs a number u in [0, 1) for each question, and none were given")
    least, most = aps_bounds(weights, bounded)
    low, high = _probabilities(weights, bounded)
    return least - u[:, None] * high, most - u[:, None] * low


def raps_bounds(
    weights: FloatArray, bounded: BoolArray, *, u: FloatArray | None = None, parameters: Parameters = UNTUNED
) -> Bounds:
    least, most = aps_bounds(weights, bounded)
    low, high = (parameters.weight * np.maximum(rank - parameters.free_ranks, 0) for rank in _ranks(weights, bounded))
    return least + low, most + high


def saps_bounds(
    weights: FloatArray, bounded: BoolArray, *, u: FloatArray | None = None, parameters: Parameters = UNTUNED
) -> Bounds:
    low, high = _probabilities(weights, bounded)
    k = (~np.isnan(weights)).sum(axis=1, keepdims=True)
    least = np.maximum(np.nanmax(low, axis=1, keepdims=True), 1 / k)
    most = np.nanmax(high, axis=1, keepdims=True)
    first, last = _ranks(weights, bounded)
    return least + parameters.weight * (first - 1), most + parameters.weight * (last - 1)


def margin_bounds(
    weights: FloatArray, bounded: BoolArray, *, u: FloatArray | None = None, parameters: Parameters = UNTUNED
) -> Bounds:
    low, high = _probabilities(weights, bounded)
    return _best_other(low) - high, _best_other(high) - low


def ordinal_aps_bounds(
    weights: FloatArray, bounded: BoolArray, *, u: FloatArray | None = None, parameters: Parameters = UNTUNED
) -> Bounds:
    listed, caps = _listed(weights, bounded), _caps(weights, bounded)
    n, k = weights.shape
    places, each = np.arange(k), np.arange(n)
    mode = k - 1 - listed[:, ::-1].argmax(axis=1)  # (n,): of equal ones the later
    largest = np.where(np.isnan(weights), -1.0, listed + caps)
    others = np.where(largest == listed[each, mode][:, None], np.where(bounded, np.inf, -1.0), largest)
    known = others.max(axis=1) + APART < listed[each, mode]
    least, most = (_least_from_mode(values, mode) for values in (np.where(bounded, 0.0, largest), largest))
    low, high = least[:, :, None], most[:, None, :]  # of the level that enters, and of the one that it is compared with
    equal = (low == high) & (most[:, :, None] == least[:, None, :])  # both are known, and the later enters first
    right = (places > mode[:, None])[:, :, None]
    across = right != (places > mode[:, None])[:, None, :]
    outwards = np.abs(places - mode[:, None])
    nearer = outwards[:, :, None] <= outwards[:, None, :]
    surely = np.where(across, (low > high + APART) | (equal & right), nearer)  # (n, k, k): the first before the second
    surely[each, mode] = True
    perhaps = ~surely.transpose(0, 2, 1) | (places[:, None] == places)
    perhaps[each, mode] = True
    total = listed.sum(axis=1, keepdims=True)

    def within(values: FloatArray, entered: BoolArray) -> FloatArray:
        return np.asarray((values[:, :, None] * entered).sum(axis=1))

    with np.errstate(invalid="ignore", divide="ignore"):
        lower = within(listed, surely) / (total + caps.sum(axis=1, keepdims=True) - within(caps, surely))
        upper = (within(listed, perhaps) + within(caps, perhaps)) / (total + within(caps, perhaps))
    lower[~known], upper[~known] = np.nan, np.nan
    return _unless_lacking(lower, weights, 0.0), _unless_lacking(upper, weights, 1.0)


def top_k_bounds(
    weights: FloatArray, bounded: BoolArray, *, u: FloatArray | None = None, parameters: Parameters = UNTUNED
) -> Bounds:
    return _ranks(weights, bounded)


def _probabilities(weights: FloatArray, bounded: BoolArray) -> Bounds:
    """The least and the largest probability of each option."""
    listed, caps = _listed(weights, bounded), _caps(weights, bounded)
    total = listed.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        most = np.where(bounded, caps / (total + caps), weights / total)
        least = np.where(bounded, 0.0, weights / (total + caps.sum(axis=1, keepdims=True)))
    return _unless_lacking(least, weights, 0.0), _unless_lacking(most, weights, 1.0)


def _ranks(weights: FloatArray, bounded: BoolArray) -> Bounds:
    """The first and the last rank that each option may have."""
    listed = np.where(bounded, np.nan, weights)
    caps = _caps(weights, bounded)
    before = np.where(np.isnan(listed), 0, ranks(listed) - 1)  # (n, k): of listed ones by listed ones
    with np.errstate(invalid="ignore"):
        may = ((caps[:, None, :] >= weights[:, :, None]) & bounded[:, None, :]).sum(axis=2)
        sure = (listed[:, None, :] > caps[:, :, None]).sum(axis=2)
    k = (~np.isnan(weights)).sum(axis=1, keepdims=True)
    first = np.where(bounded, 1 + sure, 1 + before).astype(np.float64)
    last = np.where(bounded, k, 1 + before + may).astype(np.float64)
    return np.where(np.isnan(weights), np.nan, first), np.where(np.isnan(weights), np.nan, last)


def _least_from_mode(values: FloatArray, mode: IntArray) -> FloatArray:
    """The least value from the most probable level to each, (n, k)."""
    side = np.arange(values.shape[1]) - mode[:, None]
    above = np.minimum.accumulate(np.where(side >= 0, values, np.inf), axis=1)
    below = np.minimum.accumulate(np.where(side <= 0, values, np.inf)[:, ::-1], axis=1)[:, ::-1]
    return np.asarray(np.where(side >= 0, above, below), dtype=np.float64)


def _best_other(p: FloatArray) -> FloatArray:
    """The largest of the other options' values, (n, k)."""
    known = np.where(np.isnan(p), -np.inf, p)
    rising = np.sort(known, axis=1)
    is_best = np.arange(p.shape[1]) == known.argmax(axis=1)[:, None]
    return np.where(is_best, rising[:, -2:-1], rising[:, -1:])


def _largest_share_after(listed: FloatArray, caps: FloatArray, bounded: BoolArray) -> FloatArray:
    """The largest share of an unlisted option's question that may rank after it, (n, k)."""
    k = listed.shape[1]
    values = listed + caps  # (n, k): each option's weight or cap; an option has only one of the two
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
    """The bounds: ``unknown`` if no option is listed from which they could be computed, NaN for an option that the
    question lacks."""
    return np.where(np.isnan(weights), np.nan, np.where(np.isnan(bounds), unknown, bounds))
