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
from core.calibration.crossfit import CrossFit, folds_of
from core.calibration.errors import PARTS, Part, binned_error
from core.calibration.estimate import CalibrationEstimate
from core.calibration.inversion import MEDIAN, TAIL, multiple, normal_draws
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
    """

    n: int
    index: IntArray
    counts: FloatArray
    hits: FloatArray
    sums: FloatArray
    squares: FloatArray
    confidence: FloatArray
    variance: FloatArray

    @property
    def noise(self) -> FloatArray:
        """Standard deviations of the bins' summed gaps, (b,).

        This is the larger of two values: the standard deviation of the observed gaps, and the binomial one with one
        more right and one more wrong question added. The second is larger in bins that are all right or all wrong.
        """
        # (hits + 1)/(count + 2), and n·Var(gap·1(bin)) = Σ gap² − (Σ gap)²/n
        accuracy = (self.hits + 1) / (self.counts + 2)
        seen = self.squares - self.sums**2 / self.n
        return np.sqrt(np.maximum(seen, self.counts * accuracy * (1 - accuracy)))


def binned_gaps(top: TopLabel, *, bins: int = ECE_BINS, by: str = "width") -> BinnedGaps:
    """The gaps of the top option by bin of confidence. Raises :class:`InputError` for invalid bins."""
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
        variance=summed(np.maximum(c * (1 - c), 0)),
    )


def expected_by_luck(of: BinnedGaps) -> float:
    """The average ECE of a calibrated model with these confidences: ``Σ_b E|hits − Σ c| / n``.

    A bin's hits are treated as binomial with the bin's mean confidence p. Their mean absolute deviation is de Moivre's
    ``2 (m + 1) P(X = m + 1) (1 − p)`` with m = ⌊np⌋, scaled to the standard deviation √(Σ c(1 − c)).
    """
    filled = of.counts > 0
    n, variance = of.counts[filled], of.variance[filled]
    p = np.clip(of.confidence[filled] / n, 0, 1)
    alike = n * p * (1 - p)
    certain = alike < 1e-12
    p = np.where(certain, 0.5, p)
    m = np.floor(n * p)
    # log C(n, m + 1) + (m + 1) log p; the factor (1 − p)^(n − m − 1)·(1 − p) follows in the next line.
    log_mass = gammaln(n + 1) - gammaln(m + 2) - gammaln(np.maximum(n - m, 1)) + (m + 1) * np.log(p)
    deviation = 2 * (m + 1) * np.exp(log_mass + (n - m) * np.log1p(-p))
    scaled = deviation * np.sqrt(variance / np.where(certain, 1, alike))
    return float(np.where(certain, 0, scaled).sum() / of.n)


def ece_estimate(top: TopLabel, *, bins: int = ECE_BINS, by: str = "width") -> CalibrationEstimate:
    """The expected calibration error of the top option, with its interval, its bias and the error beyond chance.

    Raises :class:`InputError` for invalid bins.
    """
    of = binned_gaps(top, bins=bins, by=by)
    return _estimate("ece", of, _cross_fit(of, top))


def binned_estimates(top: TopLabel, *, bins: int = ECE_BINS, by: str = "width") -> dict[str, CalibrationEstimate]:
    """The estimates ``ece``, ``over``, ``under``, ``mce`` and ``l2`` of the top option; ``mce`` has no bias.

    Raises :class:`InputError` for invalid bins.
    """
    of = binned_gaps(top, bins=bins, by=by)
    fitted = _cross_fit(of, top)
    found = {name: _estimate(name, of, fitted) for name in PARTS}
    return {**found, "mce": largest_gap(of), "l2": l2_estimate(of)}


def _cross_fit(of: BinnedGaps, top: TopLabel) -> CrossFit:
    return CrossFit(of.index[:, None], top.gap[:, None], np.sqrt(of.variance), folds_of(of.index))


def _estimate(name: str, of: BinnedGaps, fitted: CrossFit) -> CalibrationEstimate:
    """The estimate of ``ece``, ``over`` or ``under``: upper end and excess by inversion, lower end by cross-fitting."""
    part, n = PARTS[name], of.n
    seen = float(binned_error(of.sums, n, name))
    draws, noise = normal_draws(len(of.counts)), of.noise / n
    # In the tried models every bin is off in the direction that counts, so ``over`` and ``under`` have the same
    # distribution of errors.
    size = PARTS["ece" if name == "ece" else "under"]

    def error(tried: FloatArray, share: float) -> float:
        # law(t) (2000,): Σ_b sd_b·size(z_b + t), the errors shown by samples of a model whose true error is t·Σ_b sd_b
        def law(t: float) -> FloatArray:
            return np.asarray(size(draws + t) @ tried)

        return multiple(law, seen, share=share) * float(tried.sum())

    mere_luck = seen <= np.quantile(part(draws) @ np.sqrt(of.variance) / n, 1 - TAIL)
    # Over- or underconfidence may be in few bins, and few bins show more of their error. So only the bins with an
    # observed gap in that direction are tried.
    high = error(noise if name == "ece" else np.where(part(of.sums) > 0, noise, 0), TAIL)
    high = max(high, _whole_gap(name, of))
    low = 0.0 if mere_luck else min(fitted.low(SIGNED[name]), high)
    # The gaps of a calibrated model have mean 0, so over- and underconfidence are half of its ECE each.
    luck = expected_by_luck(of) / (1 if name == "ece" else 2)
    return CalibrationEstimate(seen, low, high, n, luck, min(max(error(noise, MEDIAN), low), high))


def _whole_gap(name: str, of: BinnedGaps) -> float:
    """The Clopper–Pearson upper end of the gap between the accuracy and the mean confidence of all questions.

    An error is never smaller than the gap of all questions together in its direction, so its upper end must not be
    below this gap's upper end. This is needed if nearly all answers are right, or wrong, because the noise of bins is
    then not normal. The result is 0 if there are at least ten right and ten wrong answers.
    """
    if min(of.hits.sum(), of.n - of.hits.sum()) >= ENOUGH:
        return 0.0
    least, most = share_interval(round(float(of.hits.sum())), of.n)
    confidence = float(of.confidence.sum()) / of.n
    gap = {"over": confidence - least, "under": most - confidence}
    return max(gap.get(name, max(gap.values())), 0.0)


def largest_gap(of: BinnedGaps) -> CalibrationEstimate:
    """The largest gap between confidence and accuracy (MCE) over the non-empty bins, without its bias.

    Each bin's accuracy has a Clopper–Pearson interval at level 1 − .05 / (number of non-empty bins) (Bonferroni), so
    all intervals together hold in 95% of samples. Each interval gives a smallest and a largest possible gap of its
    bin. The lower end is the maximum of the smallest gaps, the upper end the maximum of the largest gaps.
    """
    filled = of.counts > 0
    n, hits = of.counts[filled], of.hits[filled]
    confidence = of.confidence[filled] / n
    tail = TAIL / len(n)
    least = np.where(hits > 0, betaincinv(np.maximum(hits, 1), n - hits + 1, tail), 0.0)
    most = np.where(hits < n, betaincinv(hits + 1, np.maximum(n - hits, 1), 1 - tail), 1.0)
    outside = np.maximum(np.maximum(least - confidence, confidence - most), 0)
    furthest = np.maximum(np.abs(least - confidence), np.abs(most - confidence))
    value = float(np.abs(hits / n - confidence).max())
    return CalibrationEstimate(value, float(outside.max()), float(furthest.max()), of.n)


def l2_estimate(of: BinnedGaps) -> CalibrationEstimate:
    """The ℓ2 calibration error √(Σ (bin's share)·gap²), from the debiased estimate of its square.

    The estimate ``T = Σ_b (n_b/n)·(gap_b² − v_b/n_b)`` over bins with at least two questions, where v_b is the unbiased
    variance of the bin's gaps, has the square of the error as its mean (Sun, Chaudhari, Barnett & Dobriban 2024, arXiv
    2408.08998). Its distribution is a sum of weighted noncentral χ² variables. This covers both cases of the paper:
    normal at the rate n^−½ for a miscalibrated model, and the rate n^−1 for a calibrated one. The ends invert that
    distribution. The upper end tries models whose bins are off in the observed proportions, and the lower end tries
    models that are off most in the bins with the largest noise.
    """
    counted = of.counts > 1
    seen = float(np.sqrt((of.sums**2 / np.maximum(of.counts, 1)).sum() / of.n))
    if not counted.any():
        return CalibrationEstimate(seen, 0.0, 1.0, of.n, None, 0.0)
    n = of.counts[counted]
    share, gap = n / of.n, of.sums[counted] / n
    variance = (of.squares[counted] / n - gap**2) * n / (n - 1)
    square = float((share * (gap**2 - variance / n)).sum())
    accuracy = (of.hits[counted] + 1) / (n + 2)
    noise = accuracy * (1 - accuracy) / n
    weight = share * noise
    draws = normal_draws(len(of.counts))[:, counted]  # (2000, b)

    # A model whose bins are off by t·shape standard deviations shows T = Σ w·((t·shape + z)² − 1), and its error is
    # t·√(Σ w·shape²).
    def end(shape: FloatArray, quantile: float) -> float:
        def law(t: float) -> FloatArray:
            return np.asarray(((t * shape + draws) ** 2 - 1) @ weight)

        return multiple(law, square, share=quantile) * float(np.sqrt((weight * shape**2).sum()))

    off = gap / np.sqrt(noise)
    high = end(off if off.any() else np.ones(len(n)), L2_TAIL)
    low = min(end(np.sqrt(weight), 1 - L2_TAIL), high)
    # For a calibrated model, a bin's squared gap is Σ c(1 − c) / n_b² on average.
    luck = float(np.sqrt((of.variance[of.counts > 0] / of.counts[of.counts > 0]).sum() / of.n))
    excess = float(np.sqrt(max(square, 0.0)))
    return CalibrationEstimate(seen, low, high, of.n, luck, min(max(excess, low), high))
