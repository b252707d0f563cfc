"""A paired permutation test: do two models' mean set sizes, or UAccs, differ by more than chance?

Under the null hypothesis both models' answers have the same distribution, so either model could have given either
answer to each question. The test swaps the two models' answers to each question with probability ½, on *calibration
and test* questions. It then recomputes both thresholds and all sets, and counts how often the swapped figures differ
at least as much as the observed ones (Fisher 1935; Good 2005, chapter 3):

    p = (1 + #{|T*| ≥ |T|}) / (1 + R)

A test that keeps the two thresholds fixed (a paired t-test, or Wilcoxon's signed-rank test) ignores the variation from
the calibration draw. In simulations with two models of the same distribution, such tests called them different in 43 to
51 of 100 cases instead of 5.

Rows that belong together (:mod:`core.conformal.clusters`) are swapped together, because a model's answers to them
depend on each other.

An option's score depends only on its own row of probabilities, so a swap exchanges rows of scores. What belongs to a
run and not to a model's answer is not swapped: a tuned score's parameters, frozen random numbers, and calibration
questions that the other run lacks. The p-value is still valid, because nothing that stays depends on which
model gave which of the swapped answers.
"""

from dataclasses import dataclass

import numpy as np

from core.conformal.alpha import check_thousandths
from core.conformal.clusters import count
from core.conformal.set_sizes.by_rank import sizes_at, uacc
from core.conformal.set_sizes.resampling import CHUNK, RESAMPLES
from core.conformal.threshold import rank
from core.errors import InputError
from core.records import BoolArray, FloatArray, IntArray

ALIKE = 1e-12
"""Differences this close to each other count as equal: they can be sums of the same numbers in another order."""


@dataclass(frozen=True, slots=True)
class Swappable:
    """One of two runs on the questions that both have; both models' answers are scored with this run's settings.

    Index 0 of the first axis is this run's own model, index 1 the other run's model. ``calibration`` (2, n) are the
    scores of the true options of the questions that both runs calibrate on, ``test`` (2, m, k) are all scores of the
    test questions, and ``right`` (2, m) says whether the top option is correct. ``alone`` (a,) are the scores of
    calibration questions that only this run has; they are not swapped. ``options`` is the k of UAcc.
    """

    calibration: FloatArray
    alone: FloatArray
    test: FloatArray
    right: FloatArray
    options: int


@dataclass(frozen=True, slots=True)
class PValues:
    """Two-sided p-values of the hypothesis that both runs' answers have the same distribution, in [1/(R + 1), 1].

    The p-value of UAcc is 1 if UAcc is not defined.
    """

    mean_set_size: float
    uacc: float


def swap_test(
    first: Swappable,
    second: Swappable,
    alpha: int,
    *,
    empty: str = "allow",
    clusters: IntArray | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> PValues:
    """Test whether mean set size and UAcc differ at alpha thousandths, with exact thresholds and seeded swaps.

    ``clusters`` (n + m,) are those of the shared calibration questions, then of the test questions. The answers to a
    whole cluster are swapped at once.

    Raises :class:`InputError` if the two runs do not have the same questions or share no test question.
    """
    check_thousandths(alpha)
    (_, n), (_, m) = first.calibration.shape, first.right.shape
    if second.calibration.shape != (2, n) or second.right.shape != (2, m) or m == 0:
        raise InputError(
            f"the runs have {n} and {second.calibration.shape[1]} calibration and {m} and {second.right.shape[1]} test "
            "questions; a paired test needs the same ones, and at least one to test"
        )
    # seen (2, 1): the observed differences, with no answer swapped
    seen = _differences(first, second, np.zeros((1, n), dtype=bool), np.zeros((1, m), dtype=bool), alpha, empty)
    rng = np.random.default_rng([seed, 0x5A9])
    as_far = np.zeros(2, dtype=np.int64)
    widest = max(n + len(first.alone), n + len(second.alone), m)
    for part in np.array_split(np.arange(resamples), max(1, resamples * widest // CHUNK)):
        swaps = coins(rng, len(part), n + m, clusters)
        swapped = _differences(first, second, swaps[:, :n], swaps[:, n:], alpha, empty)
        # swapped (2, r). "Not less far" instead of "at least as far", so that a NaN counts against a difference.
        as_far += (~(np.abs(swapped) < np.abs(seen) - ALIKE)).sum(axis=1)
    # p = (1 + #{|T*| ≥ |T|}) / (1 + R)
    size, uacc_p = ((1 + as_far) / (1 + resamples)).tolist()
    return PValues(size, uacc_p)


def coins(rng: np.random.Generator, rows: int, columns: int, clusters: IntArray | None = None) -> BoolArray:
    """Fair coin flips, (rows, columns); each random byte gives eight. Columns of one of ``clusters`` share theirs."""
    if clusters is not None:
        return coins(rng, rows, count(clusters, columns))[:, clusters]
    drawn = np.frombuffer(rng.bytes(rows * -(-columns // 8)), dtype=np.uint8).reshape(rows, -1)
    return np.unpackbits(drawn, axis=1)[:, :columns].astype(bool)


def _differences(
    first: Swappable, second: Swappable, calibration: BoolArray, test: BoolArray, alpha: int, empty: str
) -> FloatArray:
    """Mean set size and UAcc of the second run minus those of the first, (2, r).

    ``calibration`` (r, n) and ``test`` (r, m) say which answers are swapped in each of the r resamples.
    """
    sizes, uaccs = [], []
    for side in (first, second):
        limits = _limits(side, calibration, alpha)
        # own, other, test and right are (r, m): each set's size under both models, before the swaps select one.
        own, other = (sizes_at(scores, limits, empty=empty) for scores in side.test)
        size = np.where(test, other, own).mean(axis=1)
        right = np.where(test, side.right[1], side.right[0]).mean(axis=1)
        sizes.append(size)
        uaccs.append(uacc(right, size, side.options))
    return np.stack([sizes[1] - sizes[0], uaccs[1] - uaccs[0]])


def _limits(side: Swappable, swapped: BoolArray, alpha: int) -> FloatArray:
    """The exact thresholds after each row of swaps (r, n), (r, 1)."""
    scores = np.where(swapped, side.calibration[1], side.calibration[0])
    scores = np.concatenate([scores, np.broadcast_to(side.alone, (len(scores), len(side.alone)))], axis=1)
    rows, n = scores.shape
    k = int(rank(n, alpha))
    return np.partition(scores, k - 1, axis=1)[:, [k - 1]] if k <= n else np.full((rows, 1), np.inf)
