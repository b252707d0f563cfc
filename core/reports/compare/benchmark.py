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


def reports(runs: Sequence[Evaluation], asked: SetRule) -> list[Report]:
    """One report per run."""
    return [report(run, asked.alpha, scores=asked.scores, method=asked.method, empty=asked.empty) for run in runs]


def run_rows(runs: Sequence[Evaluation], made: Sequence[Report]) -> pd.DataFrame:
    """One row per run and score: its names, accuracy, coverage, mean set size, UAcc and ECE with 95% intervals.

    Accuracy has the interval of Clopper and Pearson, and coverage the band in which it lies for 95% of draws
    if the guarantee holds. The intervals of set size and UAcc redraw calibration and test questions
    (:mod:`core.conformal.set_sizes`). The interval of the ECE (:func:`core.calibration.binned.ece_estimate`) is that of
    ``ece_excess``; ``ece`` is the observed error and ``ece_luck`` the error that chance alone produces.
    """
    rows = [row for run, of in zip(runs, made, strict=True) for row in rows_of(run, of)]
    return pd.DataFrame(with_weights(rows, {run.run_id: run.spec for run in runs}))


def with_weights(rows: Sequence[dict[str, Any]], specs: Mapping[str, RunSpec]) -> list[dict[str, Any]]:
    """The rows, whose models are named with their weights where runs of one model have different ones, so that nothing
    takes them for one model. ``specs`` has the spec of each row's run."""
    names = model_titles(specs)
    return [row | {"model": names[row["run"]]} for row in rows]


def rows_of(run: Evaluation, of: Report) -> list[dict[str, Any]]:
    """The rows of one run, one for each score."""
    low, high = of.accuracy_interval
    return [
        {
            "run": of.run,
            "model": of.model,
            "task": of.task,
            "bank": of.bank,
            "questions": question_identity.question_set(run.run_id),
            "strategy": of.strategy,
            "shots": run.spec.shots,
            "dtype": of.dtype,
            "form": of.form,
            "score": name,
            "alpha": of.alpha,
            "k": of.k,
            "left_out": set_text(run.letters_left_out, run.letters_left_out),
            "n_calibration": of.n_calibration,
            "n_test": of.n_test,
            "test_questions": of.test_questions,
            "accuracy": of.accuracy,
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
            "ece_excess": of.ece_excess,
            "ece_low": of.ece_interval[0],
            "ece_high": of.ece_interval[1],
            "ece": of.ece,
            "ece_luck": of.ece_luck,
            "top_ties": of.top_ties.n,
            "nll": of.nll,
            "nll_infinite": of.nll_infinite,
            "brier": of.brier,
            "threshold": figures.threshold,
            "meets_guarantee": bool(figures.p_value > GUARANTEE_AT),
            COLUMN: in_one(of.caveats),
        }
        for name, figures in of.scores.items()
    ]


def results_json(runs: Sequence[Evaluation], made: Sequence[Report]) -> list[dict[str, Any]]:
    """``results_<time>.json``: one object for each model, task, dtype, strategy and conformal method."""
    rows = []
    names = model_titles({run.run_id: run.spec for run in runs})
    for run, of in zip(runs, made, strict=True):
        record = store.read_record(run.run_id)
        took = (record.ended or 0) - (record.started or 0) if record.started and record.ended else None
        rows += [
            {
                "model": names[of.run],
                "task": of.task,
                "bank": of.bank,
                "dtype": of.dtype,
                "strategy": of.strategy,
                "conformal_method": name,
                "accuracy": of.accuracy,
                "coverage_rate": figures.coverage,
                "avg_set_size": figures.mean_set_size,
                "avg_set_size_interval": finite(figures.mean_set_size_interval),
                "meets_guarantee": bool(figures.p_value > GUARANTEE_AT),
                "inference_time": took,
                "num_samples": of.n_test,
                "uacc": figures.uacc if np.isfinite(figures.uacc) else None,
                "uacc_interval": finite(figures.uacc_interval) if np.isfinite(figures.uacc) else None,
                "ece": of.ece,
                "ece_excess": finite(of.ece_excess),
                "ece_low": finite(of.ece_interval[0]),
                "ece_high": finite(of.ece_interval[1]),
                "ece_luck": of.ece_luck,
                "run": of.run,
                COLUMN: [asdict(caveat) for caveat in of.caveats],
            }
            for name, figures in of.scores.items()
        ]
    return rows


def summary_json(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """``summary_<time>.json``: the means of ``results_json`` over all runs, and by model, task with its bank, dtype,
    strategy and method."""
    table = pd.DataFrame(rows)
    figures = ["accuracy", "coverage_rate", "avg_set_size"]

    def means(of: pd.DataFrame) -> dict[str, Any]:
        values: dict[str, Any] = {name: float(of[name].mean()) for name in figures}
        return values | {"meets_guarantee": float(of["meets_guarantee"].mean()), "results": len(of)}

    table["task"] = [labelled(task, bank) for task, bank in zip(table["task"], table["bank"], strict=True)]
    groups = ("model", "task", "dtype", "strategy", "conformal_method")
    by = {f"by_{name}": {str(key): means(of) for key, of in table.groupby(name, sort=True)} for name in groups}
    return {"overall": means(table), **by}


def config_json(runs: Sequence[Evaluation], asked: SetRule) -> dict[str, Any]:
    """``config_<time>.json``: what was asked for, and the spec and provenance of every run."""
    return {
        "alpha": asked.alpha / 1000,
        "conformal_methods": list(asked.scores),
        "threshold": asked.method,
        "empty_sets": asked.empty,
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
