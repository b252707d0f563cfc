"""The APS scores of two published tools, so that their figures can be reproduced and compared.

LLM-Uncertainty-Bench (Ye et al. 2024) computes the same scores as Hedge, but in single precision
(:mod:`core.conformal.ye2024`), and has its own threshold (``paper``).

BLUQ uses different scores for calibration and test, which breaks the guarantee. A calibration score is the sum of all
probabilities that are not below the true option's (all ties count). A test score follows a ranking by numpy's unstable
sort read backwards; its order among ties depends on the processor's vector instructions. The sorting network of
AVX-512 machines is written out here, so that the published figures come out on any machine.

To compute accuracy and to fill empty sets, both tools take the first of several equally probable options, whatever
order their scores give ties (:data:`TOP_TIES`). Hedge takes the last one everywhere.
"""

import numpy as np

from core.conformal.scores import UNTUNED, Parameters, score, true_scores
from core.errors import InputError
from core.records import FloatArray, IntArray

NETWORK = (
    ((0, 1), (2, 3), (4, 5), (6, 7)),
    ((0, 3), (1, 2), (4, 7), (5, 6)),
    ((0, 1), (2, 3), (4, 5), (6, 7)),
    ((0, 7), (1, 6), (2, 5), (3, 4)),
    ((0, 2), (1, 3), (4, 6), (5, 7)),
    ((0, 1), (2, 3), (4, 5), (6, 7)),
)
"""A bitonic sorting network on eight lanes: in each stage, a pair is exchanged if its first value is larger."""
LANES = 8
TOP_TIES = {"exact": "later", "paper": "first", "bluq": "first"}
"""For each threshold: which of several equally probable options is the top one, for accuracy and for empty sets."""


def top_ties_of(method: str) -> str:
    """Which of several equally probable options is the top one with this threshold (:data:`TOP_TIES`).

    Raises :class:`InputError` for an unknown threshold.
    """
    if method not in TOP_TIES:
        raise InputError(f"unknown threshold {method!r}; choose from {', '.join(TOP_TIES)}")
    return TOP_TIES[method]


def network_order(values: FloatArray) -> IntArray:
    """The increasing order of each row of (n, k), k ≤ 8, with ties as the network leaves them, (n, k).

    Raises :class:`InputError` for more than 8 options.

    >>> network_order(np.array([[1.0, 0.0, 1.0]]))
    array([[1, 0, 2]])
    """
    n, k = values.shape
    if k > LANES:
        raise InputError(f"BLUQ's order of ties is known for up to {LANES} options, got {k}; use another threshold")
    keys = np.full((n, LANES), np.inf)  # (n, 8); unused lanes hold infinity and stay last
    keys[:, :k] = values
    order = np.tile(np.arange(LANES), (n, 1))
    for stage in NETWORK:
        for i, j in stage:
            swap = np.flatnonzero(keys[:, i] > keys[:, j])
            for array in (keys, order):
                array[swap, i], array[swap, j] = array[swap, j], array[swap, i]
    return order[:, :k]


def bluq_test_scores(probabilities: FloatArray) -> FloatArray:
    """BLUQ's APS scores of all options, (n, k): the cumulative sum of probabilities in the order of its ranking."""
    order = network_order(probabilities)[:, ::-1]
    running = np.cumsum(np.take_along_axis(probabilities, order, axis=1), axis=1)
    scores = np.empty_like(running)
    np.put_along_axis(scores, order, running, axis=1)
    return scores


def bluq_calibration_scores(probabilities: FloatArray, labels: IntArray) -> FloatArray:
    """BLUQ's APS scores of the true options, (n,): the sum of all probabilities not below the true one's."""
    true = true_scores(probabilities, labels)
    return np.asarray((probabilities * (probabilities >= true[:, None])).sum(axis=1), dtype=np.float64)


def scores_for(
    name: str,
    probabilities: FloatArray,
    labels: IntArray,
    *,
    calibration: IntArray,
    test: IntArray,
    method: str = "exact",
    seed: int = 0,
    parameters: Parameters = UNTUNED,
) -> tuple[FloatArray, FloatArray]:
    """Calibration scores (n,) and test scores (m, k) of the rows ``calibration`` and ``test``.

    Both use the same definition of the score, except for ``aps`` with ``method="bluq"``, which uses BLUQ's two.
    """
    if method == "bluq" and name == "aps":
        return (
            bluq_calibration_scores(probabilities[calibration], labels[calibration]),
            bluq_test_scores(probabilities[test]),
        )

    def own(rows: IntArray) -> FloatArray:
        return score(name, probabilities[rows], seed=seed, parameters=parameters, places=rows)

    return true_scores(own(calibration), labels[calibration]), own(test)
