"""Probabilities, scores and calibration of a class, of one seat and of the model, on the same few questions.

A share of 60% is the probability 0.6. A question without an answer counts as equally sure of every option. The class's
shares of a question are the mean of those who answered it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.conformal.probabilities import top_shares
from core.conformal.published import scores_for
from core.records import FloatArray, IntArray
from core.serving.classroom.quiz import Quiz

SCORES = ("lac", "aps")
GROUPS = ((0, 40), (40, 60), (60, 80), (80, 100))
"""Groups of answers by the share of their top option in per cent: above the first number, up to the second."""

Shares = Mapping[int, tuple[int, ...]]
"""The shares of one seat in whole per cent, by question."""


def mean_shares(seats: Sequence[Shares], quiz: Quiz) -> FloatArray:
    """The mean shares (n, k) in per cent of those who answered; NaN where nobody did."""
    n, k = len(quiz.questions), quiz.k
    shares_by_seat = np.full((n, k), np.nan)
    for question in range(n):
        rows = [own[question] for own in seats if question in own]
        if rows:
            shares_by_seat[question] = np.mean(rows, axis=0)
    return shares_by_seat


def probabilities(shares: FloatArray) -> FloatArray:
    """The probabilities (n, k) of shares (n, k) in per cent; NaN stands for no answer."""
    return np.where(np.isnan(shares), 1 / shares.shape[1], shares / 100)


def labels(quiz: Quiz) -> IntArray:
    """The true options (n,) of the quiz."""
    return np.array([q.label for q in quiz.questions], dtype=np.int64)


def scores(p: FloatArray, quiz: Quiz, *, rows: range) -> dict[str, dict[str, Any]]:
    """From probabilities (n, k), for LAC and APS: the sorted scores of the true options that calibrate, and the scores
    of all options of ``rows``.

    With these a browser finds every set by comparing numbers: an option is in the set if its score is at most the
    ⌈(m + 1)(1 − alpha)⌉-th smallest of the m that calibrate.
    """
    first = np.arange(quiz.calibration)
    by_score = {}
    for name in SCORES:
        of_calibration, of_test = scores_for(name, p, labels(quiz), calibration=first, test=np.array(rows))
        by_score[name] = {"calibration": np.sort(of_calibration).tolist(), "test": of_test.tolist()}
    return by_score


@dataclass(frozen=True, slots=True)
class SurenessGroup:
    """Answers whose top option got a share ``above`` … ``up_to`` per cent: how many, their mean share in per cent, and
    how many were right. An answer with r equal top options counts 1/r if the truth is one of them."""

    above: int
    up_to: int
    answers: int
    sure: float
    right: float


@dataclass(frozen=True, slots=True)
class Sureness:
    """Of all ``answers``: the mean share of the top option in per cent, how many were right, and the groups."""

    answers: int
    sure: float
    right: float
    groups: tuple[SurenessGroup, ...]


def sureness(seats: Sequence[Shares], quiz: Quiz) -> Sureness:
    """How sure these seats were, and how often they were right, over all of their answers."""
    rows = [(question, row) for own in seats for question, row in sorted(own.items())]
    shares = np.array([row for _, row in rows], dtype=np.float64).reshape(len(rows), quiz.k)
    return _sureness(shares, labels(quiz)[[question for question, _ in rows]])


def model_sureness(quiz: Quiz) -> Sureness:
    """The same of the model's recorded probabilities."""
    return _sureness(100 * quiz.probabilities, labels(quiz))


def _sureness(shares: FloatArray, truth: IntArray) -> Sureness:
    top = shares.max(axis=1) if len(shares) else np.zeros(0)
    right = top_shares(shares)[np.arange(len(truth)), truth] if len(shares) else np.zeros(0)

    def group(above: int, up_to: int) -> SurenessGroup:
        mine = (top > above) & (top <= up_to)
        count = int(mine.sum())
        return SurenessGroup(above, up_to, count, float(top[mine].mean()) if count else 0.0, float(right[mine].sum()))

    groups = tuple(group(*ends) for ends in GROUPS)
    return Sureness(len(top), float(top.mean()) if len(top) else 0.0, float(right.sum()), groups)


def right_of(p: FloatArray, quiz: Quiz) -> float:
    """By probabilities (n, k), how many of the questions that test have the truth on top; r equal ones count 1/r."""
    m = quiz.calibration
    shares = top_shares(p)[m:]
    return float(shares[np.arange(len(shares)), labels(quiz)[m:]].sum())
