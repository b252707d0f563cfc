"""Conformal p-values (for each option, the alpha at which it leaves its prediction set) and Holm's correction.

The p-value of an option is ``(1 + #{calibration ≥ score}) / (n + 1)``: the share of n + 1 scores, the n calibration
scores and its own, that are at least as large as its own (Vovk, Gammerman & Shafer 2005). With the exact threshold, the
option is in the set at alpha if and only if alpha is smaller than its p-value.
"""

from collections.abc import Sequence

import numpy as np

from core.errors import InputError
from core.records import FloatArray


def p_values(calibration_scores: FloatArray, scores: FloatArray) -> FloatArray:
    """The p-value of every score, in the same shape, in [1/(n+1), 1].

    Raises :class:`InputError` if there are no calibration scores.

    >>> p_values(np.array([0.1, 0.2, 0.3]), np.array([[0.2, 0.9]]))
    array([[0.75, 0.25]])
    """
    n = len(calibration_scores)
    if n == 0:
        raise InputError("there are no calibration scores; a p-value needs at least one calibration question")
    better = np.searchsorted(np.sort(calibration_scores), scores, side="left")
    # (1 + #{calibration ≥ s}) / (n + 1) = (n + 1 − #{calibration < s}) / (n + 1)
    return np.asarray((n + 1 - better) / (n + 1), dtype=np.float64)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down correction (1979): the i-th smallest of m times m − i + 1, never falling, at most 1.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    m = len(p_values)
    order = sorted(range(m), key=lambda i: p_values[i])
    corrected = [0.0] * m
    highest = 0.0
    for place, i in enumerate(order):
        highest = max(highest, min(1.0, (m - place) * p_values[i]))
        corrected[i] = highest
    return corrected
