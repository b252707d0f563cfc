"""The jackknife: standard errors of any figure by leaving out part of the data (Tukey 1958; Shao & Tu 1995, chapters 1
and 2).

The figure is computed again without each answer or question in turn, or without each of g random groups of them. With
θ̄ the mean of the resulting figures θ₍₁₎ … θ₍g₎, the variance is ``(g − 1) / g · Σ (θ₍ᵢ₎ − θ̄)²``. The interval is the
figure ± its square root times the t quantile with g − 1 degrees of freedom. Everything fitted is fitted again without
the group, so the interval includes the variation of the fits. On average this variance is not too small (Efron & Stein
1981).
"""

from __future__ import annotations

import numpy as np
from scipy.special import betaincinv, ndtri, stdtrit

from core.records import FloatArray, IntArray

GROUPS = 20
TAIL = 0.025
NORMAL = float(ndtri(1 - TAIL))
TINY = 1e-12


def random_groups(n: int, *, groups: int = GROUPS) -> IntArray:
    """A random group for each of n answers or questions, numbered from 0, (n,), seeded; sizes differ by at most 1."""
    return np.asarray(np.random.default_rng([n, 0x6A0]).permutation(n) % groups, dtype=np.int64)


def ends(
    values: FloatArray,
    left_out: FloatArray,
    *,
    times: IntArray | None = None,
    least: float = -np.inf,
    most: float = np.inf,
) -> tuple[FloatArray, FloatArray]:
    """The ends of the 95% intervals of figures ``values`` (f,), (f,) each.

    ``left_out`` (g, f) holds the figures without each group. ``times`` (g,) says how many groups give the same figures
    as this row, so that they are computed only once. No end is below ``least`` or above ``most``. Both ends are NaN if
    the figure is not defined without some group.
    """
    variance, t = _variance(left_out, times)
    reach = t * np.sqrt(variance)
    return np.clip(values - reach, least, most), np.clip(values + reach, least, most)


def share_ends(shares: FloatArray, left_out: FloatArray, distinct: IntArray) -> tuple[FloatArray, FloatArray]:
    """The ends of the 95% intervals of shares (f,) in [0, 1], (f,) each.

    ``left_out`` (g, f) holds the shares without each group. The intervals are Clopper and Pearson's with an effective
    number of answers: the number of independent answers for which a share has the jackknifed variance (Korn & Graubard
    1998). It is at most ``distinct`` (f,), the number of different answers behind each share, and equal to it for a
    share of 0 or 1, which has no variance. So an answer that is counted in several splits counts once. The ends are NaN
    if the share is.
    """
    variance, t = _variance(left_out, None)
    with np.errstate(invalid="ignore", divide="ignore"):
        # n_eff = p(1 − p) / Var · (z / t_{g−1})²
        worth = shares * (1 - shares) / variance * (NORMAL / t) ** 2
    worth = np.where(np.isfinite(worth) & (worth > 0), np.minimum(worth, distinct), distinct)
    hits = shares * worth
    with np.errstate(invalid="ignore"):
        low = np.where(hits <= 0, 0.0, betaincinv(np.maximum(hits, TINY), worth - hits + 1, TAIL))
        high = np.where(hits >= worth, 1.0, betaincinv(hits + 1, np.maximum(worth - hits, TINY), 1 - TAIL))
    unknown = np.isnan(shares)
    return np.where(unknown, np.nan, low), np.where(unknown, np.nan, high)


def _variance(left_out: FloatArray, times: IntArray | None) -> tuple[FloatArray, float]:
    """The jackknife variance (f,), and the 97.5% quantile of Student's t with its g − 1 degrees of freedom."""
    times = np.ones(len(left_out), dtype=np.int64) if times is None else times
    g = int(times.sum())
    mean = times @ left_out / g
    # (g − 1) / g · Σ_i times_i·(θ_(i) − θ̄)²
    variance = (g - 1) / g * (times @ (left_out - mean) ** 2)
    return np.asarray(variance, dtype=np.float64), float(stdtrit(g - 1, 1 - TAIL))
