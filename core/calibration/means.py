"""The mean of losses with its 95% interval.

Losses are skewed, because a few questions have a very large loss. The interval mean ± t · s/√n then misses mostly on
one side. Hall's transformation removes the skewness first (Hall 1992, On the removal of skewness by transformation,
JRSS B 54). With γ the sample's skewness and x = (mean − μ)/s, ``T(x) = x + γx²/3 + γ²x³/27 + γ/6n`` is nearly normal
with mean 0 and variance 1/n. T increases with x, so its inverse turns the normal interval into one of μ:
``x = (3/γ) · (∛(1 + γ(T − γ/6n)) − 1)``. Student's t quantile is used instead of the normal one.

With few wrong answers the sample hardly shows what a wrong answer costs or how often one occurs. With fewer than 10, a
question's loss is therefore divided into the loss that it has if the model's choice is right, whose mean has the
interval above, and what a wrong answer adds. The sum of what wrong answers add is a weighted sum of Poisson counts and
has the interval of Fay and Feuer (1997, Confidence intervals for directly standardized rates, Statistics in Medicine
16). It needs the weight of a wrong answer that did not occur: the model's probabilities say what one would cost on
these questions. The two intervals are added by their squared distances (MOVER; Zou & Donner 2008, Statistics in
Medicine 27). With fewer than 10 right answers, what a right answer saves takes the place of what a wrong one adds.

Questions of a cluster (:mod:`core.conformal.clusters`) count as one unit: its loss is the sum of theirs.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaincinv, stdtrit

from core.calibration.estimate import too_few
from core.conformal.clusters import count, sums
from core.estimates import Estimate
from core.records import BoolArray, FloatArray, IntArray

HARDLY_SKEWED = 1e-6
ENOUGH = 10
"""With at least this many right and this many wrong answers, the losses alone give the interval."""
TAIL = 0.025


@dataclass(frozen=True, slots=True)
class MeanInterval:
    """A mean and the ends of its 95% interval. Without an interval both ends are NaN, and ``reason`` says why."""

    mean: float
    low: float
    high: float
    reason: str = ""


def skewed_mean_interval(values: FloatArray, clusters: IntArray | None = None) -> tuple[float, float, float]:
    """The mean of values (n,) and the two ends of the 95% interval of the expectation.

    There is no interval, and both ends are NaN, if the mean is infinite, there is a single value or cluster, or all
    values are equal: they then say nothing about how other values differ.

    >>> skewed_mean_interval(np.array([1.0, np.inf]))
    (inf, nan, nan)
    >>> skewed_mean_interval(np.array([2.0, 2.0]))
    (2.0, nan, nan)
    """
    n, mean = len(values), float(np.mean(values))
    if n < 2 or not math.isfinite(mean):
        return mean, math.nan, math.nan
    off = values - mean
    if clusters is not None:
        # The mean of g clusters' values, mean + (g/n)·Σ(value − mean), is that of the questions.
        n = count(clusters, len(values))
        off = sums(off, clusters) * (n / len(values))
        if n < 2:
            return mean, math.nan, math.nan
    spread = float(np.sqrt((off**2).mean()))
    if spread <= 1e-12 * abs(mean):
        return mean, math.nan, math.nan
    skewness = float(((off / spread) ** 3).mean())
    # The ends are μ = mean − s·x with T(x) = ± t_{n−1}/√n.
    reach = float(stdtrit(n - 1, 0.975)) / math.sqrt(n)
    deviation = spread * math.sqrt(n / (n - 1))
    return mean, mean - deviation * _inverse(reach, skewness, n), mean - deviation * _inverse(-reach, skewness, n)


def _inverse(t: float, skewness: float, n: int) -> float:
    """The x with T(x) = t, where T is Hall's transformation; x = t if there is almost no skewness."""
    if abs(skewness) < HARDLY_SKEWED:
        return t
    return (float(np.cbrt(1 + skewness * (t - skewness / (6 * n)))) - 1) * 3 / skewness


def loss_interval(
    losses: FloatArray, labels: IntArray, top: IntArray, probabilities: FloatArray, *, clusters: IntArray | None = None
) -> MeanInterval:
    """The mean loss and its 95% interval.

    ``losses`` (n, k) are the losses if each option is true, NaN for an option that a question lacks. ``labels`` (n,)
    are the true options, ``top`` (n,) the model's choices, and ``probabilities`` (n, k) the model's.
    """
    n = len(losses)
    rows = np.arange(n)
    seen = losses[rows, labels]
    wrong = top != labels
    unbounded = np.isinf(losses).any(axis=1)
    if unbounded.any():
        reason = (
            "the loss is infinite"
            if np.isinf(seen).any()
            else f"{int(unbounded.sum()):,} of {n:,} questions give an option probability 0, and if it were true, the "
            "loss would be infinite"
        )
        return MeanInterval(float(np.mean(seen)), math.nan, math.nan, reason)
    if reason := too_few(n, clusters):
        return MeanInterval(float(np.mean(seen)), math.nan, math.nan, reason)
    units = _units(wrong, clusters)
    if min(units, _units(~wrong, clusters)) >= ENOUGH:
        interval = MeanInterval(*skewed_mean_interval(seen, clusters))
    else:
        others = np.where(np.arange(losses.shape[1]) == top[:, None], np.nan, losses)
        interval = _few_of_a_kind(losses[rows, top], others, seen, wrong, probabilities, clusters)
    if not interval.low < interval.high:
        return MeanInterval(interval.mean, math.nan, math.nan, "all questions have the same loss")
    return interval


def seen_loss_interval(losses: FloatArray, correct: FloatArray, clusters: IntArray | None = None) -> MeanInterval:
    """As :func:`loss_interval`, from the observed losses (n,) alone and whether each choice is right, 1 or 0.

    There is no interval if few answers are wrong, or few right.
    """
    mean, low, high = skewed_mean_interval(losses, clusters)
    reason = too_few(len(losses), clusters)
    for kind, rows in (("right", correct > 0), ("wrong", correct <= 0)):
        if not reason and _units(rows, clusters) < ENOUGH:
            reason = f"fewer than {ENOUGH} {kind} answers"
    if reason or math.isnan(low):
        return MeanInterval(mean, math.nan, math.nan, reason or "all losses are the same, or one is infinite")
    return MeanInterval(mean, low, high)


def _units(rows: BoolArray, clusters: IntArray | None) -> int:
    """The number of clusters that have one of these rows (n,)."""
    return int(rows.sum()) if clusters is None else len(np.unique(clusters[rows]))


def _few_of_a_kind(
    right: FloatArray,
    others: FloatArray,
    seen: FloatArray,
    wrong: BoolArray,
    probabilities: FloatArray,
    clusters: IntArray | None,
) -> MeanInterval:
    """The interval of few wrong, or few right, answers.

    ``right`` (n,) is the loss if the choice is right, ``others`` (n, k) if another option is true, ``seen`` (n,) the
    observed one.
    """
    n = len(seen)
    share = np.where(np.isnan(others), 0.0, probabilities)
    # What a wrong answer adds on these questions, on average: if each other option is as likely as the model says, or
    # if all of them are equally likely.
    added = others - right[:, None]
    expected = np.nansum(share * added, axis=1) / np.maximum(share.sum(axis=1), 1e-300)
    equal = np.nansum(added, axis=1) / np.maximum((~np.isnan(added)).sum(axis=1), 1)
    doubt = share.sum(axis=1)
    if _units(wrong, clusters) <= _units(~wrong, clusters):
        base, jump = right, seen - right
        jump = np.where(wrong, jump, 0.0)
        costs = (expected @ doubt / doubt.sum() if doubt.sum() > 0 else equal.mean(), equal.mean())
    else:
        base = np.where(wrong, seen, right + expected)
        jump = seen - base
        costs = (-expected.mean(), -equal.mean())
    size = 1.0 if clusters is None else n / count(clusters, n)
    jumps = sums(jump, clusters)
    middle, low, high = skewed_mean_interval(base, clusters)
    if math.isnan(low):
        low = high = middle
    fewer, more = (
        poisson_sum(np.maximum(sign * jumps, 0), max(sign * cost * size for cost in costs)) for sign in (-1, 1)
    )
    # The mean is that of three parts, base + more − fewer. Each end is as far from it as the root of the squared
    # distances of the parts' ends.
    mean = float(np.mean(seen))
    down = math.hypot(middle - low, (more.value - more.low) / n, (fewer.high - fewer.value) / n)
    up = math.hypot(high - middle, (more.high - more.value) / n, (fewer.value - fewer.low) / n)
    return MeanInterval(mean, mean - down, mean + up)


def poisson_sum(weights: FloatArray, another: float) -> Estimate:
    """The sum of the weights of the events that occurred, with its interval. ``another`` is the weight of an event that
    did not.

    Fay and Feuer: the ends are quantiles of gamma distributions with mean y and variance v, where y = Σ weights and v =
    Σ weights²; for the upper end another event is added.
    """
    y, v = float(weights.sum()), float((weights**2).sum())
    seen = weights[weights > 0]
    another = max(another, float(seen.mean()) if len(seen) else 0.0)
    low = v / y * float(gammaincinv(y**2 / v, TAIL)) if y > 0 else 0.0
    if another <= 0:
        return Estimate(y, low, y)
    y_more, v_more = y + another, v + another**2
    return Estimate(y, low, v_more / y_more * float(gammaincinv(y_more**2 / v_more, 1 - TAIL)))
