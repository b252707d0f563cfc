"""A label budget: the share of right answers, from a few human labels and a judge's verdicts on all answers.

People label n of M answers, drawn at random. A judge gives each of the M answers a verdict f from 0 to 1. The share of
right answers, among answers like these, is estimated by prediction-powered inference with power tuning, PPI++
(Angelopoulos, Duchi & Zrnic 2023, arXiv 2311.01453)::

    θ̂ = ȳ + λ·(f̄ of the M − n answers without a label − f̄ of the n labelled answers)

The weight λ, from 0 to 1, is the one with the smallest estimated variance. It is near 0 for a worthless judge, which
then costs nothing. For pairs of answers, the share is how often the first answer wins, and a tie counts half. Swapping
the answers of every pair mirrors the estimate.

The published interval ``θ̂ ± 1.96·σ̂`` misses the truth too often with few labels, with shares near 0 or 1, and with a
good judge: if the judge agrees with all n labels, σ̂ is near 0, but the judge may still err elsewhere. Here the interval
is that of Agresti and Coull for the share θ̂ of n′ labels, where n′ is how many labels without a judge would have the
variance of θ̂. For this variance, :data:`UNSEEN` errors of the judge are added to those seen. Without a judge n′ is n,
and the interval is that of the labels alone. Both refer to new answers like these M, so they keep their width when all
M answers are labelled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.conformal.clusters import NORMAL, count, covariance_of_mean, effective_number, few_clusters, within
from core.errors import InputError
from core.estimates import Estimate
from core.records import FloatArray, IntArray

FEWEST = 20
"""With fewer labels, too little is known about a judge, and the labels count alone."""
UNSEEN = 2.0
"""The errors of a judge that are added to those among the labels, times the share of the labels' variance that the
judge explains. Agresti and Coull add as many, z²/2, to each side of a share."""
EVERY = 200
"""Up to this number of labels, :func:`sizes` lists every number."""
LEAST_SHOWN = 10
DRAWN, MOST_DRAWS, FEWEST_DRAWS, CHUNK = 10_000_000, 20_000, 1_000, 5_000_000
"""CHUNK is how many numbers are drawn at a time."""


@dataclass(frozen=True, slots=True)
class LabelEstimate:
    """The share of right answers from ``n`` labels: with the judge (``judged``) and from the labels ``alone``.

    ``weight`` is λ. ``worth`` is the number of labels that would tell as much without a judge: n′, or with clusters
    n′ · n / (the independent labels that the n are worth).
    """

    n: int
    weight: float
    worth: float
    judged: Estimate
    alone: Estimate


def sizes(labels: int) -> tuple[int, ...]:
    """The numbers of labels to try, from 10 (or all, if there are fewer) to all of them, at most 410: every
    number up to 200, and then steps that grow, with round numbers among them."""
    dense = np.arange(min(LEAST_SHOWN, labels), min(labels, EVERY) + 1)
    if labels <= EVERY:
        return tuple(dense.tolist())
    sparse = np.round(np.geomspace(EVERY, labels, EVERY))
    hundreds = [digit * 10**power for power in range(2, 7) for digit in (1, 2, 5) if digit * 10**power <= labels]
    return tuple(np.unique(np.concatenate([dense, sparse, hundreds])).astype(int).tolist())


def label_estimates(
    labels: FloatArray, verdicts: FloatArray, at: Sequence[int], *, clusters: IntArray | None = None
) -> tuple[LabelEstimate, ...]:
    """The estimates from the first n labels, for each n of ``at``.

    ``verdicts`` (M,) are a judge's, from 0 to 1, with the answers in a random order. ``labels`` (at most M,) are those
    of the first answers: 1 for right, 0 for wrong, ½ for a tie. ``clusters`` (M,) number what each answer belongs to;
    answers of one cluster count as one unit. Raises :class:`InputError` for an n that is not from 1 to the number of
    labels.
    """
    bad = next((n for n in at if not 1 <= n <= len(labels)), None)
    if bad is not None:
        raise InputError(f"the number of labels must be from 1 to {len(labels):,}, got {bad:,}")
    return tuple(_estimate(labels[:n], verdicts, clusters) for n in at)


def _estimate(labels: FloatArray, verdicts: FloatArray, clusters: IntArray | None) -> LabelEstimate:
    n, share = len(labels), float(labels.mean())
    own = None if clusters is None else within(clusters, np.arange(n))
    independent = effective_number(labels, own)
    alone = agresti_coull(share, independent)
    judged, rest = verdicts[:n], verdicts[n:]
    explained = labels - share
    weight = float(_weights(explained @ (judged - judged.mean()) / n, verdicts, n)) if n >= FEWEST and len(rest) else 0
    if weight == 0:
        return LabelEstimate(n, 0.0, float(n), alone, alone)
    left = explained - weight * (judged - judged.mean())
    total, residual = float(explained @ explained), float(left @ left)
    unseen = UNSEEN * max(1 - residual / total, 0.0)
    # n′ = n · Var(ȳ) / Var(θ̂), with a degree of freedom for λ, and rows of one cluster that err together
    spread = (residual * (n - 1) / (n - 2) + unseen) * _design_effect(left, own, at_least=n / independent) / n**2
    spread += weight**2 * _variance_of_mean(
        rest, None if clusters is None else within(clusters, np.arange(n, len(verdicts)))
    )
    if clusters is not None:  # answers of one cluster may be on both sides
        sides = [np.bincount(clusters[:n], left / n, clusters.max() + 1)]
        sides.append(np.bincount(clusters[n:], weight * (rest - rest.mean()) / len(rest), clusters.max() + 1))
        spread += max(2 * float(sides[0] @ sides[1]), 0.0)
    worth = min(n * (total + unseen) / n**2 / spread, float(len(verdicts)))
    value = min(max(share + weight * float(rest.mean() - judged.mean()), 0.0), 1.0)
    labels_worth = min(worth * n / independent, float(len(verdicts)))
    return LabelEstimate(n, weight, labels_worth, agresti_coull(value, worth), alone)


def _weights(covariance: FloatArray | float, verdicts: FloatArray, n: int) -> FloatArray:
    """``λ = Cov(y, f) / ((1 + n/N)·Var(f))`` with N = M − n, clipped to [0, 1]; 0 if all verdicts are the same."""
    spread = float(verdicts.var(ddof=1))
    if spread == 0:
        return np.zeros_like(covariance)
    return np.asarray(np.clip(covariance / ((1 + n / (len(verdicts) - n)) * spread), 0, 1), dtype=np.float64)


def _variance_of_mean(values: FloatArray, clusters: IntArray | None) -> float:
    """The variance of the mean of values (n,), over clusters; that of independent values for a single cluster."""
    if clusters is None or count(clusters, len(values)) < 2:
        return float(values.var()) / len(values)
    return float(covariance_of_mean(values[:, None], clusters)[0, 0])


def _design_effect(values: FloatArray, clusters: IntArray | None, *, at_least: float) -> float:
    """How many times the variance of the mean of values (n,) is that of independent values."""
    if clusters is None or not values.any() or (units := count(clusters, len(values))) < 2:
        return at_least
    variance = _variance_of_mean(values, clusters) * few_clusters(units) ** 2
    return max(variance / (float(values @ values) / len(values) ** 2), at_least)


def agresti_coull(share: float, n: float) -> Estimate:
    """A share of n labels with the 95% interval of Agresti & Coull (1998, doi:10.1080/00031305.1998.10480550).

    With z = 1.96, it is ``p̃ ± z·√(p̃(1 − p̃)/ñ)`` for ``ñ = n + z²`` and ``p̃ = (share·n + z²/2)/ñ``. n may be a fraction.

    >>> [round(end, 3) for end in agresti_coull(0.5, 30).ends]
    [0.332, 0.668]
    """
    wider = n + NORMAL**2
    middle = (share * n + NORMAL**2 / 2) / wider
    reach = NORMAL * float(np.sqrt(middle * (1 - middle) / wider))
    return Estimate(share, max(middle - reach, 0.0), min(middle + reach, 1.0))


def variance_saved(labels: FloatArray, verdicts: FloatArray, n: int, *, seed: int = 0) -> FloatArray:
    """The share of the variance that each of k judges saves, from −∞ to 1, (k,): over random draws of n of the M
    labels, the variance of the estimate with the judge is smaller by this share than that of the labels alone.

    ``labels`` is (M,) and ``verdicts`` (M, k). λ is tuned on every draw. There are 1,000 to 20,000 seeded draws, the
    fewer the larger M is. NaN unless n is from 2 to M − 1 and the labels differ.
    """
    m, k = verdicts.shape
    if not 1 < n < m or not labels.std():
        return np.full(k, np.nan)
    rng, draws = np.random.default_rng([seed, m, n]), min(max(DRAWN // m, FEWEST_DRAWS), MOST_DRAWS)
    alone, judged = np.empty(draws), np.empty((draws, k))
    chunk = max(CHUNK // m, 1)
    for start in range(0, draws, chunk):
        rows = rng.random((min(chunk, draws - start), m)).argpartition(n, axis=1)[:, :n]
        y, f = labels[rows], verdicts[rows]  # (c, n) and (c, n, k)
        place = slice(start, start + len(rows))
        alone[place], own = y.mean(axis=1), f.mean(axis=1)
        covariances = np.einsum("cn,cnk->ck", y - y.mean(axis=1, keepdims=True), f) / n
        weights = np.stack([_weights(covariances[:, j], verdicts[:, j], n) for j in range(k)], axis=1)
        rest = (verdicts.sum(axis=0) - n * own) / (m - n)
        judged[place] = alone[place, None] + weights * (rest - own)
    return np.asarray(1 - judged.var(axis=0) / alone.var(), dtype=np.float64)
