"""Distribution shift between calibration and test questions: a test that detects it, and weights that correct for it.

The guarantee needs calibration and test questions to be exchangeable. A permutation test of the true options' scores
measures the evidence against that. If only the mix of questions differs (covariate shift), coverage is restored by
weights: each calibration question is weighted by how much more frequent its kind is in the test set (Tibshirani,
Barber, Candès & Ramdas 2019, arXiv 1904.06019). The weights are the odds of a logistic regression that tells the two
sides apart by features of the model's probabilities. They can't help if questions with the same features are answered
differently on the two sides.
"""

import numpy as np

from core.conformal.alpha import ALPHAS, THOUSAND
from core.conformal.logistic import logistic
from core.errors import InputError
from core.records import FloatArray, IntArray

DRAWS = 999
RIDGE = 1.0
WHOLE = 2**52
LARGEST_WEIGHT = 20.0
"""Odds are clipped at this value and its inverse, so that no single calibration question decides the threshold."""


def exchangeability_p_value(
    calibration_scores: FloatArray, test_scores: FloatArray, *, rng: np.random.Generator, draws: int = DRAWS
) -> float:
    """The p-value of the hypothesis that both sides' scores are exchangeable, in [1/(draws+1), 1].

    Both arguments are scores of the true options, (n,) and (m,). This is a permutation test of the Kolmogorov–Smirnov
    distance, the largest distance between the two empirical distribution functions. It is exact for every distribution
    of the scores, with ties too, and detects differences in spread as well as in level. Raises :class:`InputError` if a
    side is empty.
    """
    n, m = len(calibration_scores), len(test_scores)
    if n == 0 or m == 0:
        raise InputError("comparing two sides needs at least one question on each")
    order = np.argsort(np.concatenate([calibration_scores, test_scores]), kind="stable")
    ordered = np.concatenate([calibration_scores, test_scores])[order]
    ends = np.append(np.flatnonzero(np.diff(ordered)), n + m - 1)  # tied scores count together
    # The cumulative sum of +m per calibration and −n per test score is n·m·(F_n − G_m). These are whole numbers, so
    # equal distances compare as equal.
    parts = np.where(order < n, float(m), float(-n))

    def distance(parts: FloatArray) -> float:
        return float(np.abs(np.cumsum(parts)[ends]).max())

    seen = distance(parts)
    as_far = sum(distance(rng.permutation(parts)) >= seen for _ in range(draws))
    return float((1 + as_far) / (draws + 1))  # p = (1 + #{D* ≥ D}) / (1 + draws)


def looks(probabilities: FloatArray) -> FloatArray:
    """Features of each question's probabilities, (n, 6): confidence, margin, entropy (in nats), and their squares."""
    rising = np.sort(probabilities, axis=1)
    entropy = -(probabilities * np.log(np.maximum(probabilities, 1e-12))).sum(axis=1)
    first = np.stack([rising[:, -1], rising[:, -1] - rising[:, -2], entropy], axis=1)
    return np.concatenate([first, first**2], axis=1)


def odds(calibration_looks: FloatArray, test_looks: FloatArray) -> tuple[FloatArray, FloatArray]:
    """How much more frequent each question's kind is among the test questions, for both sides, (n,) and (m,).

    These are the odds of a ridge-regularised logistic regression, corrected for the sizes of the two sides and clipped
    to [1/20, 20].
    """
    n, m = len(calibration_looks), len(test_looks)
    raw = np.concatenate([calibration_looks, test_looks])
    spread = raw.std(axis=0)
    # x (n + m, 6): standardised features; the target is 1 for test questions
    x = (raw - raw.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    *weights, intercept = logistic(x, np.repeat([0.0, 1.0], [n, m]), penalty=RIDGE)
    log_odds = np.clip(x @ np.array(weights) + intercept, -30, 30)  # so that exp does not overflow
    # w(x) = P(test | x) / P(calibration | x) · n / m, which estimates dP_test / dP_calibration at x
    ratio = np.clip(np.exp(log_odds) * n / m, 1 / LARGEST_WEIGHT, LARGEST_WEIGHT)
    return ratio[:n], ratio[n:]


def weighted_curve(
    calibration_scores: FloatArray,
    calibration_weights: FloatArray,
    test_scores: FloatArray,
    test_weights: FloatArray,
    test_labels: IntArray,
) -> tuple[FloatArray, FloatArray]:
    """Coverage and mean set size at each alpha from 1 to 999 thousandths, (999,) each, by weighted thresholds.

    A test question's threshold is the smallest calibration score s with ``Σ_{sᵢ ≤ s} wᵢ ≥ (1 − alpha)·(Σ wᵢ + w)``,
    where w is its own weight; it is infinity if no score reaches that. With equal weights it is the exact threshold. No
    threshold is computed: an option of score s is in the set unless the calibration scores below s already reach the
    right side. ``test_scores`` are (m, k).
    """
    order = np.argsort(calibration_scores, kind="stable")
    weights, own = _whole(calibration_weights, test_weights)
    gathered = np.append(0, np.cumsum(weights[order]) * THOUSAND)
    # below (m, k): 1000·Σ wᵢ over the calibration scores sᵢ < s of each option
    below = gathered[np.searchsorted(calibration_scores[order], test_scores, side="left")]
    below_true = below[np.arange(len(test_labels)), test_labels]
    total = weights.sum() + own
    wanted = [(THOUSAND - int(alpha)) * total for alpha in ALPHAS]
    coverage = np.array([(below_true < w).mean() for w in wanted])
    size = np.array([(below < w[:, None]).sum() / len(test_labels) for w in wanted])
    return coverage, size


def _whole(calibration_weights: FloatArray, test_weights: FloatArray) -> tuple[IntArray, IntArray]:
    """The weights (n,) and (m,) in whole parts of the largest one, so that sums of equal weights are exact."""
    parts = WHOLE // (len(calibration_weights) + 1)  # their sum times 1000 is below 2⁶³
    largest = max(calibration_weights.max(initial=0), test_weights.max(initial=0)) or 1.0
    first, second = (np.rint(w / largest * parts).astype(np.int64) for w in (calibration_weights, test_weights))
    return first, second
