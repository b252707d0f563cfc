"""All pairs of up to twelve runs that were tested on the same questions: differences, their intervals and tests.

A difference is the second run's figure minus the first run's. Each figure of a pair has one test: accuracy the exact
McNemar test, mean set size and UAcc the paired permutation test of :mod:`core.conformal.pairwise`, which counts the
variation of the calibration draw too. The p-values of one figure are corrected for all of its pairs (Holm 1979,
*Scandinavian Journal of Statistics* 6, 65–70), so that the chance of any false "different" is at most 5%, whichever
pairs truly differ.

The intervals of one figure hold together: all of them contain the true differences in 95% of draws. Accuracy has
Tango's score interval (:mod:`core.reports.compare.paired_shares`) and set size and UAcc those of
:mod:`core.conformal.set_sizes.pairwise`, all at the level 1 − 0.05 / pairs (Bonferroni).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from core.calibration.metrics import correct
from core.conformal.clusters import count
from core.conformal.pairwise import SharedRuns, mean_size, swap_tests
from core.conformal.permutation import Swappable
from core.conformal.pvalues import holm
from core.conformal.scores import SCORES, true_scores
from core.conformal.scores import score as score_of
from core.conformal.set_sizes.by_rank import uacc
from core.conformal.set_sizes.differences import tested
from core.conformal.set_sizes.pairwise import difference_intervals_of_pairs, together
from core.errors import InputError
from core.estimates import Estimate
from core.questions.option_names import set_text
from core.records import IntArray
from core.reports.compare.common_options import on_common_options
from core.reports.compare.paired_shares import difference_of_shares, turned_p_value
from core.reports.compare.power import SIGNIFICANT, SmallestDifferences, smallest_differences
from core.reports.compare.shared_questions import (
    FEWEST,
    aligned,
    options_key,
    orders,
    shared_clusters,
    shared_rows,
    widened,
)
from core.reports.evaluation import Evaluation
from core.reports.scored_sets import FormedSets, form

MOST_RUNS = 12
"""The most runs of a matrix: they have 66 pairs."""
MEASURES = ("accuracy", "set_size", "uacc")
"""The figures of a pair, in order."""
SWAPS = 2000
"""Resamples of each permutation test: the smallest p-value of 66 pairs is then 0.033 after Holm's correction."""


@dataclass(frozen=True, slots=True)
class PairDifference:
    """The second run's figure minus the first run's, for the runs at these places of the matrix.

    The interval holds together with those of all other pairs. ``p`` is the pair's own p-value and ``corrected`` that
    after Holm's correction for all pairs. ``detectable`` is the smallest true difference that the test finds in 80% of
    draws, at 5% over the number of pairs (:mod:`core.reports.compare.power`); NaN for UAcc, and where there is none.
    It is ``rough`` where too few calibration questions tell the runs apart.
    """

    first: int
    second: int
    difference: Estimate
    p: float
    corrected: float
    detectable: float = math.nan
    rough: bool = False


@dataclass(frozen=True, slots=True)
class RunMatrix:
    """Runs on the questions that all of them have: ``n_test`` to test and ``n_calibration`` to calibrate.

    ``tested`` counts each run's own test rows, ``repeats`` says that some of them repeat a question, and ``alone``
    counts its further calibration questions. ``units`` counts the shared ones that are independent: repeats of a
    question are one unit. ``left_out`` has the letters of the options that were left out of each run, because another
    run lacks them. ``figures`` maps each of :data:`MEASURES` to each run's figure on the shared questions, and
    ``pairs`` to the differences of all pairs.
    """

    runs: tuple[str, ...]
    n_test: int
    n_calibration: int
    tested: tuple[int, ...]
    repeats: bool
    units: int
    left_out: tuple[str, ...]
    alone: tuple[int, ...]
    figures: dict[str, tuple[float, ...]]
    pairs: dict[str, tuple[PairDifference, ...]]

    @property
    def smallest_p(self) -> float:
        """The smallest corrected p-value that a permutation test of this many pairs can give."""
        return min(1.0, len(self.pairs["set_size"]) / (1 + SWAPS))


@dataclass(frozen=True, slots=True)
class SharedQuestions:
    """Several runs on the test questions that all of them have: ``rows`` (m,) of each run's arrays, in one order.

    The runs have the options that all of them offer (:mod:`core.reports.compare.common_options`). ``sets`` are each
    run's sets of all of its own test questions, and ``places`` (m,) those of the shared ones among them. ``options`` is
    the k of UAcc of each run, and ``units`` counts the questions that are independent.
    """

    runs: tuple[Evaluation, ...]
    rows: tuple[IntArray, ...]
    sets: tuple[FormedSets, ...]
    places: tuple[IntArray, ...]
    options: tuple[int, ...]
    units: int


def shared_questions(
    runs: Sequence[Evaluation], alpha: int, *, score: str = "lac", empty: str = "allow"
) -> SharedQuestions:
    """The test questions that all runs have, and the runs' sets at ``alpha`` thousandths.

    Raises :class:`InputError` if the runs share fewer than 10 test questions.
    """
    rows = shared_rows(runs, [run.test for run in runs])
    units = count(shared_clusters(runs, rows), len(rows[0]))
    if units < FEWEST:
        raise InputError(
            f"runs {', '.join(run.run_id for run in runs)} share {units} test questions, and a comparison needs at "
            f"least {FEWEST}; choose runs on the same bank of questions"
        )
    alike, options = on_common_options(runs, rows)
    places = []
    for run, own in zip(alike, rows, strict=True):
        place = np.full(len(run.labels), -1, dtype=np.int64)
        place[run.test] = np.arange(len(run.test))
        places.append(place[own])
    sets = [form(run, score, alpha, empty=empty) for run in alike]
    return SharedQuestions(alike, tuple(rows), tuple(sets), tuple(places), options, units)


def run_matrix(
    runs: Sequence[Evaluation], alpha: int, *, score: str = "lac", empty: str = "allow", resamples: int = SWAPS
) -> RunMatrix:
    """All pairs of the runs at ``alpha`` thousandths, with sets by ``score``.

    Raises :class:`InputError` for fewer than 2 or more than 12 runs, and if they share fewer than 10 test questions.
    """
    if not 2 <= len(runs) <= MOST_RUNS:
        raise InputError(f"a matrix compares 2 to {MOST_RUNS} runs, not {len(runs)}; choose some of them")
    shared_runs = shared_questions(runs, alpha, score=score, empty=empty)
    shared = _shared_runs(shared_runs, score)
    figures, pairs = differences(shared, alpha, empty=empty, resamples=resamples)
    return RunMatrix(
        runs=tuple(run.run_id for run in runs),
        n_test=shared.right.shape[1],
        n_calibration=shared.calibration.shape[2],
        tested=tuple(len(run.test) for run in runs),
        repeats=any(run.clusters is not None for run in runs),
        units=shared_runs.units,
        left_out=tuple(set_text(run.letters_left_out, run.letters_left_out) for run in shared_runs.runs),
        alone=tuple(len(others) for others in shared.alone),
        figures=figures,
        pairs=pairs,
    )


def pairs_frame(matrix: RunMatrix) -> pd.DataFrame:
    """One row per figure and pair: the two runs, their figures, the difference with its interval, and p-values."""
    return pd.DataFrame(
        [
            {
                "figure": name,
                "first": matrix.runs[pair.first],
                "second": matrix.runs[pair.second],
                "first_value": matrix.figures[name][pair.first],
                "second_value": matrix.figures[name][pair.second],
                "difference": pair.difference.value,
                "low": pair.difference.low,
                "high": pair.difference.high,
                "p": pair.p,
                "p_holm": pair.corrected,
                "detectable": pair.detectable,
                "rough": pair.rough,
            }
            for name, pairs in matrix.pairs.items()
            for pair in pairs
        ]
    )


def differences(
    shared: SharedRuns, alpha: int, *, empty: str = "allow", resamples: int = SWAPS, seed: int = 0
) -> tuple[dict[str, tuple[float, ...]], dict[str, tuple[PairDifference, ...]]]:
    """Each run's figures on the shared questions, and all pairs with their intervals and tests, by figure."""
    sizes = [mean_size(shared, i, alpha, empty) for i in range(len(shared.setting))]
    accuracies = shared.right.mean(axis=1).tolist()
    figures = {
        "accuracy": tuple(accuracies),
        "set_size": tuple(sizes),
        "uacc": tuple(
            float(uacc(right, size, k)) for right, size, k in zip(accuracies, sizes, shared.options, strict=True)
        ),
    }
    of_sizes, of_uacc = difference_intervals_of_pairs(shared, alpha, empty=empty, seed=seed)
    of_swaps = swap_tests(shared, alpha, empty=empty, resamples=resamples, seed=seed)
    z, clusters = together(len(shared.pairs)), tested(shared.clusters, shared.right.shape[1])
    changes = [shared.right[j] - shared.right[i] for i, j in shared.pairs]
    smallest = _smallest_differences(shared, alpha, empty, clusters)
    unmarked = [False] * len(shared.pairs)
    by_measure = {
        "accuracy": (
            [difference_of_shares(per_pair, clusters, z=z) for per_pair in changes],
            [turned_p_value(per_pair, clusters) for per_pair in changes],
            [each.accuracy for each in smallest],
            unmarked,
        ),
        "set_size": (
            of_sizes,
            of_swaps[0].tolist(),
            [each.set_size for each in smallest],
            [each.rough for each in smallest],
        ),
        "uacc": (of_uacc, of_swaps[1].tolist(), [math.nan] * len(shared.pairs), unmarked),
    }
    return figures, {
        name: tuple(
            PairDifference(i, j, estimate, p, corrected, found, is_rough)
            for (i, j), estimate, p, corrected, found, is_rough in zip(
                shared.pairs, estimates, values, holm(values), detectable, roughly, strict=True
            )
        )
        for name, (estimates, values, detectable, roughly) in by_measure.items()
    }


def _smallest_differences(
    shared: SharedRuns, alpha: int, empty: str, clusters: IntArray | None
) -> list[SmallestDifferences]:
    """The smallest differences that each pair's tests can find."""
    smallest = []
    for pair in shared.pairs:
        first, second = (
            Swappable(
                calibration=shared.calibration[shared.setting[own], [own, other]],
                alone=shared.alone[own],
                test=shared.test[shared.setting[own], [own, other]],
                right=shared.right[[own, other]],
                options=shared.options[own],
            )
            for own, other in (pair, pair[::-1])
        )
        level = SIGNIFICANT / len(shared.pairs)
        smallest.append(smallest_differences(first, second, alpha, clusters, significance=level, empty=empty))
    return smallest


def _shared_runs(shared: SharedQuestions, score: str) -> SharedRuns:
    """The runs' scores on the shared questions, each run's answers under every run's settings."""
    runs, tuned = shared.runs, [formed.tuned for formed in shared.sets]
    calibration = shared_rows(runs, [choice.calibration for choice in tuned])
    k = max(run.k for run in runs)
    rows_of_both = [np.concatenate(parts) for parts in zip(calibration, shared.rows, strict=True)]
    keys = [
        _setting(run, choice.parameters, own, score) for run, choice, own in zip(runs, tuned, rows_of_both, strict=True)
    ]
    settings = list(dict.fromkeys(keys))
    n = len(calibration[0])
    true, scores = [], []
    for setting in settings:
        i = keys.index(setting)
        run, rows = runs[i], rows_of_both[i]
        labels = run.labels[calibration[i]]
        swapped = []
        for other, theirs in zip(runs, rows_of_both, strict=True):
            answers = aligned(widened(other, k)[theirs], orders(run, rows, other, theirs, k))
            swapped.append(score_of(score, answers, seed=run.spec.seed, parameters=tuned[i].parameters, places=rows))
        true.append(np.stack([true_scores(run_scores[:n], labels) for run_scores in swapped]))
        scores.append(np.stack([run_scores[n:] for run_scores in swapped]))
    alone = []
    for run, choice, own in zip(runs, tuned, calibration, strict=True):
        rest = np.setdiff1d(choice.calibration, own)
        rest_scores = score_of(
            score, run.option_probabilities[rest], seed=run.spec.seed, parameters=choice.parameters, places=rest
        )
        alone.append(true_scores(rest_scores, run.labels[rest]))
    return SharedRuns(
        setting=tuple(settings.index(key) for key in keys),
        calibration=np.stack(true),
        test=np.stack(scores),
        right=np.stack(
            [correct(run.probabilities[own], run.labels[own]) for run, own in zip(runs, shared.rows, strict=True)]
        ),
        alone=tuple(alone),
        options=shared.options,
        clusters=shared_clusters(runs, rows_of_both),
    )


def _setting(run: Evaluation, parameters: object, rows: IntArray, score: str) -> tuple[object, ...]:
    """The settings of a run without its answers; equal for runs that would score the same answer alike."""
    frozen = (run.spec.seed, rows.tobytes()) if SCORES[score].randomised else None
    return parameters, frozen, options_key(run, rows)
