"""Recomputes the figures that the authors of a result set published, from the results that were imported.

A way of recomputing stands in :data:`FIGURES`; an entry names one, with its options, in ``[published]``.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from core.calibration import metrics
from core.conformal import bluq2025, vlm2024
from core.errors import InputError
from core.exchange import bluq
from core.exchange.imported import ImportedRun
from core.exchange.safe_read import json_list, number
from core.jury import experiment
from core.jury.judgements import Judgements
from core.reports.evaluation import Evaluation
from core.reports.imported_figures import evaluation
from core.reports.overview.published import as_ye_2024, published
from core.reports.report import report
from core.runs import banks
from core.settings import ASSETS

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


@dataclass(frozen=True, slots=True)
class ImportedResults:
    """What was imported of an entry: its ``runs`` and ``juries``, and the fetched ``files`` by their path there."""

    runs: Sequence[ImportedRun] = ()
    juries: Sequence[Judgements] = ()
    files: Mapping[str, Path] = field(default_factory=dict)


def recompute(way: str, options: Mapping[str, Any], imported: ImportedResults) -> tuple[RecomputedFigure, ...]:
    """All published figures of what was imported, with what comes out here.

    Raises :class:`InputError` for an unknown way, and for published tables that can't be read.
    """
    if not way:
        return ()
    if way not in FIGURES:
        raise InputError(f"unknown way to recompute figures {way!r}; choose from {', '.join(FIGURES)}")
    return tuple(FIGURES[way](options, imported))


def summary(figures: Sequence[RecomputedFigure]) -> str:
    """How many figures came out, in a sentence.

    >>> summary([RecomputedFigure("m", "qa", "accuracy", 60.44, 60.4409, 2)])
    '1 of 1 published figures recomputed'
    """
    if not figures:
        return "No published figures are recorded for these files"
    return f"{sum(one.same for one in figures)} of {len(figures)} published figures recomputed"


def _ye_2024(options: Mapping[str, Any], imported: ImportedResults) -> list[RecomputedFigure]:
    """Accuracy, set size and UAcc of a model on a task: means of three strategies, set size also of LAC and APS."""
    names: Mapping[str, str] = options.get("models", {})
    table = published("ye-2024")
    columns = ("accuracy", "mean_set_size", "uacc")
    printed = {
        (model, task): tuple(row)
        for model, task, *row in table[["model", "task", *columns]].itertuples(index=False, name=None)
    }
    of: dict[tuple[str, str], dict[str, ImportedRun]] = {}
    for run in imported.runs:
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


def _vlm(options: Mapping[str, Any], imported: ImportedResults) -> list[RecomputedFigure]:
    """The figures of each run in the fetched tables, whose rows are models and whose columns are data sets."""
    printed = {Path(name).stem: _rows(path) for name, path in imported.files.items() if Path(name).stem in VLM_TABLES}
    figures = []
    for run in imported.runs:
        made = _vlm_figures(evaluation(run))
        model, task = run.spec.model, run.spec.task
        for stem, name in VLM_TABLES.items():
            cell = printed.get(stem, {}).get(model, {}).get(task, "")
            if cell:
                try:
                    figures.append(RecomputedFigure(model, task, name, float(cell), made[stem]))
                except ValueError:
                    raise InputError(f"{stem}.csv: expected a number for {model} on {task}, found {cell!r}") from None
    return figures


def _rows(path: Path, key: str = "model_name") -> dict[str, dict[str, str]]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return {row[key]: row for row in csv.DictReader(file)}
    except (OSError, KeyError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path.name}: expected a table with a column {key!r}, found none ({error})") from error


def _json_rows(path: Path, name: str) -> list[dict[str, Any]]:
    try:
        return [row for row in json_list(path) if isinstance(row, dict)]
    except InputError as error:
        raise InputError(str(error).replace(str(path), name)) from error


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


def _lm_eval(options: Mapping[str, Any], imported: ImportedResults) -> list[RecomputedFigure]:
    """The means that the results files of lm-evaluation-harness state, from the log-likelihoods of each question."""
    figures = []
    for run in imported.runs:
        task = banks.task_title(run.spec.task, banks.bank_name(run.spec, run.provenance))
        for name, stated in run.provenance.get("stated", {}).items():
            made = float(run.provenance["claims"][name])
            figures.append(RecomputedFigure(run.spec.model_name, task, name, float(stated), made))
    return figures


BLUQ_FIGURES = {
    "accuracy": ("accuracy", "lac"),
    "coverage, LAC": ("coverage_rate", "lac"),
    "set size, LAC": ("avg_set_size", "lac"),
    "coverage, APS": ("coverage_rate", "aps"),
    "set size, APS": ("avg_set_size", "aps"),
}
"""The figures that BLUQ's results files have, with their key and score there."""


def _bluq(options: Mapping[str, Any], imported: ImportedResults) -> list[RecomputedFigure]:
    """Accuracy, coverage and set size of each run, as its model's ``results_….json`` states them in full precision."""
    stated: dict[tuple[str, ...], float] = {}
    for name, path in imported.files.items():
        if Path(name).name.startswith("results_"):
            for row in _json_rows(path, name):
                of = tuple(str(row.get(key)) for key in ("model", "task", "dtype", "strategy", "conformal_method"))
                for key in ("accuracy", "coverage_rate", "avg_set_size"):
                    stated[(*of, key)] = number(row.get(key), name, key)
    figures = []
    for run in imported.runs:
        spec = run.spec
        made = _bluq_figures(run, _fetched(run, imported.files))
        for name, (key, score) in BLUQ_FIGURES.items():
            of = (spec.model, spec.task, spec.dtype, spec.strategy, score, key)
            if of in stated:
                task = banks.task_title(spec.task, banks.bank_name(spec, run.provenance))
                model = spec.model if spec.dtype == "float32" else f"{spec.model}, {spec.dtype}"
                figures.append(RecomputedFigure(model, task, name, stated[of], made[name]))
    return figures


def _bluq_figures(run: ImportedRun, path: Path) -> dict[str, float]:
    """What comes out, by the names of :data:`BLUQ_FIGURES`. Where APS's threshold is 1, the file's doubles decide."""
    of = evaluation(run)
    made = report(of, ALPHA, method="bluq", empty="top1")
    found = {"accuracy": made.accuracy}
    for score, title in (("lac", "LAC"), ("aps", "APS")):
        one = made.scores[score]
        found |= {f"coverage, {title}": one.coverage, f"set size, {title}": one.mean_set_size}
    if math.isclose(made.scores["aps"].threshold, 1.0, rel_tol=0, abs_tol=1e-9):
        sides = bluq.doubles(path)
        test, labels = sides["test"]
        sets, _ = bluq2025.aps_members(*sides["cal"], test, alpha=ALPHA)
        found["coverage, APS"] = float(sets[np.arange(len(labels)), labels].mean())
        found["set size, APS"] = float(sets.sum(axis=1).mean())
    return found


def _fetched(run: ImportedRun, files: Mapping[str, Path]) -> Path:
    """The fetched file that a run was read from."""
    name = str(run.provenance["file"])
    return next(path for there, path in files.items() if Path(there).name == name)


def _juries_demo(options: Mapping[str, Any], imported: ImportedResults) -> list[RecomputedFigure]:
    """Accuracy, precision, recall and F1 of each rule: means over the ten published splits."""
    protocol = experiment.PROTOCOLS["published"]
    names = experiment.with_baselines(protocol.rules)
    printed = _rows(ASSETS / "published" / "juries-demo.csv", "rule")
    figures = []
    for jury in imported.juries:
        values = experiment.once(
            jury, protocol, lambda of: experiment.rule_figures(of, [experiment.decided(names, one.case) for one in of])
        )
        for made in experiment.tried(jury, protocol, values, values, values).outcomes:
            for name in experiment.MEASURES:
                figure = f"{name}, {made.rule.replace('_', ' ')}"
                stated, value = float(printed[made.rule][name]), getattr(made, name).value
                figures.append(
                    RecomputedFigure(f"{len(jury.jurors)} jurors", "TriviaQA answers", figure, stated, value)
                )
    return figures


FIGURES: dict[str, Callable[[Mapping[str, Any], ImportedResults], list[RecomputedFigure]]] = {
    "ye-2024": _ye_2024,
    "vlm-2024": _vlm,
    "lm-eval": _lm_eval,
    "bluq": _bluq,
    "juries-demo": _juries_demo,
}
"""Every way to recompute published figures, by name."""
