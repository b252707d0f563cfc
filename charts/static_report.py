"""The static report: one HTML file that needs no network, with runs' figures and the alpha lab alive.

It holds where the figures come from, the figures as Python computed them, reliability diagrams, the differences of
pairs of runs, the works to cite, and the lab's own scripts with the runs' data inside. The scripts are files under
``app/components``, read as they are: nothing here imports the app. On paper it is light, without the lab.
"""

from __future__ import annotations

import base64
import html
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from charts import lab_outside
from charts.figure_files import FigureFile, figures
from charts.figure_style import FigureStyle
from charts.scripts import bundle
from core.conformal.scores import SCORES
from core.reports import frames, references
from core.reports.calibration import calibrated
from core.reports.compare import benchmark, run_matrix
from core.reports.compare.benchmark import SetRule
from core.reports.evaluation import Evaluation
from core.reports.file_names import stem
from core.reports.p_values import p_text
from core.reports.provenance import of_runs
from core.reports.titles import distinct_titles

TEMPLATE = Path(__file__).with_name("static_report.html")


def report_html(runs: Sequence[Evaluation], asked: SetRule, *, title: str = "Prediction sets") -> bytes:
    """One HTML file: the runs' figures as a table, and the alpha lab of each, alive without a network."""
    rows = benchmark.run_rows(runs, benchmark.reports(runs, asked))
    names = distinct_titles({run.run_id: (run.spec, run.bank) for run in runs})
    labs = [
        lab_outside.data(
            frames.lab_tables(run),
            version=run.run_id,
            name=names[run.run_id],
            file_stem=stem([(run.spec, run.bank)]),
            alpha=asked.alpha,
            empty=asked.empty,
        )
        for run in runs
    ]
    template = TEMPLATE.read_text(encoding="utf-8")
    parts = {
        "TITLE": html.escape(title),
        "THEMES": lab_outside.themes_css(),
        "SUBTITLE": html.escape(_subtitle(runs, asked)),
        "PROVENANCE": _provenance_html(of_runs(runs, asked).facts),
        "TABLE": _table_html(rows, names),
        "FOREST": _picture("forest", runs, asked),
        "RELIABILITY": _picture("reliability", runs, asked),
        "CALIBRATION": _calibration_html(runs, names),
        "PAIRS": _pairs_html(runs, names, asked),
        "REFERENCES": html.escape(references.bibtex(references.works(runs, asked))),
        "LAB_HTML": lab_outside.script_json(lab_outside.page()),
        "LAB_CSS": lab_outside.script_json(lab_outside.css()),
        "LABS": lab_outside.script_json(labs),
        "SCRIPT": bundle(lab_outside.SCRIPT).replace("</script", "<\\/script"),
    }
    # In one pass, so that nothing within the data is taken for a place.
    return re.sub(r"%%([A-Z_]+)%%", lambda found: parts[found[1]], template).encode()


def _subtitle(runs: Sequence[Evaluation], asked: SetRule) -> str:
    questions = sum(len(run.test) for run in runs)
    counted = "1 run" if len(runs) == 1 else f"{len(runs)} runs"
    return f"{counted}, {questions:,} test questions, sets at alpha {asked.alpha / 1000:g}"


def _provenance_html(facts: Sequence[tuple[str, str]]) -> str:
    lines = "".join(f"<dt>{html.escape(what)}</dt><dd>{html.escape(value)}</dd>" for what, value in facts)
    return f"<dl>{lines}</dl>"


def _picture(name: str, runs: Sequence[Evaluation], asked: SetRule) -> str:
    """A figure in both themes, of which a screen shows its own and paper the light one, with its caption."""
    (light,) = figures([name], runs, asked, FigureStyle("double"))
    dark = replace(light, style=FigureStyle("double", theme="dark"))
    return (
        f'<figure><picture><source media="screen and (prefers-color-scheme: dark)" srcset="{_data(dark)}">'
        f'<img src="{_data(light)}" alt="{html.escape(light.drawing.figure.alt)}"></picture>'
        f"<figcaption>{html.escape(light.caption)}</figcaption></figure>"
    )


def _data(of: FigureFile) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(of.svg()).decode()}"


def _calibration_html(runs: Sequence[Evaluation], names: dict[str, str]) -> str:
    """The ECE of each run, what luck alone would show, and the tests of calibration."""
    rows = []
    for run in runs:
        (found,) = calibrated.calibrated(run)
        ece, test = found.estimates["ece"], found.test
        rows.append(
            [
                names[run.run_id],
                f"{ece.excess or 0:.3f} ({ece.low:.3f} to {ece.high:.3f})",
                f"{ece.value:.3f}",
                f"{ece.bias or 0:.3f}",
                p_text(test.p_value),
                found.estimates["brier"].text(),
                found.estimates["nll"].text(),
            ]
        )
    head = ["Run", "ECE beyond luck (95%)", "ECE seen", "ECE by luck", "p", "Brier score", "NLL"]
    return _table(head, rows)


def _pairs_html(runs: Sequence[Evaluation], names: dict[str, str], asked: SetRule) -> str:
    """The differences of each pair of runs on the questions that they share, or a sentence that there is no pair."""
    of = {run.run_id: run for run in runs}
    groups = [group for group in run_matrix.groups(list(of)) if len(group) > 1]
    if not groups:
        return "<p>No two of these runs were tested on the same questions.</p>"
    title = SCORES[asked.scores[0]].title
    note = (
        f"<p>The second run minus the first, with {title} sets: the difference, its 95% interval in brackets, and the "
        "p-value (McNemar for accuracy, a paired permutation test for set size and UAcc). The p-values of a figure are "
        "corrected for all pairs (Holm), and its intervals hold together: all of them contain the true differences in "
        "95% of draws.</p>"
    )
    return note + "".join(_group_html([of[name] for name in group], names, asked) for group in groups)


def _group_html(runs: Sequence[Evaluation], names: dict[str, str], asked: SetRule) -> str:
    kept = runs[: run_matrix.MOST_RUNS]
    made = run_matrix.run_matrix(kept, asked.alpha, score=asked.scores[0], empty=asked.empty)
    head = ["First run", "Second run", "Accuracy", "p", "Mean set size", "p", "UAcc", "p"]
    rows = []
    for pairs in zip(*(made.pairs[measure] for measure in run_matrix.MEASURES), strict=True):
        cells = [names[made.runs[pairs[0].first]], names[made.runs[pairs[0].second]]]
        for pair in pairs:
            of, p = pair.difference, pair.corrected
            cells += [f"{of.value:+.3f} ({of.low:+.3f} to {of.high:+.3f})", p_text(p)]
        rows.append(cells)
    said = f"{made.n_test:,} shared test questions"
    if len(kept) < len(runs):
        said += f"; the first {len(kept)} of {len(runs)} runs on these questions, the most that are compared at once"
    return f"<p>{said}.</p>{_table(head, rows)}"


def _table_html(rows: pd.DataFrame, names: dict[str, str]) -> str:
    head = [
        "Run",
        "n, m",
        "Accuracy (95%)",
        "ECE beyond luck (95%); seen, luck",
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
            f"{row['n_calibration']:,}, {row['n_test']:,}",
            f"{row['accuracy']:.3f} ({row['accuracy_low']:.3f} to {row['accuracy_high']:.3f})",
            f"{row['ece_excess']:.3f} ({row['ece_low']:.3f} to {row['ece_high']:.3f}); {row['ece']:.3f}, "
            f"{row['ece_luck']:.3f}",
            SCORES[row["score"]].title,
            f"{row['alpha']:.3f}",
            f"{row['coverage']:.3f} ({row['coverage_low']:.3f} to {row['coverage_high']:.3f})",
            f"{row['mean_set_size']:.3f} ({row['set_size_low']:.3f} to {row['set_size_high']:.3f})",
            "–" if math.isnan(row["uacc"]) else uacc,
        ]
        lines.append(cells)
    return _table(head, lines)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    titles = "".join(f"<th>{html.escape(name)}</th>" for name in head)
    lines = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="scroll"><table><thead><tr>{titles}</tr></thead><tbody>{lines}</tbody></table></div>'
