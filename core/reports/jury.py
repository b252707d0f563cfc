"""A jury's figures as plain values and tidy tables, for ``--json``, for the page and for files."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from core.calibration.binned import ece_estimate
from core.calibration.bins import TopLabel
from core.calibration.jackknife import difference_ends, share_ends
from core.conformal.clusters import count, within
from core.conformal.coverage import Ties, beta_binomial_band, coverage
from core.conformal.scores import score, true_scores
from core.conformal.sets import prediction_sets
from core.conformal.threshold import threshold
from core.jury import experiment
from core.jury.adjudication import CONSTANT, RULES, Case, adjudicate, pooled, sureness
from core.jury.agreement import Agreement
from core.jury.confidence import confidence
from core.jury.dawid_skene import FEWEST
from core.jury.experiment import MEASURES, JuryExperiment, Protocol, Split
from core.jury.judgements import Judgements
from core.records import BoolArray, FloatArray, IntArray
from core.reports.evaluation import calibrating
from core.reports.provenance import Provenance, made_by, today
from core.reports.repeated import band_rows
from core.reports.report import finite


def to_json(evaluated: JuryExperiment, errors: pd.DataFrame) -> dict[str, Any]:
    """The output of ``jury evaluate --json``: ``rules`` with the four measures of each, and all other figures;
    ``errors`` are those of :func:`calibration_errors`. Ends of intervals are null if there is no interval."""
    values: dict[str, Any] = finite(
        {
            "rules": {
                outcome.rule: {name: getattr(outcome, name).value for name in MEASURES}
                for outcome in evaluated.outcomes
            },
            "intervals": {
                outcome.rule: {name: _ends(getattr(outcome, name)) for name in MEASURES}
                for outcome in evaluated.outcomes
            },
            "to_majority": {outcome.rule: asdict(outcome.to_majority) for outcome in evaluated.outcomes},
            "to_max_probability": {outcome.rule: asdict(outcome.to_max_probability) for outcome in evaluated.outcomes},
            "jurors": [
                asdict(outcome) | {"calibration_errors": errors[errors["juror"] == outcome.juror].to_dict("records")}
                for outcome in evaluated.jurors
            ],
            "ece": evaluated.ece,
            "ece_raw": evaluated.ece_raw,
            "best_constant": evaluated.best_constant.rule if evaluated.best_constant else None,
            "answers": evaluated.kept_of,
            "kept": evaluated.n,
            "n_questions": evaluated.n_questions,
            "n_calibration": evaluated.n_calibration,
            "n_test": evaluated.n_test,
            "share_right": evaluated.right,
            "protocol": {**asdict(evaluated.protocol), "seeds": list(evaluated.protocol.seeds)},
        }
    )
    return values


def _ends(estimate: Any) -> list[float]:
    return [estimate.low, estimate.high]


def agreement_json(agreement: Agreement) -> dict[str, Any]:
    """A jury's agreement as plain values; undefined ones are null."""
    values: dict[str, Any] = finite(asdict(agreement))
    return values


@dataclass(frozen=True, slots=True)
class SetsFigures:
    """Conformal sets of {True, False} on the pooled probability: their threshold, and their figures on ``n_test`` test
    rows, which belong to ``test_questions``.

    ``only_true``, ``only_false``, ``both`` and ``empty`` count sets; ``band`` is where coverage may be by chance.
    ``n_calibration`` of ``of_calibration`` answers calibrate: one of each question, and none of a tested question.
    """

    alpha: int
    threshold: float
    coverage: float
    band: tuple[float, float]
    only_true: int
    only_false: int
    both: int
    empty: int
    n_calibration: int
    of_calibration: int
    n_test: int
    test_questions: int


def pooled_sets(judgements: Judgements, divided: Split, alpha: int) -> tuple[BoolArray, SetsFigures]:
    """The sets (m, 2) of a split's test rows at alpha thousandths, by LAC on the jurors' mean probability."""
    clusters = judgements.clusters
    fitted, tested = (_normalised(pooled(rows)) for rows in (divided.case.calibration, divided.case.test))
    labels = [np.where(rows.labels, 0, 1) for rows in (divided.case.calibration, divided.case.test)]
    calibrates, _ = calibrating(divided.calibration, divided.test, clusters, seed=0)
    own = true_scores(score("lac", fitted, seed=0), labels[0])[np.isin(divided.calibration, calibrates)]
    scores = score("lac", tested, seed=0)
    q = threshold(own, alpha)
    sets = prediction_sets(scores, q)
    true, false = sets.members.T
    stand = np.isin(divided.test, band_rows(clusters, divided.test, seed=0))
    ties = Ties.of(own, true_scores(scores, labels[1])[stand])
    n, m = len(own), len(divided.test)
    return sets.members, SetsFigures(
        alpha=alpha,
        threshold=q,
        coverage=coverage(sets, labels[1]),
        band=beta_binomial_band(n, int(stand.sum()), alpha, ties=ties),
        only_true=int((true & ~false).sum()),
        only_false=int((~true & false).sum()),
        both=int((true & false).sum()),
        empty=int((~true & ~false).sum()),
        n_calibration=n,
        of_calibration=len(divided.calibration),
        n_test=m,
        test_questions=count(within(clusters, divided.test), m),
    )


def _normalised(p: FloatArray) -> FloatArray:
    return np.asarray(p / p.sum(axis=1, keepdims=True), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class JurySplit:
    """One split for the page: one row per test answer with the verdict of every rule.

    ``rows`` has question, answer, label, per juror j ``p{j}``, ``c{j}``, ``v{j}``, and for each rule its verdict
    ``r_…`` and the jury's confidence in it ``s_…``.
    """

    jurors: tuple[str, ...]
    n_calibration: int
    rows: pd.DataFrame


def bench(judgements: Judgements, protocol: Protocol, seed: int) -> JurySplit:
    """The split of a seed, with the verdicts of every rule."""
    divided = split(judgements, protocol, seed)
    tested = divided.case.test
    columns: dict[str, Any] = {
        "id": tested.ids,
        "question": tested.questions,
        "answer": [text.strip() for text in tested.answers],
        "label": tested.labels,
    }
    for j in range(len(tested.jurors)):
        columns |= {
            f"p{j}": tested.p_true[:, j],
            f"c{j}": divided.case.confidence[:, j],
            f"v{j}": tested.verdicts[:, j],
        }
    for name in experiment.usable_rules(judgements, tuple(RULES)):
        decided = adjudicate(name, divided.case)
        columns |= {f"r_{name}": decided, f"s_{name}": sureness(divided.case, decided)}
    return JurySplit(tested.jurors, len(divided.calibration), pd.DataFrame(columns))


SURENESS = np.arange(101) / 100
"""The thresholds of confidence from which a jury answers: from 0 (it always answers) to 1."""
SLACK = 1e-9


@dataclass(frozen=True, slots=True)
class RulesOfJury:
    """The results of every rule from one pass over the splits: the experiment, and the effect of abstaining."""

    experiment: JuryExperiment
    risk: pd.DataFrame


def rules(judgements: Judgements, protocol: Protocol, *, intervals: bool = True) -> RulesOfJury:
    """:func:`core.jury.experiment.run` and :func:`risk` together, for the protocol's rules, which need every verdict
    once.

    Without ``intervals``, the ends of all intervals are NaN and the experiment is not repeated without groups of
    answers, which takes a twentieth of the time. All other figures are the same.

    Raises :class:`InputError` as :func:`core.jury.experiment.run` does.
    """
    shown = experiment.usable_rules(judgements, protocol.rules)
    names = experiment.with_baselines(shown)
    width = 2 * len(shown) * len(SURENESS)

    def figures(splits: Sequence[Split]) -> FloatArray:
        verdicts = [experiment.decided(names, division.case) for division in splits]
        return np.concatenate([_abstention(splits, verdicts, shown), experiment.rule_figures(splits, verdicts)])

    if intervals:
        values, left_out = experiment.repeated(judgements, protocol, figures)
        low, high = experiment.rule_ends(judgements, protocol, values[width:], left_out[:, width:])
    else:
        values = experiment.once(judgements, protocol, figures)
        left_out, low, high = None, *np.full((2, len(values) - width), np.nan)
    return RulesOfJury(
        experiment.tried(judgements, protocol, values[width:], low, high),
        _risk_table(judgements, protocol, values[:width], None if left_out is None else left_out[:, :width]),
    )


def risk(judgements: Judgements, protocol: Protocol) -> pd.DataFrame:
    """The answers that a jury judges if it abstains when it is not confident enough, and how often it is then wrong,
    over all splits.

    One row per rule of the protocol and ``at`` of :data:`SURENESS`: ``answered`` is the share of the test answers on
    which the jury is as certain, and ``wrong`` the share of those that it judges wrongly, with the ends ``low``
    and ``high`` of its 95% interval. They are NaN if the jury judges none.
    """
    return rules(judgements, protocol).risk


def _abstention(splits: Sequence[Split], verdicts: Sequence[dict[str, FloatArray]], names: Sequence[str]) -> FloatArray:
    """(2 · r · 101): the share of the test answers that each rule judges, and the share of those that it judges
    wrongly."""
    counts = np.zeros((2, len(names), len(SURENESS)))
    for division, decided in zip(splits, verdicts, strict=True):
        for i, name in enumerate(names):
            sure = sureness(division.case, decided[name])
            wrong = np.abs(decided[name] - division.case.test.labels)
            counts[:, i] += _as_sure(sure), (_as_sure(sure[wrong == 1]) + _as_sure(sure[wrong > 0])) / 2
    answered, wrong = counts.reshape(2, -1)
    tested = sum(len(division.case.test) for division in splits)
    return np.concatenate([answered / tested, np.where(answered > 0, wrong / np.maximum(answered, 1), np.nan)])


def _as_sure(sure: FloatArray) -> IntArray:
    """How many answers the jury is at least as sure of as each of :data:`SURENESS`, (101,)."""
    return np.asarray(len(sure) - np.searchsorted(np.sort(sure), SURENESS - SLACK), dtype=np.int64)


def _risk_table(
    judgements: Judgements, protocol: Protocol, values: FloatArray, left_out: FloatArray | None
) -> pd.DataFrame:
    """The table of :func:`risk`; ``left_out`` (g, 2 · r · 101) is None if no intervals are computed."""
    answered, wrong = values.reshape(2, -1)
    shown = experiment.usable_rules(judgements, protocol.rules)
    low = high = np.full(len(wrong), np.nan)
    if left_out is not None:
        n, questions = experiment.tested(judgements, protocol)
        if questions > 1:
            low, high = share_ends(
                wrong, left_out[:, len(answered) :], *experiment.counts_behind(answered, n, questions)
            )
    return pd.DataFrame(
        {
            "rule": np.repeat(shown, len(SURENESS)),
            "at": np.tile(SURENESS, len(shown)),
            "answered": answered,
            "wrong": wrong,
            "low": low,
            "high": high,
        }
    )


def split(judgements: Judgements, protocol: Protocol, seed: int) -> Split:
    """The split of one seed by a protocol."""
    places = experiment.answers_used(judgements, protocol)
    size = experiment.calibration_size(judgements, places, protocol)
    return experiment.split(judgements, places, size, seed, protocol)


def left_out(judgements: Judgements, protocol: Protocol) -> pd.DataFrame:
    """The contribution of each juror: every rule's accuracy with all jurors and with one left out, on the same answers.

    One row per rule and juror: rule, juror, accuracy (all), without, gain = accuracy − without with the ends of its 95
    % interval, gain_low and gain_high (:func:`core.calibration.jackknife.difference_ends`). Empty for two jurors.
    Dawid–Skene is left out if it would have fewer jurors than it needs.
    """
    j = len(judgements.jurors)
    if j < 3:
        return pd.DataFrame(columns=["rule", "juror", "accuracy", "without", "gain", "gain_low", "gain_high"])
    none = {*CONSTANT} | ({"dawid_skene"} if j - 1 < FEWEST else set())
    rules = [name for name in RULES if name not in none]

    def right(case: Case) -> FloatArray:
        """(r, n): whether each rule is right on each answer."""
        return 1 - np.abs(np.stack([adjudicate(name, case) for name in rules]) - case.test.labels)

    def measured(division: Split) -> FloatArray:
        """(1 + 2 · j, r): accuracy with all; how often the rule is right with all jurors alone, and how often without
        each juror alone."""
        every = right(division.case)
        apart = [every - right(_without(division.case, left)) for left in range(j)]
        parts = [every, *(np.maximum(sign * each, 0) for sign in (1, -1) for each in apart)]
        return np.stack([part.mean(axis=1) for part in parts])

    def figures(splits: Sequence[Split]) -> FloatArray:
        """(1 + 3 · j, r), flat: the same, averaged over splits, and the difference of each juror's two shares."""
        means = np.mean([measured(division) for division in splits], axis=0)
        return np.concatenate([means, means[1 : 1 + j] - means[1 + j :]]).ravel()

    values, left_out = experiment.repeated(judgements, protocol, figures)
    by_juror = values.reshape(1 + 3 * j, -1)
    accuracy, gain = by_juror[0], by_juror[1 + 2 * j :]
    only, only_without = by_juror[1 : 1 + j].ravel(), by_juror[1 + j : 1 + 2 * j].ravel()
    n, questions = experiment.tested(judgements, protocol)
    low, high = np.full((2, *gain.shape), np.nan)
    if questions > 1:
        counts = experiment.counts_behind(np.ones(gain.size), n, questions)
        ends = difference_ends(only, only_without, left_out[:, (1 + 2 * j) * len(rules) :], *counts)
        low, high = (end.reshape(gain.shape) for end in ends)
    return pd.DataFrame(
        {
            "rule": np.repeat(rules, j),
            "juror": np.tile(np.array(judgements.jurors, dtype=object), len(rules)),
            "accuracy": np.repeat(accuracy, j),
            "without": (accuracy - gain).T.ravel(),
            "gain": gain.T.ravel(),
            "gain_low": low.T.ravel(),
            "gain_high": high.T.ravel(),
        }
    )


def _without(case: Case, juror: int) -> Case:
    return replace(
        case,
        test=case.test.without(juror),
        confidence=np.delete(case.confidence, juror, axis=1),
        calibration=case.calibration.without(juror),
        unanimous=None if case.unanimous is None else np.delete(case.unanimous, juror, axis=1),
    )


def reliability(judgements: Judgements, protocol: Protocol, *, bins: int = 10) -> pd.DataFrame:
    """Each juror's confidence against how often it is right, over the test rows of all splits together.

    One row per juror, scale (``confidence`` or ``raw``) and bin with verdicts in it: ``low`` and ``high`` of the bin;
    ``n``, how many verdicts a split has in it on average; their mean ``confidence``; the share that is ``right`` with
    its 95% interval ``right_low`` to ``right_high``; and ``share``, the bin's part of the verdicts.
    """
    j = len(judgements.jurors)

    def sums(division: Split) -> FloatArray:
        """(3, j · 2 · bins): verdicts, right ones, and summed confidence."""
        totals = np.zeros((3, j, 2, bins))
        for scale, sure in enumerate((division.case.confidence, division.case.test.top)):
            index = np.clip(np.ceil(sure * bins).astype(int) - 1, 0, bins - 1)
            held = index[..., None] == np.arange(bins)
            parts = held, held * division.case.test.right[..., None], held * sure[..., None]
            totals[:, :, scale] = [part.sum(axis=0) for part in parts]
        return totals.reshape(3, -1)

    def figures(splits: Sequence[Split]) -> FloatArray:
        n, right, sure = sum((sums(division) for division in splits), start=np.zeros((3, j * 2 * bins)))
        shares = [np.where(n > 0, part / np.maximum(n, 1), np.nan) for part in (right, sure)]
        return np.concatenate([n / len(splits), *shares])

    values, left_out = experiment.repeated(judgements, protocol, figures)
    n, right, sure = values.reshape(3, -1)
    width = len(n)
    tested = n.reshape(j, 2, bins).sum(axis=2, keepdims=True)
    shares = (n.reshape(j, 2, bins) / tested).ravel()
    low = high = np.full(width, np.nan)
    tested_answers, questions = experiment.tested(judgements, protocol)  # over all splits together
    if questions > 1:
        counts = experiment.counts_behind(shares, tested_answers, questions)
        low, high = share_ends(right, left_out[:, width : 2 * width], *counts)
    edges = np.tile(np.arange(bins), 2 * j)
    table = pd.DataFrame(
        {
            "juror": np.repeat(judgements.jurors, 2 * bins),
            "scale": np.tile(np.repeat(["confidence", "raw"], bins), j),
            "low": edges / bins,
            "high": (edges + 1) / bins,
            "n": n,
            "confidence": sure,
            "right": right,
            "right_low": low,
            "right_high": high,
            "share": shares,
        }
    )
    return table[table["n"] > 0].reset_index(drop=True)


@dataclass(frozen=True, slots=True)
class Confidences:
    """How far the jurors' confidences can be trusted: accuracy by confidence (:func:`reliability`), and calibration
    errors (:func:`calibration_errors`).
    """

    bins: pd.DataFrame
    errors: pd.DataFrame


def confidences(judgements: Judgements, protocol: Protocol) -> Confidences:
    """Both tables together."""
    return Confidences(reliability(judgements, protocol), calibration_errors(judgements, protocol))


def calibration_errors(judgements: Judgements, protocol: Protocol) -> pd.DataFrame:
    """The expected calibration error (15 bins) of each juror's confidence, every answer counted once.

    The halves of the first split each calibrate the other's confidences. One row per juror and scale (``confidence`` or
    ``raw``): ``n`` verdicts, their ``ece``, the error that chance alone would produce (``luck``), and the 95% interval
    of the error beyond chance, ``low`` to ``high``, NaN for fewer than 10 questions (:func:`core.calibration.binned.
    ece_estimate`). Answers of one question count as one unit.
    """
    judgements = experiment.read_ties(judgements, protocol)
    halved = split(judgements, protocol, protocol.seeds[0])
    halves = judgements.rows(halved.calibration), halved.case.test
    right = np.concatenate([half.right for half in halves])
    places = np.concatenate([halved.calibration, halved.test])
    clusters = within(judgements.clusters, places)
    sure = {
        "confidence": [confidence(protocol.confidence, halves[1], halves[0]), halved.case.confidence],
        "raw": [half.top for half in halves],
    }
    rows = []
    for j, juror in enumerate(judgements.jurors):
        for scale, values in sure.items():
            estimate = ece_estimate(TopLabel(np.concatenate(values)[:, j], right[:, j]), clusters=clusters)
            luck = {"luck": estimate.bias, "low": estimate.low, "high": estimate.high}
            rows.append({"juror": juror, "scale": scale, "n": estimate.n, "ece": estimate.value} | luck)
    return pd.DataFrame(rows)


def accuracy_rows(evaluated: JuryExperiment, titles: Mapping[str, str]) -> pd.DataFrame:
    """The accuracy of each rule and each juror, the best first: ``name``, ``kind`` (``rule`` or ``single juror``),
    ``accuracy`` and the ends of its 95% interval ``low`` and ``high``. ``titles`` are those of the rules."""
    named = [(titles[outcome.rule], "rule", outcome.accuracy) for outcome in evaluated.outcomes]
    named += [(outcome.juror, "single juror", outcome.accuracy) for outcome in evaluated.jurors]
    rows = [
        {"name": name, "kind": kind, "accuracy": outcome.value, "low": outcome.low, "high": outcome.high}
        for name, kind, outcome in named
    ]
    return pd.DataFrame(rows).sort_values("accuracy", ascending=False, kind="stable", ignore_index=True)


def vote_rows(judgements: Judgements) -> pd.DataFrame:
    """How many answers have each number of jurors who say True, by what the label says: ``votes`` (0 … j), ``label``
    (``True`` or ``False``) and ``answers``. Jurors that are tied count half."""
    votes, j = judgements.verdicts.sum(axis=1), len(judgements.jurors)
    counts = sorted({*range(j + 1), *votes.tolist()})
    rows = [
        {"votes": count, "label": str(label), "answers": int(((votes == count) & (judgements.labels == label)).sum())}
        for count in counts
        for label in (True, False)
    ]
    return pd.DataFrame(rows)


def provenance(evaluated: JuryExperiment, called: str) -> Provenance:
    """The provenance of figures of a jury."""
    protocol = evaluated.protocol
    kinds = "on which the jurors disagree" if protocol.disagreement else "of all kinds"
    return Provenance(
        (
            ("Made by", made_by()),
            ("Date", today()),
            ("Jury", called),
            ("Jurors", ", ".join(outcome.juror for outcome in evaluated.jurors)),
            ("Answers", f"{evaluated.n:,} of {evaluated.kept_of:,}, those {kinds}"),
            (
                "Splits",
                f"{len(protocol.seeds)}, each with {evaluated.n_calibration:,} calibration and "
                f"{evaluated.n_test:,} test answers",
            ),
            ("Confidence", protocol.confidence),
            (
                "Intervals",
                "95%, Clopper–Pearson or Tango, with the number of independent answers that the jackknife finds: the "
                "whole experiment is repeated without each group of questions",
            ),
        )
    )
