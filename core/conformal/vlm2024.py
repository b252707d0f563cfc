"""The figures of VLM-Uncertainty-Bench (Kostumov et al. 2024) as its code computes them: prediction sets and ECE.

The paper is "Uncertainty-Aware Evaluation for Vision-Language Models". Its code computes in the precision of the logits
in its files. In single precision it does the same as that of Ye et al. 2024 (:mod:`core.conformal.ye2024`), except for
the ranking of equal options: it sorts with numpy's default sort, whose order of equal values depends on the processor's
vector instructions. The published figures come out with the sorting network of AVX-512 machines
(:func:`core.conformal.published.network_order`).
"""

import numpy as np

from core.conformal.published import network_order
from core.conformal.threshold import threshold
from core.conformal.ye2024 import Single, single_probabilities, single_sets
from core.records import BoolArray, FloatArray, IntArray

BINS = 15
"""The bins of the expected calibration error, of equal width."""


def members(
    name: str,
    probabilities: FloatArray,
    labels: IntArray,
    *,
    calibration: IntArray,
    test: IntArray,
    alpha: int,
    double: bool = False,
) -> BoolArray:
    """The sets (m, k) of the rows ``test`` by LAC or APS at ``alpha`` thousandths; an empty one takes the top option.

    ``double`` says that the file has its logits in double precision; the authors' code then computes in double
    precision, too. Raises :class:`~core.errors.InputError` as :func:`core.conformal.ye2024.single_sets` does.
    """
    if double:
        sets = _double_members(name, probabilities, labels, calibration=calibration, test=test, alpha=alpha)
        test_probabilities = probabilities[test]
    else:
        sets = single_sets(
            name, probabilities, labels, calibration=calibration, test=test, alpha=alpha, order=_ranked
        ).members
        test_probabilities = probabilities[test].astype(np.float32)
    empty = ~sets.any(axis=1)
    # LAC takes the first of equal options, APS the first of its own ranking.
    top = test_probabilities.argmax(axis=1) if name == "lac" else _ranked(test_probabilities)[:, -1]
    filled = sets.copy()
    filled[np.flatnonzero(empty), top[empty]] = True
    return filled


def expected_calibration_error(probabilities: FloatArray, labels: IntArray, *, double: bool = False) -> float:
    """The ECE of all rows (n, k), in single precision. The authors' code uses torchmetrics, which sums row by row.

    A bin holds its lower edge, and a confidence of exactly 1 has a bin of its own.
    """
    p = probabilities if double else single_probabilities(probabilities)
    confidence = p.max(axis=1).astype(np.float32)
    right = (p.argmax(axis=1) == labels).astype(np.float32)
    edges = np.linspace(0, 1, BINS + 1).astype(np.float32)
    bins = np.searchsorted(edges, confidence, side="right") - 1
    counts, rights, confidences = (_summed(bins, values) for values in (np.ones_like(confidence), right, confidence))
    filled = counts > 0
    gaps = np.abs(rights[filled] / counts[filled] - confidences[filled] / counts[filled])
    return float((gaps * (counts[filled] / counts.sum())).sum(dtype=np.float32))


def _summed(bins: IntArray, values: Single) -> Single:
    """The sum of each bin's values, added one after the other in single precision."""
    sums = np.zeros(BINS + 1, dtype=np.float32)
    np.add.at(sums, bins, values)
    return sums


def _double_members(
    name: str, probabilities: FloatArray, labels: IntArray, *, calibration: IntArray, test: IntArray, alpha: int
) -> BoolArray:
    """The sets (m, k) computed in double precision. Empty sets stay empty."""
    if name == "lac":
        scores = 1 - probabilities
    else:
        ranked = _ranked(probabilities)[:, ::-1]
        running = np.cumsum(np.take_along_axis(probabilities, ranked, axis=1), axis=1)
        scores = np.empty_like(running)
        np.put_along_axis(scores, ranked, running, axis=1)
    q = threshold(scores[calibration, labels[calibration]], alpha, method="paper")
    return probabilities[test] >= 1 - q if name == "lac" else scores[test] <= q


def _ranked(probabilities: Single | FloatArray) -> IntArray:
    return network_order(np.nan_to_num(probabilities.astype(np.float64), nan=-1.0))
