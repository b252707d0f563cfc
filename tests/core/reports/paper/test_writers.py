"""Tables for a paper: the numbers of the reports with their intervals, and nothing that breaks LaTeX or Markdown."""

import io
import re
from dataclasses import replace
from pathlib import Path

import openpyxl
import pandas as pd
import pytest

from core.reports import exports
from core.reports.compare.benchmark import SetRule
from core.reports.compare.run_matrix import run_matrix
from core.reports.evaluation import load
from core.reports.paper import writers
from core.reports.paper.layout import lay_out
from core.reports.paper.results import Results, TableChoice
from core.reports.paper.runs import of_runs
from core.reports.provenance import Provenance
from core.reports.report import report
from tests.conftest import synthetic_run

pytestmark = pytest.mark.quick

NASTY = r"50%_of & $all #{models}^2 ~\end{table} <b> “x” √2 模型"
SAID = Provenance((("Model", f"{NASTY}\nand \\input{{x}}"), ("alpha", "0.100")))


def results(*names: str) -> Results:
    runs = [load(name) for name in names]
    return of_runs(exports.rows(runs, SetRule()), runs, SetRule())


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
        spanned = sum(int(n) - 1 for n in re.findall(r"\\multicolumn\{(\d+)\}", line))
        if len(re.findall(r"(?<!\\)&", line)) + 1 + spanned != len(columns[1]):
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
    figures, intervals = (line.removesuffix(r" \\").split(" & ") for line in body[1:3])
    assert figures[2:5] == [
        f"{100 * run_report.accuracy:.1f}",
        f"{100 * lac.coverage:.1f}",
        f"{lac.mean_set_size:.2f}",
    ]
    low, high = lac.mean_set_size_interval
    assert intervals[4] == f"{{\\footnotesize [{low:.2f}, {high:.2f}]}}"
    assert "100 calibration and 100 test questions" in text
    assert "Prompt: no instruction" in text
    assert f"from the run {name}." in text
    assert f"% Run: {name}" in text


def test_latex_is_whole_as_a_list_and_as_a_matrix_in_a_column_and_across_the_page(home: Path):
    names = [synthetic_run(seed=i, model=f"m_{i // 2}&co", task=("qa", "rc")[i % 2]) for i in range(4)]
    several = results(*names)
    listed = writers.latex(several, TableChoice(scores=("LAC",)))
    across = writers.latex(several, TableChoice(scores=("LAC",), across="task", wide=True))
    assert latex_problems(listed) == latex_problems(across) == []
    assert r"m\_1\&co & Reading comprehension &" in listed
    assert r"\multicolumn{2}{c}{Question answering} & \multicolumn{2}{c}{Reading comprehension} \\" in across
    assert r"\cmidrule(lr){2-3}\cmidrule(lr){4-5}" in across
    assert r"\begin{table*}[t]" in across
    single = exports.latex([load(names[0])], SetRule())
    assert "Task &" not in single
    assert latex_problems(single.replace(r"\&", "&")) != []  # the check can fail


def test_the_best_of_each_task_is_bold_and_so_are_its_ties(home: Path):
    names = [synthetic_run(model=f"m-{i}", task=("qa", "rc")[i % 2], signal=0.5 + i) for i in range(5)]
    shown = results(*names)
    rows = shown.rows.assign(accuracy=[0.501, 0.501, 0.7, 0.7, 0.5014, 0.5014, 0.2, 0.2, 0.1, 0.1])
    table = lay_out(replace(shown, rows=rows), TableChoice(("accuracy",), ("LAC",)))
    bold = {row[0].text for row in table.rows if row[-1].bold}
    assert bold == {"m-0", "m-1", "m-2"}
    assert "Bold: the best number of a column on the same questions" in table.caption
    alone = lay_out(results(names[0]), TableChoice(scores=("LAC",)))
    assert not any(cell.bold for row in alone.rows for cell in row)
    assert "Bold" not in alone.caption


def test_differences_are_those_of_the_matrix_with_a_sign_for_each_direction(home: Path):
    names = [synthetic_run(seed=0, model=f"m-{i}", signal=0.5 + i) for i in range(3)]
    runs, rule = [load(name) for name in names], SetRule(scores=("lac",))
    matrix = run_matrix(runs, 100)
    shown = of_runs(exports.rows(runs, rule), runs, rule, matrix=matrix)
    assert list(shown.references) == ["m-0", "m-1", "m-2"]
    assert shown.against is not None
    pair = next(pair for pair in matrix.pairs["set_size"] if (pair.first, pair.second) == (0, 2))
    from_first, from_last = shown.against("m-0").rows.loc[2], shown.against("m-2").rows.loc[0]
    assert from_first["set_size"] == -from_last["set_size"] == pair.difference.value
    assert (from_first["set_size_low"], from_first["set_size_high"]) == pair.difference.ends
    assert from_last["set_size_low"] == -pair.difference.high
    assert from_first["set_size_p"] == from_last["set_size_p"] == pair.corrected
    text = writers.latex(shown, TableChoice(reference="m-0"))
    assert latex_problems(text) == []
    assert "Differences are from m-0. Their intervals hold together for all 3 pairs" in text


def test_nothing_of_a_name_is_a_command_or_a_formula(home: Path):
    shown = replace(results(synthetic_run()), provenance=SAID)
    text = writers.latex(replace(shown, rows=shown.rows.assign(model=NASTY)), label="tab:a}b")
    assert latex_problems(text) == []
    assert r"50\%\_of \& \$all \#\{models\}\textasciicircum{}2 \textasciitilde{}\textbackslash{}end\{table\}" in text
    assert r"\label{tab:ab}" in text
    assert all(line.startswith("%") for line in text.split("\\begin")[0].splitlines())  # no comment runs on
    marked = writers.markdown(replace(shown, rows=shown.rows.assign(model=NASTY)))
    cells = {len(re.findall(r"(?<!\\)\|", line)) for line in marked.splitlines() if line.startswith("|")}
    assert len(cells) == 1
    assert r"\<b\>" in marked
    formula = replace(shown, rows=shown.rows.assign(model="=HYPERLINK(1)"))
    assert writers.csv(formula).decode().splitlines()[1].startswith('"\'=HYPERLINK(1)"')
    book = openpyxl.load_workbook(io.BytesIO(writers.xlsx(formula)))
    assert book["table"]["A2"].value == "'=HYPERLINK(1)"
    bracket = writers.latex(replace(shown, rows=shown.rows.assign(model="[x]")))
    assert "    {}[x] & " in bracket  # it would be an option of the line break before it


def test_a_workbook_has_all_digits_and_a_format_for_each_number(home: Path):
    shown = results(synthetic_run())
    sheet = openpyxl.load_workbook(io.BytesIO(writers.xlsx(shown)))["table"]
    names = [cell.value for cell in sheet[1]]
    formats = dict(zip(names, (cell.number_format for cell in sheet[2]), strict=True))
    assert formats["accuracy"] == formats["coverage_low"] == "0.0%"
    assert formats["mean_set_size"] == "0.00"
    assert formats["ece_excess"] == "0.000"
    values = dict(zip(names, (cell.value for cell in sheet[2]), strict=True))
    read = pd.read_csv(io.BytesIO(writers.csv(shown)))
    assert values["accuracy"] == read["accuracy"][0] == shown.rows["accuracy"][0]
    assert values["mean_set_size"] == read["mean_set_size"][0] == shown.rows["mean_set_size"][0]


def test_a_number_that_is_not_defined_is_a_dash_and_one_without_an_interval_stands_alone(home: Path):
    shown = results(synthetic_run())
    table = replace(shown, rows=shown.rows.assign(mean_set_size=float("nan")))
    assert r"& -- \\" in writers.latex(table)
    assert "| – |" in writers.markdown(table)
    full = writers.markdown(results(synthetic_run(2, k=4)), TableChoice(("mean_set_size",)))
    assert "4.00 |" in full
    assert "nan" not in full


def test_many_runs_have_a_digest_in_the_caption_and_their_ids_above_it(home: Path):
    names = [synthetic_run(seed=i, model=f"m-{i}") for i in range(5)]
    text = writers.latex(results(*names), TableChoice(("accuracy",)))
    assert re.search(r"from 5 runs \(SHA-256 of their sorted ids, one on each line: [0-9a-f]{12}\)", text)
    assert all(f"{name} (" in text for name in names)
