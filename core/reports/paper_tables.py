"""Tables of runs for a paper: LaTeX with booktabs, and Markdown, every figure with its 95% interval."""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from core.conformal.scores import SCORES
from core.questions.bank_names import task_title
from core.reports.caveats import footnotes, marked
from core.reports.compare.common_options import options_words
from core.reports.provenance import Provenance
from core.reports.repeated import sides
from core.reports.titles import DEFAULTS, setting_title
from core.runs.caveats import COLUMN

SETTINGS = ("strategy", "shots", "form", "dtype")
ESCAPES = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "−": "$-$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "∞": r"$\infty$",
    "×": r"$\times$",
    "α": r"$\alpha$",
    "ℓ": r"$\ell$",
    "·": r"$\cdot$",
    "√": r"$\surd$",
    "–": "--",
    "“": "``",
    "”": "''",
    "’": "'",
    "…": r"\dots{}",
    "†": r"\dag{}",
}
"""Characters that LaTeX would read as a command, and those that its standard fonts lack."""
MISSING = "--"


@dataclass(frozen=True, slots=True)
class FigureColumn:
    """A column of the table: its title, and how a row writes it. ``low`` and ``high`` name the ends of its interval."""

    title: str
    value: str
    low: str
    high: str
    write: Callable[[float], str]


def _percent(value: float) -> str:
    return f"{100 * value:.1f}"


COLUMNS = (
    FigureColumn("Accuracy (%)", "accuracy", "accuracy_low", "accuracy_high", _percent),
    FigureColumn("Coverage (%)", "coverage", "coverage_low", "coverage_high", _percent),
    FigureColumn("Set size", "mean_set_size", "set_size_low", "set_size_high", "{:.2f}".format),
    FigureColumn("UAcc", "uacc", "uacc_low", "uacc_high", "{:.2f}".format),
    FigureColumn("ECE beyond chance", "ece_excess", "ece_low", "ece_high", "{:.3f}".format),
)

READING = (
    "Brackets hold 95% intervals. Those of accuracy are Clopper–Pearson's; those of set size and UAcc cover the draw "
    "of calibration and test questions. The brackets of coverage are the band in which it lies for 95% of "
    "draws if the guarantee holds. ECE beyond chance is the expected calibration error (15 bins) that chance "
    "does not explain."
)
"""The notes below the table."""


@dataclass(frozen=True, slots=True)
class PaperTable:
    """A table as texts: a header, rows of as many cells, and how many of the first columns are words."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: int


def paper_table(rows: pd.DataFrame) -> PaperTable:
    """The table of a frame of :func:`core.reports.compare.benchmark.run_rows`, one row per run and score.

    The task and the score have a column where they differ between rows; the model's column names its settings that are
    not at their defaults.
    """
    tasks = [task_title(task, bank) for task, bank in zip(rows["task"], rows["bank"], strict=True)]
    named: list[tuple[str, list[str]]] = [("Model", [_model(row) for row in rows.to_dict("records")])]
    if len(set(tasks)) > 1:
        named.append(("Task", tasks))
    if rows["score"].nunique() > 1:
        named.append(("Score", [SCORES[name].title for name in rows["score"]]))
    body = [
        (*(texts[i] for _, texts in named), *(_cell(row, column) for column in COLUMNS))
        for i, row in enumerate(rows.to_dict("records"))
    ]
    header = (*(title for title, _ in named), *(column.title for column in COLUMNS))
    return PaperTable(header, tuple(body), len(named))


def caption(rows: pd.DataFrame) -> str:
    """The caption of the table: the task if all rows share it, alpha, the score, the numbers of questions, and the
    caveats of marked runs."""
    tasks = dict.fromkeys(task_title(task, bank) for task, bank in zip(rows["task"], rows["bank"], strict=True))
    scores = dict.fromkeys(SCORES[name].title for name in rows["score"])
    on = f" on {next(iter(tasks))}" if len(tasks) == 1 else ""
    by = f" by {next(iter(scores))}" if len(scores) == 1 else ""
    sizes = {(row["n_calibration"], row["n_test"], row["test_questions"]) for row in rows.to_dict("records")}
    counts = f"; {sides(*next(iter(sizes)))}" if len(sizes) == 1 else ""
    notes = footnotes((_named(row), row.get(COLUMN, "")) for row in rows.to_dict("records"))
    sentences = (f"Prediction sets{on}{by} at alpha {rows['alpha'].iloc[0]:g}{counts}.", READING, options_words(rows))
    return " ".join(filter(None, (*sentences, *notes)))


def latex(rows: pd.DataFrame, provenance: Provenance, *, label: str = "tab:hedge") -> str:
    """The table for a LaTeX document, which needs the packages booktabs and graphicx.

    Each interval stands below its figure, and a table that is wider than the text is made smaller. The provenance
    stands above it as comments. Every text is escaped.
    """
    table = paper_table(rows)
    lines = [f"% {_one_line(line)}" for line in provenance.text().splitlines()]
    columns = "l" * table.words + "r" * len(COLUMNS)
    lines += [
        r"% \usepackage{booktabs,graphicx}",
        r"\begin{table}[t]",
        r"  \centering",
        rf"  \caption{{{latex_text(caption(rows))}}}",
        rf"  \label{{{re.sub('[^A-Za-z0-9:-]', '', label)}}}",
        r"  \small",
        r"  \setlength{\tabcolsep}{4pt}",
        r"  \resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
        rf"  \begin{{tabular}}{{{columns}}}",
        r"    \toprule",
        f"    {' & '.join(map(latex_text, table.header))} \\\\",
        r"    \midrule",
    ]
    for i, row in enumerate(table.rows):
        lines += [r"    \addlinespace"] * (i > 0)
        lines += [f"    {' & '.join(cells)} \\\\" for cells in _latex_rows(table, row)]
    lines += [r"    \bottomrule", r"  \end{tabular}}", r"\end{table}"]
    return "\n".join(lines) + "\n"


def markdown(rows: pd.DataFrame, provenance: Provenance) -> str:
    """The table in Markdown, with its caption above and its provenance below."""
    table = paper_table(rows)
    ruled = ["---"] * table.words + ["---:"] * len(COLUMNS)
    lines = [f"| {' | '.join(map(markdown_text, row))} |" for row in (table.header, *table.rows)]
    lines.insert(1, f"| {' | '.join(ruled)} |")
    facts = [f"- {markdown_text(line)}" for line in provenance.text().splitlines()]
    return "\n".join([markdown_text(caption(rows)), "", *lines, "", *facts]) + "\n"


def latex_text(text: str) -> str:
    r"""The text escaped for LaTeX. A character for which pdfLaTeX has no glyph becomes a question mark.

    >>> latex_text("a_b & 90% · 𝛼")
    'a\\_b \\& 90\\% $\\cdot$ ?'
    """
    return "".join(ESCAPES.get(sign, sign if _printed(sign) else "?") for sign in _one_line(text))


def markdown_text(text: str) -> str:
    r"""The text as Markdown shows it.

    >>> markdown_text("a|b *c*")
    'a\\|b \\*c\\*'
    """
    return re.sub(r"([\\|<>`*_\[\]])", r"\\\1", _one_line(text))


def _printed(sign: str) -> bool:
    """Whether LaTeX's standard encodings have the character: ASCII, the letters of Latin-1, and Latin Extended-A."""
    return " " <= sign <= "~" or "À" <= sign <= "ſ"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _model(row: Mapping[Any, Any]) -> str:
    return marked(_named(row), row.get(COLUMN, ""))


def _named(row: Mapping[Any, Any]) -> str:
    changed = [name for name in SETTINGS if name in row and row[name] not in ("", getattr(DEFAULTS, name))]
    return " · ".join([str(row["model"]), *(setting_title(name, row[name]) for name in changed)])


def _cell(row: Mapping[Any, Any], column: FigureColumn) -> str:
    """A figure and its interval: ``71.2 [69.9, 72.5]``; the figure alone where it has no interval."""
    value, low, high = (float(row[name]) for name in (column.value, column.low, column.high))
    if math.isnan(value):
        return MISSING
    if math.isnan(low) or math.isnan(high):
        return column.write(value)
    return f"{column.write(value)} [{column.write(low)}, {column.write(high)}]"


def _latex_rows(table: PaperTable, row: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """The row's words and figures, and below them the figures' intervals."""
    figures, intervals = zip(*(cell.partition(" ")[::2] for cell in row[table.words :]), strict=True)
    words = [latex_text(cell) for cell in row[: table.words]]
    small = [rf"{{\footnotesize {interval}}}" if interval else "" for interval in intervals]
    return [*words, *figures], [*[""] * table.words, *small]
