"""The power of Compare's tests: planned for 80%, from a pilot or from guesses, and simulated with the tests themselves.

A hit is a significant test of a true difference. Planned power has to be within 3 points of the simulated one; for the
mean set size of twins within 7, and their plan is marked as rough. A plan that knows less than two pilot runs asks for
more questions, so its power is at least the planned one.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache, partial

import numpy as np

from core.conformal.clusters import within
from core.conformal.pairwise import SharedRuns, swap_tests
from core.conformal.permutation import Swappable
from core.conformal.question_counts import sides
from core.conformal.scores import score, true_scores
from core.records import FloatArray, IntArray
from core.reports.compare.paired_shares import turned_p_value
from core.reports.compare.power import (
    POWER,
    SIGNIFICANT,
    SpreadOfPair,
    spread_of_pair,
    spread_with_another,
)
from core.reports.question_plan import Pilot, for_accuracy, for_set_size, guess
from tests.simulation.case import Case
from tests.simulation.set_sizes import TWINS, USUAL, Law, expected, questions

ALPHA = 100
SHARE = 0.5
PLANNED = (POWER - 0.03, POWER + 0.03)
ROUGH = (POWER - 0.07, POWER + 0.07)
AT_LEAST = (POWER - 0.03, 1.0)
RESAMPLES = 500
LARGE = 20_000
"""The questions of a pilot that is large enough to stand for the law."""
SAYS = "in 80% of draws"


def changes(
    rng: np.random.Generator, g: int, rows: int, differing: float, difference: float, alike: float
) -> FloatArray:
    """Changes of g clusters of ``rows``, (g · rows,): with the probability ``alike`` a row has its cluster's change."""
    p = [(differing - difference) / 2, 1 - differing, (differing + difference) / 2]
    own, common = (rng.choice([-1.0, 0.0, 1.0], p=p, size=(g, columns)) for columns in (rows, 1))
    return np.where(rng.random((g, rows)) < alike, common, own).ravel()


def clusters_of(g: int, rows: int) -> IntArray | None:
    return np.repeat(np.arange(g), rows) if rows > 1 else None


@lru_cache(maxsize=32)
def _tests(rows: int, differing: float, difference: float, alike: float) -> int:
    """The test questions that a plan asks for, from a large pilot with this law."""
    change = changes(np.random.default_rng(0x9107), LARGE, rows, differing, 0.0, alike)
    right = np.stack([change < 0, change > 0]).astype(np.float64)
    no_scores = np.zeros((2, 100)), np.zeros(0), np.zeros((2, len(change), 2))
    first, second = (Swappable(*no_scores, right[order], 2) for order in ([0, 1], [1, 0]))
    spread = spread_of_pair(first, second, ALPHA, clusters_of(LARGE, rows))
    return for_accuracy(Pilot(spread, ""), difference, SHARE).test


def _accuracy(seed: int, *, rows: int, differing: float, difference: float, alike: float) -> bool:
    g = _tests(rows, differing, difference, alike)
    change = changes(np.random.default_rng([seed, g, 11]), g, rows, differing, difference, alike)
    return turned_p_value(change, clusters_of(g, rows)) <= SIGNIFICANT


def _uneven_changes(rng: np.random.Generator, g: int, difference: float) -> tuple[FloatArray, IntArray]:
    """Changes in g clusters of 1 to 9 rows that are alike, with each row's cluster."""
    clusters = np.repeat(np.arange(g), rng.integers(1, 10, g))
    return changes(rng, g, 1, 0.2, difference, 0.0)[clusters], clusters


@lru_cache(maxsize=1)
def _uneven_tests(difference: float) -> int:
    change, clusters = _uneven_changes(np.random.default_rng(0x9109), 3 * LARGE, 0.0)
    right = np.stack([change < 0, change > 0]).astype(np.float64)
    no_scores = np.zeros((2, 100)), np.zeros(0), np.zeros((2, len(change), 2))
    first, second = (Swappable(*no_scores, right[order], 2) for order in ([0, 1], [1, 0]))
    return for_accuracy(Pilot(spread_of_pair(first, second, ALPHA, clusters), ""), difference, SHARE).test


def _uneven(seed: int, *, difference: float) -> bool:
    g = _uneven_tests(difference)
    return turned_p_value(*_uneven_changes(np.random.default_rng([seed, g, 15]), g, difference)) <= SIGNIFICANT


def _guessed(seed: int, *, accuracies: tuple[float, float], agreement: float) -> bool:
    """Two models whose accuracies and agreement were guessed right."""
    apart = accuracies[1] - accuracies[0]
    tests = for_accuracy(guess(accuracies, agreement), apart, SHARE).test
    change = changes(np.random.default_rng([seed, tests, 12]), tests, 1, 1 - agreement, apart, 0.0)
    return turned_p_value(change, None) <= SIGNIFICANT


def _detected(seed: int, *, tests: int, differing: float) -> bool:
    """The smallest difference that this many questions are said to show."""
    spread = SpreadOfPair(differing)
    difference = spread.detectable_accuracy(tests)
    change = changes(np.random.default_rng([seed, tests, 13]), tests, 1, max(differing, difference), difference, 0.0)
    return turned_p_value(change, None) <= SIGNIFICANT


def drawn(
    rng: np.random.Generator, n: int, g: int, rows: int, law: Law, name: str, lead: float, alike: float = 0.0
) -> SharedRuns:
    """Two runs on n calibration questions and g test questions of ``rows``, the second with more signal. With the
    probability ``alike`` a row repeats the first one of its question."""
    answers, labels = questions(rng, n + g * rows, law, models=2, lead=lead)
    repeats = rng.random((g, rows)) < alike
    places = n + np.where(repeats, np.arange(g)[:, None] * rows, np.arange(g * rows).reshape(g, rows))
    chosen = np.concatenate([np.arange(n), places.ravel()])
    scores = [score(name, p[chosen]) for p in answers]
    labels = labels[chosen]
    return SharedRuns(
        setting=(0, 0),
        calibration=np.stack([true_scores(run_scores, labels)[:n] for run_scores in scores])[None],
        test=np.stack([run_scores[n:] for run_scores in scores])[None],
        right=np.stack([(p[chosen].argmax(axis=1) == labels)[n:].astype(np.float64) for p in answers]),
        alone=(np.array([]),) * 2,
        options=(law.k,) * 2,
        clusters=np.concatenate([np.arange(n), n + np.repeat(np.arange(g), rows)]) if rows > 1 else None,
    )


@lru_cache(maxsize=32)
def planned(
    law: Law, name: str, lead: float, rows: int, alike: float, one: bool, pilot_lead: float
) -> tuple[int, int, float]:
    """The calibration and test questions of a plan for the difference that ``lead`` makes, and the difference."""
    runs = drawn(np.random.default_rng(0x9108), LARGE, LARGE, rows, law, name, 0.0 if one else pilot_lead, alike)
    first, second = (
        Swappable(runs.calibration[0][order], runs.alone[0], runs.test[0][order], runs.right[order], law.k)
        for order in ([0, 1], [1, 0])
    )
    clusters = None if runs.clusters is None else within(runs.clusters, np.arange(LARGE, len(runs.clusters)))
    spread = spread_with_another(first, ALPHA, clusters) if one else spread_of_pair(first, second, ALPHA, clusters)
    n = 500
    for _ in range(4):  # the difference depends a little on the number of calibration questions
        difference = abs(expected(law, name, n, lead)[0] - expected(law, name, n)[0])
        need = for_set_size(Pilot(spread, ""), difference, SHARE)
        n = need.calibration
    return (*sides(need.questions, SHARE), difference)


def _set_size(
    seed: int,
    *,
    law: Law,
    name: str,
    lead: float,
    rows: int = 1,
    alike: float = 0.0,
    one: bool = False,
    pilot_lead: float | None = None,
) -> bool:
    n, g, _ = planned(law, name, lead, rows, alike, one, lead if pilot_lead is None else pilot_lead)
    runs = drawn(np.random.default_rng([seed, n, 14]), n, g, rows, law, name, lead, alike)
    (p,), _ = swap_tests(runs, ALPHA, resamples=RESAMPLES, seed=seed)
    return bool(p <= SIGNIFICANT)


def _cases(
    hit: Callable[..., bool], rows: tuple[tuple[str, dict[str, object]], ...], allowed: tuple[float, float] = PLANNED
) -> Iterator[Case]:
    for title, arguments in rows:
        yield Case(f"power: {title}", partial(hit, **arguments), allowed, 70, 2000, SAYS)


CASES: tuple[Case, ...] = (
    *_cases(
        _accuracy,
        (
            ("accuracy", {"rows": 1, "differing": 0.2, "difference": 0.06, "alike": 0.0}),
            ("accuracy, few questions", {"rows": 1, "differing": 0.4, "difference": 0.25, "alike": 0.0}),
            ("accuracy, clusters alike", {"rows": 5, "differing": 0.3, "difference": 0.12, "alike": 1.0}),
            ("accuracy, clusters", {"rows": 5, "differing": 0.3, "difference": 0.08, "alike": 0.6}),
            ("accuracy, large clusters", {"rows": 20, "differing": 0.2, "difference": 0.06, "alike": 0.4}),
        ),
    ),
    *_cases(_uneven, (("accuracy, clusters of unequal size", {"difference": 0.08}),)),
    *_cases(_guessed, (("accuracy, guessed", {"accuracies": (0.7, 0.75), "agreement": 0.85}),)),
    *_cases(
        _detected,
        (
            ("detectable accuracy", {"tests": 250, "differing": 0.2}),
            ("detectable accuracy, hardly any change", {"tests": 100, "differing": 0.0}),
        ),
    ),
    *_cases(
        _set_size,
        (
            ("set size, LAC", {"law": USUAL, "name": "lac", "lead": 0.9}),
            ("set size, APS", {"law": USUAL, "name": "aps", "lead": 1.2}),
            ("set size, clusters", {"law": USUAL, "name": "lac", "lead": 1.2, "rows": 3, "alike": 0.6}),
        ),
    ),
    *_cases(_set_size, (("set size, rough, twins", {"law": TWINS, "name": "lac", "lead": 0.35}),), ROUGH),
    *_cases(
        _set_size,
        (("set size, one pilot run of twins", {"law": TWINS, "name": "lac", "lead": 1.0, "one": True}),),
        AT_LEAST,
    ),
)
