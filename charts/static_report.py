"""The static report: one HTML file that needs no network, with runs' figures and the alpha lab alive.

It holds where the figures come from, the figures as Python computed them, reliability diagrams, the differences of
pairs of runs, the works to cite, and the lab's own script with the runs' data inside. On paper it is light,
without the lab.
"""

import base64
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from charts import lab_outside
from charts.bundles import script
from charts.figure_files import FigureFile, figures
from charts.figure_style import FigureStyle
from charts.html_page import html_page
from core.conformal.scores import SCORES
from core.conformal.selective import least_passed
from core.estimates import difference_shown, interval_text
from core.reports import answer_or_pass, frames, references
from core.reports.calibration import calibrated
from core.reports.caveats import lab_footnote_of, marked, of_run
from core.reports.compare import benchmark, run_matrix, shared_questions
from core.reports.compare.benchmark import SetRule
from core.reports.compare.common_options import offered_alike, options_words
from core.reports.compare.pair_in_words import detectable_words
from core.reports.compare.what_differs import what_differs
from core.reports.evaluation import Evaluation
from core.reports.p_values import p_text
from core.reports.provenance import of_runs
from core.reports.repeated import questions_of, tested
from core.reports.report import shown
from core.reports.titles import distinct_titles

Table = dict[str, Sequence[str] | Sequence[Sequence[str]]]
"""A table's ``head`` and ``rows``."""


def report_html(runs: Sequence[Evaluation], rule: SetRule, *, title: str = "Prediction sets") -> bytes:
    """One HTML file: the runs' figures as a table, and the alpha lab of each, alive without a network."""
    compared = offered_alike(runs)  # the lab offers to leave E and F out by itself
    rows = benchmark.run_rows(compared, benchmark.reports(compared, rule))
    titles = distinct_titles({run.run_id: (run.spec, run.bank) for run in runs})
    names = {run.run_id: marked(titles[run.run_id], of_run(run, method=rule.method)) for run in runs}
    labs = [
        lab_outside.data(
            frames.lab_tables(run),
            version=run.run_id,
            name=names[run.run_id],
            caveats=lab_footnote_of(run, method=rule.method),
            alpha=rule.alpha,
            empty=rule.empty,
        )
        for run in runs
    ]
    return html_page(
        "static_report",
        script=script("report"),
        data={"page": {"html": lab_outside.page(), "css": lab_outside.css()}, "labs": labs},
        title=title,
        themes=lab_outside.themes_css(),
        subtitle=_subtitle(runs, rule),
        facts=of_runs(compared, rule).facts,
        figures=_figures_table(rows, names),
        forest=_picture("forest", compared, rule),
        reliability=_picture("reliability", compared, rule),
        calibration=_calibration_table(compared, names),
        answers=_answers_table(compared, names, rule),
        options=options_words(rows),
        score=SCORES[rule.scores[0]].title,
        pairs=_pairs(compared, rows[rows["score"] == rule.scores[0]], names, rule),
        few_shared=shared_questions.few_shared([run.run_id for run in runs], names),
        references=references.bibtex(references.works(runs, rule, answers=True)),
    )


def _subtitle(runs: Sequence[Evaluation], rule: SetRule) -> str:
    rows, questions = sum(len(run.test) for run in runs), sum(questions_of(run, run.test) for run in runs)
    counted = "1 run" if len(runs) == 1 else f"{len(runs)} runs"
    return f"{counted}, {tested(rows, questions)}, sets at alpha {rule.alpha / 1000:g}"


def _picture(name: str, runs: Sequence[Evaluation], rule: SetRule) -> dict[str, str]:
    (light,) = figures([name], runs, rule, FigureStyle("double"))
    return picture(light)


def picture(light: FigureFile) -> dict[str, str]:
    """A figure in both themes with its caption; a screen shows the one of its theme, and paper the light one."""
    dark = replace(light, style=replace(light.style, theme="dark"))
    alt = light.drawing.figure.alt
    return {"light": _data(light), "dark": _data(dark), "alt": alt, "caption": light.caption}


def _data(figure_file: FigureFile) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(figure_file.svg()).decode()}"


def _calibration_table(runs: Sequence[Evaluation], names: dict[str, str]) -> Table:
    """The ECE of each run, the ECE by chance alone, and the tests of calibration."""
    rows = []
    for run in runs:
        (figures_of_run,) = calibrated.calibrated(run)
        ece, test = figures_of_run.estimates["ece"], figures_of_run.test
        rows.append(
            [
                names[run.run_id],
                f"{shown(ece.excess)} ({ece.interval_text()})",
                f"{ece.value:.3f}",
                f"{ece.bias or 0:.3f}",
                p_text(test.p_value),
                figures_of_run.estimates["brier"].text(),
                figures_of_run.estimates["nll"].text(),
            ]
        )
    return {
        "head": ["Run", "ECE beyond chance (95%)", "ECE seen", "ECE by chance", "p", "Brier score", "NLL"],
        "rows": rows,
    }


def _answers_table(runs: Sequence[Evaluation], names: dict[str, str], rule: SetRule) -> Table:
    """From which confidence each run may answer, so that at most alpha of its answers are wrong."""
    results = [answer_or_pass.run_sides(run).selected(rule.alpha, answer_or_pass.DELTA) for run in runs]
    rows = [
        [
            names[run.run_id],
            answer_or_pass.threshold_words(stage.threshold),
            f"{result.share:.1%}",
            f"{result.error:.1%} (at most {result.error_high:.1%})" if result.answered else "–",
            f"{least_passed(stage.base_error, rule.alpha / 1000):.1%}",
            " ".join(answer_or_pass.stage_notes(stage, rule.alpha)[:1]) if stage.threshold is None else "",
        ]
        for run, result in zip(runs, results, strict=True)
        for stage in result.stages
    ]
    return {"head": ["Run", "Answers from", "Answered", "Wrong", "Must be passed, at least", ""], "rows": rows}


def _pairs(
    runs: Sequence[Evaluation], rows: pd.DataFrame, names: dict[str, str], rule: SetRule
) -> list[dict[str, Any]]:
    """The differences of each pair of runs on the questions that they share, a table for each set of questions."""
    by_id = {run.run_id: run for run in runs}
    groups = [group for group in shared_questions.groups(list(by_id)) if len(group) > 1]
    figures = rows.set_index("run").rename(columns={"mean_set_size": "set_size"})
    return [_group([by_id[name] for name in group], figures, names, rule) for group in groups]


def _group(runs: Sequence[Evaluation], figures: pd.DataFrame, names: dict[str, str], rule: SetRule) -> dict[str, Any]:
    compared = runs[: run_matrix.MOST_RUNS]
    matrix = run_matrix.run_matrix(compared, rule.alpha, score=rule.scores[0], empty=rule.empty)
    head = ["First run", "Second run", "Accuracy", "p", "Mean set size", "p", "UAcc", "p"]
    rows = []
    for pairs in zip(*(matrix.pairs[measure] for measure in run_matrix.MEASURES), strict=True):
        first, second = (matrix.runs[place] for place in (pairs[0].first, pairs[0].second))
        cells = [names[first], names[second]]
        for measure, pair in zip(run_matrix.MEASURES, pairs, strict=True):
            difference, p = pair.difference, pair.corrected
            terms = figures.loc[second, measure], figures.loc[first, measure]
            value = difference_shown(*terms, digits=3, exact=difference.value)  # of the figures in the first table
            cells += [f"{value:+.3f} ({difference.low:+.3f} to {difference.high:+.3f})", p_text(p)]
        rows.append(cells)
    questions = f"{matrix.n_test:,} shared test questions"
    sentences = [
        *shared_questions.shared_words(matrix.tested, matrix.n_test, matrix.units, repeats=matrix.repeats),
        what_differs([run.spec for run in compared], calibrate=[len(run.calibration) for run in compared]),
    ]
    if len(compared) < len(runs):
        questions += (
            f"; the first {len(compared)} of {len(runs)} runs on these questions, the most that are compared at once"
        )
    questions = " ".join([f"{questions}.", *filter(None, sentences), detectable_words(matrix)])
    return {"questions": questions, "head": head, "rows": rows}


def _figures_table(rows: pd.DataFrame, names: dict[str, str]) -> Table:
    head = [
        "Run",
        "n, m",
        "Accuracy (95%)",
        "ECE beyond chance (95%); seen, chance",
        "Score",
        "alpha",
        "Coverage (band)",
        "Mean set size (95%)",
        "UAcc (95%)",
    ]
    lines = []
    for row in rows.to_dict("records"):
        uacc = f"{row['uacc']:.3f} ({row['uacc_low']:.3f} to {row['uacc_high']:.3f})"
        cells = [
            names[row["run"]],
            f"{row['n_calibration']:,}, {row['n_test']:,}"
            + (f" ({row['test_questions']:,} questions)" if row["test_questions"] < row["n_test"] else ""),
            f"{row['accuracy']:.3f} ({row['accuracy_low']:.3f} to {row['accuracy_high']:.3f})",
            f"{shown(row['ece_excess'])} ({interval_text(row['ece_low'], row['ece_high'])}); {row['ece']:.3f}, "
            f"{row['ece_luck']:.3f}",
            SCORES[row["score"]].title,
            f"{row['alpha']:.3f}",
            f"{row['coverage']:.3f} ({row['coverage_low']:.3f} to {row['coverage_high']:.3f})",
            f"{row['mean_set_size']:.3f} ({row['set_size_low']:.3f} to {row['set_size_high']:.3f})",
            "–" if math.isnan(row["uacc"]) else uacc,
        ]
        lines.append(cells)
    return {"head": head, "rows": lines}
