"""Every pair of several runs: do their mean set sizes, or UAccs, differ by more than chance?

The test of each pair is that of :mod:`core.conformal.permutation`: the two models' answers to each question are swapped
with probability ½, on calibration and test questions, and both thresholds are computed again. Here the same coin flips
serve all pairs. A pair's p-value stays valid, because its coins are fair and independent of the answers. The p-values
depend on each other, which Holm's correction allows (:func:`core.conformal.pvalues.holm`).

For 66 pairs of runs with 5,000 questions, the test of one pair after the other takes minutes. Here every run is sorted
once, and its flipped answers are counted once:

- H_j(t) is the number of flipped calibration questions that run j scores at most t, and F_j(t) that of all of them. A
  threshold after the flips is the smallest t with F_i(t) − H_i(t) + H_j(t) ≥ k, found by bisection for each resample.
- G_j(t) is the number of options of flipped test questions that run j scores at most t. The sizes of all sets after the
  flips sum to #{options of i at most t} − G_i(t) + G_j(t).

H and G are running sums in sorted order. They are needed only near the thresholds, and are exact there.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from core.conformal.alpha import check_thousandths
from core.conformal.permutation import ALIKE, coins
from core.conformal.set_sizes.by_rank import uacc
from core.conformal.set_sizes.resampling import RESAMPLES
from core.conformal.sets import check_empty
from core.conformal.threshold import exact, rank
from core.errors import InputError
from core.records import FloatArray, IntArray

REACH = 8
"""Thresholds are first looked for within this many standard deviations of both runs' own, and further away only if that
fails."""
MOST_FLIPS = 1 << 23
"""The most coin flips, and running sums, that are held in memory at once."""
SHORT = 32_767
"""The largest count that a short integer holds."""

Counts = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True, slots=True)
class SharedRuns:
    """r runs on the questions that all of them have, n to calibrate and m to test.

    A *setting* is what belongs to a run and not to its model's answers: the parameters of its score, its frozen random
    numbers and the order of its options. ``setting`` (r,) numbers that of each run. ``calibration`` (s, r, n) has the
    scores of the true options and ``test`` (s, r, m, k) all scores, of every run's answers under every setting; NaN
    stands for an option that a question lacks. ``right`` (r, m) is 1 if the run's top option is true, otherwise 0.
    ``alone`` has the scores of each run's further calibration questions, which are not swapped. ``options`` (r,) is the
    k of UAcc. ``clusters`` (n + m,) numbers the cluster of each calibration question, then of each test question; the
    answers to a cluster are swapped at once.
    """

    setting: tuple[int, ...]
    calibration: FloatArray
    test: FloatArray
    right: FloatArray
    alone: tuple[FloatArray, ...]
    options: tuple[int, ...]
    clusters: IntArray | None = None

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """All pairs of runs, in order."""
        return list(itertools.combinations(range(len(self.setting)), 2))


@dataclass(frozen=True, slots=True)
class _Sorted:
    """One run's values under one setting, near the thresholds.

    ``scores`` are sorted values and ``rows`` their questions. ``below`` (questions,) counts each question's values
    before these.
    """

    scores: FloatArray
    rows: IntArray
    below: npt.NDArray[np.float32]

    @property
    def before(self) -> int:
        """How many values come before these."""
        return int(self.below.sum())

    def places(self, limits: FloatArray) -> IntArray:
        """How many of ``scores`` are at most each limit."""
        return np.searchsorted(self.scores, limits, side="right")


@dataclass(frozen=True, slots=True)
class _Side:
    """One run of a pair: where each possible threshold stands among the values of both runs.

    ``own`` and ``other`` are the places of the two runs. ``need`` is the threshold's rank. ``counted`` (u,)
    is the number of this run's calibration scores at most each possible threshold, and ``sizes`` (u,) that of its test
    options. ``held`` and ``sized``, (u,) for this run and the other, are the places in their running sums. ``before``
    is ``counted``, and ``held_before`` is ``held``, just below the possible thresholds. ``open_above`` says that the
    last one is infinite.
    """

    own: int
    other: int
    need: int
    counted: IntArray
    held: tuple[IntArray, IntArray]
    before: int
    held_before: tuple[int, int]
    open_above: bool
    sizes: IntArray
    sized: tuple[IntArray, IntArray]


class _Flips:
    """Coin flips (questions, r), 1 where a resample swaps the two answers, as numbers of several kinds."""

    def __init__(self, flips: npt.NDArray[np.uint8]) -> None:
        self.resamples = flips.shape[1]
        self.short = flips.astype(np.int16)
        self.floats = flips.astype(np.float32)

    def of(self, rows: slice) -> _Flips:
        """The flips of some questions, without a copy."""
        part = object.__new__(_Flips)
        part.resamples, part.short, part.floats = self.resamples, self.short[rows], self.floats[rows]
        return part


@dataclass(frozen=True, slots=True)
class _Setting:
    """The counts under one setting: runs sorted, by place, and the sides of the runs that have the setting.

    ``sides`` are numbered among those of all pairs, two for each pair; the first run's comes first.
    """

    calibration: dict[int, _Sorted]
    test: dict[int, _Sorted]
    sides: dict[int, _Side]


def swap_tests(
    runs: SharedRuns, alpha: int, *, empty: str = "allow", resamples: int = RESAMPLES, seed: int = 0
) -> FloatArray:
    """Two-sided p-values of mean set size and of UAcc for each of ``runs.pairs``, (2, pairs), in [1/(R + 1), 1].

    The hypothesis of a pair is that both runs' answers have the same distribution. The p-value of UAcc is 1 if UAcc is
    not defined. Raises :class:`InputError` if there are fewer than two runs or no test question.
    """
    check_thousandths(alpha)
    check_empty(empty)
    m = runs.right.shape[1]
    if len(runs.setting) < 2 or m == 0:
        raise InputError(
            f"there are {len(runs.setting)} runs with {m} test questions; a paired test needs at least two runs and "
            "one question"
        )
    p_values = _p_values(runs, alpha, empty, resamples, seed, REACH)
    return p_values if p_values is not None else _exactly(runs, alpha, empty, resamples, seed)


def _exactly(runs: SharedRuns, alpha: int, empty: str, resamples: int, seed: int) -> FloatArray:
    """The p-values without the assumption that thresholds stay near the runs' own."""
    p_values = _p_values(runs, alpha, empty, resamples, seed, math.inf)
    assert p_values is not None  # with no bound, no threshold lies outside
    return p_values


def _p_values(runs: SharedRuns, alpha: int, empty: str, resamples: int, seed: int, reach: float) -> FloatArray | None:
    """The p-values (2, pairs), or None if a threshold lies further away than ``reach``."""
    n, m = runs.calibration.shape[2], runs.right.shape[1]
    settings = _settings(runs, alpha, empty, reach)
    seen = _observed(runs, alpha, empty)
    as_far = np.zeros(seen.shape, dtype=np.int64)
    rng = np.random.default_rng([seed, 0x5A9])
    widest = max(
        n + m, *(sum(len(ordered.scores) + 1 for ordered in setting.calibration.values()) for setting in settings)
    )
    for part in np.array_split(np.arange(resamples), max(1, -(-resamples * widest // MOST_FLIPS))):
        flips = _Flips(np.ascontiguousarray(coins(rng, len(part), n + m, runs.clusters).T).view(np.uint8))
        differences = _differences(runs, settings, flips)
        if differences is None:
            return None
        # "Not less far" instead of "at least as far", so that a NaN counts against a difference.
        as_far += (~(np.abs(differences) < np.abs(seen)[:, :, None] - ALIKE)).sum(axis=2)
    # p = (1 + #{|T*| ≥ |T|}) / (1 + R)
    return np.asarray((1 + as_far) / (1 + resamples), dtype=np.float64)


def _observed(runs: SharedRuns, alpha: int, empty: str) -> FloatArray:
    """Mean set size and UAcc of the second run minus those of the first for every pair, (2, pairs)."""
    sizes = np.array([mean_size(runs, i, alpha, empty) for i in range(len(runs.setting))])
    ratios = np.array([uacc(runs.right[i].mean(), size, runs.options[i]) for i, size in enumerate(sizes)])
    return np.array([[figures[j] - figures[i] for i, j in runs.pairs] for figures in (sizes, ratios)])


def mean_size(runs: SharedRuns, i: int, alpha: int, empty: str) -> float:
    """The mean set size of the run at place i."""
    s = runs.setting[i]
    limit = exact(np.concatenate([runs.calibration[s, i], runs.alone[i]]), alpha)
    return float((filled_scores(runs.test[s, i], empty) <= limit).sum(axis=1).mean())


def _settings(runs: SharedRuns, alpha: int, empty: str, reach: float) -> list[_Setting]:
    settings = []
    for s in sorted(set(runs.setting)):
        # bounds: the values between which a threshold of run i lies when its answers are swapped with those of run j
        bounds = {
            (i, j): _near(runs, i, j, alpha, reach)
            for i, j in itertools.permutations(range(len(runs.setting)), 2)
            if runs.setting[i] == s
        }
        around: dict[int, tuple[float, float]] = {}
        for pair, (low, high) in bounds.items():
            for run in pair:
                wide = around.get(run, (low, high))
                around[run] = min(low, wide[0]), max(high, wide[1])
        calibration = {
            run: _sorted(runs.calibration[s, run][:, None], bounds_of_run) for run, bounds_of_run in around.items()
        }
        test = {
            run: _sorted(filled_scores(runs.test[s, run], empty), bounds_of_run)
            for run, bounds_of_run in around.items()
        }
        ordered = (pair for i, j in runs.pairs for pair in ((i, j), (j, i)))
        sides = {
            place: _side(runs, *pair, calibration, test, bounds[pair], alpha)
            for place, pair in enumerate(ordered)
            if pair in bounds
        }
        settings.append(_Setting(calibration, test, sides))
    return settings


def _near(runs: SharedRuns, i: int, j: int, alpha: int, reach: float) -> tuple[float, float]:
    """The values between which the threshold of run i varies by chance when its answers are swapped with run j's.

    With P(t) the number of both runs' scores at most t, P(t)/2 scores are at most t after the flips on average, with
    variance D(t)/4. D(t) is the number of questions on which one run's score alone is at most t. Where P(t)/2 is the
    threshold's rank k, D(t) ≤ 2·min(k, n − k).
    """
    s = runs.setting[i]
    pooled = np.concatenate([runs.calibration[s, i], runs.calibration[s, j], runs.alone[i], runs.alone[i]])
    n = len(pooled) // 2
    k = int(rank(n, alpha))
    far = REACH + reach * math.sqrt(2 * min(k, max(n - k, 1))) / 2
    first, last = 2 * (k - far) - 1, 2 * (k + far) - 1  # places among the pooled scores
    inside = [math.floor(first)] if first >= 0 else []
    inside += [math.ceil(last)] if last < 2 * n - 1 else []
    ordered = np.partition(pooled, inside) if inside else pooled
    low = float(ordered[inside[0]]) if first >= 0 else -math.inf
    high = float(ordered[inside[-1]]) if last < 2 * n - 1 else math.inf
    return low, high


def filled_scores(scores: FloatArray, empty: str) -> FloatArray:
    """Scores (m, k) under which the best option of every question is in its set, if empty sets take it."""
    if empty != "top1":
        return scores
    best = np.nanmin(scores, axis=1, keepdims=True)
    first = (scores == best) & (np.cumsum(scores == best, axis=1) == 1)
    return np.where(first, -np.inf, scores)


def _sorted(values: FloatArray, bounds: tuple[float, float]) -> _Sorted:
    """The values (questions, k) within the bounds, sorted; those above the upper bound are never counted."""
    low, high = bounds
    below = (values < low).sum(axis=1).astype(np.float32)
    near = np.nonzero((values >= low) & (values <= high))
    inside = values[near]
    order = np.argsort(inside, kind="stable")
    return _Sorted(inside[order], near[0][order], below)


def _side(
    runs: SharedRuns,
    i: int,
    j: int,
    calibration: dict[int, _Sorted],
    test: dict[int, _Sorted],
    bounds: tuple[float, float],
    alpha: int,
) -> _Side:
    """Run i's side of its pair with run j."""
    low, high = bounds
    alone = np.sort(runs.alone[i])
    possible = np.concatenate([calibration[i].scores, calibration[j].scores, alone])
    limits = np.unique(possible[(possible >= low) & (possible <= high)])
    if math.isinf(high):
        limits = np.append(limits, np.inf)
    held = calibration[i].places(limits), calibration[j].places(limits)
    held_before = tuple(int(np.searchsorted(calibration[run].scores, low)) for run in (i, j))
    sized = test[i].places(limits), test[j].places(limits)
    first = calibration[i].before
    return _Side(
        own=i,
        other=j,
        need=int(rank(runs.calibration.shape[2] + len(alone), alpha)),
        counted=first + held[0] + np.searchsorted(alone, limits, side="right"),
        held=held,
        before=first + held_before[0] + int((alone < low).sum()),
        held_before=(held_before[0], held_before[1]),
        open_above=math.isinf(high),
        sizes=test[i].before + sized[0],
        sized=sized,
    )


def _differences(runs: SharedRuns, settings: list[_Setting], flips: _Flips) -> FloatArray | None:
    """Mean set size and UAcc of the second run minus those of the first for every pair after the flips, (2, pairs, r).

    ``flips`` are those of the calibration questions, then those of the test questions. None if a threshold lies outside
    of its bounds.
    """
    n, m = runs.calibration.shape[2], runs.right.shape[1]
    calibration, test_flips = flips.of(slice(n)), flips.of(slice(n, n + m))
    right, flipped = runs.right.sum(axis=1), runs.right.astype(np.float32) @ test_flips.floats
    size = np.empty((2 * len(runs.pairs), flips.resamples))
    ratio = np.empty(size.shape)
    for setting in settings:
        at = _threshold_places(setting, calibration)
        if at is None:
            return None
        for place, total in _total_sizes(setting, at, test_flips).items():
            a, b = setting.sides[place].own, setting.sides[place].other
            size[place] = total / m
            ratio[place] = uacc((right[a] - flipped[a] + flipped[b]) / m, size[place], runs.options[a])
    return np.stack([size[1::2] - size[::2], ratio[1::2] - ratio[::2]])


def _total_sizes(setting: _Setting, at: dict[int, IntArray], flips: _Flips) -> dict[int, IntArray]:
    """For each side, the sizes of all sets after the flips, summed, (r,); ``at`` are the places of its thresholds."""
    sizes = {place: side.sizes[at[place]] for place, side in setting.sides.items()}
    starts = _starts(setting.test, flips)
    for run, ordered in setting.test.items():
        # Of both runs of a side: #{options of i at most t} − G_i(t) + G_j(t)
        parts = [
            (place, sign, sized[at[place]])
            for place, side in setting.sides.items()
            for name, sign, sized in ((side.own, -1, side.sized[0]), (side.other, 1, side.sized[1]))
            if name == run
        ]
        needed = np.unique(np.concatenate([places for _, _, places in parts]))
        sums = _sums_at(ordered, starts[run], flips, needed)
        for place, sign, places in parts:
            sizes[place] += sign * sums[np.searchsorted(needed, places), np.arange(flips.resamples)].astype(np.int64)
    return sizes


def _starts(sorted_runs: dict[int, _Sorted], flips: _Flips) -> dict[int, Counts]:
    """For each run, the number of flipped questions among the values before the sorted ones, (r,)."""
    below = np.stack([ordered.below for ordered in sorted_runs.values()])
    return dict(zip(sorted_runs, np.rint(below @ flips.floats).astype(np.int32), strict=True))


def _kind(ordered: _Sorted) -> type[np.int16] | type[np.int32]:
    return np.int16 if ordered.before + len(ordered.scores) <= SHORT else np.int32


def _running(ordered: _Sorted, start: Counts, flips: _Flips) -> Counts:
    """The number of flipped questions among the values before these and the first 0 … w of these, (w + 1, r)."""
    sums = np.empty((len(ordered.scores) + 1, flips.resamples), dtype=_kind(ordered))
    sums[0] = start
    # np.cumsum along the first axis takes ten times as long.
    for place, row in enumerate(ordered.rows.tolist()):
        np.add(sums[place], flips.short[row], out=sums[place + 1])
    return sums


def _sums_at(ordered: _Sorted, start: Counts, flips: _Flips, places: IntArray) -> Counts:
    """The rows of :func:`_running` at increasing places, (places, r); the others are not kept."""
    from scipy.sparse import csr_array

    # steps (places, questions): how many of a question's values lie between a place and the one before it
    rows = ordered.rows[: places[-1]]
    steps = csr_array(
        (np.ones(len(rows), dtype=_kind(ordered)), rows, np.append(0, places)), (len(places), len(ordered.below))
    )
    sums: Counts = steps @ flips.short
    sums[0] += start.astype(sums.dtype)
    for place in range(1, len(sums)):
        sums[place] += sums[place - 1]
    return sums


def _threshold_places(setting: _Setting, flips: _Flips) -> dict[int, IntArray] | None:
    """For each side, the place of each resample's threshold among its possible ones, (r,).

    None if one lies outside of them.
    """
    starts = _starts(setting.calibration, flips)
    sums = {run: _running(ordered, starts[run], flips) for run, ordered in setting.calibration.items()}
    places = {}
    for place, side in setting.sides.items():
        thresholds = _bisected(side, sums[side.own], sums[side.other])
        if thresholds is None:
            return None
        places[place] = thresholds
    return places


def _bisected(side: _Side, own: Counts, other: Counts) -> IntArray | None:
    here, there = side.held
    across = np.arange(own.shape[1])
    last = len(here) - 1
    low, high = np.zeros(len(across), dtype=np.int64), np.full(len(across), last, dtype=np.int64)
    while (low < high).any():
        middle = (low + high) // 2
        # The scores at most the threshold after the flips: F_i(t) − H_i(t) + H_j(t)
        counted = side.counted[middle] - own[here[middle], across] + other[there[middle], across]
        enough = counted >= side.need
        high, low = np.where(enough, middle, high), np.where(enough, low, np.minimum(middle + 1, high))
    mine, theirs = side.held_before
    too_low = (side.before - own[mine].astype(np.int64) + other[theirs] >= side.need).any()
    reached = side.counted[last] - own[here[last]].astype(np.int64) + other[there[last]] >= side.need
    return None if too_low or not (side.open_above or reached.all()) else low
