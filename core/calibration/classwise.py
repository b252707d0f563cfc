"""Class-wise ECE with its 95% interval, computed as for the ECE, over the bins of every option.

Each question is in one bin of every option, so the noise of the bins is correlated and is drawn with its covariance.
"""

from __future__ import annotations

import numpy as np

from core.calibration.crossfit import CrossFit, folds_of
from core.calibration.errors import binned_error, class_columns
from core.calibration.estimate import CalibrationEstimate
from core.calibration.inversion import MEDIAN, TAIL, correlated, multiple
from core.conformal.probabilities import top_options
from core.records import FloatArray, IntArray


def classwise_estimate(
    probabilities: FloatArray, labels: IntArray, luck: FloatArray, *, bins: int, by: str
) -> CalibrationEstimate:
    """The estimate for probabilities (n, k) and labels (n,); ``luck`` has a calibrated model's errors, one per draw."""
    n, k = probabilities.shape
    index, gaps = class_columns(probabilities, labels, bins=bins, by=by)
    sums = np.bincount(index.ravel(), weights=gaps.ravel(), minlength=k * bins).astype(np.float64)
    covariance = _covariance(index, gaps, sums, bins) / (n * k) ** 2
    # tried (k·bins,): standard deviations of the bins' errors; noise (2000, k·bins)
    tried = np.sqrt(np.diag(covariance))
    noise = correlated(covariance)
    seen = float(binned_error(sums, n) / k)

    def error(share: float) -> float:
        # The errors shown by samples of a model whose bins are each off by t standard deviations: Σ_b |z_b + t·sd_b|
        def law(t: float) -> FloatArray:
            return np.asarray(np.abs(noise + t * tried).sum(axis=1))

        return multiple(law, seen, share=share) * float(tried.sum())

    variance = np.bincount(index.ravel(), weights=(probabilities * (1 - probabilities)).ravel(), minlength=k * bins)
    fitted = CrossFit(index, gaps, np.sqrt(np.maximum(variance, 0)), folds_of(top_options(probabilities)))
    high = error(TAIL)
    mere_luck = seen <= np.quantile(luck, 1 - TAIL)
    low = 0.0 if mere_luck else min(fitted.low(lambda directions: directions), high)
    return CalibrationEstimate(seen, low, high, n, float(luck.mean()), min(max(error(MEDIAN), low), high))


def _covariance(index: IntArray, gaps: FloatArray, sums: FloatArray, bins: int) -> FloatArray:
    """The covariance of the bins' summed gaps, (k·bins, k·bins)."""
    n, k = gaps.shape
    within = index - np.arange(k) * bins
    # Cov = Σ_questions g_a·1(bin i)·g_b·1(bin j) − S_ai·S_bj / n, one block (bins, bins) per pair of options a, b
    made = np.empty((k, bins, k, bins))
    for a in range(k):
        for b in range(a, k):
            both = within[:, a] * bins + within[:, b]
            block = np.bincount(both, weights=gaps[:, a] * gaps[:, b], minlength=bins * bins).reshape(bins, bins)
            made[a, :, b, :], made[b, :, a, :] = block, block.T
    return np.asarray(made.reshape(k * bins, k * bins) - np.outer(sums, sums) / n, dtype=np.float64)
