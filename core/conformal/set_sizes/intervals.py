"""95% intervals of one run's mean set size and UAcc."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import bdtr, betaincinv

from core.conformal.alpha import Alpha
from core.conformal.clusters import covariance_of_mean, few_clusters, kish_number
from core.conformal.coverage import share_interval
from core.conformal.set_sizes.by_rank import SizeCurve, sizes_at, uacc
from core.conformal.set_sizes.resampling import (
    CHUNK,
    RESAMPLES,
    expected_sizes,
    normal_noise,
    rank_law,
    redrawn_places,
    shrinkage,
    shuffle,
)
from core.conformal.threshold import rank
from core.conformal.tuning import REDRAWN
from core.estimates import Estimate
from core.records import FloatArray, IntArray

TAILS = (0.025, 0.975)
DIGITS = 12
OF_NUMBERS, OF_LEVELS = 0.8, 0.92
"""By how much redrawn numbers of a letter's questions, and levels of its threshold, spread around their means. Redrawn
sizes follow steps of the observed scores, so with 1 the intervals of rare letters hold the truth in 99.5% of draws.
The values were chosen by simulation (``tests/simulation/set_sizes.py``)."""
OF_CHOICE = 0.85
"""By how much the size with redrawn parameters spreads around the mean over them. Choices from redrawn questions
differ more than those from new ones; the value was chosen by simulation (``tests/simulation/set_sizes.py``)."""
OF_CHOICES = 15
FIRST_STRATUM = 16
"""The first number of a shuffle for strata; lower numbers are for the noise of test questions."""


@dataclass(frozen=True, slots=True)
class SetEstimates:
    """Mean set size in options, and UAcc = accuracy · √k / mean set size (Ye et al. 2024; may exceed 1)."""

    mean_set_size: Estimate
    uacc: Estimate


def intervals(curve: SizeCurve, alpha: Alpha) -> SetEstimates:
    """Mean set size and UAcc at alpha thousandths if all questions share one threshold.

    Of a tuned score, each resample takes one of the curve's ``choices``.
    """
    law = rank_law(curve.n, alpha)
    at = curve.n if law is None else law.rank - 1
    size = float(curve.size[at])
    # Var(size) = E s² − (E s)², Cov(size, right) = E(s·right) − E s · E right, Var(right) = p(1 − p)
    if curve.covariances is not None:
        covariance = curve.covariances[at]
    else:
        covariance = _covariance_of_means(
            curve.m,
            float(curve.square[at]) - size**2,
            float(curve.size_if_right[at]) - size * curve.accuracy,
            curve.accuracy * (1 - curve.accuracy),
        )
    places = redrawn_places(curve.n, alpha, shrinkage(curve.size, curve.n, law))
    resampled = expected_sizes(curve.size, curve.n, alpha, places)
    if curve.choices:
        resampled = _of_choices(curve.choices, curve.n, alpha)
    estimates = _estimates(resampled, size, curve.accuracy, covariance, curve.options)
    estimates = _never_a_point(estimates, curve.worth or curve.m, curve.accuracy, curve.options, full=law is None)
    if law is None:
        return estimates
    # Parameters that no redrawn choice took are still chosen now and then, and move the threshold.
    unseen = share_interval(0, REDRAWN)[1] if curve.choices else 0.0
    return _beyond_the_step(estimates, curve, at, unseen)


def _beyond_the_step(estimates: SetEstimates, curve: SizeCurve, at: int, unseen: float) -> SetEstimates:
    """The estimates, widened where the sizes on both sides of a step may be more frequent than resamples show.

    Where many ranks have the size of the threshold's rank, such as a threshold of 1 that keeps every option, resamples
    hardly leave the step. How often another calibration draw leaves it depends on the share of scores below the step
    and up to it. Each is taken at the end of its exact interval. ``unseen`` is the share of draws that leave it for
    another reason.
    """
    size = float(curve.size[at])
    other = np.flatnonzero(curve.size != size)
    first = int(other[other < at].max(initial=-1)) + 1  # the ranks of the step, counted from 0
    after = int(other[other > at].min(initial=curve.n + 1))
    below, above = _leaving(curve.n, at, first, after, unseen)
    down = below * float(size - curve.size[first - 1]) if below else 0.0
    up = above * float(curve.size[after] - size) if above else 0.0
    return _widened(estimates, size, down, up, curve.accuracy, curve.options)


def _leaving(n: int, at: int, first: int, after: int, unseen: float = 0.0) -> tuple[float, float]:
    """The largest probabilities that the score of rank ``at``, from 0, of n others is below and above a step, if
    ``first`` of n scores were seen below it and ``after`` up to it; 0 on a side without scores."""
    # below it with at least rank scores below it, and above it with fewer than rank scores up to it
    below = min(1.0, 1 - bdtr(at, n, share_interval(first, n)[1]) + unseen) if first > 0 else 0.0
    above = min(1.0, bdtr(at, n, share_interval(after, n)[0]) + unseen) if after <= n else 0.0
    return float(below), float(above)


def _widened(
    estimates: SetEstimates, size: float, down: float, up: float, accuracy: float, options: int
) -> SetEstimates:
    """The estimates with intervals that reach at least from ``size`` − down to size + up."""
    low, high = estimates.mean_set_size.ends
    if down:
        low = min(low, round(max(0.0, size - down), DIGITS))
    if up:
        high = max(high, round(min(float(options), size + up), DIGITS))
    ratio = estimates.uacc
    ends = uacc(accuracy, np.array([high, low]), options)
    return SetEstimates(
        Estimate(estimates.mean_set_size.value, low, high),
        Estimate(ratio.value, min(ratio.low, float(ends[0])), max(ratio.high, float(ends[1]))) if low > 0 else ratio,
    )


def _never_a_point(estimates: SetEstimates, m: int, accuracy: float, options: int, *, full: bool) -> SetEstimates:
    """The estimates, with ends from the bound of a rare event where all of m sets, in all resamples, have one size, or
    all answers are right or all wrong as well.

    Other sets can be at most as frequent as the upper end of the share 0 of m, and have from 0 to k options. ``full``
    says that too few questions calibrate, so that every set holds every option: that size has no interval, because
    nothing says how large the sets of more of them would be.
    """
    size, ratio = estimates.mean_set_size, estimates.uacc
    if not full and _is_a_point(size):
        _, rare = share_interval(0, m)
        size = Estimate(size.value, size.value * (1 - rare), size.value * (1 - rare) + options * rare)
    if _is_a_point(ratio) and size.low == 0:  # one test question: where sets may be empty, UAcc has no bound
        ratio = Estimate(ratio.value, math.nan, math.nan)
    elif _is_a_point(ratio):
        low, high = share_interval(accuracy * m, m)
        ends = uacc(np.array([low, high]), np.array([size.high, size.low]), options)
        ratio = Estimate(ratio.value, min(float(ends[0]), ratio.value), max(float(ends[1]), ratio.value))
    return SetEstimates(Estimate(size.value, math.nan, math.nan) if full else size, ratio)


def _is_a_point(estimate: Estimate) -> bool:
    return math.isclose(estimate.low, estimate.high, rel_tol=10 ** (1 - DIGITS))


def _of_choices(choices: Sequence[tuple[float, FloatArray]], n: int, alpha: Alpha) -> FloatArray:
    """The expected size of each resample, (2000,), of a random one of the choices."""
    shares = np.array([share for share, _ in choices])
    chosen = np.searchsorted(np.cumsum(shares) * RESAMPLES, shuffle(OF_CHOICES) + 0.5)
    resampled = np.empty((len(choices), RESAMPLES))
    for number, (_, sizes) in enumerate(choices):
        places = redrawn_places(n, alpha, shrinkage(sizes, n, rank_law(n, alpha)))
        resampled[number] = expected_sizes(sizes, n, alpha, places)
    mean = shares @ resampled
    return mean + OF_CHOICE * (resampled[chosen, np.arange(RESAMPLES)] - mean)


@dataclass(frozen=True, slots=True)
class Strata:
    """Which stratum's threshold applies to which option; strata are numbered from 0.

    ``calibration`` (n,) has the strata of the calibration questions, and ``test`` (m, k) those of the test questions'
    options. Either all options of a question have the number of its subject, or each option has the number of its
    letter.
    """

    calibration: IntArray
    test: IntArray


def strata_intervals(
    calibration_scores: FloatArray,
    test_scores: FloatArray,
    right: FloatArray,
    strata: Strata,
    alpha: Alpha,
    *,
    options: int,
    empty: str = "allow",
    clusters: IntArray | None = None,
    redraw_counts: bool = False,
    coarse: bool = False,
) -> SetEstimates:
    """Mean set size and UAcc at alpha thousandths if each stratum has its own exact threshold.

    The thresholds of the strata are redrawn independently, given the number of questions of each. ``redraw_counts``
    redraws these numbers too: how often a letter is true is chance, and a rare letter has enough questions for a
    threshold in some draws and not in others. ``clusters`` (m,) number the questions that test rows repeat. The sizes
    are those of the sets, s, and not their average s̃ over calibration draws, because a stratum has no set size of its
    own if letters have thresholds. A redrawn threshold between two calibration scores is interpolated.
    ``coarse`` says that scores take few values, as frequencies of few samples do, so that a stratum of few questions
    may rarely leave its step in resamples (:func:`_beyond_the_steps`).
    """
    codes = range(int(max(strata.calibration.max(initial=0), strata.test.max(initial=0))) + 1)
    drawn, limits = np.empty((RESAMPLES, len(codes))), np.empty(len(codes))
    numbers = np.bincount(strata.calibration, minlength=len(codes))
    redrawn = _redrawn_numbers(numbers) if redraw_counts else None
    for code in codes:
        ordered = np.sort(calibration_scores[strata.calibration == code])
        n, law = len(ordered), rank_law(len(ordered), alpha)
        limits[code] = np.inf if law is None else ordered[law.rank - 1]
        if n == 0 or (law is None and redrawn is None):
            drawn[:, code] = np.inf
            continue
        order = shuffle(FIRST_STRATUM + code)
        if redrawn is not None:
            places = _places_of_numbers(n, redrawn[:, code], alpha, (order + 0.5) / RESAMPLES)
        elif law is not None:
            places = redrawn_places(n, alpha, law.shrink)[order]
        # The threshold at a place between two ranks; a place nearer to rank n + 1 than to n is infinite.
        between = np.interp(places, np.arange(1, n + 1), ordered)
        drawn[:, code] = np.where(places < n + 0.5, between, np.inf)
    sizes = sizes_at(test_scores, limits[None, :], strata.test, empty=empty)[0].astype(np.float64)
    resampled = _mean_sizes(test_scores, drawn, strata.test, empty=empty)
    accuracy, m = float(right.mean()), kish_number(clusters, len(right))
    if clusters is None:
        covariance = np.atleast_2d(np.cov(np.stack([sizes, right]), ddof=min(1, len(right) - 1))) / len(right)
    else:
        widened = few_clusters(max(2, m)) ** 2
        covariance = widened * covariance_of_mean(np.stack([sizes, right], axis=1), clusters)
    estimates = _estimates(resampled, float(sizes.mean()), accuracy, covariance, options)
    if coarse and redrawn is None:
        by_stratum = [np.sort(calibration_scores[strata.calibration == code]) for code in codes]

        def size_at(changed: FloatArray) -> float:
            return float(sizes_at(test_scores, changed[None, :], strata.test, empty=empty).mean())

        estimates = _beyond_the_steps(estimates, by_stratum, limits, alpha, size_at, accuracy, options)
    return _never_a_point(estimates, m, accuracy, options, full=bool(np.isinf(drawn[:, np.unique(strata.test)]).all()))


def _mean_sizes(scores: FloatArray, limits: FloatArray, strata: IntArray, *, empty: str) -> FloatArray:
    """The mean size of m sets under each of r thresholds, (r,): ``scores`` (m, k), ``limits`` (r, strata)."""
    # The scores of a stratum are sorted, so that a threshold admits those before its place among them.
    codes = strata.ravel().astype(np.min_scalar_type(limits.shape[1]))
    order = np.argsort(codes, kind="stable")
    own = np.split(scores.ravel()[order], np.searchsorted(codes[order], np.arange(1, limits.shape[1])))
    totals = np.zeros(len(limits))
    for code, values in enumerate(own):
        totals += np.searchsorted(np.sort(values), limits[:, code], side="right")
    if empty == "top1":  # a set may be empty only if its scores are above the lowest threshold of each
        may = np.flatnonzero(~(scores <= limits.min(axis=0)[strata]).any(axis=1))
        parts = np.array_split(limits, max(1, len(limits) * len(may) // CHUNK))
        totals += np.concatenate([(sizes_at(scores[may], part, strata[may]) == 0).sum(axis=1) for part in parts])
    return np.asarray(totals / len(scores), dtype=np.float64)


def _beyond_the_steps(
    estimates: SetEstimates,
    scores: Sequence[FloatArray],
    limits: FloatArray,
    alpha: Alpha,
    size_at: Callable[[FloatArray], float],
    accuracy: float,
    options: int,
) -> SetEstimates:
    """As :func:`_beyond_the_step`, for each stratum's sorted ``scores`` and its threshold among ``limits``.

    ``size_at`` gives the mean set size at other thresholds. Strata are independent, so their squares are added.
    """
    size = size_at(limits)
    down, up = 0.0, 0.0
    for code, (ordered, limit) in enumerate(zip(scores, limits, strict=True)):
        n = len(ordered)
        if not math.isfinite(limit):
            continue
        first, after = (int(np.searchsorted(ordered, limit, side)) for side in ("left", "right"))
        below, above = _leaving(n, int(rank(n, alpha)) - 1, first, after)
        if below:
            down += (below * (size - size_at(_with(limits, code, ordered[first - 1])))) ** 2
        up += (above * (size_at(_with(limits, code, ordered[after] if after < n else math.inf)) - size)) ** 2
    return _widened(estimates, size, math.sqrt(down), math.sqrt(up), accuracy, options)


def _with(limits: FloatArray, code: int, limit: float) -> FloatArray:
    changed = limits.copy()
    changed[code] = limit
    return changed


def _redrawn_numbers(numbers: IntArray) -> IntArray:
    """How many of the calibration questions belong to each stratum in each resample, (2000, strata)."""
    n = int(numbers.sum())
    rng = np.random.default_rng([0xC0, n])
    drawn = rng.multinomial(n, numbers / n, size=RESAMPLES)
    return np.rint(numbers + OF_NUMBERS * (drawn - numbers)).astype(np.int64)


def _places_of_numbers(n: int, redrawn: IntArray, alpha: Alpha, levels: FloatArray) -> FloatArray:
    """The places of redrawn thresholds among n scores, in ranks, if ``redrawn`` (r,) scores are drawn: (n + 1)·U with
    U ~ Beta(k, redrawn + 1 − k), spread less by :data:`OF_LEVELS`; infinite if there are too few for a threshold."""
    numbers, which = np.unique(redrawn, return_inverse=True)
    k = np.array([rank(number, alpha) for number in numbers.tolist()], dtype=np.int64)[which]
    places = np.full(len(redrawn), np.inf)
    enough = k <= redrawn
    k, redrawn = k[enough], redrawn[enough]
    mean = k / (redrawn + 1)
    u = betaincinv(k, redrawn + 1 - k, levels[enough])
    places[enough] = np.clip((n + 1) * (mean + OF_LEVELS * (u - mean)), 1, n + 1)
    return places


def _covariance_of_means(m: int, size: float, cross: float, right: float) -> FloatArray:
    """The covariance (2, 2) of mean size and accuracy, from population variances and covariance over m questions."""
    # The covariance of the means of m questions: m / (m − 1) · (population covariance) / m.
    return np.array([[size, cross], [cross, right]]) / max(m - 1, 1)


def _estimates(
    resampled: FloatArray, size: float, accuracy: float, covariance: FloatArray, options: int
) -> SetEstimates:
    noise = normal_noise(covariance)
    sizes = np.clip(resampled + noise[:, 0], 0, options)
    return SetEstimates(
        quantile_interval(size, sizes),
        quantile_interval(uacc(accuracy, size, options), uacc(accuracy + noise[:, 1], sizes, options)),
    )


def quantile_interval(value: float | FloatArray, resampled: FloatArray) -> Estimate:
    """A figure with the 2.5% and 97.5% quantiles of its resamples (r,).

    If the figure lies outside the interval, the nearer end is moved to it. All three values are NaN if the figure is
    not finite.
    """
    at = float(value)
    if not math.isfinite(at):
        return Estimate(math.nan, math.nan, math.nan)
    low, high = np.round(_tails(resampled), DIGITS).tolist()
    return Estimate(at, min(low, at), max(high, at))


def _tails(resampled: FloatArray) -> FloatArray:
    """``np.nanquantile(resampled, TAILS)``, bit for bit, without its checks, which take most of its time.

    An overview of 1,000 runs asks for 4,000 of these.
    """
    ordered = np.sort(resampled)
    if not np.isfinite(ordered[-1]):  # the place to which NaN is sorted
        return np.asarray(np.nanquantile(resampled, TAILS), dtype=np.float64)
    place = np.array(TAILS) * (len(ordered) - 1)
    below = place.astype(np.intp)
    share = place - below
    a, b = ordered[below], ordered[np.minimum(below + 1, len(ordered) - 1)]
    # As numpy interpolates: from the nearer end, so that the result lies between both.
    return np.where(share < 0.5, a + (b - a) * share, b - (b - a) * (1 - share))
