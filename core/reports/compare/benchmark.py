"""Tables of several runs, and the files of a benchmark: results, summary and configuration."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd

from core.questions import short_task
from core.questions.option_names import set_text
from core.reports import question_identity
from core.reports.caveats import in_one
from core.reports.evaluation import Evaluation
from core.reports.report import DEFAULT_SCORES, Report, finite, report
from core.reports.titles import model_titles
from core.runs import store
from core.runs.caveats import COLUMN
from core.runs.spec import RunSpec

GUARANTEE_AT = 0.05
"""Coverage does not meet the guarantee if its probability under the guarantee is at most this."""


@dataclass(frozen=True, slots=True)
class SetRule:
    """The rule by which sets are formed: ``alpha`` in thousandths, scores, threshold method and empty-set policy."""

    alpha: int = 100
    scores: tuple[str, ...] = DEFAULT_SCORES
    method: str = "exact"
    empty: str = "allow"


def reports(runs: Sequence[Evaluation], rule: SetRule) -> list[Report]:
    """One report per run."""
    return [report(run, rule.alpha, scores=rule.scores, method=rule.method, empty=rule.empty) for run in runs]


def run_rows(runs: Sequence[Evaluation], run_reports: Sequence[Report]) -> pd.DataFrame:
    """One row per run and score: its names, accuracy, coverage, mean set size, UAcc and ECE with 95% intervals.

    Accuracy has the interval of Clopper and Pearson, and coverage the band in which it lies for 95% of draws
    if the guarantee holds. The intervals of set size and UAcc redraw calibration and test questions
    (:mod:`core.conformal.set_sizes`). The interval of the ECE (:func:`core.calibration.binned.ece_estimate`) is that of
    ``ece_excess``; ``ece`` is the observed error and ``ece_luck`` the error that chance alone produces.
    """
    rows = [row for run, run_report in zip(runs, run_reports, strict=True) for row in rows_of(run, run_report)]
    return pd.DataFrame(with_weights(rows, {run.run_id: run.spec for run in runs}))


def with_weights(rows: Sequence[dict[str, Any]], specs: Mapping[str, RunSpec]) -> list[dict[str, Any]]:
    """The rows, whose models are named with their weights where runs of one model have different ones, so that nothing
    takes them for one model. ``specs`` has the spec of each row's run."""
    names = model_titles(specs)
    return [row | {"model": names[row["run"]]} for row in rows]


def rows_of(run: Evaluation, run_report: Report) -> list[dict[str, Any]]:
    """The rows of one run, one for each score."""
    low, high = run_report.accuracy_interval
    return [
        {
            "run": run_report.run,
            "model": run_report.model,
            "task": run_report.task,
            "bank": run_report.bank,
            "questions": question_identity.question_set(run.run_id),
            "strategy": run_report.strategy,
            "shots": run.spec.shots,
            "dtype": run_report.dtype,
            "form": run_report.form,
            "score": name,
            "alpha": run_report.alpha,
            "k": run_report.k,
            "left_out": set_text(run.letters_left_out, run.letters_left_out),
            "n_calibration": run_report.n_calibration,
            "n_test": run_report.n_test,
            "test_questions": run_report.test_questions,
            "accuracy": run_report.accuracy,
            "accuracy_low": low,
            "accuracy_high": high,
            "coverage": figures.coverage,
            "coverage_low": figures.coverage_band[0],
            "coverage_high": figures.coverage_band[1],
            "mean_set_size": figures.mean_set_size,
            "set_size_low": figures.mean_set_size_interval[0],
            "set_size_high": figures.mean_set_size_interval[1],
            "uacc": figures.uacc,
            "uacc_low": figures.uacc_interval[0],
            "uacc_high": figures.uacc_interval[1],
            "empty_rate": figures.empty_rate,
            "ece_excess": run_report.ece_excess,
            "ece_low": run_report.ece_interval[0],
            "ece_high": run_report.ece_interval[1],
            "ece": run_report.ece,
            "ece_luck": run_report.ece_luck,
            "top_ties": run_report.top_ties.n,
            "nll": run_report.nll,
            "nll_infinite": run_report.nll_infinite,
            "brier": run_report.brier,
            "threshold": figures.threshold,
            "meets_guarantee": bool(figures.p_value > GUARANTEE_AT),
            COLUMN: in_one(run_report.caveats),
        }
        for name, figures in run_report.scores.items()
    ]


def results_json(runs: Sequence[Evaluation], run_reports: Sequence[Report]) -> list[dict[str, Any]]:
    """``results_<time>.json``: one object for each model, task, dtype, strategy and conformal method."""
    rows = []
    names = model_titles({run.run_id: run.spec for run in runs})
    for run, run_report in zip(runs, run_reports, strict=True):
        record = store.read_record(run.run_id)
        took = (record.ended or 0) - (record.started or 0) if record.started and record.ended else None
        rows += [
            {
                "model": names[run_report.run],
                "task": run_report.task,
                "bank": run_report.bank,
                "dtype": run_report.dtype,
                "strategy": run_report.strategy,
                "conformal_method": name,
                "accuracy": run_report.accuracy,
                "coverage_rate": figures.coverage,
                "avg_set_size": figures.mean_set_size,
                "avg_set_size_interval": finite(figures.mean_set_size_interval),
                "meets_guarantee": bool(figures.p_value > GUARANTEE_AT),
                "inference_time": took,
                "num_samples": run_report.n_test,
                "uacc": figures.uacc if np.isfinite(figures.uacc) else None,
                "uacc_interval": finite(figures.uacc_interval) if np.isfinite(figures.uacc) else None,
                "ece": run_report.ece,
                "ece_excess": finite(run_report.ece_excess),
                "ece_low": finite(run_report.ece_interval[0]),
                "ece_high": finite(run_report.ece_interval[1]),
                "ece_luck": run_report.ece_luck,
                "run": run_report.run,
                COLUMN: [asdict(caveat) for caveat in run_report.caveats],
            }
            for name, figures in run_report.scores.items()
        ]
    return rows


def summary_json(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """``summary_<time>.json``: the means of ``results_json`` over all runs, and by model, task with its bank, dtype,
    strategy and method."""
    table = pd.DataFrame(rows)
    figures = ["accuracy", "coverage_rate", "avg_set_size"]

    def means(rows: pd.DataFrame) -> dict[str, Any]:
        values: dict[str, Any] = {name: float(rows[name].mean()) for name in figures}
        return values | {"meets_guarantee": float(rows["meets_guarantee"].mean()), "results": len(rows)}

    table["task"] = [labelled(task, bank) for task, bank in zip(table["task"], table["bank"], strict=True)]
    groups = ("model", "task", "dtype", "strategy", "conformal_method")
    by = {f"by_{name}": {str(key): means(group) for key, group in table.groupby(name, sort=True)} for name in groups}
    return {"overall": means(table), **by}


def config_json(runs: Sequence[Evaluation], rule: SetRule) -> dict[str, Any]:
    """``config_<time>.json``: what was asked for, and the spec and provenance of every run."""
    return {
        "alpha": rule.alpha / 1000,
        "conformal_methods": list(rule.scores),
        "threshold": rule.method,
        "empty_sets": rule.empty,
        "models": sorted({run.spec.model for run in runs}),
        "tasks": sorted({run.spec.task for run in runs}),
        "banks": sorted({run.bank for run in runs}),
        "dtypes": sorted({run.spec.dtype for run in runs}),
        "strategies": sorted({run.spec.strategy for run in runs}),
        "runs": [
            {"run": run.run_id, **run.spec.to_json(), "provenance": store.read_record(run.run_id).provenance}
            for run in runs
        ],
    }


def labelled(task: str, bank: str) -> str:
    """A task's name and its bank as one key of an exported file; a file of questions gives its name to both.

    >>> labelled("qa@hub", "MMLU"), labelled("/data/mine.csv", "mine")
    ('qa · MMLU', 'mine')
    """
    name = short_task(task)
    return name if name == bank else f"{name} · {bank}"
