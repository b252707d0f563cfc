"""The coverage of the intervals of a jury's rules on the answers on which jurors disagree.

The law has three unequal jurors whose errors are correlated. An interval should hold the average of the same
experiment on other answers of that law, including those to calibrate on. Confidences are the raw ones, which are
fast; rules are fitted and the experiment is split ten times as on the page.
"""

from collections.abc import Callable
from functools import cache, lru_cache

import numpy as np

from core.estimates import Estimate
from core.jury.adjudication import adjudicate
from core.jury.agreement import agreement
from core.jury.experiment import JuryExperiment, Protocol, answers_used, calibration_size, measures, run, split
from core.jury.judgements import Judgements
from tests.simulation.case import INTERVAL, Case

RULES = ("majority", "weighted_log_odds", "best_juror")
PROTOCOL = Protocol(confidence="raw", rules=RULES)
SIZES = (200, 1000, 5000)
FAR = 10_000_000
"""Seeds from here on are those of the truth."""


def law(n: int, seed: int) -> Judgements:
    """n answers, three in four of them right, and three jurors of different skill with a common source of error."""
    rng = np.random.default_rng([n, seed, 0x1A3])
    labels = rng.random(n) < 0.75
    skill, common = np.array([0.5, 0.9, 0.7]), 0.8 * rng.normal(size=n)
    odds = np.where(labels, 1, -1)[:, None] * skill + common[:, None] + 1.5 * rng.normal(size=(n, 3)) + 0.5
    p = 1 / (1 + np.exp(-1.7 * odds))
    names = tuple(map(str, range(n)))
    return Judgements(("a", "b", "c"), names, names, names, labels, p, 1 - p, ("",) * n)


@lru_cache(maxsize=2000)
def tried(n: int, seed: int) -> JuryExperiment:
    return run(law(n, seed), PROTOCOL)


@cache
def truths(n: int) -> dict[str, np.ndarray]:
    """By rule its mean accuracy and F1 over juries of n answers that no interval is formed of."""
    by_rule: dict[str, list[list[float]]] = {name: [] for name in (*RULES, "always_true")}
    for seed in range(40_000 // n + 300):
        judged = law(n, FAR + seed)
        places = answers_used(judged, PROTOCOL)
        halves = split(judged, places, calibration_size(judged, places, PROTOCOL), seed, PROTOCOL)
        for name in by_rule:
            measured = measures(adjudicate(name, halves.case), halves.case.test.labels)
            by_rule[name].append([measured["accuracy"], measured["f1"]])
    return {name: np.mean(values, axis=0) for name, values in by_rule.items()}


def holds(estimate: Estimate, truth: float) -> bool:
    return estimate.low <= truth <= estimate.high


def rule_case(n: int, rule: str, measure: str) -> Callable[[int], bool]:
    def hit(seed: int) -> bool:
        outcome = next(outcome for outcome in tried(n, seed).outcomes if outcome.rule == rule)
        own, other = truths(n)[rule], truths(n).get(measure.removeprefix("to_"))
        truth = {"accuracy": own[0], "f1": own[1]}[measure] if other is None else own[0] - other[0]
        return holds(getattr(outcome, measure), float(truth))

    return hit


def by_right(rng: np.random.Generator, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Labels, six in ten of them True, and probabilities of .9 for each juror's verdict."""
    labels = rng.random(len(right)) < 0.6
    return np.where(right == labels[:, None], 0.9, 0.1), labels


def hard_for_all(n: int, rng: np.random.Generator) -> np.ndarray:
    return rng.random((n, 5)) < np.where(rng.random((n, 1)) < 0.05, 0.3, 0.97)


def never_together(n: int, rng: np.random.Generator) -> np.ndarray:
    return rng.integers(0, 6, n)[:, None] != np.arange(3)


def independent(n: int, rng: np.random.Generator) -> np.ndarray:
    return rng.random((n, 5)) < (0.8, 0.75, 0.85, 0.8, 0.7)


VOTERS: dict[str, tuple[Callable[[int, np.random.Generator], np.ndarray], float]] = {
    "five jurors, hard for all": (hard_for_all, 2.056),
    "errors never shared": (never_together, 5.0),
    "five independent jurors": (independent, 5.0),
}
"""Whether each juror is right (n, j), and the effective votes in the long run."""


def voters_case(name: str, n: int) -> Callable[[int], bool]:
    draw, truth = VOTERS[name]

    def hit(seed: int) -> bool:
        rng = np.random.default_rng([n, seed, 0x1A9])
        right = draw(n, rng)
        p, labels = by_right(rng, right)
        names = tuple(map(str, range(n)))
        judgements = Judgements(tuple("abcde"[: right.shape[1]]), names, names, names, labels, p, 1 - p, ("",) * n)
        result = agreement(judgements).effective_votes
        return holds(result, truth) and result.high > result.low

    return hit


APPROXIMATE = (0.88, 0.99)
FITTED = (
    "Intervals of fitted rules are approximate: in simulations with 200 and 1,000 answers, they held the true value in "
    "88 to 99 of 100 cases."
)
RARE = (0.93, 1.0)
FEW_ERRORS = (
    "With few errors or repeated questions, intervals are wider than necessary, and hold the true value in 93 "
    "to 100 of 100 cases."
)
EDGES = (60, 200, 1000)
SHORT = {200: 20, 1000: 4, 5000: 1}
LONG = {200: 1000, 1000: 400, 5000: 400}

CASES: tuple[Case, ...] = (
    *(
        Case(f"jury, {words} of majority, n = {n}", rule_case(n, "majority", measure), INTERVAL, SHORT[n], LONG[n])
        for measure, words in (("accuracy", "accuracy"), ("f1", "F1"))
        for n in SIZES
    ),
    *(
        Case(
            f"jury, {words} of {rule.replace('_', ' ')}, n = {n}",
            rule_case(n, rule, measure),
            APPROXIMATE,
            SHORT[n],
            LONG[n],
            FITTED,
        )
        for rule in ("weighted_log_odds", "best_juror")
        for measure, words in (
            ("accuracy", "accuracy"),
            ("to_majority", "difference to majority"),
            ("to_always_true", "difference to always True"),
        )
        for n in SIZES
    ),
    *(
        Case(f"jury, effective votes, {name}, n = {n}", voters_case(name, n), RARE, 30, 600, FEW_ERRORS)
        for name in VOTERS
        for n in EDGES
    ),
)
