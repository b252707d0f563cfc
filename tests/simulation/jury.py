"""What the intervals of a jury's rules hold on the answers on which jurors disagree.

The law has three unequal jurors whose errors are correlated. What an interval should hold is what the same experiment
gives on average on other answers of that law, those to calibrate on included. Confidences are the raw ones, which are
fast; rules are fitted and the experiment is split ten times as on the page.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache

import numpy as np

from core.estimates import Estimate
from core.jury.adjudication import adjudicate
from core.jury.experiment import JuryExperiment, Protocol, calibration_size, kept, measures, run, split
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
    found: dict[str, list[list[float]]] = {name: [] for name in RULES}
    for seed in range(40_000 // n + 300):
        judged = law(n, FAR + seed)
        places = kept(judged, PROTOCOL)
        of = split(judged, places, calibration_size(judged, places, PROTOCOL), seed, PROTOCOL)
        for name in RULES:
            measured = measures(adjudicate(name, of.case), of.case.asked.labels)
            found[name].append([measured["accuracy"], measured["f1"]])
    return {name: np.mean(values, axis=0) for name, values in found.items()}


def holds(of: Estimate, truth: float) -> bool:
    return of.low <= truth <= of.high


def rule_case(n: int, rule: str, measure: str) -> Callable[[int], bool]:
    def hit(seed: int) -> bool:
        of = next(of for of in tried(n, seed).outcomes if of.rule == rule)
        own = truths(n)[rule]
        truth = {"accuracy": own[0], "f1": own[1], "to_majority": own[0] - truths(n)["majority"][0]}[measure]
        return holds(getattr(of, measure), float(truth))

    return hit


APPROXIMATE = (0.88, 0.99)
FITTED = (
    "Intervals of fitted rules are approximate: in simulations with 200 and 1,000 answers, they held the true value in "
    "88 to 99 of 100 cases."
)
SHORT = {200: 20, 1000: 4, 5000: 1}
LONG = {200: 1000, 1000: 400, 5000: 400}

CASES: tuple[Case, ...] = (
    *(
        Case(f"jury, accuracy of majority, n = {n}", rule_case(n, "majority", "accuracy"), INTERVAL, SHORT[n], LONG[n])
        for n in SIZES
    ),
    *(
        Case(f"jury, F1 of majority, n = {n}", rule_case(n, "majority", "f1"), INTERVAL, SHORT[n], LONG[n])
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
        for measure, words in (("accuracy", "accuracy"), ("to_majority", "difference to majority"))
        for n in SIZES
    ),
)
