"""The order and ranks of options, and a function that returns sorted values to their options."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

from core.conformal.probabilities import on_grid
from core.conformal.scores.record import Parameters
from core.records import FloatArray, IntArray

Number = TypeVar("Number", np.float64, np.int64)


def rising_order(probabilities: FloatArray) -> IntArray:
    """Each row's options by increasing probability, (n, k). Equal ones (:func:`~core.conformal.probabilities.on_grid`)
    keep their order; missing ones (NaN) come first."""
    p = on_grid(probabilities)
    return np.argsort(np.where(np.isnan(p), -np.inf, p), axis=1, kind="stable")


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


def costed(base: FloatArray, ranks: IntArray, parameters: Parameters) -> FloatArray:
    """``base`` plus ``weight`` for every rank beyond the first ``free_ranks``, in the same shape."""
    return on_grid(base + parameters.weight * np.maximum(ranks - parameters.free_ranks, 0), share=base)
