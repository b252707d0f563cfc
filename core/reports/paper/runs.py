"""Runs for a paper: what Overview, Compare, the Alpha lab, Calibration and Prompting show."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from core.conformal.scores import SCORES
from core.estimates import difference_shown
from core.questions.bank_names import task_title
from core.reports.calibration.calibrated import CalibrationFigures
from core.reports.caveats import footnotes, marked
from core.reports.compare.benchmark import SetRule
from core.reports.compare.common_options import options_words
from core.reports.compare.paired import CHOSEN
from core.reports.compare.run_matrix import RunMatrix
from core.reports.evaluation import Evaluation
from core.reports.file_names import about_runs
from core.reports.paper.layout import UNLIKE
from core.reports.paper.results import Differences, Measure, PaperResults
from core.reports.prompting.experiments import PromptingMethod
from core.reports.provenance import of_runs as provenance_of_runs
from core.reports.repeated import sides
from core.reports.report import Report
from core.reports.titles import DEFAULTS, details, setting_title
from core.runs.caveats import COLUMN

SETTINGS = ("strategy", "shots", "form", "dtype")
SAME_QUESTIONS = ("task", "bank", "questions", "k")
BOTH_DRAWS = "covers the draw of calibration and test questions"
MEASURES = (
    Measure(
        "accuracy",
        "Accuracy (%)",
        1,
        True,
        "high",
        "accuracy_low",
        "accuracy_high",
        interval_reading="That of accuracy is Clopper–Pearson's.",
    ),
    Measure(
        "coverage",
        "Coverage (%)",
        1,
        True,
        "",
        "coverage_low",
        "coverage_high",
        interval_reading="That of coverage is the band in which it lies for 95% of draws if the guarantee holds.",
    ),
    Measure(
        "mean_set_size",
        "Set size",
        2,
        False,
        "low",
        "set_size_low",
        "set_size_high",
        "Set size is the mean number of options in a set.",
        f"That of set size {BOTH_DRAWS}.",
    ),
    Measure("empty_rate", "Empty sets (%)", 1, True, first=False),
    Measure(
        "uacc",
        "UAcc",
        3,
        False,
        "high",
        "uacc_low",
        "uacc_high",
        "UAcc is accuracy · √options / set size.",
        f"That of UAcc {BOTH_DRAWS}.",
        first=False,
    ),
    Measure(
        "ece_excess",
        "ECE beyond chance",
        3,
        False,
        "low",
        "ece_low",
        "ece_high",
        "ECE beyond chance is the expected calibration error (15 bins) that chance does not explain.",
        first=False,
    ),
)
"""The measures of runs, as frames of :func:`core.reports.compare.benchmark.run_rows` name them."""
FIRST_OF_TASKS = {
    1: ("accuracy", "coverage", "mean_set_size"),
    2: ("accuracy", "mean_set_size"),
    3: ("accuracy", "mean_set_size"),
    4: ("mean_set_size",),
}
"""The measures of a table at first, by its number of tasks."""
MOST_TASKS = max(FIRST_OF_TASKS)
DIFFERENCES = {
    "accuracy": Measure("accuracy", "Δ Accuracy (points)", 1, True, "", "accuracy_low", "accuracy_high", signed=True),
    "set_size": Measure("set_size", "Δ Set size", 2, False, "", "set_size_low", "set_size_high", signed=True),
}
PAIRED = (
    "Their p-values, corrected together (Holm), are of an exact McNemar test for accuracy and of a paired permutation "
    "test for set size, which swaps two runs' answers to calibration and test questions"
)


def of_runs(
    rows: pd.DataFrame,
    runs: Sequence[Evaluation],
    rule: SetRule,
    *,
    alike: bool = True,
    matrix: RunMatrix | None = None,
) -> PaperResults:
    """The rows of :func:`core.reports.compare.benchmark.run_rows`, one for each run and score, with the differences of
    the runs of ``matrix``.

    ``alike`` says that runs on the same questions are shown with the same options, as they are side by side.
    """
    rows = rows.reset_index(drop=True)
    names = [_named(row) for row in rows.to_dict("records")]
    caveats = rows[COLUMN] if COLUMN in rows else pd.Series("", rows.index)
    rows = rows.assign(
        model=_distinct([marked(name, text) for name, text in zip(names, caveats, strict=True)], rows),
        task=[task_title(task, bank) for task, bank in zip(rows["task"], rows["bank"], strict=True)],
        score=[SCORES[name].title for name in rows["score"]],
    )
    rows = rows.assign(**{UNLIKE: rows["coverage"] < rows["coverage_low"]})
    specs = {run.run_id: (run.spec, run.bank) for run in runs}
    return PaperResults(
        subject="Prediction sets",
        keys={"model": "Model", "task": "Task", "score": "Score"},
        rows=rows,
        measures=_measures(rows),
        provenance=provenance_of_runs(runs, rule, alike=alike),
        about=about_runs(list(specs.values()), alpha=rule.alpha),
        facts=(f"Alpha is {rule.alpha / 1000:g}{_sizes(rows)}.", _asked(runs)),
        notes=(
            options_words(rows) if "left_out" in rows else "",
            *footnotes(zip(names, caveats, strict=True)),
        ),
        across=("task", "score"),
        first_across="task",
        within=SAME_QUESTIONS,
        runs=tuple(specs),
        references=_references(rows, matrix.runs if matrix else (), rule),
        against=_pairs(rows, matrix, rule) if matrix else None,
    )


def _measures(rows: pd.DataFrame) -> tuple[Measure, ...]:
    """The measures that the rows have. With several tasks, and columns for each, the table begins with fewer
    of them, so that it can be read on paper."""
    first = FIRST_OF_TASKS[min(rows["task"].nunique(), MOST_TASKS)]
    return tuple(replace(measure, first=measure.name in first) for measure in MEASURES if measure.name in rows)


def _named(row: Mapping[Any, Any]) -> str:
    changed = [name for name in SETTINGS if name in row and row[name] not in ("", getattr(DEFAULTS, name))]
    return " · ".join([str(row["model"]), *(setting_title(name, row[name]) for name in changed)])


def _distinct(names: Sequence[str], rows: pd.DataFrame) -> list[str]:
    """The names, with the end of the run's id where another run of the same task has the same name."""
    frame = pd.DataFrame({"name": names, "task": rows["task"], "bank": rows["bank"], "run": rows["run"]})
    alike = frame.groupby(["name", "task", "bank"])["run"].transform("nunique")
    return [
        f"{name} · {str(run)[-6:]}" if several > 1 else name
        for name, run, several in zip(names, rows["run"], alike, strict=True)
    ]


def _sizes(rows: pd.DataFrame) -> str:
    """The sizes of calibration and test side: those of all rows, or their range."""
    sizes = set(rows[["n_calibration", "n_test", "test_questions"]].itertuples(index=False, name=None))
    if len(sizes) == 1:
        return f"; {sides(*next(iter(sizes)))}"
    ends = [f"{rows[name].min():,} to {rows[name].max():,}" for name in ("n_calibration", "n_test")]
    return f"; {ends[0]} calibration and {ends[1]} test questions"


def _asked(runs: Sequence[Evaluation]) -> str:
    """How all models were asked, where it was in the same way."""
    ways = {details(run.spec, classes=run.classes).partition(" · weights")[0] for run in runs}
    return f"Prompt: {next(iter(ways))}." if len(ways) == 1 else "Models were asked as their names say."


def _references(rows: pd.DataFrame, runs: Sequence[str], rule: SetRule) -> dict[str, int]:
    """The rows from which differences can be taken: those of the tested runs by the rule's first score."""
    of_score = rows[rows["score"] == SCORES[rule.scores[0]].title]
    several = of_score["task"].nunique() > 1
    return {
        f"{row['model']} on {row['task']}" if several else row["model"]: int(place)
        for place, row in zip(of_score.index, of_score.to_dict("records"), strict=True)
        if row["run"] in runs
    }


def _pairs(rows: pd.DataFrame, matrix: RunMatrix, rule: SetRule) -> Callable[[str], Differences]:
    title = SCORES[rule.scores[0]].title
    places = {row["run"]: i for i, row in rows.iterrows() if row["score"] == title and row["run"] in matrix.runs}
    references = _references(rows, matrix.runs, rule)
    many = len(matrix.pairs["accuracy"])
    hold = (
        f"Their intervals hold together for all {many} pairs of runs (Bonferroni): Tango's for accuracy."
        if many > 1
        else "Their intervals are Tango's for accuracy."
    )
    note = f"{hold} {PAIRED}. The {matrix.n_test:,} test questions are those that the tested runs share."
    note = f"{note} {CHOSEN}" if SCORES[rule.scores[0]].tuned else note

    def against(reference: str) -> Differences:
        base = matrix.runs.index(str(rows.at[references[reference], "run"]))
        frame = pd.DataFrame(np.nan, index=rows.index, columns=["accuracy", "set_size"])
        for name, measure in DIFFERENCES.items():
            for pair in matrix.pairs[name]:
                if base not in (pair.first, pair.second):
                    continue
                other = pair.second if pair.first == base else pair.first
                sign = 1 if pair.first == base else -1
                ends = sorted((sign * pair.difference.low, sign * pair.difference.high))
                scale, figures = (100 if measure.percent else 1), matrix.figures[name]
                value = sign * pair.difference.value
                shown = difference_shown(
                    scale * figures[other], scale * figures[base], digits=measure.digits, exact=scale * value
                )
                at = places[matrix.runs[other]]
                frame.loc[at, [name, f"{name}_low", f"{name}_high"]] = value, *ends
                frame.loc[at, [f"{name}_p", f"{name}_shown"]] = pair.corrected, shown / scale
        return _differences(frame, note)

    return against


def _differences(frame: pd.DataFrame, note: str) -> Differences:
    measures = tuple(
        replace(measure, p=f"{name}_p", shown=f"{name}_shown" if f"{name}_shown" in frame else "")
        for name, measure in DIFFERENCES.items()
    )
    return Differences(measures, frame, note)


def of_overview(table: pd.DataFrame, runs: Sequence[Evaluation], rule: SetRule) -> PaperResults:
    """The rows of an overview frame (:func:`core.reports.frames.overview`) by the scores of ``rule``."""
    parts = []
    for score in rule.scores:
        ends = [f"{figure}{end}" for figure in ("coverage", "set_size", "uacc") for end in ("", "_low", "_high")]
        columns = {f"{score}_{name}": name for name in (*ends, "empty_rate")}
        columns[f"{score}_set_size"] = "mean_set_size"
        own = table[[name for name in table if name not in columns]].assign(score=score)
        parts.append(own.assign(**{new: table[old] for old, new in columns.items()}))
    rows = pd.concat(parts).sort_index(kind="stable") if parts else table
    return of_runs(rows, runs, rule, alike=False)


def of_report(report: Report, run: Evaluation, rule: SetRule, *, by: str = "all") -> PaperResults:
    """The figures of one run by each of a report's scores, as the Alpha lab shows them."""
    from core.reports.compare.benchmark import rows_of

    results = of_runs(pd.DataFrame(rows_of(run, report)), [run], rule, alike=False)
    apart = {"group": "Each subject has its own threshold.", "class": "Each option has its own threshold."}
    threshold = Measure("threshold", "Threshold", 4, first=False)
    return replace(
        results,
        measures=(*results.measures, threshold),
        facts=(*results.facts, apart.get(by, "")),
        across=(),
    )


CALIBRATION = {
    "accuracy": ("Accuracy (%)", "high", True),
    "nll": ("NLL", "low", True),
    "brier": ("Brier score", "low", True),
    "ece": ("ECE beyond chance", "low", True),
    "over": ("Overconfidence", "", False),
    "under": ("Underconfidence", "", False),
    "smooth_ece": ("Smooth ECE beyond chance", "low", False),
    "mce": ("Observed MCE", "", False),
    "l2": ("ℓ2 error beyond chance", "", False),
    "classwise_ece": ("Class-wise ECE beyond chance", "", False),
}
"""From a calibration figure to its title, its best value, and whether the table begins with it."""


def of_calibration(
    named: Sequence[tuple[str, CalibrationFigures]], runs: Sequence[Evaluation], rule: SetRule, tasks: Sequence[str]
) -> PaperResults:
    """The calibration figures of diagrams, each with its name; ``tasks`` are the titles of their questions."""
    rows = []
    for (name, figures), task in zip(named, tasks, strict=True):
        row: dict[str, Any] = {"diagram": name, "task": task, "n": figures.n}
        for figure in CALIBRATION:
            estimate = figures.estimates[figure]
            value = estimate.value if estimate.excess is None else estimate.excess
            unclear = estimate.bias is not None and estimate.excess is None and math.isnan(estimate.low)
            row |= {figure: math.nan if unclear else value, f"{figure}_low": estimate.low}
            row |= {f"{figure}_high": estimate.high, f"{figure}_seen": estimate.value}
        rows.append(row | {"p": figures.test.p_value})
    first = named[0][1]
    measures = tuple(
        Measure(
            name,
            title,
            1 if name == "accuracy" else 3,
            name == "accuracy",
            best,  # type: ignore[arg-type]
            f"{name}_low",
            f"{name}_high",
            READINGS.get(name, "").format(bins=first.bins, by=first.by),
            "That of accuracy is Clopper–Pearson's." if name == "accuracy" else "",
            begins,
        )
        for name, (title, best, begins) in CALIBRATION.items()
    )
    seen = Measure("ece_seen", "ECE seen", 3, first=False, reading="ECE seen is that of these questions.")
    p = Measure("p", "p of the ECE", 3, first=False, reading=P_READING)
    sizes = Measure("n", "Questions", 0)
    specs = {run.run_id: (run.spec, run.bank) for run in runs}
    return PaperResults(
        subject="Calibration",
        keys={"diagram": "Model"},
        rows=pd.DataFrame(rows),
        measures=(sizes, *measures, seen, p),
        provenance=provenance_of_runs(runs, rule),
        about=about_runs(list(specs.values())),
        facts=(_asked(runs),),
        notes=footnotes(_caveats(runs, rule)),
        within=("task",),
        runs=tuple(specs),
    )


READINGS = {
    "ece": "ECE is the expected calibration error ({bins} bins of equal {by}), without the part that chance explains.",
    "smooth_ece": "The smooth ECE uses a kernel instead of bins.",
}
P_READING = "p is the probability that a calibrated model shows an ECE at least this large."


def _caveats(runs: Sequence[Evaluation], rule: SetRule) -> list[tuple[str, str]]:
    from core.reports.caveats import in_one, of_run

    return [(run.spec.model_name, in_one(of_run(run, method=rule.method))) for run in runs]


def of_prompting(
    ways: Sequence[PromptingMethod],
    rows: pd.DataFrame,
    runs: Sequence[Evaluation],
    rule: SetRule,
    tests: Callable[[PromptingMethod, tuple[PromptingMethod, ...]], pd.DataFrame],
) -> PaperResults:
    """Ways of asking (:func:`core.reports.prompting.experiments.figures`); ``tests`` gives the paired tests of other
    ways against one (:func:`core.reports.prompting.experiments.against`)."""
    results = of_runs(rows.drop(columns=["title", "method"]), runs, rule, alike=False)
    own = results.rows.assign(
        way=[way.title for way in ways], shots=[setting_title("shots", way.shots) for way in ways]
    )
    references = {way.way: i for i, way in enumerate(ways)}

    def against(reference: str) -> Differences:
        base = ways[references[reference]]
        others = tuple(way for way in ways if way != base)
        table = tests(base, others)
        frame = pd.DataFrame(index=own.index)
        at = [references[way.way] for way in others]
        for name, measure in DIFFERENCES.items():
            for end in ("", "_low", "_high", "_p"):
                frame.loc[at, f"{name}{end}"] = table[f"{name}{end}"].to_numpy()
            scale, columns = (100 if measure.percent else 1), [f"other_{name}", f"first_{name}", name]
            frame.loc[at, f"{name}_shown"] = [
                difference_shown(other, first, digits=measure.digits, exact=exact) / scale
                for other, first, exact in (scale * table[columns]).itertuples(index=False)
            ]
        note = f"Their intervals are Tango's for accuracy. {PAIRED}."
        return _differences(frame, f"{note} {CHOSEN}" if SCORES[rule.scores[0]].tuned else note)

    model = runs[0].spec.model_name
    chance = Measure("chance", "Guessing (%)", 1, True, first=False)
    return replace(
        results,
        subject=f"Prediction sets of {model}",
        keys={"way": "Way of asking", "shots": "Shots", "task": "Task", "score": "Score"},
        rows=own,
        measures=(*results.measures, chance),
        facts=(results.facts[0],),
        across=("shots",),
        first_across="",
        within=("task", "bank"),
        references=references if len(ways) > 1 else {},
        against=against,
    )
