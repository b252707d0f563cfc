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


def to_json(found: JuryExperiment, errors: pd.DataFrame) -> dict[str, Any]:
    """What ``jury evaluate --json`` prints: ``rules`` with the four measures of each, and all other figures; ``errors``
    are those of :func:`calibration_errors`. Ends of intervals are null if there is no interval."""
    values: dict[str, Any] = finite(
        {
            "rules": {of.rule: {name: getattr(of, name).value for name in MEASURES} for of in found.outcomes},
            "intervals": {of.rule: {name: _ends(getattr(of, name)) for name in MEASURES} for of in found.outcomes},
            "to_majority": {of.rule: asdict(of.to_majority) for of in found.outcomes},
            "to_max_probability": {of.rule: asdict(of.to_max_probability) for of in found.outcomes},
            "jurors": [
                asdict(of) | {"calibration_errors": errors[errors["juror"] == of.juror].to_dict("records")}
                for of in found.jurors
            ],
            "ece": found.ece,
            "ece_raw": found.ece_raw,
            "best_constant": found.best_constant.rule if found.best_constant else None,
            "answers": found.kept_of,
            "kept": found.n,
            "n_questions": found.n_questions,
            "n_calibration": found.n_calibration,
            "n_test": found.n_test,
            "share_right": found.right,
            "protocol": {**asdict(found.protocol), "seeds": list(found.protocol.seeds)},
        }
    )
    return values


def _ends(of: Any) -> list[float]:
    return [of.low, of.high]


def agreement_json(found: Agreement) -> dict[str, Any]:
    """A jury's agreement as plain values; undefined ones are null."""
    values: dict[str, Any] = finite(asdict(found))
    return values


@dataclass(frozen=True, slots=True)
class SetsFigures:
    """Conformal sets of {True, False} on the pooled probability: their threshold, and their figures on ``n_test`` test
    rows, which belong to ``test_questions``.

    ``only_true``, ``only_false``, ``both`` and ``empty`` count sets; ``band`` is where coverage may be by chance alone.
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


def pooled_sets(judgements: Judgements, of: Split, alpha: int) -> tuple[BoolArray, SetsFigures]:
    """The sets (m, 2) of a split's test rows at alpha thousandths, by LAC on the jurors' mean probability."""
    clusters = judgements.clusters
    fitted, asked = (_normalised(pooled(rows)) for rows in (of.case.calibration, of.case.asked))
    labels = [np.where(rows.labels, 0, 1) for rows in (of.case.calibration, of.case.asked)]
    calibrates, _ = calibrating(of.calibration, of.test, clusters, seed=0)
    own = true_scores(score("lac", fitted, seed=0), labels[0])[np.isin(of.calibration, calibrates)]
    scores = score("lac", asked, seed=0)
    q = threshold(own, alpha)
    sets = prediction_sets(scores, q)
    true, false = sets.members.T
    stand = np.isin(of.test, band_rows(clusters, of.test, seed=0))
    ties = Ties.of(own, true_scores(scores, labels[1])[stand])
    n, m = len(own), len(of.test)
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
        of_calibration=len(of.calibration),
        n_test=m,
        test_questions=count(within(clusters, of.test), m),
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
    of = split(judgements, protocol, seed)
    asked = of.case.asked
    columns: dict[str, Any] = {
        "id": asked.ids,
        "question": asked.questions,
        "answer": [text.strip() for text in asked.answers],
        "label": asked.labels,
    }
    for j in range(len(asked.jurors)):
        columns |= {f"p{j}": asked.p_true[:, j], f"c{j}": of.case.confidence[:, j], f"v{j}": asked.verdicts[:, j]}
    for name in experiment.usable_rules(judgements, tuple(RULES)):
        said = adjudicate(name, of.case)
        columns |= {f"r_{name}": said, f"s_{name}": sureness(of.case, said)}
    return JurySplit(asked.jurors, len(of.calibration), pd.DataFrame(columns))


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
        verdicts = [experiment.decided(names, of.case) for of in splits]
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
    for of, said in zip(splits, verdicts, strict=True):
        for i, name in enumerate(names):
            sure = sureness(of.case, said[name])
            wrong = np.abs(said[name] - of.case.asked.labels)
            counts[:, i] += _as_sure(sure), (_as_sure(sure[wrong == 1]) + _as_sure(sure[wrong > 0])) / 2
    answered, wrong = counts.reshape(2, -1)
    tested = sum(len(of.case.asked) for of in splits)
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
    places = experiment.kept(judgements, protocol)
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
        return 1 - np.abs(np.stack([adjudicate(name, case) for name in rules]) - case.asked.labels)

    def measured(of: Split) -> FloatArray:
        """(1 + 2 · j, r): accuracy with all; how often the rule is right with all jurors alone, and how often without
        each juror alone."""
        every = right(of.case)
        apart = [every - right(_without(of.case, left)) for left in range(j)]
        parts = [every, *(np.maximum(sign * each, 0) for sign in (1, -1) for each in apart)]
        return np.stack([part.mean(axis=1) for part in parts])

    def figures(splits: Sequence[Split]) -> FloatArray:
        """(1 + 3 · j, r), flat: the same, averaged over splits, and the difference of each juror's two shares."""
        means = np.mean([measured(of) for of in splits], axis=0)
        return np.concatenate([means, means[1 : 1 + j] - means[1 + j :]]).ravel()

    values, left_out = experiment.repeated(judgements, protocol, figures)
    by_juror = values.reshape(1 + 3 * j, -1)
    accuracy, gain = by_juror[0], by_juror[1 + 2 * j :]
    only, only_without = by_juror[1 : 1 + j].ravel(), by_juror[1 + j : 1 + 2 * j].ravel()
    n, questions = experiment.tested(judgements, protocol)
    low, high = np.full((2, *gain.shape), np.nan)
    if questions > 1:
        counts = experiment.counts_behind(np.ones(gain.size), n, questions)
        result = difference_ends(only, only_without, left_out[:, (1 + 2 * j) * len(rules) :], *counts)
        low, high = (end.reshape(gain.shape) for end in result)
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
        asked=case.asked.without(juror),
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

    def sums(of: Split) -> FloatArray:
        """(3, j · 2 · bins): verdicts, right ones, and summed confidence."""
        result = np.zeros((3, j, 2, bins))
        for scale, sure in enumerate((of.case.confidence, of.case.asked.top)):
            index = np.clip(np.ceil(sure * bins).astype(int) - 1, 0, bins - 1)
            held = index[..., None] == np.arange(bins)
            parts = held, held * of.case.asked.right[..., None], held * sure[..., None]
            result[:, :, scale] = [part.sum(axis=0) for part in parts]
        return result.reshape(3, -1)

    def figures(splits: Sequence[Split]) -> FloatArray:
        n, right, sure = sum((sums(of) for of in splits), start=np.zeros((3, j * 2 * bins)))
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
    of = split(judgements, protocol, protocol.seeds[0])
    halves = judgements.rows(of.calibration), of.case.asked
    right = np.concatenate([half.right for half in halves])
    places = np.concatenate([of.calibration, of.test])
    clusters = within(judgements.clusters, places)
    sure = {
        "confidence": [confidence(protocol.confidence, halves[1], halves[0]), of.case.confidence],
        "raw": [half.top for half in halves],
    }
    rows = []
    for j, juror in enumerate(judgements.jurors):
        for scale, values in sure.items():
            result = ece_estimate(TopLabel(np.concatenate(values)[:, j], right[:, j]), clusters=clusters)
            luck = {"luck": result.bias, "low": result.low, "high": result.high}
            rows.append({"juror": juror, "scale": scale, "n": result.n, "ece": result.value} | luck)
    return pd.DataFrame(rows)


def accuracy_rows(found: JuryExperiment, titles: Mapping[str, str]) -> pd.DataFrame:
    """The accuracy of each rule and each juror, the best first: ``name``, ``kind`` (``rule`` or ``single juror``),
    ``accuracy`` and the ends of its 95% interval ``low`` and ``high``. ``titles`` are those of the rules."""
    named = [(titles[of.rule], "rule", of.accuracy) for of in found.outcomes]
    named += [(of.juror, "single juror", of.accuracy) for of in found.jurors]
    rows = [
        {"name": name, "kind": kind, "accuracy": of.value, "low": of.low, "high": of.high} for name, kind, of in named
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


def provenance(found: JuryExperiment, called: str) -> Provenance:
    """The provenance of figures of a jury."""
    asked = found.protocol
    kept = "on which the jurors disagree" if asked.disagreement else "of all kinds"
    return Provenance(
        (
            ("Made by", made_by()),
            ("Date", today()),
            ("Jury", called),
            ("Jurors", ", ".join(of.juror for of in found.jurors)),
            ("Answers", f"{found.n:,} of {found.kept_of:,}, those {kept}"),
            (
                "Splits",
                f"{len(asked.seeds)}, each with {found.n_calibration:,} calibration and {found.n_test:,} test answers",
            ),
            ("Confidence", asked.confidence),
            (
                "Intervals",
                "95%, Clopper–Pearson or Tango, with the number of independent answers that the jackknife finds: the "
                "whole experiment is repeated without each group of questions",
            ),
        )
    )
