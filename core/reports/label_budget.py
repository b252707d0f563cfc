"""What a label budget gives: the share of right answers by the number of labels, for each judge and without one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from core.conformal.clusters import count
from core.errors import InputError
from core.estimates import Estimate, interval_text
from core.jury.judgements import Judgements
from core.jury.label_budget import FEWEST, LabelEstimate, label_estimates, sizes, variance_saved
from core.jury.label_draw import JudgedAnswers, LabelSample, sample_of
from core.records import FloatArray
from core.reports.provenance import Provenance, made_by, today
from core.reports.report import finite

Source = Literal["probabilities", "verdicts"]
NO_INTERVAL = (math.nan, math.nan)
USUAL = 50
"""The number of labels if none is given and all answers are labelled."""


@dataclass(frozen=True, slots=True)
class JudgeUse:
    """A judge's verdicts (M,) as the estimate uses them: its probabilities, or its verdicts 0, ½ and 1."""

    judge: str
    source: Source
    values: FloatArray

    @property
    def key(self) -> str:
        """The name in a link and in lists."""
        return f"{self.judge} · {self.source}"


def judge_uses(judgements: Judgements, judges: Sequence[str] = ()) -> tuple[JudgeUse, ...]:
    """The uses of each judge (of all if none is named): its probabilities, and its verdicts. A judge without
    probabilities between 0 and 1 has verdicts alone. Raises :class:`InputError` for an unknown judge."""
    unknown = next((name for name in judges if name not in judgements.jurors), None)
    if unknown is not None:
        raise InputError(f"unknown judge {unknown[:80]!r}; choose from {', '.join(judgements.jurors)}")
    uses = []
    for j, name in enumerate(judgements.jurors):
        if judges and name not in judges:
            continue
        p, verdicts = judgements.p_true[:, j], judgements.verdicts[:, j]
        if not np.array_equal(p, verdicts):
            uses.append(JudgeUse(name, "probabilities", p))
        uses.append(JudgeUse(name, "verdicts", verdicts))
    return tuple(uses)


def estimates(
    judged: JudgedAnswers, sample: LabelSample, use: JudgeUse, at: Sequence[int]
) -> tuple[LabelEstimate, ...]:
    """The estimates from the first n labels of a sample, for each n of ``at``. Labels that are no random sample have no
    interval, and no judge."""
    clusters = judged.judgements.clusters
    ordered = None if clusters is None else clusters[sample.order]
    results = label_estimates(sample.labels, use.values[sample.order], at, clusters=ordered)
    if sample.random:
        return results
    return tuple(
        LabelEstimate(each.n, 0.0, math.nan, alone := Estimate(each.alone.value, *NO_INTERVAL), alone)
        for each in results
    )


def curve(judged: JudgedAnswers, sample: LabelSample, use: JudgeUse) -> pd.DataFrame:
    """The estimates at the numbers of labels that a slider has (:func:`core.jury.label_budget.sizes`), a row each:
    ``n``, ``weight``, ``worth``, ``value`` with ``low`` and ``high``, and ``alone`` with ``alone_low`` and
    ``alone_high``."""
    return pd.DataFrame(
        [
            {
                "n": each.n,
                "weight": each.weight,
                "worth": each.worth,
                "value": each.judged.value,
                "low": each.judged.low,
                "high": each.judged.high,
                "alone": each.alone.value,
                "alone_low": each.alone.low,
                "alone_high": each.alone.high,
            }
            for each in estimates(judged, sample, use, sizes(len(sample.labels)))
        ]
    )


ALONE = "Labels alone"
FEWEST_UNITS = 50
"""With fewer questions or clusters, how much they vary is known too little for a share near 0 or 1."""


def width_rows(judgements: Judgements) -> pd.DataFrame:
    """The width of the 95% interval by the number of labels, for the labels alone and with each judge: ``name``, ``n``
    and ``width``. A judge's probabilities are used if it gives any."""
    judged = JudgedAnswers.of(judgements)
    sample = sample_of(judged, seed=0)
    first_uses = {use.judge: use for use in reversed(judge_uses(judgements))}
    curves = {name: curve(judged, sample, use) for name, use in reversed(first_uses.items())}
    alone = next(iter(curves.values()))
    widths = {ALONE: alone["alone_high"] - alone["alone_low"]}
    widths |= {name: rows["high"] - rows["low"] for name, rows in curves.items()}
    return pd.concat(
        [pd.DataFrame({"name": name, "n": alone["n"], "width": width}) for name, width in widths.items()],
        ignore_index=True,
    )


@dataclass(frozen=True, slots=True)
class JudgeBudget:
    """What a judge's use is worth at n labels. ``variance_saved`` is over draws of n labels
    (:func:`core.jury.label_budget.variance_saved`), NaN unless all answers are labelled."""

    judge: str
    source: Source
    estimate: LabelEstimate
    variance_saved: float


@dataclass(frozen=True, slots=True)
class LabelBudget:
    """The share of right answers from ``n`` labels of ``answers`` answers, without a judge and with each use of one.
    ``origin`` says how the labels were chosen, and ``notes`` are sentences that a person should know."""

    answers: int
    n: int
    labels: int
    pairwise: bool
    random: bool
    origin: str
    alone: Estimate
    judges: tuple[JudgeBudget, ...]
    notes: tuple[str, ...]


def label_budget(
    judged: JudgedAnswers, sample: LabelSample, *, n: int, judges: Sequence[str] = (), seed: int = 0
) -> LabelBudget:
    """The budget of n labels. Raises :class:`InputError` for an unknown judge, or an n that is not from 1 to the number
    of labels."""
    uses = judge_uses(judged.judgements, judges or judged.judges)
    each = [estimates(judged, sample, use, [n])[0] for use in uses]
    saved = np.full(len(uses), math.nan)
    if len(sample.labels) == len(judged) and sample.random and n >= FEWEST:
        columns = np.stack([use.values[sample.order] for use in uses], axis=1)
        saved = variance_saved(sample.labels, columns, n, seed=seed)
    return LabelBudget(
        answers=len(judged),
        n=n,
        labels=len(sample.labels),
        pairwise=judged.judgements.pairwise,
        random=sample.random,
        origin=sample.origin,
        alone=each[0].alone,
        judges=tuple(
            JudgeBudget(use.judge, use.source, estimate, share)
            for use, estimate, share in zip(uses, each, saved.tolist(), strict=True)
        ),
        notes=(*judged.notes, *sample.notes, *_notes(judged, n, uses, sample)),
    )


def _notes(judged: JudgedAnswers, n: int, uses: Sequence[JudgeUse], sample: LabelSample) -> list[str]:
    notes = []
    if n < FEWEST and sample.random:
        notes.append(too_few(n))
    elif n == len(judged):
        notes.append("All answers are labelled, so no judge can add anything.")
    if sample.random:
        notes += about_units(judged.judgements)
    return [*notes, *without_probabilities(uses)]


def about_units(judgements: Judgements) -> list[str]:
    """Sentences about answers of one question or cluster, and a warning if such units are few; none without them."""
    if judgements.clusters is None:
        return []
    what = "Pairs" if judgements.pairwise else "Answers"
    notes = [f"{what} of one question or cluster count as one unit."]
    units = count(judgements.clusters, len(judgements))
    if units < FEWEST_UNITS:
        notes.append(
            f"There {'is only 1' if units == 1 else f'are only {units}'} of them. In simulations with fewer than "
            f"{FEWEST_UNITS}, intervals near 0 and 1 "
            "(below 20% or above 80%) held the true value in only 88 to 97 of 100 cases; label answers to more "
            "questions."
        )
    return notes


def without_probabilities(uses: Sequence[JudgeUse]) -> list[str]:
    """A sentence about the judges that give verdicts and no probabilities; none if there is no such judge."""
    given = {use.judge for use in uses if use.source == "probabilities"}
    names = [name for name in dict.fromkeys(use.judge for use in uses) if name not in given]
    if not names:
        return []
    one = len(names) == 1
    verb, whose = ("gives", "its") if one else ("give", "their")
    return [f"{', '.join(names)} {verb} no probabilities, so {whose} verdicts count as 0, ½ and 1."]


def too_few(n: int) -> str:
    """The sentence about labels that are too few to learn about a judge.

    >>> too_few(10)
    'With fewer than 20 labels, too little is known about a judge, so the 10 labels count alone.'
    """
    alone = "the label counts" if n == 1 else f"the {n} labels count"
    return f"With fewer than {FEWEST} labels, too little is known about a judge, so {alone} alone."


def cells(budget: LabelBudget) -> list[list[str]]:
    """The labels alone and then each judge's use as cells: the judge, what is used of it, the estimate with its 95%
    interval, λ, how many labels it is worth, and how much less variance it has. Those that do not apply are empty."""

    def shown(estimate: Estimate) -> str:
        return f"{estimate.value:.1%} ({interval_text(*estimate.ends, form='.1%')})"

    rows = [["labels alone", "", shown(budget.alone), "", "", ""]]
    for each in budget.judges:
        # + 0 turns -0 into 0
        saved = f"{round(each.variance_saved, 2) + 0:.0%}" if each.variance_saved == each.variance_saved else ""
        weight, worth = f"{each.estimate.weight:.2f}", f"{each.estimate.worth:.0f}"
        rows.append([each.judge, each.source, shown(each.estimate.judged), weight, worth, saved])
    return rows


def to_json(budget: LabelBudget) -> dict[str, Any]:
    """The output of ``jury estimate --json``; what is not defined is null."""
    values: dict[str, Any] = finite(
        {
            "estimates": "share of pairs whose first answer is better" if budget.pairwise else "share of right answers",
            "of": "new answers like these",
            "answers": budget.answers,
            "labels": budget.n,
            "labels_known": budget.labels,
            "random": budget.random,
            "sample": budget.origin,
            "alone": asdict(budget.alone),
            "judges": [
                {
                    "judge": each.judge,
                    "uses": each.source,
                    **asdict(each.estimate.judged),
                    "weight": each.estimate.weight,
                    "worth_labels": each.estimate.worth,
                    "variance_saved": each.variance_saved,
                }
                for each in budget.judges
            ],
            "notes": list(budget.notes),
        }
    )
    return values


def provenance(judgements: Judgements, called: str) -> Provenance:
    """The provenance of the figure of a jury's label budget."""
    return Provenance(
        (
            ("Made by", made_by()),
            ("Date", today()),
            ("Jury", called),
            ("Jurors", ", ".join(judgements.jurors)),
            ("Labels", f"the first of a random order (seed 0) of {len(judgements):,} answers"),
            (
                "Intervals",
                "95%, Agresti–Coull with the number of labels that the estimate is worth; prediction-powered inference "
                "with power tuning (arXiv 2311.01453)",
            ),
        )
    )
