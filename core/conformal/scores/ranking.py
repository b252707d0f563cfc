"""The order and ranks of options, and a function that returns sorted values to their options."""

from typing import TypeVar

import numpy as np
import numpy.typing as npt

from core.conformal.probabilities import NEXT_TO_IT, on_grid, row_blocks
from core.conformal.scores.record import Parameters
from core.records import FloatArray, IntArray

FAST_FROM = 64
"""With fewer options than this, a stable sort is as fast as any."""

Number = TypeVar("Number", np.float64, np.int64)


def rising_order(probabilities: FloatArray) -> IntArray:
    """Each row's options by increasing probability, (n, k). Equal ones (:func:`~core.conformal.probabilities.on_grid`)
    keep their order; missing ones (NaN) come first."""
    p = on_grid(probabilities)
    p = np.where(np.isnan(p), -np.inf, p)
    if p.shape[1] < FAST_FROM:
        return np.argsort(p, axis=1, kind="stable")
    order = np.argsort(p, axis=1)  # several times as fast, but equal ones lose their order
    rising = np.take_along_axis(p, order, axis=1)
    equal = (rising[:, 1:] == rising[:, :-1]).any(axis=1)
    order[equal] = np.argsort(p[equal], axis=1, kind="stable")
    return order


def put_back(values: npt.NDArray[Number], order: IntArray) -> npt.NDArray[Number]:
    """Values (n, k) in the order of :func:`rising_order`, returned to the columns of their options, (n, k)."""
    placed = np.empty_like(values)
    np.put_along_axis(placed, order, values, axis=1)
    return placed


def ranks(probabilities: FloatArray) -> IntArray:
    """The rank of each option by decreasing probability, 1 … k, (n, k); among equal ones the later comes first.

    >>> ranks(np.array([[0.4, 0.2, 0.4]]))
    array([[2, 3, 1]])
    """
    return ranks_in(rising_order(probabilities))


def ranks_in(order: IntArray) -> IntArray:
    """The ranks of :func:`ranks`, from the order of :func:`rising_order`."""
    n, k = order.shape
    return put_back(np.broadcast_to(np.arange(k, 0, -1, dtype=np.int64), (n, k)), order)


def costed(
    base: FloatArray, ranks: IntArray, parameters: Parameters, *, between: tuple[float, float] | None = None
) -> FloatArray:
    """``base`` plus ``weight`` for every rank beyond the first ``free_ranks``, in the same shape.

    ``between`` are the smallest and the largest of the limits with which the scores are compared. Those that are not
    near these are then not rounded, which takes most of the time.
    """
    scores = base + parameters.weight * np.maximum(ranks - parameters.free_ranks, 0)
    if between is None:
        for rows in row_blocks(len(scores), scores[0].size if len(scores) else 1):
            scores[rows] = on_grid(scores[rows], share=base[rows])
        return scores
    near = (scores > between[0] - NEXT_TO_IT) & (scores < between[1] + NEXT_TO_IT)
    scores[near] = on_grid(scores[near], share=base[near])
    return scores
