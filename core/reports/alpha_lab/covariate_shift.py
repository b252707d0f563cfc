"""Covariate shift: coverage after calibrating on one kind of questions and testing on another, and how much of it
weights restore.

A side is a subject of a run, or a whole run. No question of the test side calibrates, so all questions of both sides
are used. The run's own split into calibration and test does not matter here.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.conformal.alpha import THOUSAND
from core.conformal.curve import alpha_curve
from core.conformal.scores import score, true_scores
from core.conformal.shift import exchangeability_p_value, looks, odds, weighted_curve
from core.conformal.threshold import rank
from core.errors import InputError
from core.records import FloatArray, IntArray
from core.reports.evaluation import Evaluation
from core.reports.repeated import standing
from core.reports.scored_sets import check_score

FEWEST = 20
"""The fewest questions of a side."""

SEARCHED_AT = THOUSAND // 10
"""The alpha (thousandths) at which pairs of sides are searched."""

SHUFFLES = 999
FEWEST_SHUFFLES = 199
MOST_WORK = 20_000_000
"""The budget of one search: questions × shuffles. The smallest number of shuffles is made in any case."""

MOST = 4000
"""The most questions that are used of a side. From a larger side this many are drawn at random, which leaves two
decimals of a figure unchanged."""


@dataclass(frozen=True, slots=True)
class ScoredQuestions:
    """One side's option probabilities (n, k) and labels (n,), its scores (n, k) and those of the true options (n,)."""

    name: str
    probabilities: FloatArray
    labels: IntArray
    scores: FloatArray
    true: FloatArray


@dataclass(frozen=True, slots=True)
class Shifted:
    """Coverage and mean set size at each alpha from 1 to 999 thousandths, (999,) each, unweighted and weighted.

    ``n`` questions calibrate and ``m`` test. ``p_value`` is the probability that scores differ at least this much if
    the two sides are exchangeable; it is valid for a pair that was chosen before its figures were seen. ``effective``
    is the number of equally weighted questions that the weights are worth, (Σw)²/Σw².
    """

    source: str
    target: str
    n: int
    m: int
    p_value: float
    effective: float
    coverage: FloatArray
    mean_set_size: FloatArray
    weighted_coverage: FloatArray
    weighted_mean_set_size: FloatArray


def side(run: Evaluation, group: str | None, *, by: str) -> ScoredQuestions:
    """The calibration and test questions of a run, or of one of its subjects, with their scores ``by``.
    If rows repeat questions, one row stands for each.

    Raises :class:`InputError` if there are fewer than 20.
    """
    rows = standing(run, np.sort(np.concatenate([run.calibration, run.test])))
    if group is not None:
        rows = rows[run.groups[rows] == group]
    name = run.spec.task if group is None else group
    if len(rows) < FEWEST:
        raise InputError(f"{name!r} has {len(rows)} questions; comparing two sides needs at least {FEWEST} of each")
    if len(rows) > MOST:
        rows = np.sort(np.random.default_rng([run.spec.seed, 0x51DE]).permutation(rows)[:MOST])
    check_score(run, by)
    scores = score(by, run.option_probabilities, seed=run.spec.seed)[rows]
    labels = run.labels[rows]
    return ScoredQuestions(name, run.probabilities[rows], labels, scores, true_scores(scores, labels))


def shifted(source: ScoredQuestions, target: ScoredQuestions, *, seed: int = 0) -> Shifted:
    """Calibrate on ``source`` and test on ``target``.

    Raises :class:`InputError` if they have different numbers of options.
    """
    if source.scores.shape[1] != target.scores.shape[1]:
        raise InputError(
            f"{source.name!r} has {source.scores.shape[1]} options a question and {target.name!r} "
            f"{target.scores.shape[1]}; sets can be compared where they have as many"
        )
    plain = alpha_curve(source.true, target.scores, target.labels)
    weights, test_weights = odds(looks(source.probabilities), looks(target.probabilities))
    coverage, size = weighted_curve(source.true, weights, target.scores, test_weights, target.labels)
    return Shifted(
        source=source.name,
        target=target.name,
        n=len(source.labels),
        m=len(target.labels),
        p_value=exchangeability_p_value(source.true, target.true, rng=np.random.default_rng([seed, 0xE8])),
        effective=float(weights.sum() ** 2 / (weights**2).sum()),
        coverage=plain.coverage,
        mean_set_size=plain.mean_set_size,
        weighted_coverage=coverage,
        weighted_mean_set_size=size,
    )


def subjects(run: Evaluation) -> tuple[str, ...]:
    """The run's subjects with enough questions to be a side, by name."""
    rows = standing(run, np.concatenate([run.calibration, run.test]))
    names, counts = np.unique(run.groups[rows], return_counts=True)
    return tuple(str(name) for name, count in zip(names, counts, strict=True) if count >= FEWEST)


@dataclass(frozen=True, slots=True)
class Search:
    """The ordered pair of sides (one to calibrate, one to test) whose coverage at alpha is the lowest of all ``pairs``.

    ``p_value``, in [1 / (shuffles + 1), 1], is corrected for the search: it is the share of ``shuffles`` random
    shuffles of the sides' names over the questions in which a repeated search finds a pair that covers as little. The
    p-value of a single pair (:attr:`Shifted.p_value`) is not valid for a pair that was searched for.
    """

    source: str
    target: str
    coverage: float
    pairs: int
    p_value: float
    shuffles: int


def search(sides: Sequence[ScoredQuestions], *, alpha: int = SEARCHED_AT, seed: int = 0) -> Search | None:
    """Search all ordered pairs of sides for the one with the lowest coverage at ``alpha`` thousandths.

    None for fewer than two sides. Of pairs with equal coverage it is the first by calibrating side, then by tested
    side. There are 999 shuffles, or fewer where there are many questions: at least 199.
    """
    if len(sides) < 2:
        return None
    counts = np.array([len(questions.true) for questions in sides])
    pooled = np.concatenate([questions.true for questions in sides])
    order = np.argsort(pooled, kind="stable")
    # For each place in rising order: how many scores are at most the score there; tied scores count together.
    within = np.searchsorted(pooled[order], pooled[order], side="right")
    ranks = np.array([rank(int(count), alpha) for count in counts])
    codes = np.repeat(np.arange(len(sides), dtype=np.int16), counts)[order]
    source, target, lowest = _worst_pair(codes, counts, ranks, within)
    rng = np.random.default_rng([seed, 0x5EA])
    shuffles = max(FEWEST_SHUFFLES, min(SHUFFLES, MOST_WORK // len(codes)))
    as_low = sum(_worst_pair(rng.permutation(codes), counts, ranks, within)[2] <= lowest for _ in range(shuffles))
    return Search(
        source=sides[source].name,
        target=sides[target].name,
        coverage=lowest,
        pairs=len(sides) * (len(sides) - 1),
        p_value=(1 + as_low) / (shuffles + 1),
        shuffles=shuffles,
    )


def _worst_pair(
    codes: npt.NDArray[np.int16], counts: IntArray, ranks: IntArray, within: IntArray
) -> tuple[int, int, float]:
    """The pair with the lowest coverage, and that coverage.

    ``codes`` (N,) are the sides of all questions in rising order of their scores, ``within`` (N,) says how many scores
    are at most each; ``counts`` and ``ranks`` (G,) are the sides' sizes and the ranks of their thresholds. A lower
    threshold covers less of every side, so only the lowest threshold matters, and for its own side the next one.
    """
    by_side = np.argsort(codes, kind="stable")  # each side's places together, rising
    starts = np.cumsum(counts) - counts
    finite = ranks <= counts
    reach = np.where(finite, within[by_side[starts + np.minimum(ranks, counts) - 1]], len(codes))
    first, second = np.argsort(reach, kind="stable")[:2]
    covered = np.bincount(codes[: reach[first]], minlength=len(counts)) / counts
    covered[first] = np.count_nonzero(codes[: reach[second]] == first) / counts[first]
    target = int(covered.argmin())
    return int(second if target == first else first), target, float(covered[target])
