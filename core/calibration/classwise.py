"""Class-wise ECE with its 95% interval, computed as for the ECE, over the bins of every option.

Each question is in one bin of every option, so the noise of the bins is correlated and is drawn with its covariance.
A question's gaps add up to 0 over its options, so the bins of a model can't all be off in one direction. The models
that are tried for the upper end are therefore off in the observed directions, in which noise cancels as it does in the
sample.
"""

import numpy as np

from core.calibration.binned import binned_gaps, whole_gap
from core.calibration.bins import TopLabel
from core.calibration.crossfit import CrossFit, folds_of, summed_variance
from core.calibration.errors import binned_error, class_columns
from core.calibration.estimate import CalibrationEstimate, never_seen, unless_too_few
from core.calibration.inversion import MEDIAN, TAIL, correlated, multiple
from core.conformal.clusters import count, covariance_of_mean
from core.conformal.probabilities import top_options
from core.records import FloatArray, IntArray


def classwise_estimate(
    probabilities: FloatArray,
    labels: IntArray,
    chance: FloatArray,
    *,
    bins: int,
    by: str,
    clusters: IntArray | None = None,
) -> CalibrationEstimate:
    """The estimate for probabilities (n, k) and labels (n,); ``chance`` has a calibrated model's errors, one per draw.

    The error is at most 2/k, because the absolute gaps of a question add up to at most 2.
    """
    n, k = probabilities.shape
    index, gaps = class_columns(probabilities, labels, bins=bins, by=by)
    sums = np.bincount(index.ravel(), weights=gaps.ravel(), minlength=k * bins).astype(np.float64)
    covariance = _covariance(index, gaps, sums, bins, clusters) / (n * k) ** 2
    # tried (k·bins,): standard deviations of the bins' errors, with their signs in ``off``; noise (2000, k·bins).
    # Rounding can make the variance of a bin without noise negative.
    tried = np.sqrt(np.maximum(np.diag(covariance), 0))
    off = np.where(sums < 0, -tried, tried)
    noise = correlated(covariance)
    seen = float(binned_error(sums, n) / k)

    def error(share: float) -> float:
        # The errors shown by samples of a model whose bins are each off by t standard deviations: Σ_b |z_b ± t·sd_b|
        def law(t: float) -> FloatArray:
            return np.asarray(np.abs(noise + t * off).sum(axis=1))

        return multiple(law, seen, share=share) * float(tried.sum())

    variance = np.maximum(probabilities * (1 - probabilities), 0)
    calibrated = summed_variance(index, variance, bins=k * bins, clusters=clusters)
    choices = top_options(probabilities)
    top = TopLabel(probabilities.max(axis=1), np.asarray(choices == labels, dtype=np.float64))
    folds = folds_of(choices, clusters)
    fitted = CrossFit(index, gaps, np.sqrt(calibrated), folds, clusters)
    # With nearly all answers right, or wrong, no bin shows any noise. The options of a question are off by twice the
    # amount of its top option, shared among k options.
    smallest, largest = whole_gap("ece", binned_gaps(top, clusters=clusters))
    high = max(error(TAIL), 2 / k * largest)
    high = min(high or never_seen(count(clusters, n)), 2 / k)
    by_chance = seen <= np.quantile(chance, 1 - TAIL)
    low = 0.0 if by_chance else min(fitted.low(lambda directions: directions), 2 / k * smallest, high)
    excess = min(max(error(MEDIAN), low), high)
    return unless_too_few(CalibrationEstimate(seen, low, high, n, float(chance.mean()), excess), clusters)


def _covariance(
    index: IntArray, gaps: FloatArray, sums: FloatArray, bins: int, clusters: IntArray | None
) -> FloatArray:
    """The covariance of the bins' summed gaps, (k·bins, k·bins)."""
    n, k = gaps.shape
    if clusters is not None:
        spread = np.zeros((n, k * bins))
        np.put_along_axis(spread, index, gaps, axis=1)
        return np.asarray(covariance_of_mean(spread, clusters) * n**2)
    within = index - np.arange(k) * bins
    # Cov = Σ_questions g_a·1(bin i)·g_b·1(bin j) − S_ai·S_bj / n, one block (bins, bins) per pair of options a, b
    covariance = np.empty((k, bins, k, bins))
    for a in range(k):
        for b in range(a, k):
            pair_bins = within[:, a] * bins + within[:, b]
            block = np.bincount(pair_bins, weights=gaps[:, a] * gaps[:, b], minlength=bins * bins).reshape(bins, bins)
            covariance[a, :, b, :], covariance[b, :, a, :] = block, block.T
    return np.asarray(covariance.reshape(k * bins, k * bins) - np.outer(sums, sums) / n, dtype=np.float64)
