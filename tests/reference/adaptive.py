"""Adaptive conformal inference: sets for a stream whose questions may change (Gibbs & Candès 2021, arXiv 2106.00170).

Questions come one after another, and each truth is known before the next question. The level αₜ moves after each one::

    αₜ₊₁ = αₜ + γ · (α − errₜ)          errₜ = 1 if the set of question t misses the truth, else 0

so a miss makes the next set larger, and a hit makes it a little smaller. The set at αₜ is the split conformal one, with
the ⌈(n+1)(1−αₜ)⌉-th smallest of n calibration scores as its threshold. A rank above n makes the set hold every option;
a rank below 1, which is an αₜ of 1 or more, makes it empty. Empty sets stay empty: the guarantee needs them to miss.

Whatever the questions are, the share of misses in T questions differs from alpha by at most
``(max(α₁, 1 − α₁) + γ) / (γ · T)`` (proposition 4.1). Nothing is promised for a single moment.

alpha and γ are whole numbers of thousandths, and so αₜ is a whole number of millionths: every level and every rank is
exact, in Python as in the browser (``app/components/stream_lab/adaptive.js``).
"""

from dataclasses import dataclass

import numpy as np

from core.conformal.alpha import THOUSAND, check_thousandths
from core.errors import InputError
from core.records import BoolArray, FloatArray, IntArray
from core.reports.stream_lab import check_gamma

MILLION = THOUSAND * THOUSAND


@dataclass(frozen=True, slots=True)
class AdaptiveSets:
    """The course of adaptive conformal inference in a stream of T questions.

    ``levels`` (T,) holds αₜ in millionths, as it was when question t came; it can lie outside of 0 … 1,000,000.
    ``thresholds`` (T,) are infinite where the set holds every option, and minus infinity where it is empty. ``missed``
    (T,) says whether the set missed the truth.
    """

    levels: IntArray
    thresholds: FloatArray
    missed: BoolArray


def rank_at(n: int, level: int) -> int:
    """``⌈(n+1)(1−αₜ)⌉`` for a level in millionths, which may lie outside of 0 … 1,000,000.

    >>> rank_at(9, 100_000), rank_at(9, -1), rank_at(9, MILLION)
    (9, 11, 0)
    """
    return -(-(n + 1) * (MILLION - level) // MILLION)


def adaptive_sets(calibration_scores: FloatArray, true_scores: FloatArray, *, alpha: int, gamma: int) -> AdaptiveSets:
    """Follow a stream whose true options have the scores ``true_scores`` (T,), in the order of the questions.

    ``calibration_scores`` (n,) are those of the true options. alpha and gamma are in thousandths, and the first level
    is alpha. With gamma 0 every level is alpha, and the sets are those of the exact threshold.

    Raises :class:`InputError` for no calibration scores, an alpha outside 1 … 999 or a gamma outside 0 … 200.

    >>> adaptive_sets(np.array([0.1, 0.2, 0.3]), np.array([0.25, 0.1]), alpha=500, gamma=100).levels.tolist()
    [500000, 450000]
    """
    alpha, gamma = check_thousandths(alpha), check_gamma(gamma)
    n, count = len(calibration_scores), len(true_scores)
    if n == 0:
        raise InputError("there are no calibration scores; a stream needs at least one calibration question")
    # The threshold of each rank: rank 0 or less is empty, n + 1 or more is full.
    limits = np.concatenate([[-np.inf], np.sort(calibration_scores), [np.inf]]).tolist()
    levels = np.empty(count, dtype=np.int64)
    thresholds = np.empty(count)
    missed = np.empty(count, dtype=np.bool_)
    level = alpha * THOUSAND
    for t, score in enumerate(true_scores.tolist()):
        threshold = limits[min(max(rank_at(n, level), 0), n + 1)]
        levels[t], thresholds[t], missed[t] = level, threshold, score > threshold
        level += gamma * (alpha - THOUSAND * int(missed[t]))
    return AdaptiveSets(levels, thresholds, missed)


def promised_band(questions: int, *, alpha: int, gamma: int) -> tuple[float, float]:
    """The range of the coverage of a whole stream of this many questions, whatever the questions are.

    That is 1 − alpha, give or take ``(max(α₁, 1 − α₁) + γ) / (γ · T)`` with α₁ = alpha, cut off at 0 and 1. With
    gamma 0 or no question, nothing is promised: (0, 1).

    >>> promised_band(10_000, alpha=100, gamma=5)
    (0.8819, 0.9181)
    """
    if check_gamma(gamma) == 0 or questions == 0:
        return 0.0, 1.0
    target = (THOUSAND - check_thousandths(alpha)) / THOUSAND
    reach = (max(alpha, THOUSAND - alpha) + gamma) / (gamma * questions)
    return max(0.0, target - reach), min(1.0, target + reach)
