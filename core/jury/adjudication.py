"""Rules that combine the verdicts of a jury into one verdict.

The six published rules (JuriesDemo, after Verga et al. 2024, arXiv 2404.18796) work for any number of jurors. A tie
gives False, except in rules that take one juror's verdict, which take the first of the tied jurors. If all jurors
agree, their verdict is used whatever the rule; only ``always_false`` ignores it. Sums and products start with the
smallest term, so that the order of the jurors does not change the result through rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from core.errors import InputError
from core.jury.confidence import check_both_classes, log_odds
from core.jury.dawid_skene import DawidSkene
from core.jury.judgements import Judgements
from core.logistic import logistic
from core.records import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Case:
    """The input of a rule: the judgements to decide, their confidences (n, j), and the answers to fit on.

    ``asked`` are the answers to decide. ``calibration`` are answers of the same kind: if only disputed answers are
    judged, these are disputed too. ``unanimous`` (u, j) are the verdicts on the other calibration answers, on which all
    jurors agree; it is None if ``calibration`` contains all kinds of answers. Confidences, the regression and the
    choice of the best juror must hold for the answers that are judged, so they are fitted on ``calibration``. (Jurors
    who agree are right or wrong together, so the best juror is the same on all answers.) The Dawid–Skene model holds
    only for all kinds of answers together, so it is fitted on both.
    """

    asked: Judgements
    confidence: FloatArray
    calibration: Judgements
    unanimous: BoolArray | None = None

    @property
    def verdicts(self) -> BoolArray:
        """Each juror's verdict (n, j)."""
        return self.asked.verdicts


def _majority(case: Case) -> BoolArray:
    return np.asarray(2 * case.verdicts.sum(axis=1) > len(case.asked.jurors), dtype=np.bool_)


def _confidence_sum(case: Case) -> BoolArray:
    # Σ over the jurors of a side of (confidence − ½), (n,) for each side
    surplus = case.confidence - 0.5
    return _total(surplus, case.verdicts) > _total(surplus, ~case.verdicts)


def _confidence_product(case: Case) -> BoolArray:
    # Π over the jurors of a side of (1 − confidence): the chance that all of them are wrong; the smaller one wins
    doubt = 1 - case.confidence
    true, false = (np.sort(np.where(side, doubt, 1.0), axis=1).prod(axis=1) for side in (case.verdicts, ~case.verdicts))
    return np.asarray(true < false, dtype=np.bool_)


def _max_confidence(case: Case) -> BoolArray:
    return _of_one(case, np.round(case.confidence - 0.5, 2).argmax(axis=1))


def _max_probability(case: Case) -> BoolArray:
    return _of_one(case, np.round(1 - case.asked.top, 4).argmin(axis=1))


def _veto(case: Case) -> BoolArray:
    return np.asarray(case.verdicts.all(axis=1), dtype=np.bool_)


def _mean_probability(case: Case) -> BoolArray:
    return pooled(case.asked)[:, 0] > pooled(case.asked)[:, 1]


def _weighted_log_odds(case: Case) -> BoolArray:
    check_both_classes(case.calibration)
    # (n, j) log-odds; the verdict is True if Σ_j w_j·log-odds_j + b > 0
    odds = log_odds(case.calibration.p_true, case.calibration.p_false)
    *weights, intercept = logistic(odds, case.calibration.labels.astype(np.float64), penalty=1.0)
    asked = log_odds(case.asked.p_true, case.asked.p_false) @ np.array(weights) + intercept
    return np.asarray(asked > 0, dtype=np.bool_)


def _dawid_skene(case: Case) -> BoolArray:
    both = [case.calibration.verdicts] if case.unanimous is None else [case.calibration.verdicts, case.unanimous]
    return DawidSkene.fit(np.concatenate(both)).posterior(case.verdicts) > 0.5


def _best_juror(case: Case) -> BoolArray:
    return np.asarray(case.verdicts[:, best_juror(case.calibration)], dtype=np.bool_)


def _always_false(case: Case) -> BoolArray:
    return np.zeros(len(case.asked), dtype=np.bool_)


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: its title, one sentence each on what it does and on ties, whether it is published, and its function."""

    title: str
    sentence: str
    ties: str
    published: bool
    decide: Callable[[Case], BoolArray]


_FALSE = "A tie is False."
_FIRST = "A tie goes to the first juror."
_NONE = "There are no ties."

RULES = {
    "majority": Rule("Majority", "True if more jurors say True than False.", _FALSE, True, _majority),
    "confidence_sum": Rule(
        "Confidence sum",
        "Adds up how far each juror's confidence is above ½. True if the sum of those that say True is larger.",
        _FALSE,
        True,
        _confidence_sum,
    ),
    "confidence_product": Rule(
        "Confidence product",
        "Multiplies the doubts (1 − confidence) of the jurors on each side. True if the product of those "
        "that say True is smaller.",
        _FALSE,
        True,
        _confidence_product,
    ),
    "max_confidence": Rule(
        "Maximum confidence", "The verdict of the juror with the largest confidence.", _FIRST, True, _max_confidence
    ),
    "max_probability": Rule(
        "Maximum probability", "The verdict of the juror with the largest probability.", _FIRST, True, _max_probability
    ),
    "veto": Rule("Veto", "True only if every juror says True.", _NONE, True, _veto),
    "mean_probability": Rule(
        "Mean probability", "True if the jurors' mean probability of True is above ½.", _FALSE, False, _mean_probability
    ),
    "weighted_log_odds": Rule(
        "Weighted log-odds",
        "A logistic regression on the jurors' log-odds, fitted on the calibration answers.",
        _FALSE,
        False,
        _weighted_log_odds,
    ),
    "dawid_skene": Rule(
        "Dawid–Skene",
        "Weights jurors by their reliability, which is estimated from the verdicts alone, without labels. It "
        "is fitted on all calibration answers, including those on which the jurors agree.",
        _FALSE,
        False,
        _dawid_skene,
    ),
    "best_juror": Rule(
        "Best single juror",
        "The verdict of the juror that is right most often on the calibration answers.",
        _FIRST,
        False,
        _best_juror,
    ),
    "always_false": Rule(
        "Always False",
        "Says that every answer is wrong. Any useful rule has to beat this.",
        _NONE,
        False,
        _always_false,
    ),
}
"""Every rule by name, the published ones first."""

PUBLISHED_RULES = tuple(name for name, rule in RULES.items() if rule.published)


def adjudicate(name: str, case: Case) -> BoolArray:
    """The jury's verdict on each answer, (n,), by one rule.

    Raises :class:`InputError` for an unknown rule, or if the answers to fit on are all right or all wrong.
    """
    if name not in RULES:
        raise InputError(f"unknown rule {name!r}; choose from {', '.join(RULES)}")
    decided = RULES[name].decide(case)
    if name == "always_false":
        return decided
    return np.where(case.asked.disagreed, decided, case.verdicts[:, 0])


def pooled(asked: Judgements) -> FloatArray:
    """The jurors' mean probabilities of True and of False, (n, 2)."""
    sides = [np.sort(p, axis=1).mean(axis=1) for p in (asked.p_true, asked.p_false)]
    return np.column_stack(sides)


def best_juror(calibration: Judgements) -> int:
    """The index of the juror whose verdicts are right most often; the first one if several are equal."""
    return int(calibration.right.mean(axis=0).argmax())


def sureness(case: Case, verdict: BoolArray) -> FloatArray:
    """The jury's confidence in a verdict (n,): the mean of the jurors' confidences in it, from 0 to 1, (n,).

    A juror with the opposite verdict counts with 1 − its confidence.
    """
    agrees = case.verdicts == verdict[:, None]
    return np.asarray(
        np.sort(np.where(agrees, case.confidence, 1 - case.confidence), axis=1).mean(axis=1), dtype=np.float64
    )


def _of_one(case: Case, juror: IntArray) -> BoolArray:
    """The verdict on each answer by the juror with that index, (n,)."""
    return np.asarray(case.verdicts[np.arange(len(case.asked)), juror], dtype=np.bool_)


def _total(values: FloatArray, side: BoolArray) -> FloatArray:
    """The sum over the jurors of one side of the values (n, j), smallest first, (n,)."""
    return np.asarray(np.sort(np.where(side, values, 0.0), axis=1).sum(axis=1), dtype=np.float64)
