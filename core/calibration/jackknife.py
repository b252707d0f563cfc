"""The jackknife: the variance of any figure by leaving out part of the data (Tukey 1958; Shao & Tu 1995, chapters 1 and
2), and intervals of shares that have this variance.

The figure is computed again without each answer or question in turn, or without each of g random groups of them. With
θ̄ the mean of the resulting figures θ₍₁₎ … θ₍g₎, the variance is ``(g − 1) / g · Σ (θ₍ᵢ₎ − θ̄)²``. Everything fitted is
fitted again without the group, so the variance includes that of the fits. On average it is not too small (Efron & Stein
1981).
"""

import numpy as np
from scipy.special import betaincinv, stdtrit

from core.calibration.tango import tango_ends
from core.conformal.clusters import NORMAL, TAIL
from core.records import FloatArray, IntArray

GROUPS = 20
TINY = 1e-12
ROUNDING = 1e-12
"""Variances below this are rounding."""


def random_groups(n: int, *, groups: int = GROUPS) -> IntArray:
    """A random group for each of n answers or questions, numbered from 0, (n,), seeded; sizes differ by at most 1."""
    return np.asarray(np.random.default_rng([n, 0x6A0]).permutation(n) % groups, dtype=np.int64)


def effective_numbers(
    alone: FloatArray, left_out: FloatArray, *, distinct: IntArray | FloatArray, units: IntArray | None = None
) -> FloatArray:
    """The numbers of independent answers for which figures have their jackknifed variances (Korn & Graubard 1998),
    (f,).

    ``alone`` (f,) holds the variance of each figure if it came from one answer, and ``left_out`` (g, f) the figures
    without each group. A number is at most ``distinct`` (f,), the number of different answers behind a figure. It is
    ``units`` (f,), the number of their questions or passages (None: as many), for a figure that has no variance. It
    takes account of how uncertain a variance from g groups is.
    """
    variance, t = _variance(left_out)
    with np.errstate(invalid="ignore", divide="ignore"):
        # n_eff = Var₁ / Var · (z / t_{g−1})²
        worth = alone / variance * (NORMAL / t) ** 2
    known = np.isfinite(worth) & (alone > ROUNDING) & (variance > ROUNDING**2)
    return np.where(known, np.minimum(worth, distinct), distinct if units is None else units)


def share_ends(
    shares: FloatArray, left_out: FloatArray, distinct: IntArray | FloatArray, units: IntArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """The ends of the 95% intervals of shares (f,) in [0, 1], (f,) each.

    The intervals are Clopper and Pearson's with an effective number of answers (:func:`effective_numbers`), so an
    answer that is counted in several splits counts once. ``left_out`` (g, f) holds the shares without each group. The
    ends are NaN if the share is.
    """
    worth = effective_numbers(shares * (1 - shares), left_out, distinct=distinct, units=units)
    hits = shares * worth
    with np.errstate(invalid="ignore"):
        low = np.where(hits <= 0, 0.0, betaincinv(np.maximum(hits, TINY), worth - hits + 1, TAIL))
        high = np.where(hits >= worth, 1.0, betaincinv(hits + 1, np.maximum(worth - hits, TINY), 1 - TAIL))
    unknown = np.isnan(shares)
    return np.where(unknown, np.nan, low), np.where(unknown, np.nan, high)


def difference_ends(
    only_first: FloatArray,
    only_second: FloatArray,
    left_out: FloatArray,
    distinct: IntArray | FloatArray,
    units: IntArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """The ends of the 95% intervals of differences ``only_first − only_second`` between two shares of the same answers,
    (f,) each, from −1 to 1.

    ``only_first`` (f,) is the share of the answers on which only the first of two rules is right. The intervals are
    Tango's (:mod:`core.calibration.tango`) with an effective number of answers (:func:`effective_numbers`).
    ``left_out`` (g, f) holds the differences without each group.
    """
    value = only_first - only_second
    worth = effective_numbers(only_first + only_second - value**2, left_out, distinct=distinct, units=units)
    counts = zip((only_second * worth).tolist(), (only_first * worth).tolist(), worth.tolist(), strict=True)
    ends = np.array([tango_ends(*each, z=NORMAL) for each in counts]).reshape(-1, 2)
    return ends[:, 0], ends[:, 1]


def _variance(left_out: FloatArray) -> tuple[FloatArray, float]:
    """The jackknife variance (f,), and the 97.5% quantile of Student's t with its g − 1 degrees of freedom."""
    g = len(left_out)
    # (g − 1) / g · Σ (θ_(i) − θ̄)²
    variance = (g - 1) / g * ((left_out - left_out.mean(axis=0)) ** 2).sum(axis=0)
    return np.asarray(variance, dtype=np.float64), float(stdtrit(g - 1, 1 - TAIL))
