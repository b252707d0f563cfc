"""A jury's figures as plain values and tidy tables: for ``--json``, for the page, for a file."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from core.conformal.coverage import beta_binomial_band, coverage
from core.conformal.scores import score, true_scores
from core.conformal.sets import prediction_sets
from core.conformal.threshold import threshold
from core.jury import experiment
from core.jury.adjudication import RULES, Case, adjudicate, pooled, sureness
from core.jury.agreement import Agreement
from core.jury.experiment import MEASURES, Experiment, Protocol, Split
from core.jury.judgements import Judgements
from core.records import BoolArray, FloatArray
from core.reports.report import finite


def to_json(found: Experiment) -> dict[str, Any]:
    """What ``jury evaluate --json`` prints: ``rules`` with the four measures each, and beside them the rest."""
    values: dict[str, Any] = finite(
        {
            "rules": {of.rule: {name: getattr(of, name).value for name in MEASURES} for of in found.outcomes},
            "intervals": {of.rule: {name: _ends(getattr(of, name)) for name in MEASURES} for of in found.outcomes},
            "to_majority": {of.rule: asdict(of.to_majority) for of in found.outcomes},
            "to_max_probability": {of.rule: asdict(of.to_max_probability) for of in found.outcomes},
            "jurors": [asdict(of) for of in found.jurors],
            "ece": found.ece,
            "ece_raw": found.ece_raw,
            "answers": found.kept_of,
            "kept": found.n,
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
    """A jury's agreement as plain values, what is not defined as null."""
    values: dict[str, Any] = finite(asdict(found))
    return values


@dataclass(frozen=True, slots=True)
class SetsFigures:
    """Conformal sets of {True, False} on the pooled probability: their threshold and what came of them on m test rows.

    ``only_true``, ``only_false``, ``both`` and ``empty`` count sets; ``band`` is where coverage may lie by luck alone.
    """

    alpha: int
    threshold: float
    coverage: float
    band: tuple[float, float]
    only_true: int
    only_false: int
    both: int
    empty: int


def pooled_sets(of: Split, alpha: int) -> tuple[BoolArray, SetsFigures]:
    """The sets (m, 2) of a split's test rows at alpha thousandths, by LAC on the jurors' mean probability."""
    fitted, asked = (_normalised(pooled(rows)) for rows in (of.case.calibration, of.case.asked))
    labels = [np.where(rows.labels, 0, 1) for rows in (of.case.calibration, of.case.asked)]
    q = threshold(true_scores(score("lac", fitted, seed=0), labels[0]), alpha)
    sets = prediction_sets(score("lac", asked, seed=0), q)
    true, false = sets.members.T
    counts = [int(x.sum()) for x in (true & ~false, ~true & false, true & false, ~true & ~false)]
    band = beta_binomial_band(len(labels[0]), len(labels[1]), alpha)
    return sets.members, SetsFigures(alpha, q, coverage(sets, labels[1]), band, *counts)


def _normalised(p: FloatArray) -> FloatArray:
    return np.asarray(p / p.sum(axis=1, keepdims=True), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Bench:
    """One split for the page: a row a test answer and what every rule says of it.

    ``rows`` has question, answer, label, per juror j ``p{j}``, ``c{j}``, ``v{j}``, and per rule its verdict ``r_…`` and
    how sure the jury is of it ``s_…``.
    """

    jurors: tuple[str, ...]
    n_calibration: int
    rows: pd.DataFrame


def bench(judgements: Judgements, protocol: Protocol, seed: int) -> Bench:
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
        columns |= {
            f"p{j}": asked.p_true[:, j],
            f"c{j}": of.case.confidence[:, j],
            f"v{j}": asked.verdicts[:, j],
        }
    for name in RULES:
        said = adjudicate(name, of.case)
        columns |= {f"r_{name}": said, f"s_{name}": sureness(of.case, said)}
    return Bench(asked.jurors, len(of.calibration), pd.DataFrame(columns))


def split(judgements: Judgements, protocol: Protocol, seed: int) -> Split:
    """The split of one seed by a protocol."""
    places = experiment.kept(judgements, protocol)
    size = experiment.calibration_size(judgements, places, protocol)
    return experiment.split(judgements, places, size, seed, protocol)


def left_out(judgements: Judgements, protocol: Protocol) -> pd.DataFrame:
    """What each juror adds: every rule's accuracy with all, and with one juror left out, on the same answers.

    A row a rule and juror: rule, juror, accuracy (all), without, gain = accuracy − without. Empty for two jurors.
    """
    if len(judgements.jurors) < 3:
        return pd.DataFrame(columns=["rule", "juror", "accuracy", "without", "gain"])
    places = experiment.kept(judgements, protocol)
    size = experiment.calibration_size(judgements, places, protocol)
    rules = [name for name in RULES if name != "always_false"]
    totals = {name: np.zeros(1 + len(judgements.jurors)) for name in rules}
    for seed in protocol.seeds:
        of = experiment.split(judgements, places, size, seed, protocol)
        for left in range(-1, len(judgements.jurors)):
            case = of.case if left < 0 else _without(of.case, left)
            for name in rules:
                totals[name][left + 1] += float((adjudicate(name, case) == case.asked.labels).mean())
    rows = [
        {"rule": name, "juror": juror, "accuracy": means[0], "without": means[1 + j], "gain": means[0] - means[1 + j]}
        for name, means in ((name, total / len(protocol.seeds)) for name, total in totals.items())
        for j, juror in enumerate(judgements.jurors)
    ]
    return pd.DataFrame(rows)


def _without(case: Case, juror: int) -> Case:
    return replace(
        case,
        asked=case.asked.without(juror),
        confidence=np.delete(case.confidence, juror, axis=1),
        calibration=case.calibration.without(juror),
    )


def reliability(judgements: Judgements, protocol: Protocol, *, bins: int = 10) -> pd.DataFrame:
    """Each juror's confidence against how often it is right, all splits' test rows together.

    A row a juror, scale (``confidence`` or ``raw``) and bin with verdicts in it: low, high, n, confidence, right, and
    ``share``, the bin's part of the juror's verdicts.
    """
    places = experiment.kept(judgements, protocol)
    size = experiment.calibration_size(judgements, places, protocol)
    splits = [experiment.split(judgements, places, size, seed, protocol) for seed in protocol.seeds]
    rows = []
    for j, juror in enumerate(judgements.jurors):
        right = np.concatenate([of.case.asked.right[:, j] for of in splits])
        for scale in ("confidence", "raw"):
            of_all = [of.case.confidence if scale == "confidence" else of.case.asked.top for of in splits]
            sure = np.concatenate([values[:, j] for values in of_all])
            index = np.clip(np.ceil(sure * bins).astype(int) - 1, 0, bins - 1)
            for b in np.unique(index):
                inside = index == b
                rows.append(
                    {
                        "juror": juror,
                        "scale": scale,
                        "low": b / bins,
                        "high": (b + 1) / bins,
                        "n": int(inside.sum()),
                        "confidence": float(sure[inside].mean()),
                        "right": float(right[inside].mean()),
                        "share": float(inside.mean()),
                    }
                )
    return pd.DataFrame(rows)
