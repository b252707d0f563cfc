"""Accuracy, negative log-likelihood, Brier score and expected calibration error of option probabilities.

All of them take probabilities (n, k) and labels (n,) and are means over questions. The log-likelihood takes
log-probabilities instead. It has no floor: if a true option has probability 0, its loss and the mean are infinite.
"""

import math
from dataclasses import dataclass

import numpy as np

from core.calibration.bins import ECE_BINS, TopLabel
from core.calibration.errors import top_errors
from core.conformal.probabilities import are_top, top_options
from core.records import FloatArray, IntArray


def correct(probabilities: FloatArray, labels: IntArray, *, ties: str = "later") -> FloatArray:
    """1 if the most probable option is true, else 0, (n,).

    ``ties`` says which of several equally probable options is the top one
    (:func:`~core.conformal.probabilities.top_options`).
    """
    return np.asarray(top_options(probabilities, ties=ties) == labels, dtype=np.float64)


def accuracy(probabilities: FloatArray, labels: IntArray, *, ties: str = "later") -> float:
    """The share of questions whose most probable option is true."""
    return float(correct(probabilities, labels, ties=ties).mean())


@dataclass(frozen=True, slots=True)
class TopTies:
    """Questions with several equally probable top options.

    ``n`` is the number of such questions. If the true option is one of several top options, the order of options
    decides whether the question counts as right. ``lost`` is the accuracy if all such questions count as wrong, and
    ``won`` the accuracy if all of them count as right.
    """

    n: int
    lost: float
    won: float


def top_ties(probabilities: FloatArray, labels: IntArray) -> TopTies:
    """Ties between the top options of probabilities (n, k), with labels (n,).

    >>> top_ties(np.array([[0.5, 0.5], [0.25, 0.75]]), np.array([0, 1]))
    TopTies(n=1, lost=0.5, won=1.0)
    """
    top = are_top(probabilities)
    tied = top.sum(axis=1) > 1
    among = top[np.arange(len(labels)), labels]
    return TopTies(int(tied.sum()), float((among & ~tied).mean()), float(among.mean()))


def log_losses(log_probabilities: FloatArray, labels: IntArray) -> FloatArray:
    """``−log p(true)`` in nats, (n,); infinite if the true option has probability 0."""
    return np.asarray(-log_probabilities[np.arange(len(labels)), labels], dtype=np.float64)


def brier_terms(probabilities: FloatArray, labels: IntArray) -> FloatArray:
    """``Σ (p − y)²`` over options for each question, (n,)."""
    truth = np.eye(probabilities.shape[1])[labels]
    return np.asarray(((probabilities - truth) ** 2).sum(axis=1), dtype=np.float64)


def brier_options(probabilities: FloatArray, labels: IntArray) -> FloatArray:
    """``Σ (p − y)²`` over options for each question and each option that may be true, (n, k)."""
    losses = (probabilities**2).sum(axis=1, keepdims=True) + 1 - 2 * probabilities
    losses[np.arange(len(labels)), labels] = brier_terms(probabilities, labels)  # to the last bit as it is
    return np.asarray(losses, dtype=np.float64)


def brier(probabilities: FloatArray, labels: IntArray) -> float:
    """The mean over questions of ``Σ (p − y)²`` over options, from 0 to 2.

    >>> brier(np.array([[1.0, 0.0]]), np.array([1]))
    2.0
    """
    return float(brier_terms(probabilities, labels).mean())


def brier_sampling_noise(frequencies: FloatArray, samples: IntArray) -> float:
    """The part of the Brier score of ``frequencies`` (n, k) that is due to few ``samples`` (n,); NaN if a question has
    only one sample.

    If an option has the probability p and the frequency f in s samples, drawn without looking at the truth y, then
    E (f − y)² = E (p − y)² + E p (1 − p) / s, and f (1 − f) / (s − 1) estimates the last term without bias. The mean of
    Σ f (1 − f) / (s − 1) is what more and more samples would take off (the "fair" Brier score of ensembles: Ferro 2014,
    doi 10.1002/qj.2270).

    >>> brier_sampling_noise(np.array([[0.5, 0.5]]), np.array([2]))
    0.5
    """
    if (samples < 2).any():
        return math.nan
    return float(((frequencies * (1 - frequencies)).sum(axis=1) / (samples - 1)).mean())


def expected_calibration_error(
    probabilities: FloatArray, labels: IntArray, *, bins: int = ECE_BINS, by: str = "width", ties: str = "later"
) -> float:
    """``Σ (bin's share) · |accuracy − confidence|`` over bins of the top probability.

    Raises :class:`InputError` for invalid bins.

    >>> expected_calibration_error(np.array([[0.75, 0.25], [0.75, 0.25]]), np.array([0, 1]))
    0.25
    """
    top = TopLabel(probabilities.max(axis=1), correct(probabilities, labels, ties=ties))
    return top_errors(top, bins=bins, by=by).ece
