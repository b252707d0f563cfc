"""Probabilities, scores and calibration of a class, of one seat and of the model, on the same few questions.

A share of 60% is the probability 0.6. A question without an answer counts as equally sure of every option. The class's
shares of a question are the mean of those who answered it.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.conformal.coverage import crossed_share_interval
from core.conformal.probabilities import top_shares
from core.conformal.published import scores_for
from core.conformal.threshold import exact
from core.records import FloatArray, IntArray
from core.serving.classroom.quiz import Quiz

SCORES = ("lac", "aps")
GROUPS = ((0, 40), (40, 60), (60, 80), (80, 100))
"""Groups of answers by the share of their top option in per cent: above the first number, up to the second."""
FEWEST = 10
"""Fewer answers than this, or those of one person or to one question, say nothing about a group."""
HIGHEST_CHOSEN = 500
"""The largest alpha, in thousandths, at which a class starts by itself."""

Shares = Mapping[int, tuple[int, ...]]
"""The shares of one seat in whole per cent, by question."""


def mean_shares(seats: Sequence[Shares], quiz: Quiz) -> FloatArray:
    """The mean shares (n, k) in per cent of those who answered; NaN where nobody did, and for an option that a question
    lacks."""
    n, k = len(quiz.questions), quiz.k
    shares_by_seat = np.full((n, k), np.nan)
    for question in range(n):
        rows = [own[question] for own in seats if question in own]
        if rows:
            shares_by_seat[question, : len(rows[0])] = np.mean(rows, axis=0)
    return shares_by_seat


def probabilities(shares: FloatArray, quiz: Quiz) -> FloatArray:
    """The probabilities (n, k) of shares (n, k) in per cent; a question without an answer counts as equally sure of
    every option. NaN stands for an option that a question lacks."""
    counts = np.array([len(quiz.offered(question)) for question in quiz.questions])[:, None]
    p = np.where(np.isnan(shares), 1 / counts, shares / 100)
    return np.where(np.arange(shares.shape[1]) < counts, p, np.nan)


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
        of_options = [row[~np.isnan(row)].tolist() for row in of_test]
        by_score[name] = {"calibration": np.sort(of_calibration).tolist(), "test": of_options}
    return by_score


@dataclass(frozen=True, slots=True)
class SurenessGroup:
    """Answers whose top option got a share ``above`` … ``up_to`` per cent: how many, their mean share in per cent, and
    how many were right. An answer with r equal top options counts 1/r if the truth is one of them.

    ``low`` and ``high`` are the 95% interval, in per cent, of the share that is right among answers of such people to
    such questions (:func:`~core.conformal.coverage.crossed_share_interval`). They are None for too few answers.
    """

    above: int
    up_to: int
    answers: int
    sure: float
    right: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Sureness:
    """Of all ``answers`` of ``people`` to ``questions``: the mean share of the top option in per cent, how many were
    right, and the groups."""

    people: int
    questions: int
    answers: int
    sure: float
    right: float
    groups: tuple[SurenessGroup, ...]

    @property
    def finding(self) -> str:
        """What the group with most answers says, in the whole numbers that the diagram writes (halves go up there)."""
        measured_groups = [group for group in self.groups if group.low is not None]
        if not measured_groups:
            return f"Can't tell: {self.answers} answers of {self.people} people are too few for a diagram."
        most = max(measured_groups, key=lambda group: (group.answers, group.above))
        sure, right, low, high = (
            math.floor(value + 0.5)
            for value in (most.sure, 100 * most.right / most.answers, most.low or 0.0, most.high or 0.0)
        )
        shown = (
            f"When the class said {sure}%, it was right {right}% of the time (n = {most.answers:,}, 95% interval "
            f"{low} to {high}%)"
        )
        if low <= sure <= high:
            return f"{shown}. Can't tell more: people who know how sure they are could answer like this."
        return f"{shown}: {'overconfident' if sure > high else 'underconfident'}."


def sureness(seats: Sequence[Shares], quiz: Quiz) -> Sureness:
    """How sure these seats were, and how often they were right, over all of their answers."""
    rows = [(seat, question, row) for seat, own in enumerate(seats) for question, row in sorted(own.items())]
    shares = np.zeros((len(rows), quiz.k))
    for own_shares, (_, _, row) in zip(shares, rows, strict=True):
        own_shares[: len(row)] = row
    people, questions = (np.array([row[i] for row in rows], dtype=np.int64) for i in (0, 1))
    return _sureness(shares, labels(quiz)[questions], people, questions)


def model_sureness(quiz: Quiz) -> Sureness:
    """The same of the model's recorded probabilities."""
    questions = np.arange(len(quiz.questions))
    return _sureness(100 * np.nan_to_num(quiz.probabilities), labels(quiz), np.zeros_like(questions), questions)


def _sureness(shares: FloatArray, truth: IntArray, people: IntArray, questions: IntArray) -> Sureness:
    top = shares.max(axis=1) if len(shares) else np.zeros(0)
    right = top_shares(shares)[np.arange(len(truth)), truth] if len(shares) else np.zeros(0)

    def group(above: int, up_to: int) -> SurenessGroup:
        mine = (top > above) & (top <= up_to)
        count = int(mine.sum())
        ends: tuple[float, float] | None = None
        if count >= FEWEST and min(len(np.unique(names[mine])) for names in (people, questions)) > 1:
            ends = crossed_share_interval(right[mine], people[mine], questions[mine])
        sure = float(top[mine].mean()) if count else 0.0
        low, high = (100 * ends[0], 100 * ends[1]) if ends else (None, None)
        return SurenessGroup(above, up_to, count, sure, float(right[mine].sum()), low, high)

    return Sureness(
        len(np.unique(people)),
        len(np.unique(questions)),
        len(top),
        float(top.mean()) if len(top) else 0.0,
        float(right.sum()),
        tuple(group(*ends) for ends in GROUPS),
    )


def differing_alpha(p: FloatArray, quiz: Quiz, name: str, *, rows: range, near: int) -> int | None:
    """The alpha in thousandths nearest to ``near`` at which the sets of ``rows``, by the score ``name``, have different
    sizes; the smaller one of two that are as near. None if there is none up to :data:`HIGHEST_CHOSEN`.

    The m questions that calibrate give m thresholds, so alpha decides among few. It is chosen by the class's answers,
    and therefore the guarantee, which holds for an alpha that was fixed before, is approximate for it.
    """
    by_score = scores(p, quiz, rows=rows)[name]
    of_calibration = np.array(by_score["calibration"])
    for alpha in sorted(range(1, HIGHEST_CHOSEN + 1), key=lambda alpha: (abs(alpha - near), alpha)):
        limit = exact(of_calibration, alpha)
        sizes = {sum(value <= limit for value in row) for row in by_score["test"]}
        if np.isfinite(limit) and len(sizes) > 1:
            return alpha
    return None


def right_of(p: FloatArray, quiz: Quiz) -> float:
    """By probabilities (n, k), how many of the questions that test have the truth on top; r equal ones count 1/r."""
    m = quiz.calibration
    shares = top_shares(np.nan_to_num(p))[m:]
    return float(shares[np.arange(len(shares)), labels(quiz)[m:]].sum())
