"""Accuracy, negative log-likelihood, Brier score and expected calibration error of option probabilities.

All take probabilities (n, k) and labels (n,) and are means over questions.
"""

from __future__ import annotations

import numpy as np

from core.calibration.bins import ECE_BINS, TopLabel
from core.calibration.errors import top_errors
from core.records import FloatArray, IntArray

SMALLEST_PROBABILITY = 1e-8
"""A true option's probability is not taken below this in the log-likelihood, so that one row can't make it endless."""


def correct(probabilities: FloatArray, labels: IntArray) -> FloatArray:
    """1 where the most probable option (the first of equal ones) is the truth, else 0, (n,)."""
    return np.asarray(probabilities.argmax(axis=1) == labels, dtype=np.float64)


def accuracy(probabilities: FloatArray, labels: IntArray) -> float:
    """The share of questions whose most probable option is the truth."""
    return float(correct(probabilities, labels).mean())


def token_losses(true: FloatArray) -> FloatArray:
    """``−log p`` in nats of the probabilities of the true options, not taken below 1e-8, (n,)."""
    return np.asarray(-np.log(np.maximum(true, SMALLEST_PROBABILITY)), dtype=np.float64)


def negative_log_likelihood(probabilities: FloatArray, labels: IntArray) -> float:
    """``−mean log p(true)`` in nats."""
    return float(token_losses(probabilities[np.arange(len(labels)), labels]).mean())


def brier_terms(probabilities: FloatArray, labels: IntArray) -> FloatArray:
    """``Σ (p − y)²`` over options, (n,)."""
    truth = np.eye(probabilities.shape[1])[labels]
    return np.asarray(((probabilities - truth) ** 2).sum(axis=1), dtype=np.float64)


def brier(probabilities: FloatArray, labels: IntArray) -> float:
    """``mean Σ (p − y)²`` over options, from 0 to 2.

    >>> brier(np.array([[1.0, 0.0]]), np.array([1]))
    2.0
    """
    return float(brier_terms(probabilities, labels).mean())


def expected_calibration_error(
    probabilities: FloatArray, labels: IntArray, *, bins: int = ECE_BINS, by: str = "width"
) -> float:
    """``Σ (bin's share) · |accuracy − confidence|`` over bins of the top probability.

    >>> expected_calibration_error(np.array([[0.75, 0.25], [0.75, 0.25]]), np.array([0, 1]))
    0.25
    """
    top = TopLabel(probabilities.max(axis=1), correct(probabilities, labels))
    return top_errors(top, bins=bins, by=by).ece
