"""Bins of confidence: of equal width, as published, or of equal mass.

A bin contains ``low < confidence ≤ high``; a confidence of exactly 0 is in the first bin (Guo et al. 2017, arXiv
1706.04599). For bins of equal mass, the i-th edge is the ⌈i·n/bins⌉-th smallest confidence. Equal confidences then
share a bin, and bins may be empty (Nixon et al. 2019, arXiv 1904.01685, without splitting ties). Confidences are
rounded to twelve decimals before they are placed, so that equal ones stay equal in whatever order their softmax was
summed.
"""

from dataclasses import dataclass

import numpy as np

from core.conformal.probabilities import check_labels, check_probabilities, top_options
from core.errors import InputError
from core.records import FloatArray, IntArray

ECE_BINS = 15
MOST_BINS = 100
EDGES = ("width", "mass")
DECIMALS = 12


@dataclass(frozen=True, slots=True)
class TopLabel:
    """The top option of n questions: ``confidence`` (n,) is its probability, ``correct`` (n,) is 1 if it is true, or 0.

    If several options are equally probable, the last of them counts. Raises :class:`InputError` if the shapes differ,
    there are no questions, or a confidence is not in [0, 1].
    """

    confidence: FloatArray
    correct: FloatArray

    def __post_init__(self) -> None:
        c, y = self.confidence, self.correct
        if c.ndim != 1 or y.shape != c.shape:
            raise InputError(f"confidences have shape {c.shape} and their truths {y.shape}; expected (n,) for both")
        if len(c) == 0:
            raise InputError("there are no questions; calibration needs at least one")
        bad = ~((c >= 0) & (c <= 1 + 1e-6))
        if bad.any():
            row = int(np.argmax(bad))
            raise InputError(f"confidence {c[row]} of row {row} is not in [0, 1]; give probabilities")

    def __len__(self) -> int:
        return len(self.confidence)

    @property
    def gap(self) -> FloatArray:
        """``correct − confidence``, (n,)."""
        return self.correct - self.confidence


def top_label(probabilities: FloatArray, labels: IntArray) -> TopLabel:
    """The confidence and correctness of the top option, from probabilities (n, k) and labels (n,).

    Raises :class:`InputError` if a row does not sum to 1, there is only one option, or a label is not an option.
    """
    p = check_probabilities(probabilities)
    y = check_labels(labels, n=len(p), k=p.shape[1])
    return TopLabel(p.max(axis=1), np.asarray(top_options(p) == y, dtype=np.float64))


def check_bins(bins: int) -> int:
    """Return the number of bins if it is from 1 to 100; raises :class:`InputError` otherwise."""
    if not 1 <= bins <= MOST_BINS or bins != int(bins):
        raise InputError(
            f"confidences are put into 1 to {MOST_BINS} bins, got {bins}; {ECE_BINS} is the published number"
        )
    return int(bins)


def edges(confidence: FloatArray, *, bins: int = ECE_BINS, by: str = "width") -> FloatArray:
    """The edges of the bins, (bins + 1,), from 0 to 1.

    ``by`` is ``"width"`` or ``"mass"``. Raises :class:`InputError` for any other value, or an invalid number of bins.

    >>> edges(np.array([0.2, 0.4, 0.4, 0.9]), bins=2, by="mass")
    array([0. , 0.4, 1. ])
    """
    check_bins(bins)
    if by not in EDGES:
        raise InputError(f"unknown bins by {by!r}; choose from {', '.join(EDGES)}")
    if by == "width":
        return np.asarray(np.round(np.arange(bins + 1) / bins, DECIMALS), dtype=np.float64)
    n = len(confidence)
    ranks = -(-np.arange(1, bins) * n // bins)  # ⌈i·n / bins⌉
    inner = np.sort(np.round(confidence, DECIMALS))[np.maximum(ranks, 1) - 1]
    return np.concatenate([[0.0], inner, [1.0]])


def place(confidence: FloatArray, edges: FloatArray) -> IntArray:
    """The bin of each confidence, numbered from 0, (n,)."""
    index = np.searchsorted(edges, np.round(confidence, DECIMALS), side="left") - 1
    return np.clip(index, 0, len(edges) - 2).astype(np.int64)
