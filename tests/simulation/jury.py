"""What a jury's intervals hold: of rules, of jurors, of what each adds, of agreement, of abstaining.

The law has three unequal jurors whose errors are correlated. What an interval should hold is what the same experiment
gives on average on other answers of that law, those to calibrate on included. Confidences are the raw ones, which are
fast; rules are fitted and the experiment is split ten times as on the page.

Further laws are those at which intervals break (:data:`LAWS`): accurate jurors, jurors at chance, errors that several
jurors share, judgements that are ties, and questions with five answers. Rules are then those that fit nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, lru_cache
from unittest.mock import patch

import numpy as np
import pandas as pd

from core.estimates import Estimate
from core.jury.adjudication import Case as Judged
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


def drawn(n: int, p: np.ndarray, labels: np.ndarray, questions: np.ndarray | None = None) -> Judgements:
    rows = tuple(map(str, range(n)))
    texts = rows if questions is None else tuple(map(str, questions))
    return Judgements(("a", "b", "c"), rows, texts, rows, labels, p, 1 - p, ("",) * n)


def by_right(rng: np.random.Generator, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Labels, six in ten of them True, and probabilities of .9 for each juror's verdict."""
    labels = rng.random(len(right)) < 0.6
    return np.where(right == labels[:, None], 0.9, 0.1), labels


def accurate(n: int, seed: int) -> Judgements:
    """Jurors that are right on .97 to .995 of the answers, and err together on some that are hard."""
    rng = np.random.default_rng([n, seed, 0x1A4])
    hard = rng.random((n, 1)) < 0.01
    right = rng.random((n, 3)) < np.where(hard, 0.4, (0.976, 0.991, 0.999))
    return drawn(n, *by_right(rng, right))


def at_chance(n: int, seed: int) -> Judgements:
    rng = np.random.default_rng([n, seed, 0x1A5])
    return drawn(n, *by_right(rng, rng.random((n, 3)) < 0.5))


def sharing(n: int, seed: int) -> Judgements:
    """Jurors whose errors correlate by a half."""
    rng = np.random.default_rng([n, seed, 0x1A6])
    return drawn(n, *by_right(rng, rng.normal(size=(n, 1)) + rng.normal(size=(n, 3)) > (-1.0, -1.2, -0.8)))


def tied(n: int, seed: int) -> Judgements:
    """Jurors that can't decide on a fifth of the answers."""
    rng = np.random.default_rng([n, seed, 0x1A7])
    p, labels = by_right(rng, rng.random((n, 3)) < (0.75, 0.8, 0.7))
    return drawn(n, np.where(rng.random((n, 3)) < 0.2, 0.5, p), labels)


def repeated(n: int, seed: int) -> Judgements:
    """Questions with five answers each: jurors know a question or do not."""
    rng = np.random.default_rng([n, seed, 0x1A8])
    known = np.repeat(rng.random((n // 5, 3)) < (0.8, 0.85, 0.75), 5, axis=0)
    p, labels = by_right(rng, rng.random((n, 3)) < np.where(known, 0.98, 0.35))
    return drawn(n, p, labels, np.repeat(np.arange(n // 5), 5))


LAWS: dict[str, Callable[[int, int], Judgements]] = {
    "accurate jurors": accurate,
    "jurors at chance": at_chance,
    "shared errors": sharing,
    "ties": tied,
    "five answers a question": repeated,
}
EDGES = (60, 200, 1000)
UNFITTED = Protocol(confidence="raw", rules=("majority",), disagreement=False)


@lru_cache(maxsize=2000)
def tried_at(name: str, n: int, seed: int) -> JuryExperiment:
    return run(LAWS[name](n, seed), UNFITTED)


@lru_cache(maxsize=2000)
def agreed_at(name: str, n: int, seed: int) -> Agreement:
    return agreement(LAWS[name](n, seed))


@cache
def truth_at(name: str) -> tuple[dict[str, float], Agreement]:
    """The figures of one very large draw, on all answers. Its answers count as independent ones, which is faster."""
    rows = LAWS[name](300_000, FAR)
    rows = replace(rows, questions=rows.ids)
    case = Judged(rows, rows.top, rows)
    said = {rule: adjudicate(rule, case) for rule in ("majority", "max_probability")}
    of = measures(said["majority"], rows.labels)
    differs = of["accuracy"] - measures(said["max_probability"], rows.labels)["accuracy"]
    return of | {"to_max_probability": differs, "juror": float(rows.right[:, 1].mean())}, agreement(rows)


def unfitted_case(name: str, n: int, measure: str) -> Callable[[int], bool]:
    def hit(seed: int) -> bool:
        found = tried_at(name, n, seed)
        of = found.jurors[1].accuracy if measure == "juror" else getattr(found.outcomes[0], measure)
        return holds(of, truth_at(name)[0][measure]) and of.high - of.low > POINT

    return hit


def agreement_at(name: str, n: int, of: Callable[[Agreement], Estimate]) -> Callable[[int], bool]:
    """An undefined coefficient has no interval, and says so; it counts as held."""

    def hit(seed: int) -> bool:
        found = of(agreed_at(name, n, seed))
        return found.value != found.value or (holds(found, of(truth_at(name)[1]).value) and found.high > found.low)

    return hit


POINT = 1e-6


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
        of = Judgements(tuple("abcde"[: right.shape[1]]), names, names, names, labels, p, 1 - p, ("",) * n)
        found = agreement(of).effective_votes
        return holds(found, truth) and found.high > found.low

    return hit


AT_LEAST = (0.935, 0.985)
EXACT = "Intervals of shares are Clopper and Pearson's: they hold the truth in at least 95 of 100 cases."
APPROXIMATE = (0.88, 0.99)
FITTED = (
    "Intervals of fitted rules are approximate: in simulations with 200 and 1,000 answers, they held the true value in "
    "88 to 99 of 100 cases."
)
RARE = (0.93, 1.0)
FEW_ERRORS = (
    "With few errors or repeated questions, intervals are wider than 95% needs: they hold the true value in at least "
    "93 of 100 cases."
)
UNFITTED_MEASURES = {
    "accuracy": "accuracy of majority",
    "f1": "F1 of majority",
    "to_max_probability": "difference to maximum probability",
    "juror": "a juror's accuracy",
}
SHORT = {200: 20, 1000: 4, 5000: 1}
SHORT_AT = {60: 16, 200: 1, 1000: 1}
LONG_AT = {60: 400, 200: 300, 1000: 300}
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
    *(
        Case(
            f"jury, {words}, {name}, n = {n}",
            unfitted_case(name, n, measure),
            RARE,
            SHORT_AT[n],
            LONG_AT[n],
            FEW_ERRORS,
        )
        for name in LAWS
        for measure, words in UNFITTED_MEASURES.items()
        for n in EDGES
    ),
    *(
        Case(f"jury, {words}, {name}, n = {n}", agreement_at(name, n, of), RARE, SHORT_AT[n], LONG_AT[n], FEW_ERRORS)
        for name in LAWS
        for words, of in (AGREEMENTS | SHARES).items()
        for n in EDGES
    ),
    *(
        Case(f"jury, effective votes, {name}, n = {n}", voters_case(name, n), RARE, 30, 600, FEW_ERRORS)
        for name in VOTERS
        for n in EDGES
    ),
)
