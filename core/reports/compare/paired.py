"""Two runs compared question by question, and tests of their difference.

Both runs are paired on the questions that they share, matched by their identity (:mod:`core.questions.identity`): the
same text and answers, whatever the order of the options and the bank they are in. A difference is the second run's
figure minus the first's. Each hypothesis has one test: McNemar's for accuracy
(:mod:`core.reports.compare.paired_shares`), and for mean set size and UAcc the paired permutation test of
:mod:`core.conformal.permutation`, which includes the variation of the calibration draw. Rows that belong together
(:mod:`core.conformal.clusters`) count as one unit."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from core.calibration.metrics import correct
from core.conformal.clusters import count, within
from core.conformal.permutation import PValues, Swappable, swap_test
from core.conformal.pvalues import holm
from core.conformal.scores import score as score_of
from core.conformal.scores import true_scores
from core.conformal.set_sizes.differences import PairedRun, difference_intervals
from core.conformal.set_sizes.intervals import SetEstimates
from core.conformal.set_sizes.pairwise import together
from core.conformal.tuning import Tuned
from core.errors import InputError
from core.estimates import Estimate
from core.questions.option_names import set_text
from core.records import FloatArray, IntArray
from core.reports.compare.common_options import on_common_options
from core.reports.compare.paired_shares import difference_of_shares, turned_p_value
from core.reports.compare.power import SIGNIFICANT, SmallestDifferences, smallest_differences
from core.reports.compare.shared_questions import FEWEST, aligned, orders, question_keys, shared_clusters, widened
from core.reports.evaluation import Evaluation
from core.reports.scored_sets import form

TESTS = {"accuracy": "McNemar, exact", "set_size": "Paired permutation", "uacc": "Paired permutation"}
"""Maps each hypothesis (that a figure of both runs has the same distribution) to the title of its test."""

CHOSEN = (
    "The intervals of differences in set size and UAcc hold for each run's tuned parameters and do not redraw them."
)
"""What a reader of differences by a tuned score needs to know. In simulations of equal models, intervals held a
difference of 0 in 73 to 90 of 100 draws by RAPS and SAPS, because the parameters differ by chance; they held the
difference with the chosen parameters in 96."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A mean difference with its 95% interval and Cohen's d of paired differences (mean / their standard deviation; 0
    if all are equal, NaN for UAcc, which is not defined for a single question).

    The interval of accuracy is Tango's; those of set size and UAcc redraw calibration and test questions
    (:func:`core.conformal.set_sizes.differences.difference_intervals`). Cohen's d describes the sets at the given two
    thresholds and says nothing about chance."""

    mean: float
    low: float
    high: float
    cohens_d: float


@dataclass(frozen=True, slots=True)
class Pair:
    """Two runs on the n test questions that they share. ``units`` counts those that are independent: repeats of a
    question, and questions about one passage, are one unit. ``tested`` counts each run's own test rows, and
    ``repeats`` says that some of them repeat a question. ``alike`` says that both runs score every option of the shared
    ones alike. ``left_out`` has the letters of the options that were left out of each run, because the other lacks
    them.

    ``both_right`` … count questions. ``grew``, ``shrank`` and ``same`` compare the second run's sets with the first's.
    ``p_values`` belong to the hypotheses of :data:`TESTS`; ``holm`` holds them corrected for all tests that were made
    together. ``n_calibration`` questions calibrate both runs and are swapped by the permutation test; ``alone`` counts
    those that calibrate only the first or only the second run; they are not swapped. ``detectable`` are the smallest
    differences that the tests find, at 5% over the number of ``tests`` that were made together.
    """

    first: str
    second: str
    n: int
    units: int
    tested: tuple[int, int]
    repeats: bool
    alike: bool
    left_out: tuple[str, str]
    both_right: int
    only_first: int
    only_second: int
    both_wrong: int
    grew: int
    shrank: int
    same: int
    n_calibration: int
    alone: tuple[int, int]
    accuracy: Difference
    set_size: Difference
    uacc: Difference
    p_values: dict[str, float]
    holm: dict[str, float]
    detectable: SmallestDifferences
    tests: int


@dataclass(frozen=True, slots=True)
class _Sides:
    """Two runs on the same n questions with the same number of ``options``: the ``rows`` of these questions, right (n,)
    as 0 and 1, set sizes (n,), and the questions on which their scores were tuned. ``calibration`` are the rows of
    those that calibrate both. ``clusters`` (n,) are those of the test questions."""

    runs: tuple[Evaluation, Evaluation]
    options: int
    rows: tuple[IntArray, IntArray]
    right: tuple[FloatArray, FloatArray]
    sizes: tuple[IntArray, IntArray]
    tuned: tuple[Tuned, Tuned]
    calibration: tuple[IntArray, IntArray]
    clusters: IntArray | None


def compare(
    pairs: Sequence[tuple[Evaluation, Evaluation]],
    alpha: int,
    *,
    score: str = "lac",
    hypotheses: Sequence[str] = tuple(TESTS),
) -> list[Pair]:
    """Every pair at ``alpha`` thousandths, with sets by ``score``; the p-values of the ``hypotheses`` that are asked
    about are corrected together, one test each.

    Raises :class:`InputError` for two runs that share fewer than 10 test questions.
    """
    tests = len(pairs) * len(hypotheses)
    tested = [_pair(a, b, alpha, score, hypotheses, tests) for a, b in pairs]
    flat = holm([p for pair in tested for p in pair.p_values.values()])
    out = []
    for i, pair in enumerate(tested):
        own = flat[i * len(hypotheses) : (i + 1) * len(hypotheses)]
        out.append(replace(pair, holm=dict(zip(pair.p_values, own, strict=True))))
    return out


def questions(a: Evaluation, b: Evaluation, alpha: int, *, score: str = "lac") -> pd.DataFrame:
    """The shared test questions: ``id``, ``group``, ``first_right``, ``second_right``, ``first_size``, ``second_size``
    and ``change``, the second set's size minus the first's. Questions whose sets grew most come first."""
    sides = _sides(a, b, alpha, score)
    rows = sides.rows[0]
    table = pd.DataFrame(
        {
            "id": a.ids[rows],
            "group": a.groups[rows],
            "first_right": sides.right[0].astype(bool),
            "second_right": sides.right[1].astype(bool),
            "first_size": sides.sizes[0],
            "second_size": sides.sizes[1],
            "change": sides.sizes[1] - sides.sizes[0],
        }
    )
    return table.sort_values("change", ascending=False, kind="stable", ignore_index=True)


def _sides(a: Evaluation, b: Evaluation, alpha: int, score: str) -> _Sides:
    shared = _shared_tests(a, b)
    if isinstance(shared, str):
        raise InputError(shared)
    at, rows, clusters = shared
    runs, options = on_common_options((a, b), rows)
    right, sizes, tuned = [], [], []
    for run, places_of, test in zip(runs, at, rows, strict=True):
        right.append(correct(run.probabilities[test], run.labels[test]))
        formed = form(run, score, alpha)
        sizes.append(formed.members.sum(axis=1)[places_of])
        tuned.append(formed.tuned)
    own, other = (sets.calibration for sets in tuned)
    places = _shared(a, own, b, other)
    return _Sides(
        (runs[0], runs[1]),
        options[0],
        rows,
        (right[0], right[1]),
        (sizes[0], sizes[1]),
        (tuned[0], tuned[1]),
        (own[places[0]], other[places[1]]),
        clusters,
    )


_Places = tuple[IntArray, IntArray]


def _shared_tests(a: Evaluation, b: Evaluation) -> tuple[_Places, _Places, IntArray | None] | str:
    """The test questions of both runs: their places among each run's test questions, their rows, and their clusters. If
    they are too few, a sentence that says so."""
    at = _shared(a, a.test, b, b.test)
    rows = a.test[at[0]], b.test[at[1]]
    clusters = shared_clusters((a, b), rows)
    units = count(clusters, len(rows[0]))
    if units >= FEWEST:
        return at, rows, clusters
    return (
        f"runs {a.run_id} and {b.run_id} share {units} test questions, and a comparison needs at least {FEWEST}; "
        "choose two runs on the same bank of questions"
    )


def why_not(a: Evaluation, b: Evaluation) -> str:
    """Why two runs can't be compared; "" if they can."""
    shared = _shared_tests(a, b)
    if isinstance(shared, str):
        return shared
    try:
        on_common_options((a, b), shared[1])
    except InputError as error:
        return str(error)
    return ""


def _shared(a: Evaluation, of_a: IntArray, b: Evaluation, of_b: IntArray) -> tuple[IntArray, IntArray]:
    """Where the rows ``of_a`` and ``of_b`` hold the same questions, (n,) places each, in the first run's order."""
    places = {key: i for i, key in enumerate(question_keys(b, of_b))}
    matches = [(i, places[key]) for i, key in enumerate(question_keys(a, of_a)) if key in places]
    return np.array([i for i, _ in matches], dtype=np.int64), np.array([j for _, j in matches], dtype=np.int64)


def _swappable(a: Evaluation, b: Evaluation, sides: _Sides, score: str) -> tuple[Swappable, Swappable]:
    """Both runs on the questions that they share. Each run scores its own and the other model's probabilities."""
    calibration = sides.calibration
    swappables = []
    for run, other, me in ((a, b, 0), (b, a, 1)):
        mine, theirs = sides.rows[me], sides.rows[1 - me]
        k = max(run.k, other.k)
        answers = widened(run, k)
        swapped = answers.copy()
        for own_rows, other_rows in ((calibration[me], calibration[1 - me]), (mine, theirs)):
            swapped[own_rows] = _heard(run, own_rows, other, other_rows, k)
        scores = [
            score_of(score, row_scores, seed=run.spec.seed, parameters=sides.tuned[me].parameters)
            for row_scores in (answers, swapped)
        ]
        rows, labels = calibration[me], run.labels
        alone = np.setdiff1d(sides.tuned[me].calibration, rows)
        swappables.append(
            Swappable(
                calibration=np.stack([true_scores(row_scores[rows], labels[rows]) for row_scores in scores]),
                alone=true_scores(scores[0][alone], labels[alone]),
                test=np.stack([row_scores[mine] for row_scores in scores]),
                right=np.stack([sides.right[me], sides.right[1 - me]]),
                options=sides.options,
            )
        )
    return swappables[0], swappables[1]


def _heard(run: Evaluation, rows: IntArray, other: Evaluation, theirs: IntArray, k: int) -> FloatArray:
    """The other model's probabilities on the same questions, (n, k), with options in this run's order."""
    return aligned(widened(other, k)[theirs], orders(run, rows, other, theirs, k))


def swappable_pair(
    a: Evaluation, b: Evaluation, alpha: int, *, score: str = "lac"
) -> tuple[Swappable, Swappable, IntArray | None]:
    """Both runs on the questions that they share, and the clusters of the test questions.

    Raises :class:`InputError` for two runs that share fewer than 10 test questions.
    """
    sides = _sides(a, b, alpha, score)
    return *_swappable(*sides.runs, sides, score), sides.clusters


def swappable_run(run: Evaluation, alpha: int, *, score: str = "lac") -> tuple[Swappable, IntArray | None]:
    """A run on all its questions, with the answers of one model, and the clusters of the test questions."""
    tuned = form(run, score, alpha).tuned
    scores = score_of(score, run.option_probabilities, seed=run.spec.seed, parameters=tuned.parameters)
    own = true_scores(scores[tuned.calibration], run.labels[tuned.calibration])
    right = correct(run.probabilities[run.test], run.labels[run.test])
    side = Swappable(own[None], np.zeros(0), scores[run.test][None], right[None], run.k)
    return side, within(run.clusters, run.test)


def _side(swappable: Swappable) -> PairedRun:
    """The run without the other model's probabilities."""
    return PairedRun(
        swappable.calibration[0], swappable.alone, swappable.test[0], swappable.right[0], swappable.options
    )


def _pair(a: Evaluation, b: Evaluation, alpha: int, score: str, hypotheses: Sequence[str], tests: int) -> Pair:
    sides = _sides(a, b, alpha, score)
    tested = len(a.test), len(b.test)
    a, b = sides.runs
    first_run, other = _swappable(a, b, sides, score)
    shared = [np.concatenate(parts) for parts in zip(sides.calibration, sides.rows, strict=True)]
    clusters = shared_clusters((a, b), shared)
    likely: SetEstimates = difference_intervals(_side(first_run), _side(other), alpha, clusters=clusters)
    swap_p: PValues = swap_test(first_run, other, alpha, clusters=clusters)
    (first, second), (small, large) = sides.right, sides.sizes
    change = (large - small).astype(np.float64)
    turned = second - first
    p_values = {
        "accuracy": turned_p_value(turned, sides.clusters),
        "set_size": swap_p.mean_set_size,
        "uacc": swap_p.uacc,
    }
    return Pair(
        first=a.run_id,
        second=b.run_id,
        n=len(first),
        units=count(sides.clusters, len(first)),
        tested=tested,
        repeats=any(run.clusters is not None for run in (a, b)),
        alike=bool(np.array_equal(first_run.test[0], first_run.test[1], equal_nan=True)),
        left_out=(set_text(a.letters_left_out, a.letters_left_out), set_text(b.letters_left_out, b.letters_left_out)),
        both_right=int(((first == 1) & (second == 1)).sum()),
        only_first=int((turned < 0).sum()),
        only_second=int((turned > 0).sum()),
        both_wrong=int(((first == 0) & (second == 0)).sum()),
        grew=int((change > 0).sum()),
        shrank=int((change < 0).sum()),
        same=int((change == 0).sum()),
        n_calibration=first_run.calibration.shape[1],
        alone=(len(first_run.alone), len(other.alone)),
        accuracy=difference(turned, sides.clusters),
        set_size=_difference(likely.mean_set_size, _cohens_d(change)),
        uacc=_difference(likely.uacc, math.nan),
        p_values={name: p for name, p in p_values.items() if name in hypotheses},
        holm={},
        detectable=smallest_differences(first_run, other, alpha, sides.clusters, significance=SIGNIFICANT / tests),
        tests=tests,
    )


def _difference(estimate: Estimate, cohens_d: float) -> Difference:
    return Difference(estimate.value, estimate.low, estimate.high, cohens_d)


def _cohens_d(changes: FloatArray) -> float:
    spread = float(changes.std(ddof=1)) if len(changes) > 1 else 0.0
    return float(changes.mean()) / spread if spread > 0 else 0.0


def difference(changes: FloatArray, clusters: IntArray | None = None) -> Difference:
    """The difference in accuracy, from ``changes`` (n,): 1 where only the second run is right, −1 where only the first
    is."""
    return _difference(difference_of_shares(changes, clusters, z=together(1)), _cohens_d(changes))


def accuracy_difference(a: Evaluation, b: Evaluation) -> tuple[int, Difference]:
    """How many test questions two runs share, and the second run's accuracy on them minus the first's."""
    at = _shared(a, a.test, b, b.test)
    rows = a.test[at[0]], b.test[at[1]]
    right = [correct(run.probabilities[own], run.labels[own]) for run, own in zip((a, b), rows, strict=True)]
    return len(rows[0]), difference(right[1] - right[0], shared_clusters((a, b), rows))
