"""Binned calibration errors of the top option with 95% intervals: ECE, its two parts, MCE, and the ℓ2 error.

An interval estimates the binned error of the distribution that the questions come from, with these bins. For the ECE
this is ``Σ_b |E[(correct − confidence)·1(bin b)]|``. It is the part of the noise-free error that bins can show, because
gaps of opposite sign within one bin cancel. An interval consists of two one-sided ends: the upper end comes from
:mod:`core.calibration.inversion` and the lower end from :mod:`core.calibration.crossfit`. The lower end is 0 if the
observed error is no larger than chance explains (97.5% of samples of a calibrated model). The interval contains the
error in at least 95 of 100 samples, and in more of them if the bins differ in how far off they are.

Every ECE on screen comes from :func:`ece_estimate`. It depends on no seed and no alpha.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv, gammaln

from core.calibration.bins import ECE_BINS, TopLabel, edges, place
from core.calibration.crossfit import CrossFit, clustered_deviations, folds_of, summed_variance
from core.calibration.errors import PARTS, Part, binned_error
from core.calibration.estimate import CalibrationEstimate, never_seen, unless_too_few
from core.calibration.inversion import MEDIAN, TAIL, correlated, multiple, normal_draws
from core.conformal.clusters import covariance_of_mean, effective_number, within
from core.conformal.coverage import share_interval
from core.records import FloatArray, IntArray

SIGNED: dict[str, Part] = {
    "ece": lambda directions: directions,
    "over": lambda directions: np.minimum(directions, 0),
    "under": lambda directions: np.maximum(directions, 0),
}
ENOUGH = 10
"""With at least this many right and this many wrong answers, the noise of all bins together is treated as normal."""
L2_TAIL = 0.02
"""The tail probability at each end of the ℓ2 interval. It is below 2.5% because the noise of a bin is estimated: a
nominal 2.5% would in fact be 3 to 4%."""


@dataclass(frozen=True, slots=True)
class BinnedGaps:
    """The gaps of n questions by bin, (b,) each.

    ``counts`` is the number of questions in each bin and ``hits`` the number of right ones. ``sums`` are the sums of
    the gaps, ``squares`` the sums of their squares, and ``confidence`` the sums of the confidences. ``variance`` is
    Σ c(1 − c), the variance of a calibrated model's summed gaps. ``index`` (n,) holds the questions' bins.
    ``clustered`` is None unless questions belong together; ``variance`` then is the largest that they can have.
    """

    n: int
    index: IntArray
    counts: FloatArray
    hits: FloatArray
    sums: FloatArray
    squares: FloatArray
    confidence: FloatArray
    variance: FloatArray
    clustered: ClusteredNoise | None = None

    @property
    def worth(self) -> FloatArray:
        """The number of independent questions that each bin is worth, (b,)."""
        return self.counts if self.clustered is None else self.clustered.worth

    @property
    def worth_of_all(self) -> float:
        """The number of independent questions that all are worth."""
        return float(self.n) if self.clustered is None else self.clustered.worth_of_all

    @property
    def noise(self) -> FloatArray:
        """Standard deviations of the bins' summed gaps, (b,).

        This is the larger of two values: the standard deviation of the observed gaps, and the binomial one with one
        more right and one more wrong question added. The second is larger in bins that are all right or all wrong.
        """
        if self.clustered is not None:
            shares, worth = self.hits / np.maximum(self.counts, 1), self.clustered.worth
            accuracy = (shares * worth + 1) / (worth + 2)
            least = self.counts**2 / np.maximum(worth, 1) * accuracy * (1 - accuracy)
            return np.sqrt(np.maximum(np.diag(self.clustered.observed), least))
        # (hits + 1)/(count + 2), and n·Var(gap·1(bin)) = Σ gap² − (Σ gap)²/n
        accuracy = (self.hits + 1) / (self.counts + 2)
        seen = self.squares - self.sums**2 / self.n
        return np.sqrt(np.maximum(seen, self.counts * accuracy * (1 - accuracy)))

    def draws(self, covariance: FloatArray | None) -> FloatArray:
        """Standard normal draws (2000, b), with the correlations of this covariance (b, b) if there is one."""
        if covariance is None:
            return normal_draws(len(self.counts))
        deviations = np.sqrt(np.maximum(np.diag(covariance), 0))
        filled = np.where(deviations > 0, deviations, np.inf)
        return correlated(covariance / np.outer(filled, filled))


@dataclass(frozen=True, slots=True)
class ClusteredNoise:
    """The noise of bins whose questions belong together.

    ``observed`` (b, b) is the covariance of the summed gaps, estimated from clusters, and ``calibrated`` (b, b) the
    largest one of a calibrated model. ``worth`` (b,) and ``worth_of_all`` are the numbers of independent questions
    that the bins, and all of them, are worth (:func:`core.conformal.clusters.effective_number`). ``means`` (b,) are the
    variances of the bins' mean gaps, NaN for a bin with a single cluster.
    """

    observed: FloatArray
    calibrated: FloatArray
    worth: FloatArray
    worth_of_all: float
    means: FloatArray


def _clustered(top: TopLabel, index: IntArray, bins: int, clusters: IntArray) -> ClusteredNoise:
    n = len(top)
    spread = np.zeros((n, bins))
    spread[np.arange(n), index] = top.gap
    sd = np.sqrt(np.maximum(top.confidence * (1 - top.confidence), 0))
    deviations = clustered_deviations(index, sd**2, bins=bins, clusters=clusters)
    worth, means = np.zeros(bins), np.full(bins, np.nan)
    for b in np.unique(index):
        rows = np.flatnonzero(index == b)
        inside = within(clusters, rows)
        worth[b] = effective_number(top.correct[rows], inside)
        means[b] = covariance_of_mean(top.gap[rows, None], inside)[0, 0]
    observed, calibrated = covariance_of_mean(spread, clusters) * n**2, deviations.T @ deviations
    return ClusteredNoise(
        observed=calibrated if np.isnan(observed).any() else observed,  # a single cluster shows no variance
        calibrated=calibrated,
        worth=worth,
        worth_of_all=effective_number(top.correct, clusters),
        means=means,
    )


def binned_gaps(
    top: TopLabel, *, bins: int = ECE_BINS, by: str = "width", clusters: IntArray | None = None
) -> BinnedGaps:
    """The gaps of the top option by bin of confidence. Questions of a cluster count as one unit.

    Raises :class:`InputError` for invalid bins.
    """
    index = place(top.confidence, edges(top.confidence, bins=bins, by=by))
    gap, c = top.gap, top.confidence

    def summed(values: FloatArray) -> FloatArray:
        return np.bincount(index, weights=values, minlength=bins).astype(np.float64)

    return BinnedGaps(
        n=len(top),
        index=index,
        counts=summed(np.ones(len(top))),
        hits=summed(top.correct),
        sums=summed(gap),
        squares=summed(gap**2),
        confidence=summed(c),
        variance=summed_variance(index, np.maximum(c * (1 - c), 0), bins=bins, clusters=clusters),
        clustered=None if clusters is None else _clustered(top, index, bins, clusters),
    )


def expected_by_chance(gaps: BinnedGaps) -> float:
    """The average ECE of a calibrated model with these confidences: ``Σ_b E|hits − Σ c| / n``.

    A bin's hits are treated as binomial with the bin's mean confidence p. Their mean absolute deviation is de Moivre's
    ``2 (m + 1) P(X = m + 1) (1 − p)`` with m = ⌊np⌋, scaled to the standard deviation √(Σ c(1 − c)).
    """
    filled = gaps.counts > 0
    n, variance = gaps.worth[filled], gaps.variance[filled]
    p = np.clip(gaps.confidence[filled] / gaps.counts[filled], 0, 1)
    alike = n * p * (1 - p)
    certain = alike < 1e-12
    p = np.where(certain, 0.5, p)
    m = np.floor(n * p)
    # log C(n, m + 1) + (m + 1) log p; the factor (1 − p)^(n − m − 1)·(1 − p) follows in the next line.
    log_mass = gammaln(n + 1) - gammaln(m + 2) - gammaln(np.maximum(n - m, 1)) + (m + 1) * np.log(p)
    deviation = 2 * (m + 1) * np.exp(log_mass + (n - m) * np.log1p(-p))
    scaled = deviation * np.sqrt(variance / np.where(certain, 1, alike))
    return float(np.where(certain, 0, scaled).sum() / gaps.n)


def ece_estimate(
    top: TopLabel, *, bins: int = ECE_BINS, by: str = "width", clusters: IntArray | None = None
) -> CalibrationEstimate:
    """The expected calibration error of the top option, with its interval, its bias and the error beyond chance.

    Questions of a cluster (n,) count as one unit (:mod:`core.conformal.clusters`). With fewer than 10 questions, or
    clusters, there is no interval.

    Raises :class:`InputError` for invalid bins.
    """
    gaps = binned_gaps(top, bins=bins, by=by, clusters=clusters)
    return unless_too_few(_estimate("ece", gaps, _cross_fit(gaps, top, clusters)), clusters)


def binned_estimates(
    top: TopLabel, *, bins: int = ECE_BINS, by: str = "width", clusters: IntArray | None = None
) -> dict[str, CalibrationEstimate]:
    """The estimates ``ece``, ``over``, ``under``, ``mce`` and ``l2`` of the top option; ``mce`` has no bias.

    As :func:`ece_estimate`; the interval of ``mce`` is exact, and needs no number of questions.

    Raises :class:`InputError` for invalid bins.
    """
    gaps = binned_gaps(top, bins=bins, by=by, clusters=clusters)
    fitted = _cross_fit(gaps, top, clusters)
    estimates = {
        **{name: _estimate(name, gaps, fitted) for name in PARTS},
        "mce": largest_gap(gaps),
        "l2": l2_estimate(gaps),
    }
    return {
        name: estimate if name == "mce" else unless_too_few(estimate, clusters) for name, estimate in estimates.items()
    }


def _cross_fit(gaps: BinnedGaps, top: TopLabel, clusters: IntArray | None) -> CrossFit:
    folds = folds_of(gaps.index, clusters)
    return CrossFit(gaps.index[:, None], top.gap[:, None], np.sqrt(gaps.variance), folds, clusters)


def _estimate(name: str, gaps: BinnedGaps, fitted: CrossFit) -> CalibrationEstimate:
    """The estimate of ``ece``, ``over`` or ``under``: upper end and excess by inversion, lower end by cross-fitting."""
    part, n = PARTS[name], gaps.n
    seen = float(binned_error(gaps.sums, n, name))
    draws = calibrated = gaps.draws(None)
    noise = gaps.noise / n
    if gaps.clustered is not None:
        # Questions of a cluster may be in several bins, whose noise is then correlated. |z ± t| has the distribution
        # of |±z + t|, so the draws take the signs with which the bins are off.
        draws = gaps.draws(gaps.clustered.observed) * np.where(gaps.sums < 0, -1.0, 1.0)
        calibrated = gaps.draws(gaps.clustered.calibrated)
    # In the tried models every bin is off in the direction that counts, so ``over`` and ``under`` have the same
    # distribution of errors.
    size = PARTS["ece" if name == "ece" else "under"]

    def error(tried: FloatArray, share: float) -> float:
        # law(t) (2000,): Σ_b sd_b·size(z_b + t), the errors shown by samples of a model whose true error is t·Σ_b sd_b
        def law(t: float) -> FloatArray:
            return np.asarray(size(draws + t) @ tried)

        return multiple(law, seen, share=share) * float(tried.sum())

    by_chance = seen <= np.quantile(part(calibrated) @ np.sqrt(gaps.variance) / n, 1 - TAIL)
    # Over- or underconfidence may be in few bins, and few bins show more of their error. So only the bins with an
    # observed gap in that direction are tried.
    high = error(noise if name == "ece" else np.where(part(gaps.sums) > 0, noise, 0), TAIL)
    smallest, largest = whole_gap(name, gaps)
    high = min(max(high, largest), 1.0) or never_seen(gaps.worth_of_all)
    low = 0.0 if by_chance else min(fitted.low(SIGNED[name]), smallest, high)
    # The gaps of a calibrated model have mean 0, so over- and underconfidence are half of its ECE each.
    chance = expected_by_chance(gaps) / (1 if name == "ece" else 2)
    return CalibrationEstimate(seen, low, high, n, chance, min(max(error(noise, MEDIAN), low), high))


def whole_gap(name: str, gaps: BinnedGaps) -> tuple[float, float]:
    """The Clopper–Pearson ends of the gap between the accuracy and the mean confidence of all questions.

    An error is never smaller than the gap of all questions together in its direction. So its lower end must not be
    above this gap's lower end, nor its upper end below this gap's upper end. This is needed if nearly all answers are
    right, or wrong, because the noise of bins is then not normal. With at least ten right and ten wrong answers the
    result is (1, 0), which limits nothing.
    """
    right, worth = float(gaps.hits.sum()), gaps.worth_of_all
    if min(right, gaps.n - right) * worth / gaps.n >= ENOUGH:
        return 1.0, 0.0
    least, most = share_interval(right * worth / gaps.n, worth)
    confidence = float(gaps.confidence.sum()) / gaps.n
    over, under = (confidence - most, confidence - least), (least - confidence, most - confidence)
    ends = {"over": over, "under": under}.get(name, (max(over[0], under[0]), max(over[1], under[1])))
    return max(ends[0], 0.0), max(ends[1], 0.0)


def largest_gap(gaps: BinnedGaps) -> CalibrationEstimate:
    """The largest gap between confidence and accuracy (MCE) over the non-empty bins, without its bias.

    Each bin's accuracy has a Clopper–Pearson interval at level 1 − .05 / (number of non-empty bins) (Bonferroni), so
    all intervals together hold in 95% of samples. Each interval gives a smallest and a largest possible gap of its
    bin. The lower end is the maximum of the smallest gaps, the upper end the maximum of the largest gaps.
    """
    filled = gaps.counts > 0
    n = gaps.worth[filled]
    hits = gaps.hits[filled] * (n / gaps.counts[filled])
    confidence = gaps.confidence[filled] / gaps.counts[filled]
    tail = TAIL / len(n)
    least = np.where(hits > 0, betaincinv(np.where(hits > 0, hits, 1), n - hits + 1, tail), 0.0)
    most = np.where(hits < n, betaincinv(hits + 1, np.where(hits < n, n - hits, 1), 1 - tail), 1.0)
    outside = np.maximum(np.maximum(least - confidence, confidence - most), 0)
    furthest = np.maximum(np.abs(least - confidence), np.abs(most - confidence))
    value = float(np.abs(hits / n - confidence).max())
    return CalibrationEstimate(value, float(outside.max()), float(furthest.max()), gaps.n)


def l2_estimate(gaps: BinnedGaps) -> CalibrationEstimate:
    """The ℓ2 calibration error √(Σ (bin's share)·gap²), from the debiased estimate of its square.

    The estimate ``T = Σ_b (n_b/n)·(gap_b² − v_b/n_b)`` over bins with at least two questions, where v_b is the unbiased
    variance of the bin's gaps, has the square of the error as its mean (Sun, Chaudhari, Barnett & Dobriban 2024, arXiv
    2408.08998). Its distribution is a sum of weighted noncentral χ² variables. This covers both cases of the paper:
    normal at the rate n^−½ for a miscalibrated model, and the rate n^−1 for a calibrated one. The ends invert that
    distribution. The upper end tries models whose bins are off in the observed proportions, and the lower end tries
    models that are off most in the bins with the largest noise.
    """
    counted = gaps.counts > 1 if gaps.clustered is None else np.isfinite(gaps.clustered.means)
    seen = float(np.sqrt((gaps.sums**2 / np.maximum(gaps.counts, 1)).sum() / gaps.n))
    if not counted.any():
        return CalibrationEstimate(seen, 0.0, 1.0, gaps.n, None, 0.0)
    n = gaps.counts[counted]
    share, gap = n / gaps.n, gaps.sums[counted] / n
    if gaps.clustered is None:
        variance = (gaps.squares[counted] / n - gap**2) * n / (n - 1)
        square = float((share * (gap**2 - variance / n)).sum())
    else:
        square = float((share * (gap**2 - gaps.clustered.means[counted])).sum())
    worth = gaps.worth[counted]
    accuracy = (gaps.hits[counted] * (worth / n) + 1) / (worth + 2)
    noise = accuracy * (1 - accuracy) / worth
    weight = share * noise
    draws = gaps.draws(None if gaps.clustered is None else gaps.clustered.observed)[:, counted]  # (2000, b)

    # A model whose bins are off by t·shape standard deviations shows T = Σ w·((t·shape + z)² − 1), and its error is
    # t·√(Σ w·shape²).
    def end(shape: FloatArray, quantile: float) -> float:
        def law(t: float) -> FloatArray:
            return np.asarray(((t * shape + draws) ** 2 - 1) @ weight)

        return multiple(law, square, share=quantile) * float(np.sqrt((weight * shape**2).sum()))

    off = gap / np.sqrt(noise)
    smallest, largest = whole_gap("ece", gaps)
    high = max(end(off if off.any() else np.ones(len(n)), L2_TAIL), largest)
    high = min(high, 1.0) or never_seen(gaps.worth_of_all) ** 0.5
    low = min(end(np.sqrt(weight), 1 - L2_TAIL), smallest, high)
    # For a calibrated model, a bin's squared gap is Σ c(1 − c) / n_b² on average.
    chance = float(np.sqrt((gaps.variance[gaps.counts > 0] / gaps.counts[gaps.counts > 0]).sum() / gaps.n))
    excess = float(np.sqrt(max(square, 0.0)))
    return CalibrationEstimate(seen, low, high, gaps.n, chance, min(max(excess, low), high))
