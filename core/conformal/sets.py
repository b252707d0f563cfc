"""Prediction sets: the options whose score is at most the threshold."""

import numpy as np

from core.conformal.probabilities import top_options
from core.errors import InputError, shown_value
from core.records import BoolArray, FloatArray, PredictionSets

EMPTY_POLICIES = ("allow", "top1")


def check_empty(policy: str) -> str:
    """Return the policy for empty sets if it is known; raises :class:`InputError` otherwise."""
    if not isinstance(policy, str) or policy not in EMPTY_POLICIES:
        raise InputError(
            f"unknown policy for empty sets {shown_value(policy)}; choose from {', '.join(EMPTY_POLICIES)}"
        )
    return policy


def prediction_sets(
    scores: FloatArray, threshold: float, *, empty: str = "allow", probabilities: FloatArray | None = None
) -> PredictionSets:
    """The sets of n questions with scores (n, k).

    ``empty="allow"`` leaves a set empty if no option's score is at most the threshold. ``empty="top1"`` then gives it
    the most probable option (the last one if several are equal), which needs the ``probabilities`` (n, k).

    Raises :class:`InputError` for an unknown policy, or if ``"top1"`` has no probabilities.

    >>> prediction_sets(np.array([[0.2, 0.8]]), 0.5).members
    array([[ True, False]])
    """
    return PredictionSets(members=filled(scores <= threshold, empty, probabilities), threshold=threshold)


def filled(members: BoolArray, empty: str, probabilities: FloatArray | None, *, ties: str = "later") -> BoolArray:
    """Apply the policy for empty sets to the members (n, k) in place, and return them.

    ``ties`` is as in :func:`core.conformal.probabilities.top_options`. Raises :class:`InputError` as
    :func:`prediction_sets` does.
    """
    if check_empty(empty) == "top1":
        if probabilities is None:
            raise InputError("filling empty sets with the top option needs the probabilities")
        lonely = np.flatnonzero(~members.any(axis=1))
        members[lonely, top_options(probabilities[lonely], ties=ties)] = True
    return members
