"""Export runs: their questions, their figures, charts as images, and a report that needs no network."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Sequence

import pyarrow as pa
import streamlit as st

from app.caches import run_cache
from app.components.shared.run_picker import pick_runs
from app.formatting import counted
from app.state.data import MOST_EXPORTED, DataView
from charts import figure_files
from charts.static_report import report_html
from core.exchange import writing
from core.exchange.run_table import run_table, runs_table
from core.reports.compare import benchmark
from core.reports.compare.benchmark import SetRule
from core.reports.report import shown_with


def section(view: DataView) -> None:
    """Show a choice of runs, and one button per format. A file is made when its button is pressed."""
    chosen = pick_runs(view, "Files of runs", first=1, most=MOST_EXPORTED)
    if not chosen:
        return
    rule = SetRule(view.alpha, shown_with(view.score), "exact", view.empty)
    st.caption(f"{counted(len(chosen), 'run')}, with sets at alpha {view.alpha / 1000:.3f}.")
    rows = (
        (
            "Questions with logits (can be imported again)",
            [
                ("CSV", "runs.csv", lambda: writing.to_csv(runs_table(chosen))),
                ("Parquet", "runs.parquet", lambda: writing.to_parquet(runs_table(chosen))),
                ("JSON lines", "runs.jsonl", lambda: writing.to_json_lines(runs_table(chosen))),
            ],
        ),
        (
            "Results as tables",
            [
                ("XLSX", "runs.xlsx", lambda: _xlsx(chosen, rule)),
                ("Markdown", "results_summary.md", lambda: _markdown(chosen, rule)),
                ("Results, summary, configuration", "benchmark.zip", lambda: _benchmark(chosen, rule)),
            ],
        ),
        (
            "Charts and report",
            [
                ("Charts as SVG, PNG, HTML", "figures.zip", lambda: _figures(chosen, rule)),
                ("Interactive report (works offline)", "report.html", lambda: _report(chosen, rule)),
            ],
        ),
    )
    for title, buttons in rows:
        st.markdown(f"**{title}**")
        with st.container(horizontal=True, gap="small"):
            for label, name, make in buttons:
                _button(label, name, make)


def _button(label: str, name: str, make: Callable[[], bytes]) -> None:
    st.download_button(
        label,
        data=make,
        file_name=name,
        mime=writing.MEDIA_TYPES[name.rsplit(".", 1)[-1]],
        on_click="ignore",
        icon=":material/download:",
        key=f"take-{name}",
    )


def _table(names: Sequence[str], rule: SetRule) -> pa.Table:
    runs = [run_cache.evaluation(name) for name in names]
    return pa.Table.from_pandas(benchmark.run_rows(runs, benchmark.reports(runs, rule)), preserve_index=False)


def _xlsx(names: Sequence[str], rule: SetRule) -> bytes:
    tables = {"figures": _table(names, rule)}
    return writing.to_xlsx(tables | {f"{i} {name}": run_table(name) for i, name in enumerate(names, start=1)})


def _markdown(names: Sequence[str], rule: SetRule) -> bytes:
    return writing.to_markdown({"Figures": _table(names, rule)}, title="Results", notes=benchmark.notes(rule))


def _zip(files: dict[str, bytes]) -> bytes:
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return into.getvalue()


def _benchmark(names: Sequence[str], rule: SetRule) -> bytes:
    runs = [run_cache.evaluation(name) for name in names]
    results = benchmark.results_json(runs, benchmark.reports(runs, rule))
    parts = {
        "results.json": results,
        "summary.json": benchmark.summary_json(results),
        "config.json": benchmark.config_json(runs, rule),
    }
    return _zip({name: json.dumps(value, indent=1).encode() for name, value in parts.items()})


def _figures(names: Sequence[str], rule: SetRule) -> bytes:
    drawn = figure_files.drawings([run_cache.evaluation(name) for name in names], rule)
    return _zip(
        {f"{one.figure.name}.{ending}": draw(one) for one in drawn for ending, draw in figure_files.KINDS.items()}
    )


def _report(names: Sequence[str], rule: SetRule) -> bytes:
    return report_html([run_cache.evaluation(name) for name in names], rule)
