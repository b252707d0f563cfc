"""The answer of the Jury page in words: whether any rule is better than a majority vote and than a rule that ignores
the jurors. And the figures of every rule as a table."""

from dataclasses import dataclass

import pandas as pd

from core.estimates import Estimate, difference_shown, signed
from core.jury.adjudication import CONSTANT, rules_in_words
from core.jury.experiment import JuryExperiment, RuleResult

TITLES = {
    "accuracy": "Accuracy",
    "precision": "Precision",
    "recall": "Recall",
    "f1": "F1",
    "to_majority": "Accuracy minus Majority, points",
    "to_max_probability": "Accuracy minus Maximum probability, points",
}
"""Each figure of a rule and its title."""


@dataclass(frozen=True, slots=True)
class JuryAnswer:
    """The answer in one sentence, and the figures behind it."""

    headline: str
    detail: str
    constant: str
    """The better of the two rules that always say the same."""


def jury_answer(experiment: JuryExperiment, *, pairwise: bool) -> JuryAnswer:
    """Whether a rule of the experiment is more accurate than Majority and than the better rule that always says the
    same: the 95% intervals of both differences are above 0. Without intervals, this can't be told. The experiment has
    all rules."""
    words = rules_in_words(pairwise=pairwise)
    constant = experiment.best_constant
    assert constant is not None, "the experiment has all rules"
    always = words[constant.rule].title.replace("Always", "always saying")
    rules = [outcome for outcome in experiment.outcomes if outcome.rule not in CONSTANT]
    majority = next(outcome for outcome in rules if outcome.rule == "majority")
    better = [outcome for outcome in rules if min(gain.low for gain in _gains(outcome, constant)) > 0]
    best = max(better or rules, key=lambda outcome: outcome.accuracy.value)
    title = words[best.rule].title
    gains = _gains(best, constant)
    others = [
        (f"{name} ({outcome.accuracy.value:.1%})", outcome)
        for name, outcome in ((always, constant), ("Majority", majority))
    ]
    leads = [
        f"{_points(best, other, gain)} compared with {name}"
        for gain, (name, other) in zip(gains, others, strict=False)  # Majority is not compared with itself
    ]
    right = "agrees with the label on" if pairwise else "is right on"
    detail = f"{title} {right} {best.accuracy.value:.1%} of the answers, {' and '.join(leads)}."
    picked = f" It is the best of {len(rules)} rules on these answers, and may lead by less on new ones."
    return JuryAnswer(_headline(title, always, gains), detail + picked, constant.rule)


def _gains(outcome: RuleResult, constant: RuleResult) -> list[Estimate]:
    """The lead of a rule over the constant, and over Majority unless it is Majority."""
    to_constant: Estimate = getattr(outcome, f"to_{constant.rule}")
    return [to_constant] if outcome.rule == "majority" else [to_constant, outcome.to_majority]


def _headline(title: str, always: str, gains: list[Estimate]) -> str:
    others = [always, "a majority vote"][: len(gains)]
    if all(gain.low > 0 for gain in gains):
        if title == "Majority":
            return f"Majority is better than {always}, and no other rule is shown to be better"
        return f"{title} is better than {' and than '.join(others)}"
    if gains[0].high < 0:
        return f"No rule is as good as {always}"
    open_ones = [other for other, gain in zip(others, gains, strict=True) if not gain.low > 0]
    return f"Can't tell whether any rule is better than {' or than '.join(open_ones)}"


def _points(outcome: RuleResult, other: RuleResult, gain: Estimate) -> str:
    """The difference as it stands beside its two terms, in percentage points."""
    terms = 100 * outcome.accuracy.value, 100 * other.accuracy.value
    points = difference_shown(*terms, digits=1, exact=100 * gain.value)
    interval = (
        "" if gain.low != gain.low else f" (95% interval {signed(100 * gain.low, 1)} to {signed(100 * gain.high, 1)})"
    )
    return f"{signed(points, 1)} points{interval}"


def rule_table(experiment: JuryExperiment, *, pairwise: bool) -> pd.DataFrame:
    """A row for each rule with its figures as texts, each with its 95% interval."""
    words = rules_in_words(pairwise=pairwise)
    accuracies = {outcome.rule: outcome.accuracy.value for outcome in experiment.outcomes}
    return pd.DataFrame(
        {"Rule": [words[outcome.rule].title for outcome in experiment.outcomes]}
        | {
            title: [
                _with_interval(outcome, name, accuracies.get(name.removeprefix("to_")))
                for outcome in experiment.outcomes
            ]
            for name, title in TITLES.items()
        }
    )


def _with_interval(outcome: RuleResult, name: str, other: float | None) -> str:
    """A figure with its interval. ``other`` is the accuracy that a difference is from."""
    estimate: Estimate = getattr(outcome, name)
    value, low, high = (100 * end for end in (estimate.value, estimate.low, estimate.high))
    if name.startswith("to_"):
        if value == 0 and low != low:
            return "–"  # the rule itself
        if other is not None:
            value = difference_shown(100 * outcome.accuracy.value, 100 * other, digits=1, exact=value)
        if low != low:
            return f"{signed(value, 1)} (no interval)"
        return f"{signed(value, 1)} ({signed(low, 1)} to {signed(high, 1)})"
    return f"{value:.1f}% ({low:.1f}% to {high:.1f}%)" if low == low else f"{value:.1f}% (no interval)"
