"""Recomputes the figures that the authors of a result set published, from the results that were imported.

A way of recomputing stands in :data:`FIGURES`; an entry names one, with its options, in ``[published]``.
"""

import csv
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from core.calibration import metrics
from core.conformal import bluq2025, vlm2024
from core.errors import InputError
from core.exchange import bluq, judged_pairs
from core.exchange.imported import ImportedRun
from core.exchange.juries import ReadJury
from core.jury import experiment
from core.questions import bank_names
from core.questions.bank_names import FINISHED, task_title
from core.records import IntArray
from core.reports.evaluation import Evaluation
from core.reports.imported_figures import evaluation
from core.reports.overview.published import as_ye_2024, published
from core.reports.report import report
from core.settings import ASSETS
from core.tables.safe_read import json_document, json_list, number

ALPHA = 100
"""The alpha of all published figures, in thousandths."""
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
    juries: Sequence[ReadJury] = ()
    files: Mapping[str, Path] = field(default_factory=dict)


def recompute(way: str, options: Mapping[str, Any], imported: ImportedResults) -> tuple[RecomputedFigure, ...]:
    """All published figures of what was imported, with what comes out here. Raises :class:`InputError` for an unknown
    way, and for published tables that can't be read."""
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
    return f"{sum(figure.same for figure in figures)} of {len(figures)} published figures recomputed"


def _ye_2024(options: Mapping[str, Any], imported: ImportedResults) -> list[RecomputedFigure]:
    """Accuracy, set size and UAcc of a model on a task: means of three strategies, set size also of LAC and APS."""
    names: Mapping[str, str] = options.get("models", {})
    table = published("ye-2024")
    columns = ("accuracy", "mean_set_size", "uacc")
    printed = {
        (model, task): tuple(row)
        for model, task, *row in table[["model", "task", *columns]].itertuples(index=False, name=None)
    }
    by_run: dict[tuple[str, str], dict[str, ImportedRun]] = {}
    for run in imported.runs:
        by_run.setdefault((run.spec.model, run.spec.task), {})[run.spec.strategy] = run
    figures = []
    for (stem, task), strategies in by_run.items():
        model = names.get(stem, stem)
        if set(strategies) != {"base", "shared", "task"} or (model, task) not in printed:
            continue
        means = as_ye_2024(
            [report(evaluation(strategies[name]), ALPHA, method="paper", empty="top1") for name in sorted(strategies)]
        )
        accuracy, size, uacc = printed[model, task]
        title = task_title(task, FINISHED.get(str(strategies["base"].provenance.get("data", "")), ""))
        for name, was, now in (
            ("accuracy, %", 100 * accuracy, means.accuracy),
            ("set size", size, means.mean_set_size),
            ("UAcc, %", 100 * uacc, means.uacc),
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
        computed = _vlm_figures(evaluation(run), double=run.provenance.get("precision") == "double")
        model, task = run.spec.model, run.spec.task
        for stem, name in VLM_TABLES.items():
            cell = printed.get(stem, {}).get(model, {}).get(task, "")
            if cell:
                try:
                    figures.append(RecomputedFigure(model, task, name, float(cell), computed[stem]))
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


def _vlm_figures(run: Evaluation, *, double: bool = False) -> dict[str, float]:
    probabilities, labels = run.probabilities[run.test], run.labels[run.test]
    accuracy = float(metrics.accuracy(probabilities, labels, ties="first"))
    ece = vlm2024.expected_calibration_error(run.probabilities, run.labels, double=double)
    figures = {"acc": accuracy, "ece": ece}
    uacc = []
    for score, title in (("lac", "LAC"), ("aps", "APS")):
        sets = vlm2024.members(
            score,
            run.probabilities,
            run.labels,
            calibration=run.calibration,
            test=run.test,
            alpha=ALPHA,
            double=double,
        )
        size = float(sets.sum(axis=1).mean())
        figures[f"coverage_all_{title}"] = float(sets[np.arange(len(labels)), labels].mean())
        figures[f"set_sizes_{title}"] = size
        uacc.append(accuracy * math.sqrt(run.k) / size)
    figures["uacc"] = float(np.mean(uacc))
    return figures


def _lm_eval(options: Mapping[str, Any], imported: ImportedResults) -> list[RecomputedFigure]:
    """The means that the results files of lm-evaluation-harness state, from the log-likelihoods of each question."""
    figures = []
    for run in imported.runs:
        task = task_title(run.spec.task, bank_names.bank_name(run.spec, run.provenance))
        for name, stated in run.provenance.get("stated", {}).items():
            mean = float(run.provenance["claims"][name])
            figures.append(RecomputedFigure(run.spec.model_name, task, name, float(stated), mean))
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
                run_key = tuple(str(row.get(key)) for key in ("model", "task", "dtype", "strategy", "conformal_method"))
                for key in ("accuracy", "coverage_rate", "avg_set_size"):
                    stated[(*run_key, key)] = number(row.get(key), name, key)
    figures = []
    for run in imported.runs:
        spec = run.spec
        computed = _bluq_figures(run, _fetched(run, imported.files))
        for name, (key, score) in BLUQ_FIGURES.items():
            run_key = (spec.model, spec.task, spec.dtype, spec.strategy, score, key)
            if run_key in stated:
                task = task_title(spec.task, bank_names.bank_name(spec, run.provenance))
                model = spec.model if spec.dtype == "float32" else f"{spec.model}, {spec.dtype}"
                figures.append(RecomputedFigure(model, task, name, stated[run_key], computed[name]))
    return figures


def _bluq_figures(run: ImportedRun, path: Path) -> dict[str, float]:
    """What comes out, by the names of :data:`BLUQ_FIGURES`. Where APS's threshold is 1, the file's doubles decide."""
    results = evaluation(run)
    run_report = report(results, ALPHA, method="bluq", empty="top1")
    figures = {"accuracy": run_report.accuracy}
    for score, title in (("lac", "LAC"), ("aps", "APS")):
        of_score = run_report.scores[score]
        figures |= {f"coverage, {title}": of_score.coverage, f"set size, {title}": of_score.mean_set_size}
    if math.isclose(run_report.scores["aps"].threshold, 1.0, rel_tol=0, abs_tol=1e-9):
        sides = bluq.doubles(path)
        test, labels = sides["test"]
        sets, _ = bluq2025.aps_members(*sides["cal"], test, alpha=ALPHA)
        figures["coverage, APS"] = float(sets[np.arange(len(labels)), labels].mean())
        figures["set size, APS"] = float(sets.sum(axis=1).mean())
    return figures


def _fetched(run: ImportedRun, files: Mapping[str, Path]) -> Path:
    name = str(run.provenance["file"])
    return next(path for there, path in files.items() if Path(there).name == name)


def _juries_demo(options: Mapping[str, Any], imported: ImportedResults) -> list[RecomputedFigure]:
    """Accuracy, precision, recall and F1 of each rule: means over the ten published splits."""
    protocol = experiment.PROTOCOLS["published"]
    names = experiment.with_baselines(protocol.rules)
    printed = _rows(ASSETS / "published" / "juries-demo.csv", "rule")
    figures = []
    for jury in (imported_jury.judgements for imported_jury in imported.juries):
        values = experiment.once(
            jury,
            protocol,
            lambda decisions: experiment.rule_figures(
                decisions, [experiment.decided(names, decision.case) for decision in decisions]
            ),
        )
        for outcome in experiment.tried(jury, protocol, values, values, values).outcomes:
            for name in experiment.MEASURES:
                figure = f"{name}, {outcome.rule.replace('_', ' ')}"
                stated, value = float(printed[outcome.rule][name]), getattr(outcome, name).value
                figures.append(
                    RecomputedFigure(f"{len(jury.jurors)} jurors", "TriviaQA answers", figure, stated, value)
                )
    return figures


LLMBAR_FIGURES = {
    "correct_False": "accuracy, answers in order",
    "correct_True": "accuracy, answers swapped",
    "equal": "same verdict in both orders",
}
"""The figures of LLMBar's ``statistics.json``, with what each is."""


def _llmbar(options: Mapping[str, Any], imported: ImportedResults) -> list[RecomputedFigure]:
    """Of each evaluator: the share of right verdicts in each order, and how often both orders say the same. A missing
    verdict is never right, as the authors count it."""
    computed: dict[tuple[str, str], dict[str, float]] = {}
    for read in imported.juries:
        jury, subset = read.judgements, read.name
        # first names the answer that an evaluator takes: 1, 0, or ½ where it takes none
        for j, name in enumerate(jury.jurors[::2]):
            first = jury.p_true[:, 2 * j : 2 * j + 2]
            right = (first == jury.labels[:, None].astype(np.float64)).mean(axis=0)
            same = float((first[:, 0] == first[:, 1]).mean())
            computed[subset, name] = dict(zip(LLMBAR_FIGURES, (float(right[0]), float(right[1]), same), strict=True))
    figures = []
    for name, path in imported.files.items():
        parts = Path(name).parts
        shares = computed.get((parts[-5], judged_pairs.evaluator_of(Path(name)))) if len(parts) >= 5 else None
        if parts[-1] == "statistics.json" and shares is not None:
            stated = json_document(path)
            for key, title in LLMBAR_FIGURES.items():
                count = re.match(r"(\d+) / (\d+)\b", str(stated.get(key, "")))
                if count is None or not int(count[2]):
                    raise InputError(f"{name}: expected {key} as a count of pairs, found {stated.get(key)!r}")
                share = int(count[1]) / int(count[2])
                figures.append(
                    RecomputedFigure(judged_pairs.evaluator_of(Path(name)), parts[-5], title, share, shares[key])
                )
    return figures


def _pandalm(options: Mapping[str, Any], imported: ImportedResults) -> list[RecomputedFigure]:
    """Each judge's accuracy and macro means over the three verdicts, and the annotators' kappas and counts. They are of
    all pairs, ties too; the juries leave out the pairs that the annotators call a tie."""
    files = {Path(name).name: path for name, path in imported.files.items()}
    if "testset-v1.json" not in files:
        return []
    votes = np.array(judged_pairs.pandalm_votes(files["testset-v1.json"]))
    truth = np.array([judged_pairs.majority(row) for row in votes.tolist()])
    computed = {("annotators", f"pairs with the verdict {side}"): float((truth == side).sum()) for side in (0, 1, 2)}
    for a, b in ((0, 1), (0, 2), (1, 2)):
        computed["annotators", f"kappa of {a + 1} and {b + 1}"] = _kappa(votes[:, a], votes[:, b])
    for name, path in files.items():
        judge, dash, _ = name.partition("-testset")
        if dash:
            verdicts = np.array(judged_pairs.pandalm_verdicts(path))
            computed |= {(judge, figure): value for figure, value in _three_way(truth, verdicts).items()}
    with (ASSETS / "published" / "pandalm.csv").open(encoding="utf-8", newline="") as table:
        printed = [(row["who"], row["figure"], row["value"]) for row in csv.DictReader(table)]
    return [
        RecomputedFigure(
            who, "PandaLM's pairs", figure, float(value), computed[who, figure], len(value.partition(".")[2])
        )
        for who, figure, value in printed
        if (who, figure) in computed
    ]


def _three_way(truth: IntArray, verdicts: IntArray) -> dict[str, float]:
    """Accuracy, and means of precision, recall and F1 over the three verdicts; one without a denominator is 0."""
    parts = []
    for side in (0, 1, 2):
        hits = int(((truth == side) & (verdicts == side)).sum())
        precision, recall = (hits / max(int((sides == side).sum()), 1) for sides in (verdicts, truth))
        parts.append((precision, recall, 2 * precision * recall / (precision + recall) if hits else 0.0))
    names = ("macro precision", "macro recall", "macro F1")
    return {"accuracy": float((truth == verdicts).mean())} | dict(
        zip(names, np.mean(parts, axis=0).tolist(), strict=True)
    )


def _kappa(a: IntArray, b: IntArray) -> float:
    """Cohen's kappa of two annotators' verdicts: (agreement − agreement by chance) / (1 − agreement by chance)."""
    by_chance = sum(float((a == side).mean() * (b == side).mean()) for side in (0, 1, 2))
    return (float((a == b).mean()) - by_chance) / (1 - by_chance)


def _alpaca_eval(options: Mapping[str, Any], imported: ImportedResults) -> list[RecomputedFigure]:
    """Each model's win rate in percent: the mean weighted preference for its answer."""
    printed = _rows(ASSETS / "published" / "alpaca-eval.csv", "model")
    figures = []
    for name, path in imported.files.items():
        model, annotator = Path(name).parts[-3:-1]
        if annotator == "weighted_alpaca_eval_gpt4_turbo" and model in printed:
            rate = 100 * judged_pairs.mean_preference(path)
            title = "win rate against GPT-4 Turbo, %"
            figures.append(RecomputedFigure(model, "AlpacaEval 2", title, float(printed[model]["win_rate"]), rate))
    return figures


FIGURES: dict[str, Callable[[Mapping[str, Any], ImportedResults], list[RecomputedFigure]]] = {
    "ye-2024": _ye_2024,
    "vlm-2024": _vlm,
    "lm-eval": _lm_eval,
    "bluq": _bluq,
    "juries-demo": _juries_demo,
    "llmbar": _llmbar,
    "pandalm": _pandalm,
    "alpaca-eval": _alpaca_eval,
}
"""Every way to recompute published figures, by name."""
