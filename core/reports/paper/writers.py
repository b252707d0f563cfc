"""Writers of a paper's table: LaTeX with booktabs, Markdown, CSV and XLSX."""

import re
import unicodedata

import pandas as pd
import pyarrow as pa

from core.exchange import writing
from core.exchange.workbook import workbook
from core.reports.paper.layout import Cell, PaperTable, lay_out
from core.reports.paper.results import BEGINNING, Differences, Measure, Results, TableChoice

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
    '"': "''",
    "−": "$-$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "∞": r"$\infty$",
    "×": r"$\times$",
    "α": r"$\alpha$",
    "Δ": r"$\Delta$",
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
PREAMBLE = r"\usepackage{booktabs,graphicx}"
WITHOUT_GLYPH = "ÐÞðþĄąĐđĘęĦħĮįĸĿŀŉŊŋŦŧŲųſ"
"""Letters of Latin-1 and Latin Extended-A that LaTeX's first encoding, OT1, can't compose."""


def latex(results: Results, choice: TableChoice = BEGINNING, *, label: str = "tab:hedge") -> str:
    """The table for a LaTeX document, which needs the packages booktabs and graphicx.

    Each interval stands below its number, and a table that is wider than the text is made smaller. The provenance
    stands above it as comments. Every text is escaped.
    """
    table = lay_out(results, choice)
    environment = "table*" if choice.wide else "table"
    lines = [f"% {_one_line(line)}" for line in results.provenance.text().splitlines()]
    lines += [
        f"% {PREAMBLE}",
        rf"\begin{{{environment}}}[t]",
        r"  \centering",
        rf"  \caption{{{latex_text(table.caption)}}}",
        rf"  \label{{{re.sub('[^A-Za-z0-9:-]', '', label)}}}",
        r"  \small",
        r"  \setlength{\tabcolsep}{4pt}",
        r"  \resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
        rf"  \begin{{tabular}}{{{'l' * table.words}{'r' * (len(table.header) - table.words)}}}",
        r"    \toprule",
        *_spanning(table),
        f"    {' & '.join(map(latex_text, table.header))} \\\\",
        r"    \midrule",
    ]
    has_intervals = any(cell.interval for row in table.rows for cell in row)
    for i, row in enumerate(table.rows):
        lines += [r"    \addlinespace"] * (i > 0 and has_intervals)
        lines += [f"    {' & '.join(cells)} \\\\" for cells in _latex_rows(row)]
    lines += [r"    \bottomrule", r"  \end{tabular}}", rf"\end{{{environment}}}"]
    return "\n".join(lines) + "\n"


def document(*tables: str) -> str:
    """A whole LaTeX document of two columns with these tables, which `pdflatex` compiles."""
    body = "\n".join(tables)
    return f"\\documentclass[twocolumn]{{article}}\n{PREAMBLE}\n\\begin{{document}}\n{body}\\end{{document}}\n"


def _spanning(table: PaperTable) -> list[str]:
    """The titles above several columns, with a rule below each."""
    if not table.groups:
        return []
    titles = [rf"\multicolumn{{{n}}}{{c}}{{{latex_text(title)}}}" for title, n in table.groups]
    rules, start = [], table.words + 1
    for _, n in table.groups:
        rules.append(rf"\cmidrule(lr){{{start}-{start + n - 1}}}")
        start += n
    return [f"    {' & '.join([*[''] * table.words, *titles])} \\\\", f"    {''.join(rules)}"]


def _latex_rows(row: tuple[Cell, ...]) -> list[list[str]]:
    """The row's words and numbers, and below them the numbers' intervals, if there are any."""
    texts = [rf"\textbf{{{latex_text(cell.text)}}}" if cell.bold else latex_text(cell.text) for cell in row]
    if not any(cell.interval for cell in row):
        return [_safe(texts)]
    below = [rf"{{\footnotesize {latex_text(cell.interval)}}}" if cell.interval else "" for cell in row]
    return [_safe(texts), below]


def _safe(texts: list[str]) -> list[str]:
    """A row whose first cell begins with a bracket would be taken for an option of the line break before it."""
    return [f"{{}}{texts[0]}" if texts[0].startswith(("[", "*")) else texts[0], *texts[1:]]


def markdown(results: Results, choice: TableChoice = BEGINNING) -> str:
    """The table in Markdown, with its caption above and its provenance below."""
    table = lay_out(results, choice)
    ruled = ["---"] * table.words + ["---:"] * (len(table.header) - table.words)
    lines = [f"| {' | '.join(map(markdown_text, table.titles))} |", f"| {' | '.join(ruled)} |"]
    lines += [f"| {' | '.join(map(_markdown_cell, row))} |" for row in table.rows]
    facts = [f"- {markdown_text(line)}" for line in results.provenance.text().splitlines()]
    return "\n".join([markdown_text(table.caption), "", *lines, "", *facts]) + "\n"


def _markdown_cell(cell: Cell) -> str:
    text = markdown_text(cell.text)
    text = f"**{text}**" if cell.bold else text
    return f"{text} {markdown_text(cell.interval)}".rstrip()


def numbers(results: Results, choice: TableChoice = BEGINNING) -> pd.DataFrame:
    """All measures of the rows with all their digits, and the chosen differences: one row for each, whatever the layout
    is."""
    rows = results.of_scores(choice.scores)
    frame = rows[[*results.keys, *_columns(results.measures)]]
    if differences := _differences(results, choice):
        own = differences.rows.loc[rows.index, list(_columns(differences.measures))]
        frame = frame.join(own.add_prefix("difference_"))
        frame = frame.assign(difference_from=choice.reference)
    return frame.reset_index(drop=True)


def csv(results: Results, choice: TableChoice = BEGINNING) -> bytes:
    """:func:`numbers` as CSV."""
    return writing.to_csv(_table(numbers(results, choice)))


def xlsx(results: Results, choice: TableChoice = BEGINNING) -> bytes:
    """A workbook: :func:`numbers` with a number format for each column, and the provenance with the caption."""
    formats = {name: measure.number_format for measure in results.measures for name in measure.columns}
    for measure in d.measures if (d := _differences(results, choice)) else ():
        formats |= {f"difference_{name}": measure.number_format for name in measure.columns if name != measure.p}
        formats |= {f"difference_{measure.p}": "0.000"} if measure.p else {}
    caption = pa.table({"what": ["Caption"], "value": [lay_out(results, choice).caption]})
    sheets = {
        "table": _table(numbers(results, choice)),
        "provenance": pa.concat_tables([caption, results.provenance.table()]),
    }
    return workbook(sheets, formats)


def _table(frame: pd.DataFrame) -> pa.Table:
    return pa.Table.from_pandas(frame, preserve_index=False)


def _differences(results: Results, choice: TableChoice) -> Differences | None:
    there = choice.reference in results.references and results.against
    return results.against(choice.reference) if there and results.against else None


def _columns(measures: tuple[Measure, ...]) -> dict[str, None]:
    return dict.fromkeys(column for measure in measures for column in measure.columns)


def latex_text(text: str) -> str:
    r"""The text escaped for LaTeX. A character for which pdfLaTeX has no glyph becomes a question mark.

    >>> latex_text("a_b & 90% · 模 Ą")
    'a\\_b \\& 90\\% $\\cdot$ ? A'
    """
    return "".join(ESCAPES.get(sign) or _printed(sign) for sign in _one_line(text))


def markdown_text(text: str) -> str:
    r"""The text as Markdown shows it.

    >>> markdown_text("a|b *c*")
    'a\\|b \\*c\\*'
    """
    return re.sub(r"([\\|<>`*_\[\]])", r"\\\1", _one_line(text))


def _printed(sign: str) -> str:
    """The character where LaTeX's standard encodings have it: ASCII, and most letters up to Latin Extended-A."""
    if " " <= sign <= "~" or ("À" <= sign <= "ſ" and sign not in WITHOUT_GLYPH):
        return sign
    plain = unicodedata.normalize("NFKD", sign)[:1]
    return plain if plain.isascii() and plain.isalnum() else "?"


def _one_line(text: str) -> str:
    return " ".join(text.split())
