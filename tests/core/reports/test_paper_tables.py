"""Tables for a paper: the figures of the reports with their intervals, and nothing that breaks LaTeX or Markdown."""

import re
from pathlib import Path

import pandas as pd
import pytest

from core.reports import exports, paper_tables
from core.reports.compare.benchmark import SetRule
from core.reports.evaluation import load
from core.reports.provenance import Provenance
from core.reports.report import report
from tests.conftest import synthetic_run

pytestmark = pytest.mark.quick

NASTY = r"50%_of & $all #{models}^2 ~\end{table} <b> “x” √2 模型"
SAID = Provenance((("Model", f"{NASTY}\nand \\input{{x}}"), ("alpha", "0.100")))


def rows(*names: str) -> pd.DataFrame:
    return exports.rows([load(name) for name in names], SetRule())


def latex_problems(text: str) -> list[str]:
    """Errors that would stop a LaTeX run: braces, environments and columns that do not match, and signs left bare."""
    problems = []
    body = "\n".join(line for line in text.splitlines() if not line.startswith("%"))
    depth = 0
    for sign in re.sub(r"\\[\\{}$&#%_]", "", body):
        depth += {"{": 1, "}": -1}.get(sign, 0)
        if depth < 0:
            problems.append("a brace closes that none opened")
    if depth:
        problems.append("a brace stays open")
    opened: list[str] = []
    for kind, name in re.findall(r"\\(begin|end)\{(\w+)\}", body):
        if kind == "begin":
            opened.append(name)
        elif not opened or opened.pop() != name:
            problems.append(f"{name} ends and is not open")
    if opened:
        problems.append(f"open: {opened}")
    columns = re.search(r"\\begin\{tabular\}\{([lrc]+)\}", body)
    assert columns is not None
    for line in re.findall(r"^ {4}(.*) \\\\$", body, re.MULTILINE):
        if len(re.findall(r"(?<!\\)&", line)) + 1 != len(columns[1]):
            problems.append(f"not {len(columns[1])} cells: {line}")
        bare = re.sub(r"\\[{}$&#%_]|\$\\?[-\w]+\$|\\\w+", "", line)
        problems += [f"{sign} in {line}" for sign in "#$%^_~<>|" if sign in bare]
    if not body.isascii() and not re.fullmatch(r"[\x00-\x7fÀ-ſ]*", body):
        problems.append("a sign without a glyph")
    return problems


def test_a_table_has_the_figures_of_the_reports_with_their_intervals(home: Path):
    name = synthetic_run()
    run_report = report(load(name), 100)
    lac = run_report.scores["lac"]
    text = exports.latex([load(name)], SetRule())
    body = text[text.index(r"\midrule") :].splitlines()
    figures, intervals = (line.split(" & ") for line in body[1:3])
    assert figures[2] == f"{100 * run_report.accuracy:.1f}"
    assert figures[4] == f"{lac.mean_set_size:.2f}"
    low, high = lac.mean_set_size_interval
    assert intervals[4] == f"{{\\footnotesize [{low:.2f}, {high:.2f}]}}"
    assert figures[6] == f"{run_report.ece_excess:.3f} \\\\"
    low, high = run_report.ece_interval
    assert intervals[6] == f"{{\\footnotesize [{low:.3f}, {high:.3f}]}} \\\\"
    assert "100 calibration and 100 test questions" in text
    assert f"% Run: {name}" in text


def test_latex_compiles_with_one_run_and_with_several(home: Path):
    names = [synthetic_run(seed=i, model=f"m_{i}&co", task=("qa", "rc")[i % 2]) for i in range(3)]
    single, several = (
        exports.latex([load(names[0])], SetRule()),
        exports.latex([load(name) for name in names], SetRule()),
    )
    assert latex_problems(single) == latex_problems(several) == []
    assert r"m\_1\&co & Reading comprehension & LAC &" in several
    assert "Task &" not in single
    assert latex_problems(single.replace(r"\&", "&")) != []  # the check can fail


def test_nothing_of_a_name_is_a_command(home: Path):
    table = rows(synthetic_run()).assign(model=NASTY)
    text = paper_tables.latex(table, SAID, label="tab:a}b")
    assert latex_problems(text) == []
    assert r"50\%\_of \& \$all \#\{models\}\textasciicircum{}2 \textasciitilde{}\textbackslash{}end\{table\}" in text
    assert r"\label{tab:ab}" in text
    assert all(line.startswith("%") for line in text.split("\\begin")[0].splitlines())  # no comment runs on
    shown = paper_tables.markdown(table, SAID)
    cells = {len(re.findall(r"(?<!\\)\|", line)) for line in shown.splitlines() if line.startswith("|")}
    assert len(cells) == 1
    assert r"\<b\>" in shown


def test_a_figure_that_is_not_defined_is_a_dash(home: Path):
    table = rows(synthetic_run()).assign(uacc=float("nan"))
    assert "& -- &" in paper_tables.latex(table, SAID)
    assert "| -- |" in paper_tables.markdown(table, SAID)


def test_a_figure_without_an_interval_stands_alone(home: Path):
    table = rows(synthetic_run(2, k=4))
    assert "| 4.00 |" in paper_tables.markdown(table, SAID)
    assert "nan" not in paper_tables.latex(table, SAID)
