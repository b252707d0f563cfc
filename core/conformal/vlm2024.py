"""The prediction sets of VLM-Uncertainty-Bench (Kostumov et al. 2024) as its code computes them.

The paper is "Uncertainty-Aware Evaluation for Vision-Language Models". Its code is that of Ye et al. 2024 in single
precision (:mod:`core.conformal.ye2024`) but for the ranking of equal options: it sorts with numpy's default sort, whose
order of equal values depends on the processor's vector instructions. The published figures come out with the sorting
network of AVX-512 machines (:func:`core.conformal.published.network_order`).
"""

from __future__ import annotations

import numpy as np

from core.conformal.published import network_order
from core.conformal.ye2024 import Single, single_sets
from core.records import BoolArray, FloatArray, IntArray


def members(
    name: str, probabilities: FloatArray, labels: IntArray, *, calibration: IntArray, test: IntArray, alpha: int
) -> BoolArray:
    """The sets (m, k) of the rows ``test`` by LAC or APS at ``alpha`` thousandths; an empty one takes the top option.

    Raises :class:`~core.errors.InputError` as :func:`core.conformal.ye2024.single_sets` does.
    """
    made = single_sets(
        name, probabilities, labels, calibration=calibration, test=test, alpha=alpha, order=_ranked
    ).members
    empty = ~made.any(axis=1)
    asked = probabilities[test].astype(np.float32)
    # LAC takes the first of equal options, APS the first of its own ranking.
    top = asked.argmax(axis=1) if name == "lac" else _ranked(asked)[:, -1]
    filled = made.copy()
    filled[np.flatnonzero(empty), top[empty]] = True
    return filled


def _ranked(probabilities: Single) -> IntArray:
    return network_order(np.nan_to_num(probabilities.astype(np.float64), nan=-1.0))
