"""Binned calibration errors of the top option with 95 % intervals: ECE, its two parts, MCE, and the ℓ2 error.

What an interval holds is the binned error of the law that the questions come from, with these bins:
``Σ_b |E[(correct − confidence)·1(bin b)]|`` for the ECE. It is at least the share of luck-free error that bins can see;
gaps of both directions within one bin cancel. An interval is made of two one-sided ends: the upper one by
:mod:`core.calibration.inversion`, the lower one by :mod:`core.calibration.crossfit`. It is 0 where luck alone
brings as much as was seen (97.5 % of samples of a calibrated model). It holds the error in at least 95 of 100 samples,
in more where the bins are unlike in how far they are off.

:func:`ece_estimate` is the one function behind every ECE that is shown: it depends on no seed and no alpha.
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
"""Right and wrong answers from which the noise of all bins together is taken as normal."""
L2_TAIL = 0.02
"""Of each end of the ℓ2 interval; the noise of a bin is estimated, and 2.5 % then come to 3 to 4."""


@dataclass(frozen=True, slots=True)
class BinnedGaps:
    """The gaps of n questions by bin, (b,) each.

    ``counts`` of questions, ``hits`` of right ones, ``sums`` of the gaps and ``squares`` of their squares,
    ``confidence`` summed, and ``variance``, Σ c(1 − c), of a calibrated model's summed gaps. ``index`` (n,) are the
    questions' bins.
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

        Those of the gaps that were seen, or where larger (in bins that are right or wrong throughout) that of an
        accuracy with one more question right and one more wrong.
        """
        accuracy = (self.hits + 1) / (self.counts + 2)
        seen = self.squares - self.sums**2 / self.n
        return np.sqrt(np.maximum(seen, self.counts * accuracy * (1 - accuracy)))


def binned_gaps(top: TopLabel, *, bins: int = ECE_BINS, by: str = "width") -> BinnedGaps:
    """The gaps of the top option by bin of confidence."""
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
    """The ECE that a calibrated model with these confidences has on average: ``Σ_b E|hits − Σ c| / n``.

    A bin's hits are taken as binomial with the bin's mean confidence, whose mean absolute deviation is de Moivre's
    ``2 (m + 1) P(X = m + 1) (1 − p)``, m = ⌊np⌋, scaled to the variance Σ c(1 − c).
    """
    filled = of.counts > 0
    n, variance = of.counts[filled], of.variance[filled]
    p = np.clip(of.confidence[filled] / n, 0, 1)
    alike = n * p * (1 - p)
    certain = alike < 1e-12
    p = np.where(certain, 0.5, p)
    m = np.floor(n * p)
    log_mass = gammaln(n + 1) - gammaln(m + 2) - gammaln(np.maximum(n - m, 1)) + (m + 1) * np.log(p)
    deviation = 2 * (m + 1) * np.exp(log_mass + (n - m) * np.log1p(-p))
    scaled = deviation * np.sqrt(variance / np.where(certain, 1, alike))
    return float(np.where(certain, 0, scaled).sum() / of.n)


def ece_estimate(top: TopLabel, *, bins: int = ECE_BINS, by: str = "width") -> CalibrationEstimate:
    """The expected calibration error of the top option with its interval, luck and the error beyond it.

    Raises :class:`InputError` for bins that can't be.
    """
    of = binned_gaps(top, bins=bins, by=by)
    return _estimate("ece", of, _cross_fit(of, top))


def binned_estimates(top: TopLabel, *, bins: int = ECE_BINS, by: str = "width") -> dict[str, CalibrationEstimate]:
    """``ece``, ``over``, ``under``, ``mce`` and ``l2`` of the top option; the luck of ``mce`` is left out."""
    of = binned_gaps(top, bins=bins, by=by)
    fitted = _cross_fit(of, top)
    found = {name: _estimate(name, of, fitted) for name in PARTS}
    return {**found, "mce": largest_gap(of), "l2": l2_estimate(of)}


def _cross_fit(of: BinnedGaps, top: TopLabel) -> CrossFit:
    return CrossFit(of.index[:, None], top.gap[:, None], np.sqrt(of.variance), folds_of(of.index))


def _estimate(name: str, of: BinnedGaps, fitted: CrossFit) -> CalibrationEstimate:
    part, n = PARTS[name], of.n
    seen = float(binned_error(of.sums, n, name))
    draws, noise = normal_draws(len(of.counts)), of.noise / n
    # A bin of the tried models is off in the direction that counts, so both parts have one law.
    size = PARTS["ece" if name == "ece" else "under"]

    def error(tried: FloatArray, share: float) -> float:
        def law(t: float) -> FloatArray:
            return np.asarray(size(draws + t) @ tried)

        return multiple(law, seen, share=share) * float(tried.sum())

    mere_luck = seen <= np.quantile(part(draws) @ np.sqrt(of.variance) / n, 1 - TAIL)
    # Over- and underconfidence may be in few bins, which show more of their error: only those that are seen to be off
    # that way are tried.
    high = error(noise if name == "ece" else np.where(part(of.sums) > 0, noise, 0), TAIL)
    high = max(high, _whole_gap(name, of))
    low = 0.0 if mere_luck else min(fitted.low(SIGNED[name]), high)
    luck = expected_by_luck(of) / (1 if name == "ece" else 2)  # gaps of a calibrated model have mean 0
    return CalibrationEstimate(seen, low, high, n, luck, min(max(error(noise, MEDIAN), low), high))


def _whole_gap(name: str, of: BinnedGaps) -> float:
    """The Clopper–Pearson upper end of the gap between the accuracy and the mean confidence of all questions.

    No error is smaller than its direction's whole gap, so neither is its upper end. It is asked for where nearly all
    answers are right, or wrong, and the noise of bins is not normal; 0 where there are ten answers of both kinds.
    """
    if min(of.hits.sum(), of.n - of.hits.sum()) >= ENOUGH:
        return 0.0
    least, most = share_interval(round(float(of.hits.sum())), of.n)
    confidence = float(of.confidence.sum()) / of.n
    gap = {"over": confidence - least, "under": most - confidence}
    return max(gap.get(name, max(gap.values())), 0.0)


def largest_gap(of: BinnedGaps) -> CalibrationEstimate:
    """The largest gap between confidence and accuracy (MCE) of the bins that hold a question, without its luck.

    Each bin's accuracy has its Clopper–Pearson interval at 1 − .05 / filled bins (Bonferroni), so that together they
    hold in 95 % of samples; the ends are the largest of the bins' smallest and of their largest gaps.
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

    ``T = Σ_b (n_b/n)·(gap_b² − v_b/n_b)`` over bins of two questions or more, v the unbiased variance of their gaps,
    has the square of the error for its mean (Sun, Chaudhari, Barnett & Dobriban 2024, arXiv 2408.08998). Its law is
    that of weighted noncentral χ², which holds both of the paper's cases: normal at the rate n^−½ for a model that
    is off, and at the rate n^−1 for a calibrated one. The ends invert that law. The upper one tries models that are
    off in the bins' seen proportions, the lower one those that are off most where the noise is largest.
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
    draws = normal_draws(len(of.counts))[:, counted]

    def end(shape: FloatArray, quantile: float) -> float:
        def law(t: float) -> FloatArray:
            return np.asarray(((t * shape + draws) ** 2 - 1) @ weight)

        return multiple(law, square, share=quantile) * float(np.sqrt((weight * shape**2).sum()))

    off = gap / np.sqrt(noise)
    high = end(off if off.any() else np.ones(len(n)), L2_TAIL)
    low = min(end(np.sqrt(weight), 1 - L2_TAIL), high)
    # Of a calibrated model a bin's squared gap is on average Σ c(1 − c) / n_b².
    luck = float(np.sqrt((of.variance[of.counts > 0] / of.counts[of.counts > 0]).sum() / of.n))
    excess = float(np.sqrt(max(square, 0.0)))
    return CalibrationEstimate(seen, low, high, of.n, luck, min(max(excess, low), high))
