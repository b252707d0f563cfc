"""Rules that combine the verdicts of a jury into one verdict.

The six published rules (JuriesDemo, after Verga et al. 2024, arXiv 2404.18796) work for any number of jurors. A
verdict is 1 for True and 0 for False. A tie is ½: it counts half for each side, so that no result depends on which side
comes first. The published experiment decides ties instead: they are False, or go to the first of the tied jurors
(:attr:`core.jury.judgements.Judgements.half_ties`). If all jurors agree, their verdict is used whatever the rule; only
the two constant rules ignore it. Sums and products start with the smallest term, so that the order of the jurors does
not change the result through rounding.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from core.conformal.logistic import logistic
from core.errors import InputError
from core.jury.confidence import check_both_classes, log_odds
from core.jury.dawid_skene import FEWEST, DawidSkene
from core.jury.judgements import TIE, Judgements, in_words
from core.records import BoolArray, FloatArray


@dataclass(frozen=True, slots=True)
class Case:
    """The input of a rule: the judgements to decide, their confidences (n, j), and the answers to fit on.

    ``test`` are the answers to decide. ``calibration`` are answers of the same kind: if only disputed answers are
    judged, these are disputed too. ``unanimous`` (u, j) are the verdicts on the other calibration answers, on which all
    jurors agree; it is None if ``calibration`` contains all kinds of answers. Confidences, the regression and the
    choice of the best juror must hold for the answers that are judged, so they are fitted on ``calibration``. (Jurors
    who agree are right or wrong together, so the best juror is the same on all answers.) The Dawid–Skene model holds
    only for all kinds of answers together, so it is fitted on both.
    """

    test: Judgements
    confidence: FloatArray
    calibration: Judgements
    unanimous: FloatArray | None = None

    @property
    def verdicts(self) -> FloatArray:
        """Each juror's verdict (n, j)."""
        return self.test.verdicts


def _majority(case: Case) -> FloatArray:
    return _larger(case, case.verdicts.sum(axis=1), (1 - case.verdicts).sum(axis=1))


def _confidence_sum(case: Case) -> FloatArray:
    # Σ over the jurors of a side of (confidence − ½), (n,) for each side; a tied juror adds nothing to either
    surplus = case.confidence - 0.5
    return _larger(case, *(np.sort(np.where(side, surplus, 0.0), axis=1).sum(axis=1) for side in _sides(case)))


def _confidence_product(case: Case) -> FloatArray:
    # Π over the jurors of a side of (1 − confidence): the chance that all of them are wrong; the smaller one wins
    doubt = 1 - case.confidence
    true, false = (np.sort(np.where(side, doubt, 1.0), axis=1).prod(axis=1) for side in _sides(case))
    return _larger(case, false, true)


def _max_confidence(case: Case) -> FloatArray:
    return _of_best(case, np.round(case.confidence - 0.5, 2))


def _max_probability(case: Case) -> FloatArray:
    return _of_best(case, -np.round(1 - case.test.top, 4))


def _veto(case: Case) -> FloatArray:
    if case.test.pairwise and case.test.half_ties:  # neither place is the one that needs every juror
        return np.full(len(case.test), 0.5)
    return np.asarray(case.verdicts.min(axis=1), dtype=np.float64)


def _mean_probability(case: Case) -> FloatArray:
    return _larger(case, *pooled(case.test).T)


def _weighted_log_odds(case: Case) -> FloatArray:
    check_both_classes(case.calibration)
    # (n, j) log-odds; the verdict is True if Σ_j w_j·log-odds_j + b > 0
    odds = log_odds(case.calibration.p_true, case.calibration.p_false)
    *weights, intercept = logistic(odds, case.calibration.labels.astype(np.float64), penalty=1.0)
    score = log_odds(case.test.p_true, case.test.p_false) @ np.array(weights) + intercept
    return _larger(case, score, np.zeros(len(score)))


def _dawid_skene(case: Case) -> FloatArray:
    if len(case.test.jurors) < FEWEST:
        raise InputError(f"rule dawid_skene {TOO_FEW}, got {len(case.test.jurors)}; choose another rule")
    verdicts = [case.calibration.verdicts] if case.unanimous is None else [case.calibration.verdicts, case.unanimous]
    # The fit is within 1e-7 of its fixed point, so a posterior this close to ½ is a tie.
    posterior = np.round(DawidSkene.fit(np.concatenate(verdicts)).posterior(case.verdicts), 7)
    return _larger(case, posterior, 1 - posterior)


def _best_juror(case: Case) -> FloatArray:
    return np.asarray(case.verdicts[:, best_juror(case.calibration)], dtype=np.float64)


def _always_false(case: Case) -> FloatArray:
    return np.zeros(len(case.test))


def _always_true(case: Case) -> FloatArray:
    return np.ones(len(case.test))


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: its title, one sentence each on what it does and on ties, whether it is published, and its function."""

    title: str
    sentence: str
    ties: str
    published: bool
    decide: Callable[[Case], FloatArray]

    def in_words(self, *, pairwise: bool) -> Self:
        """The rule in the words for pairs of answers if ``pairwise``."""
        title, sentence, ties = (in_words(text, pairwise=pairwise) for text in (self.title, self.sentence, self.ties))
        return replace(self, title=title, sentence=sentence, ties=ties)


_HALF = "A tie counts half for each side."
_PUBLISHED = "A tie counts half for each side; in the published experiment it is False."
_FIRST = "Tied jurors that disagree count half for each side; the published experiment takes the first of them."
_ONE = "If several are equally good, the first one is taken."
_NONE = "There are no ties."
_VETO = "Of pairs it has no meaning, so each pair on which the jurors disagree counts as a tie."
TOO_FEW = f"needs at least {FEWEST} jurors, because the verdicts of fewer do not determine how reliable each one is"

RULES = {
    "majority": Rule("Majority", "True if more jurors say True than False.", _PUBLISHED, True, _majority),
    "confidence_sum": Rule(
        "Confidence sum",
        "Adds up how far each juror's confidence is above ½. True if the sum of those that say True is larger.",
        _PUBLISHED,
        True,
        _confidence_sum,
    ),
    "confidence_product": Rule(
        "Confidence product",
        "Multiplies the doubts (1 − confidence) of the jurors on each side. True if the product of those "
        "that say True is smaller.",
        _PUBLISHED,
        True,
        _confidence_product,
    ),
    "max_confidence": Rule(
        "Maximum confidence", "The verdict of the juror with the largest confidence.", _FIRST, True, _max_confidence
    ),
    "max_probability": Rule(
        "Maximum probability", "The verdict of the juror with the largest probability.", _FIRST, True, _max_probability
    ),
    "veto": Rule("Veto", "True only if every juror says True.", _VETO, True, _veto),
    "mean_probability": Rule(
        "Mean probability", "True if the jurors' mean probability of True is above ½.", _HALF, False, _mean_probability
    ),
    "weighted_log_odds": Rule(
        "Weighted log-odds",
        "A logistic regression on the jurors' log-odds, fitted on the calibration answers.",
        _HALF,
        False,
        _weighted_log_odds,
    ),
    "dawid_skene": Rule(
        "Dawid–Skene",
        "Weights jurors by their reliability, which is estimated from the verdicts alone, without labels. It "
        "is fitted on all calibration answers, including those on which the jurors agree.",
        _HALF,
        False,
        _dawid_skene,
    ),
    "best_juror": Rule(
        "Best single juror",
        "The verdict of the juror that is right most often on the calibration answers.",
        _ONE,
        False,
        _best_juror,
    ),
    "always_false": Rule(
        "Always False",
        "Says False of every answer. Any useful rule has to beat this.",
        _NONE,
        False,
        _always_false,
    ),
    "always_true": Rule(
        "Always True", "Says True of every answer. Any useful rule has to beat this.", _NONE, False, _always_true
    ),
}
"""Every rule by name, the published ones first."""


def rules_in_words(*, pairwise: bool) -> dict[str, Rule]:
    """Every rule by name, in the words for pairs of answers if ``pairwise``."""
    return {name: rule.in_words(pairwise=pairwise) for name, rule in RULES.items()}


PUBLISHED_RULES = tuple(name for name, rule in RULES.items() if rule.published)
CONSTANT = ("always_false", "always_true")
"""The rules that ignore the jurors: what any other rule has to beat."""


def adjudicate(name: str, case: Case) -> FloatArray:
    """The jury's verdict on each answer, (n,), by one rule: 1 for True, 0 for False, and ½ for a tie.

    Raises :class:`InputError` for an unknown rule, a rule that needs more jurors, or if the answers to fit on are all
    right or all wrong.
    """
    if name not in RULES:
        raise InputError(f"unknown rule {name!r}; choose from {', '.join(RULES)}")
    decided = RULES[name].decide(case)
    if name in CONSTANT:
        return decided
    return np.where(case.test.disagreed, decided, case.verdicts[:, 0])


def pooled(judgements: Judgements) -> FloatArray:
    """The jurors' mean probabilities of True and of False, (n, 2)."""
    sides = [np.sort(p, axis=1).mean(axis=1) for p in (judgements.p_true, judgements.p_false)]
    return np.column_stack(sides)


def best_juror(calibration: Judgements) -> int:
    """The index of the juror whose verdicts are right most often; the first one if several are equal."""
    return int(calibration.right.mean(axis=0).argmax())


def sureness(case: Case, verdict: FloatArray) -> FloatArray:
    """The jury's confidence in a verdict (n,): the mean of the jurors' confidences in it, from 0 to 1, (n,).

    A juror with the opposite verdict counts with 1 − its confidence, and a tie on either side with ½.
    """
    agrees = 1 - np.abs(case.verdicts - verdict[:, None])
    sure = np.where(agrees == 1, case.confidence, 1 - case.confidence)
    sure = np.where((case.verdicts == 0.5) | (verdict[:, None] == 0.5), 0.5, sure)
    return np.asarray(np.sort(sure, axis=1).mean(axis=1), dtype=np.float64)


def _sides(case: Case) -> tuple[BoolArray, BoolArray]:
    """Which jurors say True and which say False, (n, j) each; tied jurors do neither."""
    return case.verdicts == 1, case.verdicts == 0


def _larger(case: Case, true: FloatArray, false: FloatArray) -> FloatArray:
    """The side with the larger value, (n,): 1 for True, 0 for False. A tie is ½, or False as published."""
    verdict = np.asarray(true > false, dtype=np.float64)
    if case.test.half_ties:
        # Sums and log-odds may be larger than 1, and rounding then is larger too
        near = TIE * np.maximum(np.maximum(np.abs(true), np.abs(false)), 1)
        verdict[np.abs(true - false) <= near] = 0.5
    return verdict


def _of_best(case: Case, values: FloatArray) -> FloatArray:
    """The verdict on each answer by the juror with the largest value (n, j), (n,).

    If several jurors have it and disagree, the verdict is ½, or that of the first as published.
    """
    if not case.test.half_ties:
        return np.asarray(case.verdicts[np.arange(len(case.test)), values.argmax(axis=1)], dtype=np.float64)
    tied = values == values.max(axis=1, keepdims=True)
    most, least = np.where(tied, case.verdicts, -1).max(axis=1), np.where(tied, case.verdicts, 2).min(axis=1)
    return np.where(most == least, most, 0.5)
