"""When calibration and test questions are not alike: noticing it, and weighting it away.

The guarantee needs calibration and test to be exchangeable. A permutation test of the true options' scores says
how far they look it. Where only the mix of questions differs (covariate shift), weighting each calibration
question by how much more of its kind there is in the test set restores coverage (Tibshirani, Barber, Candès &
Ramdas 2019, arXiv 1904.06019): the weights are odds of a logistic regression that tells the two sides apart by
what the model's probabilities look like. It can't help where the same looks mean something else.
"""

from __future__ import annotations

import numpy as np

from core.conformal.alpha import ALPHAS, THOUSAND, check_thousandths
from core.errors import InputError
from core.logistic import logistic
from core.records import FloatArray, IntArray

DRAWS = 999
RIDGE = 1.0
LARGEST_WEIGHT = 20.0
"""Odds are cut off here, so that no single calibration question decides the threshold."""


def exchangeability_p_value(
    calibration_scores: FloatArray, test_scores: FloatArray, *, rng: np.random.Generator, draws: int = DRAWS
) -> float:
    """How likely the two sides' scores are spread so differently where they are exchangeable, in [1/(draws+1), 1].

    Both are scores of the true options, (n,) and (m,). A permutation test of the largest distance between the two
    cumulative shares (Kolmogorov and Smirnov's), exact whatever the scores' law and with ties: it notices another
    spread as well as another level. Raises :class:`InputError` where a side is empty.
    """
    n, m = len(calibration_scores), len(test_scores)
    if n == 0 or m == 0:
        raise InputError("comparing two sides needs at least one question on each")
    order = np.argsort(np.concatenate([calibration_scores, test_scores]), kind="stable")
    ordered = np.concatenate([calibration_scores, test_scores])[order]
    ends = np.append(np.flatnonzero(np.diff(ordered)), n + m - 1)  # tied scores count together
    parts = np.where(order < n, float(m), float(-n))  # whole numbers, so that equal distances are equal

    def distance(parts: FloatArray) -> float:
        return float(np.abs(np.cumsum(parts)[ends]).max())

    seen = distance(parts)
    as_far = sum(distance(rng.permutation(parts)) >= seen for _ in range(draws))
    return float((1 + as_far) / (draws + 1))


def looks(probabilities: FloatArray) -> FloatArray:
    """What a question looks like through the model's eyes, (n, 6): confidence, margin, entropy, and their squares."""
    rising = np.sort(probabilities, axis=1)
    entropy = -(probabilities * np.log(np.maximum(probabilities, 1e-12))).sum(axis=1)
    first = np.stack([rising[:, -1], rising[:, -1] - rising[:, -2], entropy], axis=1)
    return np.concatenate([first, first**2], axis=1)


def odds(calibration_looks: FloatArray, test_looks: FloatArray) -> tuple[FloatArray, FloatArray]:
    """How much more of each question's kind there is among the test ones, for both sides, (n,) and (m,).

    They are the odds of a ridge-regularised logistic regression, corrected for the sides' sizes and cut off at 20 and
    1/20.
    """
    n, m = len(calibration_looks), len(test_looks)
    raw = np.concatenate([calibration_looks, test_looks])
    spread = raw.std(axis=0)
    x = (raw - raw.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    *weights, intercept = logistic(x, np.repeat([0.0, 1.0], [n, m]), penalty=RIDGE)
    log_odds = np.clip(x @ np.array(weights) + intercept, -30, 30)  # whose exponential is a number
    ratio = np.clip(np.exp(log_odds) * n / m, 1 / LARGEST_WEIGHT, LARGEST_WEIGHT)
    return ratio[:n], ratio[n:]


def weighted_thresholds(
    calibration_scores: FloatArray, calibration_weights: FloatArray, test_weights: FloatArray, alpha: int
) -> FloatArray:
    """A threshold for each test question, (m,), at alpha thousandths.

    The smallest calibration score up to which the weights reach the share 1 − alpha of all of them and the test
    question's own; infinity where they never do. With equal weights it is the exact threshold.
    """
    check_thousandths(alpha)
    order = np.argsort(calibration_scores, kind="stable")
    gathered = np.cumsum(calibration_weights[order]) * THOUSAND
    wanted = (THOUSAND - alpha) * (calibration_weights.sum() + test_weights)
    place = np.searchsorted(gathered, wanted, side="left")
    return np.asarray(np.append(calibration_scores[order], np.inf)[place], dtype=np.float64)


def weighted_curve(
    calibration_scores: FloatArray,
    calibration_weights: FloatArray,
    test_scores: FloatArray,
    test_weights: FloatArray,
    test_labels: IntArray,
) -> tuple[FloatArray, FloatArray]:
    """Coverage and mean set size at each alpha from 1 to 999 thousandths, (999,) each, by weighted thresholds.

    No threshold is formed: an option of score s stays unless the weight of the calibration scores below s already
    reaches what :func:`weighted_thresholds` wants. ``test_scores`` are (m, k).
    """
    order = np.argsort(calibration_scores, kind="stable")
    gathered = np.append(0.0, np.cumsum(calibration_weights[order]) * THOUSAND)
    below = gathered[np.searchsorted(calibration_scores[order], test_scores, side="left")]
    below_true = below[np.arange(len(test_labels)), test_labels]
    total = calibration_weights.sum() + test_weights
    wanted = [(THOUSAND - int(alpha)) * total for alpha in ALPHAS]
    coverage = np.array([(below_true < w).mean() for w in wanted])
    size = np.array([(below < w[:, None]).sum() / len(test_labels) for w in wanted])
    return coverage, size
