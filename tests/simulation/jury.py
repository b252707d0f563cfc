"""What a jury's intervals hold: of rules, of jurors, of what each adds, of agreement, of abstaining.

The law has three unequal jurors whose errors are correlated. What an interval should hold is what the same experiment
gives on average on other answers of that law, those to calibrate on included. Confidences are the raw ones, which are
fast; rules are fitted and the experiment is split ten times as on the page.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, lru_cache
from unittest.mock import patch

import numpy as np
import pandas as pd

from core.estimates import Estimate
from core.jury.adjudication import adjudicate
from core.jury.agreement import Agreement, agreement
from core.jury.experiment import JuryExperiment, Protocol, calibration_size, kept, measures, run, split
from core.jury.judgements import Judgements
from core.reports import jury
from core.reports.jury import left_out, reliability, risk
from tests.simulation.case import INTERVAL, Case

RULES = ("majority", "weighted_log_odds", "best_juror")
PROTOCOL = Protocol(confidence="raw", rules=RULES)
ABSTAINING = replace(PROTOCOL, rules=("mean_probability",))
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


@lru_cache(maxsize=2000)
def agreed(n: int, seed: int) -> Agreement:
    return agreement(law(n, seed))


@cache
def large() -> Judgements:
    return law(300_000, FAR)


@cache
def disputed() -> Judgements:
    return large().rows(large().disagreed)


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


def juror_case(n: int) -> Callable[[int], bool]:
    return lambda seed: holds(tried(n, seed).jurors[1].accuracy, float(disputed().right[:, 1].mean()))


def gain_case(n: int) -> Callable[[int], bool]:
    """What the second juror adds to mean probability, which fits nothing, so that its truth needs no repetition."""

    def hit(seed: int) -> bool:
        with patch.object(jury, "RULES", {"mean_probability": jury.RULES["mean_probability"]}):  # each by itself
            table = left_out(law(n, seed), PROTOCOL)
        row = table[(table["rule"] == "mean_probability") & (table["juror"] == "b")].iloc[0]
        return bool(row["gain_low"] <= added() <= row["gain_high"])

    return hit


@cache
def added() -> float:
    rows = disputed()
    two = rows.without(1)
    all_right = (rows.p_true.mean(axis=1) > rows.p_false.mean(axis=1)) == rows.labels
    said = np.where(two.disagreed, two.p_true.mean(axis=1) > two.p_false.mean(axis=1), two.verdicts[:, 0])
    return float(all_right.mean() - (said == rows.labels).mean())


def risk_case(n: int) -> Callable[[int], bool]:
    """How often mean probability is wrong where the jury is at least 60% sure."""

    def hit(seed: int) -> bool:
        row = at_sixty(risk(law(n, seed), ABSTAINING))
        return bool(row["low"] <= wrong_when_sure() <= row["high"])

    return hit


def at_sixty(table: pd.DataFrame) -> pd.Series:
    return table[(table["rule"] == "mean_probability") & (table["at"] == 0.6)].iloc[0]


@cache
def wrong_when_sure() -> float:
    rows = disputed()
    verdict = rows.p_true.mean(axis=1) > rows.p_false.mean(axis=1)
    agrees = rows.verdicts == verdict[:, None]
    sure = np.where(agrees, rows.top, 1 - rows.top).mean(axis=1) >= 0.6
    return float((verdict != rows.labels)[sure].mean())


def bin_case(n: int) -> Callable[[int], bool]:
    """How often the second juror is right where its raw probability is between 0.7 and 0.8."""

    def hit(seed: int) -> bool:
        table = reliability(law(n, seed), PROTOCOL)
        row = table[(table["juror"] == "b") & (table["scale"] == "raw") & (table["low"] == 0.7)].iloc[0]
        return bool(row["right_low"] <= right_in_bin() <= row["right_high"])

    return hit


@cache
def right_in_bin() -> float:
    rows = disputed()
    inside = (rows.top[:, 1] > 0.7) & (rows.top[:, 1] <= 0.8)
    return float(rows.right[inside, 1].mean())


@cache
def agreement_truth() -> Agreement:
    return agreement(large())


def agreement_case(n: int, of: Callable[[Agreement], Estimate]) -> Callable[[int], bool]:
    return lambda seed: holds(of(agreed(n, seed)), of(agreement_truth()).value)


AGREEMENTS: dict[str, Callable[[Agreement], Estimate]] = {
    "Cohen's kappa": lambda of: of.pairs[0].kappa,
    "correlation of errors": lambda of: of.pairs[0].error_correlation,
    "Fleiss' kappa": lambda of: of.fleiss,
    "Krippendorff's alpha": lambda of: of.krippendorff,
    "effective votes": lambda of: of.effective_votes,
}
SHARES: dict[str, Callable[[Agreement], Estimate]] = {
    "same verdict": lambda of: of.pairs[0].agreement,
    "unanimous and wrong": lambda of: of.unanimous_wrong,
}
AT_LEAST = (0.935, 0.985)
EXACT = "Intervals of shares are Clopper and Pearson's: they hold the truth in at least 95 of 100 cases."
APPROXIMATE = (0.88, 0.99)
FITTED = (
    "Intervals of fitted rules are approximate: in simulations with 200 and 1,000 answers, they held the true value in "
    "88 to 99 of 100 cases."
)
SHORT = {200: 20, 1000: 4, 5000: 1}
FEW_DRAWS = {200: 12, 1000: 1, 5000: 1}
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
    *(Case(f"jury, a juror's accuracy, n = {n}", juror_case(n), INTERVAL, SHORT[n], LONG[n]) for n in SIZES),
    *(Case(f"jury, what a juror adds, n = {n}", gain_case(n), INTERVAL, FEW_DRAWS[n], 400) for n in SIZES),
    *(
        Case(f"jury, wrong among the answered, n = {n}", risk_case(n), AT_LEAST, FEW_DRAWS[n], 400, EXACT)
        for n in SIZES
    ),
    *(Case(f"jury, a bin of reliability, n = {n}", bin_case(n), AT_LEAST, FEW_DRAWS[n], 400, EXACT) for n in SIZES),
    *(
        Case(f"jury, {words}, n = {n}", agreement_case(n, of), INTERVAL, 40, 1000)
        for words, of in AGREEMENTS.items()
        for n in SIZES
    ),
    *(
        Case(f"jury, {words}, n = {n}", agreement_case(n, of), AT_LEAST, 40, 1000, EXACT)
        for words, of in SHARES.items()
        for n in SIZES
    ),
)
