"""The commands ``import`` and ``export``."""

from __future__ import annotations

import json
import time
from argparse import Namespace
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from core.commands.answer import CommandResult
from core.commands.reports import asked_of
from core.errors import InputError
from core.exchange import bluq, inspect_log, llm_uncertainty_bench, lm_eval, table, writing
from core.exchange.imported import ImportedRun, save
from core.exchange.run_table import run_table, runs_table
from core.exchange.tabular import open_sheet
from core.reports.evaluation import load
from core.runs import store

if TYPE_CHECKING:  # pandas, which most commands do without
    from core.reports.compare.benchmark import SetRule


def _read_bench(arguments: Namespace) -> list[ImportedRun]:
    if arguments.labels is None:
        raise InputError("llm-uncertainty-bench results come without answers; give their folder with --labels")
    return llm_uncertainty_bench.read(arguments.path, labels=arguments.labels)


def _read_table(arguments: Namespace) -> list[ImportedRun]:
    columns = table.read_mapping(arguments.mapping) if arguments.mapping else None
    if columns is None and arguments.options:
        if not arguments.label:
            raise InputError("--options needs --label, the column with the right option")
        columns = table.Columns(tuple(arguments.options), arguments.label, values=arguments.values or "")
    elif columns is None and (arguments.values or arguments.label):
        found = table.recognise(open_sheet(arguments.path[0]), label=arguments.label or "")
        columns = replace(found, values=arguments.values or found.values)
    return table.read(arguments.path, columns=columns, model=arguments.model or "", task=arguments.task or "")


IMPORTERS: dict[str, Callable[[Namespace], list[ImportedRun]]] = {
    "llm-uncertainty-bench": _read_bench,
    "bluq": lambda arguments: bluq.read(arguments.path),
    "lm-eval": lambda arguments: lm_eval.read(arguments.path),
    "inspect": lambda arguments: inspect_log.read(arguments.path),
    "table": _read_table,
}
"""Every format that can be brought in, by name."""


def import_results(arguments: Namespace) -> CommandResult:
    """Read every file, then write the runs. If a file can't be read, nothing is written."""
    ids = save(IMPORTERS[arguments.format](arguments))
    return CommandResult({"runs": ids}, "\n".join(ids))


def export(arguments: Namespace) -> CommandResult:
    """Write runs, or the figures of runs, into a folder."""
    names = [store.folder_of(name).name for name in arguments.run]
    asked = asked_of(arguments)
    made = EXPORTS[arguments.format](names, asked, arguments.out)
    paths = [str(path) for path in made]
    return CommandResult({"files": paths}, "\n".join(paths))


def _export_table(kind: str) -> Callable[[list[str], SetRule, Path], list[Path]]:
    """The questions of all runs as one table, which can be brought in again."""

    def made(names: list[str], asked: SetRule, out: Path) -> list[Path]:
        for name in names:
            load(name)  # a run that has not ended well goes nowhere
        return [writing.write(out, f"runs.{kind}", writing.ONE_TABLE[kind](runs_table(names)))]

    return made


def _figures_table(names: list[str], asked: SetRule) -> pa.Table:
    from core.reports.compare import benchmark

    runs = [load(name) for name in names]
    return pa.Table.from_pandas(benchmark.run_rows(runs, benchmark.reports(runs, asked)), preserve_index=False)


def _export_xlsx(names: list[str], asked: SetRule, out: Path) -> list[Path]:
    """A sheet with every run's figures, and one a run with its questions."""
    tables = {"figures": _figures_table(names, asked)}
    tables |= {f"{i} {name}": run_table(name) for i, name in enumerate(names, start=1)}
    return [writing.write(out, "runs.xlsx", writing.to_xlsx(tables))]


def _export_markdown(names: list[str], asked: SetRule, out: Path) -> list[Path]:
    """The figures as a document."""
    from core.reports.compare.benchmark import notes

    content = writing.to_markdown({"Figures": _figures_table(names, asked)}, title="Results", notes=notes(asked))
    return [writing.write(out, "results_summary.md", content)]


def _export_json(names: list[str], asked: SetRule, out: Path) -> list[Path]:
    """Results, summary and configuration of a benchmark, as BLUQ lays them out."""
    from core.reports.compare import benchmark

    runs = [load(name) for name in names]
    results = benchmark.results_json(runs, benchmark.reports(runs, asked))
    stamp = time.strftime("%Y%m%d_%H%M%S")
    parts: dict[str, Any] = {
        "results": results,
        "summary": benchmark.summary_json(results),
        "config": benchmark.config_json(runs, asked),
    }
    return [
        writing.write(out, f"{name}_{stamp}.json", json.dumps(value, indent=1, allow_nan=False).encode())
        for name, value in parts.items()
    ]


def _export_figures(names: list[str], asked: SetRule, out: Path) -> list[Path]:
    """Every figure of a benchmark as SVG, PNG and HTML."""
    from charts.figure_files import KINDS, drawings

    return [
        writing.write(out.resolve() / "figures", f"{drawing.figure.name}.{ending}", draw(drawing))
        for drawing in drawings([load(name) for name in names], _drawn_by(asked))
        for ending, draw in KINDS.items()
    ]


def _export_report(names: list[str], asked: SetRule, out: Path) -> list[Path]:
    """The static report, one HTML file."""
    from charts.static_report import report_html

    content = report_html([load(name) for name in names], _drawn_by(asked))
    return [writing.write(out.resolve(), "report.html", content)]


def _drawn_by(asked: SetRule) -> SetRule:
    """The rule of figures that show two scores: the first that is asked for, and another beside it."""
    from core.reports.report import shown_with

    return replace(asked, scores=shown_with(asked.scores[0]))


EXPORTS: dict[str, Callable[[list[str], SetRule, Path], list[Path]]] = {
    **{kind: _export_table(kind) for kind in writing.ONE_TABLE},
    "xlsx": _export_xlsx,
    "md": _export_markdown,
    "json": _export_json,
    "figures": _export_figures,
    "html": _export_report,
}
"""Every format that runs go out in, by name."""
