"""Recomputes the figures that the authors of a result set published, from the results that were imported.

A way of recomputing stands in :data:`FIGURES`; an entry names one, with its options, in ``[published]``.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from core.calibration import metrics
from core.conformal import vlm2024
from core.errors import InputError
from core.exchange.imported import ImportedRun
from core.reports.evaluation import Evaluation
from core.reports.imported_figures import evaluation
from core.reports.overview.published import as_ye_2024, published
from core.reports.report import report
from core.runs import banks

ALPHA = 100
"""The alpha of all published figures, in thousandths."""
BINS = 15
WITHIN = 1e-6


@dataclass(frozen=True, slots=True)
class RecomputedFigure:
    """A published figure and what comes out here, with the number of ``decimals`` that are printed (None: all)."""

    model: str
    task: str
    name: str
    published: float
    recomputed: float
    decimals: int | None = None

    @property
    def same(self) -> bool:
        """Whether what comes out is the published figure, to the last printed decimal or within 1e-6."""
        if self.decimals is None:
            return math.isclose(self.published, self.recomputed, rel_tol=0, abs_tol=WITHIN)
        return f"{self.published:.{self.decimals}f}" == f"{self.recomputed:.{self.decimals}f}"

    def shown(self, value: float) -> str:
        """A figure with the decimals that count."""
        return f"{value:.{6 if self.decimals is None else self.decimals}f}"


def recompute(
    way: str, options: Mapping[str, Any], runs: Sequence[ImportedRun], tables: Mapping[str, Path]
) -> tuple[RecomputedFigure, ...]:
    """All published figures of ``runs``, with what comes out here. ``tables`` are the fetched published tables.

    Raises :class:`InputError` for an unknown way, and for tables that can't be read.
    """
    if not way:
        return ()
    if way not in FIGURES:
        raise InputError(f"unknown way to recompute figures {way!r}; choose from {', '.join(FIGURES)}")
    return tuple(FIGURES[way](options, runs, tables))


def summary(figures: Sequence[RecomputedFigure]) -> str:
    """How many figures came out, in a sentence.

    >>> summary([RecomputedFigure("m", "qa", "accuracy", 60.44, 60.4409, 2)])
    '1 of 1 published figures recomputed'
    """
    if not figures:
        return "No published figures are recorded for these files"
    return f"{sum(one.same for one in figures)} of {len(figures)} published figures recomputed"


def _ye_2024(
    options: Mapping[str, Any], runs: Sequence[ImportedRun], tables: Mapping[str, Path]
) -> list[RecomputedFigure]:
    """Accuracy, set size and UAcc of a model on a task: means of three strategies, set size also of LAC and APS."""
    names: Mapping[str, str] = options.get("models", {})
    table = published("ye-2024")
    columns = ("accuracy", "mean_set_size", "uacc")
    printed = {
        (model, task): tuple(row)
        for model, task, *row in table[["model", "task", *columns]].itertuples(index=False, name=None)
    }
    of: dict[tuple[str, str], dict[str, ImportedRun]] = {}
    for run in runs:
        of.setdefault((run.spec.model, run.spec.task), {})[run.spec.strategy] = run
    figures = []
    for (stem, task), strategies in of.items():
        model = names.get(stem, stem)
        if set(strategies) != {"base", "shared", "task"} or (model, task) not in printed:
            continue
        made = as_ye_2024(
            [report(evaluation(strategies[name]), ALPHA, method="paper", empty="top1") for name in sorted(strategies)]
        )
        accuracy, size, uacc = printed[model, task]
        title = banks.task_title(task, banks.FINISHED.get(str(strategies["base"].provenance.get("data", "")), ""))
        for name, was, now in (
            ("accuracy, %", 100 * accuracy, made.accuracy),
            ("set size", size, made.mean_set_size),
            ("UAcc, %", 100 * uacc, made.uacc),
        ):
            figures.append(RecomputedFigure(model, title, name, float(was), now, 2))
    return figures


VLM_TABLES = {
    "acc": "accuracy",
    "coverage_all_LAC": "coverage, LAC",
    "coverage_all_APS": "coverage, APS",
    "set_sizes_LAC": "set size, LAC",
    "set_sizes_APS": "set size, APS",
    "uacc": "UAcc",
    "ece": "ECE",
}
"""The published tables of VLM-Uncertainty-Bench by the stem of their files, and what each holds."""


def _vlm(options: Mapping[str, Any], runs: Sequence[ImportedRun], tables: Mapping[str, Path]) -> list[RecomputedFigure]:
    """The figures of each run in the fetched tables, whose rows are models and whose columns are data sets."""
    printed = {Path(name).stem: _rows(path) for name, path in tables.items() if Path(name).stem in VLM_TABLES}
    figures = []
    for run in runs:
        made = _vlm_figures(evaluation(run))
        model, task = run.spec.model, run.spec.task
        for stem, name in VLM_TABLES.items():
            cell = printed.get(stem, {}).get(model, {}).get(task, "")
            if cell:
                try:
                    figures.append(RecomputedFigure(model, task, name, float(cell), made[stem]))
                except ValueError:
                    raise InputError(f"{tables}: expected a number for {model} on {task}, found {cell!r}") from None
    return figures


def _rows(path: Path) -> dict[str, dict[str, str]]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return {row["model_name"]: row for row in csv.DictReader(file)}
    except (OSError, KeyError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path.name}: expected a table with a column model_name, found none ({error})") from error


def _vlm_figures(run: Evaluation) -> dict[str, float]:
    asked, labels = run.probabilities[run.test], run.labels[run.test]
    accuracy = float(metrics.accuracy(asked, labels, ties="first"))
    found = {"acc": accuracy, "ece": _ece(run)}
    uacc = []
    for score, title in (("lac", "LAC"), ("aps", "APS")):
        sets = vlm2024.members(
            score, run.probabilities, run.labels, calibration=run.calibration, test=run.test, alpha=ALPHA
        )
        size = float(sets.sum(axis=1).mean())
        found[f"coverage_all_{title}"] = float(sets[np.arange(len(labels)), labels].mean())
        found[f"set_sizes_{title}"] = size
        uacc.append(accuracy * math.sqrt(run.k) / size)
    found["uacc"] = float(np.mean(uacc))
    return found


def _ece(run: Evaluation) -> float:
    """The expected calibration error of all questions, calibrating ones included, in fifteen bins of equal width."""
    confidence = run.probabilities.max(axis=1)
    right = metrics.correct(run.probabilities, run.labels, ties="first")
    bins = np.clip(np.ceil(confidence * BINS).astype(np.int64) - 1, 0, BINS - 1)
    gaps = np.bincount(bins, right - confidence, minlength=BINS)
    return float(np.abs(gaps).sum() / len(confidence))


def _lm_eval(
    options: Mapping[str, Any], runs: Sequence[ImportedRun], tables: Mapping[str, Path]
) -> list[RecomputedFigure]:
    """The means that the results files of lm-evaluation-harness state, from the log-likelihoods of each question."""
    figures = []
    for run in runs:
        task = banks.task_title(run.spec.task, banks.bank_name(run.spec, run.provenance))
        for name, stated in run.provenance.get("stated", {}).items():
            made = float(run.provenance["claims"][name])
            figures.append(RecomputedFigure(run.spec.model_name, task, name, float(stated), made))
    return figures


FIGURES: dict[str, Callable[[Mapping[str, Any], Sequence[ImportedRun], Mapping[str, Path]], list[RecomputedFigure]]] = {
    "ye-2024": _ye_2024,
    "vlm-2024": _vlm,
    "lm-eval": _lm_eval,
}
"""Every way to recompute published figures, by name."""
