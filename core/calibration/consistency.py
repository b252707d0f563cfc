"""The figures that a perfectly calibrated model with the same confidences shows by chance alone.

Each answer is drawn many times, right with a probability equal to its confidence (consistency resampling, Bröcker &
Smith 2007). The draws give the range in which a calibrated bin's accuracy lies and the p-value of the observed ECE
(Vaicenavicius et al. 2019, arXiv 1902.06977). Chance alone also gives the ECE a bias, because an absolute value is
never negative. Spiegelhalter's z (1986) tests calibration without bins.

Questions of a cluster (:mod:`core.conformal.clusters`) are drawn with one uniform number: each is right if the number
is below its confidence. They are then right or wrong together as far as their confidences allow, which makes sums vary
most.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from core.calibration.binned import binned_gaps, expected_by_chance
from core.calibration.bins import ECE_BINS, TopLabel
from core.calibration.errors import binned_error
from core.calibration.estimate import too_few
from core.conformal.clusters import count, sums
from core.errors import InputError
from core.records import FloatArray, IntArray

DRAWS = 1000
CHUNK = 2_000_000
"""The most random numbers that are drawn at once."""


@dataclass(frozen=True, slots=True)
class CalibrationTest:
    """The test whether the ECE is larger than chance explains.

    ``ece`` is the observed one and ``expected`` the mean of a calibrated model
    (:func:`core.calibration.binned.expected_by_chance`). ``p_value`` is the probability that a calibrated model shows
    at least the observed ECE, estimated from ``draws``. ``z`` is Spiegelhalter's z with its two-sided ``z_p_value``; it
    is positive if the squared errors are larger than the confidences predict. Both are NaN if every confidence is 0, ½
    or 1, because the test is then not defined. All three are NaN if there are too few questions, and ``reason`` says
    so.
    """

    ece: float
    expected: float
    p_value: float
    draws: int
    z: float
    z_p_value: float
    reason: str = ""


def uniforms(rng: np.random.Generator, draws: int, n: int, clusters: IntArray | None) -> FloatArray:
    """Uniform numbers for n questions, (draws, n), the same for all questions of a cluster."""
    drawn = rng.random((draws, count(clusters, n)))
    return drawn if clusters is None else np.asarray(drawn[:, clusters])


def calibrated_sums(
    top: TopLabel, index: IntArray, *, bins: int, draws: int, rng: np.random.Generator, clusters: IntArray | None = None
) -> FloatArray:
    """Sums of (correct − confidence) in each bin for ``draws`` draws of a calibrated model, (draws, bins).

    ``index`` (n,) holds the questions' bins. Raises :class:`InputError` for fewer than one draw.
    """
    # Questions are sorted by bin, so each bin is one slice from its start, and ``reduceat`` sums the slices.
    if draws < 1:
        raise InputError(f"the test needs at least one draw, got {draws}")
    order = np.argsort(index, kind="stable")
    confidence = top.confidence[order]
    counts = np.bincount(index, minlength=bins)
    filled = np.flatnonzero(counts)
    starts = np.concatenate([[0], np.cumsum(counts[filled])[:-1]])
    promised = np.add.reduceat(confidence, starts)
    sums = np.zeros((draws, bins))
    step = max(1, CHUNK // len(top))
    together = None if clusters is None else clusters[order]
    for begin in range(0, draws, step):
        rows = min(step, draws - begin)
        right = uniforms(rng, rows, len(top), together) < confidence
        sums[begin : begin + rows, filled] = np.add.reduceat(right, starts, axis=1, dtype=np.float64) - promised
    return sums


def calibration_test(
    top: TopLabel,
    *,
    rng: np.random.Generator,
    bins: int = ECE_BINS,
    by: str = "width",
    draws: int = DRAWS,
    clusters: IntArray | None = None,
) -> CalibrationTest:
    """Test the hypothesis that the top option's confidence is calibrated. Questions of a cluster count as one unit.

    Raises :class:`InputError` for invalid bins or fewer than one draw.
    """
    gaps = binned_gaps(top, bins=bins, by=by, clusters=clusters)
    seen = float(binned_error(gaps.sums, len(top)))
    drawn = binned_error(calibrated_sums(top, gaps.index, bins=bins, draws=draws, rng=rng, clusters=clusters), len(top))
    reason = too_few(len(top), clusters)
    z = np.nan if reason else spiegelhalter(top, clusters)
    return CalibrationTest(
        ece=seen,
        expected=expected_by_chance(gaps),
        p_value=np.nan if reason else float((1 + (drawn >= seen - 1e-12).sum()) / (draws + 1)),
        draws=draws,
        z=z,
        z_p_value=float(2 * ndtr(-abs(z))),
        reason=reason,
    )


def spiegelhalter(top: TopLabel, clusters: IntArray | None = None) -> float:
    """``Σ (y − c)(1 − 2c) / √Σ (1 − 2c)² c (1 − c)``; NaN if the root is 0.

    With clusters the variance is the largest that their questions can have: ``Σ_clusters (Σ |1 − 2c| √c(1 − c))²``.
    """
    c = top.confidence
    if clusters is None:
        spread = float(((1 - 2 * c) ** 2 * c * (1 - c)).sum())
    else:
        deviations = np.abs(1 - 2 * c) * np.sqrt(np.maximum(c * (1 - c), 0))
        spread = float((sums(deviations, clusters) ** 2).sum())
    return float((top.gap * (1 - 2 * c)).sum() / np.sqrt(spread)) if spread > 0 else float("nan")
